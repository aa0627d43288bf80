// --metrics-file: what it holds after success and failure, read by a parser of Prometheus.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { catalogueByName, testImages } from '../support/catalogue-page.ts';
import { modeOf } from '../support/files.ts';
import { failed, temporaryDirectory } from '../support/io.ts';
import { parseMetrics, valuesOf } from '../support/metrics.ts';
import { unixOnly } from '../support/platform.ts';
import { folderUser, writeOva } from '../support/uploads.ts';
import { scriptedUser } from '../support/users.ts';
import { images, record, START, SUBMITTED } from './packages/sync-harness.ts';

const NOW = START / 1_000;
const UNKNOWN = { status: 'PROCESSED', added: ['a', 'b'], deleted: 1 };
const SUCCESS = { ...UNKNOWN, message: { errors: [], warnings: [] } };
const FAILURE = { status: 'ERROR', message: { errors: ['a.ova: broken'], warnings: ['x', 'y'] } };

/** A user whose syncs end with these records in turn, one an hour after the other; `read` reads the file. */
async function syncing(...outcomes: readonly Parameters<typeof record>[0][]) {
  const { imgctl } = await scriptedUser({
    'PATCH /v2/user/image/vm': SUBMITTED,
    'GET /v2/user/image/vm': images('aa'),
    'GET /v2/request/image_sync/41': outcomes.map(record),
  });
  const cwd = temporaryDirectory();
  const file = path.join(cwd, 'm.prom');
  let time = START - 3_600_000;
  const sync = async (options = '') => {
    time += 3_600_000;
    const line = `sync --retries 0 --metrics-file m.prom ${options}`;
    const { exitCode } = await imgctl(line, { time, cwd });
    const text = readFileSync(file, 'utf8');
    return { exitCode, text, values: valuesOf(text) };
  };
  return { imgctl, cwd, file, sync };
}

const named = (run: string, values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`imgctl_${run}_last_${name}`, value]),
  );

describe('sync --metrics-file', () => {
  it('leaves out the errors and warnings that the service does not tell', async () => {
    const { sync } = await syncing(UNKNOWN);
    const { exitCode, values } = await sync('--wait');
    const told = Object.keys(values).filter((name) => /added|errors|warnings/.test(name));
    expect({ exitCode, told }).toEqual({ exitCode: 0, told: ['imgctl_sync_last_added'] });
  });

  it('writes the metrics of a success, and keeps its time through failures', async () => {
    const { sync, file } = await syncing(SUCCESS, FAILURE);
    const common = { success_timestamp_seconds: NOW, duration_seconds: 0 };
    const ended = { run_timestamp_seconds: NOW, exit_code: 0, errors: 0, warnings: 0 };
    expect(await sync('--wait')).toMatchObject({
      exitCode: 0,
      values: named('sync', { ...common, ...ended, added: 2, deleted: 1 }),
    });
    const families = [...parseMetrics(readFileSync(file, 'utf8')).values()];
    const help = expect.stringMatching(/^[A-Z].*\.$/);
    expect(families).toMatchObject(Array(8).fill({ type: 'GAUGE', help }));
    const failure = { exit_code: 1, errors: 1, warnings: 2 };
    const second = await sync('--wait');
    expect(second.exitCode).toBe(1);
    const values = { ...common, ...failure, run_timestamp_seconds: NOW + 3_600 };
    expect(second.values).toEqual(named('sync', values));
    if (process.platform !== 'win32') expect(modeOf(file)).toBe('644');
  });

  it('does not take a submit without --wait, or one that fails, for a success', async () => {
    const { sync } = await syncing(SUCCESS);
    for (const [options, exitCode] of [
      ['', 0],
      ['--base-url http://127.0.0.1:9', 3],
    ] as const) {
      const { values } = await sync(options);
      expect(values).toMatchObject(named('sync', { exit_code: exitCode }));
      expect(values).not.toHaveProperty('imgctl_sync_last_success_timestamp_seconds');
    }
    const success = named('sync', { success_timestamp_seconds: NOW + 7_200 });
    expect((await sync('--wait')).values).toMatchObject(success);
  });

  it('keeps the metrics of other commands and profiles, and writes nothing for --dry-run', async () => {
    const { sync, cwd, file } = await syncing(SUCCESS);
    const foreign = 'imgctl_push_last_uploaded_bytes{profile="b"} 5e+21';
    writeFileSync(file, `imgctl_sync_last_added{profile="default"} NaN\n\n${foreign}\n`);
    expect((await sync('--wait')).values).toMatchObject(named('sync', { added: 2 }));
    const { text } = await sync('--profile staging');
    expect(valuesOf(text)).toHaveProperty('imgctl_sync_last_success_timestamp_seconds');
    expect(valuesOf(text, 'staging')).toMatchObject(named('sync', { exit_code: 0 }));
    expect(text).not.toContain('NaN');
    expect(text.match(/^imgctl.*$/gm)?.at(-1)).toBe(foreign);
    expect(readdirSync(cwd)).toEqual(['m.prom']);
    expect((await sync('--dry-run')).text).toBe(text);
  });

  it('writes the exit code of a run whose options are wrong', async () => {
    const { sync } = await syncing(SUCCESS);
    expect((await sync('--get nothing')).values).toMatchObject(named('sync', { exit_code: 2 }));
  });

  const OTHERS = ['imgctl_exporter_up 1', 'imgctl_sync_last_added{a="b"} 1'];
  it.each([...OTHERS, 'backup_ok 1', '# made by hand', '\0'])(
    'sends nothing if a line of the file is not its own: %j',
    async (line) => {
      const { requests, imgctl } = await scriptedUser({});
      const cwd = temporaryDirectory();
      const file = path.join(cwd, 'm.prom');
      const text = `# HELP imgctl_sync_last_added x\nimgctl_sync_last_added{profile="a"} -1e-7\n${line}\n`;
      writeFileSync(file, text);
      const message = `line 3 of the metrics file ${file} was not written by imgctl\nhint: give imgctl a file of its own`;
      for (const command of ['sync', 'push x.ova', 'images changes']) {
        const result = await imgctl(`${command} --metrics-file m.prom`, { cwd });
        expect(result).toEqual(failed(2, message));
      }
      expect([requests(), readFileSync(file, 'utf8'), readdirSync(cwd)]).toEqual([
        [],
        text,
        ['m.prom'],
      ]);
    },
  );

  it('warns if it cannot write the file, and exits by the sync', async () => {
    const { imgctl, cwd } = await syncing(SUCCESS);
    const { stderr, exitCode } = await imgctl('sync -q --metrics-file none/m.prom', { cwd });
    const file = path.join(cwd, 'none', 'm.prom');
    expect(stderr).toContain(`cannot write the metrics file ${file}: no such file or directory`);
    expect([exitCode, readdirSync(cwd)]).toEqual([0, []]);
  });

  unixOnly('named pipes are Unix')('warns instead of reading a pipe', async () => {
    const { imgctl, cwd } = await syncing(SUCCESS);
    execFileSync('mkfifo', [path.join(cwd, 'm.prom')]);
    const { stderr, exitCode } = await imgctl('sync -q --metrics-file m.prom', { cwd });
    expect(stderr).toContain('m.prom: it is not a regular file');
    expect([exitCode, readdirSync(cwd)]).toEqual([0, ['m.prom']]);
  });
});

it('images changes --metrics-file > writes how many images changed, and its exit code', async () => {
  let shown = testImages(4);
  const { imgctl } = await scriptedUser((request, index) => catalogueByName(shown)(request, index));
  const cwd = temporaryDirectory();
  const line = 'images changes --exit-code --metrics-file m.prom';
  await imgctl(line, { cwd, time: START });
  shown = [...shown.slice(2).map((image) => ({ ...image, path: 'x' })), ...testImages(1, 9)];
  expect(await imgctl(line, { cwd, time: START })).toMatchObject({ exitCode: 10 });
  const ended = { run_timestamp_seconds: NOW, success_timestamp_seconds: NOW, exit_code: 10 };
  const values = { ...ended, duration_seconds: 0, added: 1, updated: 2, deleted: 2 };
  const text = readFileSync(path.join(cwd, 'm.prom'), 'utf8');
  expect(valuesOf(text)).toEqual(named('changes', values));
});

it('push --metrics-file > writes the bytes that were uploaded, and no success without a sync', async () => {
  const { imgctl, work } = await folderUser();
  const file = writeOva(work, 'a');
  const push = async (options: string) => {
    const line = `push ${file} --poll-interval 1ms --metrics-file ${work}/m.prom ${options}`;
    expect(await imgctl(line)).toMatchObject({ exitCode: 0 });
    return valuesOf(readFileSync(path.join(work, 'm.prom'), 'utf8'));
  };
  const uploaded = await push('--no-sync');
  expect(uploaded).toMatchObject(named('push', { uploaded_bytes: statSync(file).size }));
  expect(uploaded).not.toHaveProperty('imgctl_push_last_success_timestamp_seconds');
  const success = named('push', { success_timestamp_seconds: expect.any(Number) });
  expect(await push('')).toMatchObject(success);
});
