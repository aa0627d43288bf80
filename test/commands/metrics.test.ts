// --metrics-file: what it holds after success and failure, read by a parser of Prometheus.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { withValues } from '../../src/commands/metrics.ts';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { modeOf } from '../support/files.ts';
import { fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { parseMetrics, valuesOf } from '../support/metrics.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';
import { configDirectory, emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';
import { images, record, START, SUBMITTED } from './sync-harness.ts';

const promtool = (text: string) =>
  spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });

/** A user whose syncs end with these records in turn; `sync` runs one an hour after the other. */
async function syncing(...outcomes: readonly Parameters<typeof record>[0][]) {
  const { env } = await scriptedUser({
    'PATCH /v2/user/image/vm': SUBMITTED,
    'GET /v2/user/image/vm': images('aa'),
    'GET /v2/request/image_sync/41': outcomes.map(record),
  });
  const folder = temporaryDirectory();
  const file = path.join(folder, 'imgctl.prom');
  let time = START;
  const sync = async (...options: string[]) => {
    const argv = ['sync', '--retries', '0', '--metrics-file', file, ...options];
    const result = await runCli(argv, fakeIo({ time, env, cwd: folder }));
    time += 3_600_000;
    return {
      ...result,
      text: readFileSync(file, 'utf8'),
      values: valuesOf(readFileSync(file, 'utf8')),
    };
  };
  return { env, folder, file, sync };
}

const SUCCESS = { status: 'PROCESSED', added: ['a', 'b'], deleted: 1 };
const FAILURE = { status: 'ERROR', message: { errors: ['a.ova: broken'], warnings: ['x', 'y'] } };

describe('sync --metrics-file', () => {
  unixOnly('modes are Unix')(
    'writes the metrics of a success, and keeps its time through failures',
    async () => {
      const { sync, file } = await syncing(SUCCESS, FAILURE);
      const first = await sync('--wait');
      expect(first.exitCode).toBe(0);
      expect(first.values).toEqual({
        imgctl_sync_last_run_timestamp_seconds: START / 1000,
        imgctl_sync_last_success_timestamp_seconds: START / 1000,
        imgctl_sync_last_exit_code: 0,
        imgctl_sync_last_duration_seconds: 0,
        imgctl_sync_last_added: 2,
        imgctl_sync_last_deleted: 1,
        imgctl_sync_last_errors: 0,
        imgctl_sync_last_warnings: 0,
      });
      expect(modeOf(file)).toBe('644');
      const second = await sync('--wait');
      expect(second.exitCode).toBe(1);
      expect(second.values).toEqual({
        imgctl_sync_last_run_timestamp_seconds: START / 1000 + 3_600,
        imgctl_sync_last_success_timestamp_seconds: START / 1000,
        imgctl_sync_last_exit_code: 1,
        imgctl_sync_last_duration_seconds: 0,
        imgctl_sync_last_errors: 1,
        imgctl_sync_last_warnings: 2,
      });
    },
  );

  it('does not take a submit without --wait, or one that fails, for a success', async () => {
    const { sync } = await syncing(SUCCESS);
    const submitted = await sync();
    expect(submitted.values.imgctl_sync_last_exit_code).toBe(0);
    expect(submitted.values).not.toHaveProperty('imgctl_sync_last_success_timestamp_seconds');
    const denied = await sync('--base-url', 'http://127.0.0.1:9');
    expect(denied.values.imgctl_sync_last_exit_code).toBe(3);
    expect((await sync('--wait')).values).toHaveProperty(
      'imgctl_sync_last_success_timestamp_seconds',
    );
  });

  it('has HELP and TYPE for every metric, and passes promtool if it is installed', async () => {
    const { sync } = await syncing(SUCCESS);
    const { text } = await sync('--wait');
    for (const { help, type } of parseMetrics(text).values()) {
      expect(type).toBe('GAUGE');
      expect(help).toMatch(/^[A-Z].*\.$/);
    }
    expect(text.match(/^# HELP /gm)).toHaveLength(8);
    const { error, status, stderr } = promtool(text);
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('uses the setting metrics-file, relative to where it was set', async () => {
    const { env, folder } = await syncing(SUCCESS);
    mkdirSync(path.join(folder, 'other'));
    await runCli(['config', 'set', 'metrics-file', 'm.prom'], { env, cwd: folder });
    const cwd = path.join(folder, 'other');
    expect(await runCli(['sync'], { env, cwd })).toMatchObject({ exitCode: 0 });
    expect(valuesOf(readFileSync(path.join(folder, 'm.prom'), 'utf8'))).toMatchObject({
      imgctl_sync_last_exit_code: 0,
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('keeps the metrics of other profiles in one file, and writes nothing for --dry-run', async () => {
    const { sync, folder } = await syncing(SUCCESS);
    await sync('--wait');
    const { text } = await sync('--profile', 'staging');
    expect(valuesOf(text)).toHaveProperty('imgctl_sync_last_success_timestamp_seconds');
    expect(valuesOf(text, 'staging')).toMatchObject({ imgctl_sync_last_exit_code: 0 });
    expect(readdirSync(folder)).toEqual(['imgctl.prom']);
    expect((await sync('--dry-run')).text).toBe(text);
  });

  it('warns if it cannot write the file, and exits by the sync', async () => {
    const { env } = await scriptedUser({ 'PATCH /v2/user/image/vm': SUBMITTED });
    const file = path.join(configDirectory({}), 'no-folder', 'imgctl.prom');
    const { stderr, exitCode } = await runCli(['sync', '-q', '--metrics-file', file], { env });
    expect(stderr).toContain(`cannot write the metrics to ${file}: no such folder`);
    expect(exitCode).toBe(0);
  });

  it('starts again from a file that is not its own', async () => {
    const { sync, file } = await syncing(SUCCESS);
    writeFileSync(file, 'imgctl_sync_last_added{profile="default"} NaN\nother 1\n\u0000');
    expect((await sync('--wait')).values).toMatchObject({ imgctl_sync_last_added: 2 });
    expect(readFileSync(file, 'utf8')).not.toMatch(/other|NaN|\0/);
  });
});

it('images changes --metrics-file > writes how many images changed, and its exit code', async () => {
  const before = testImages(4);
  let shown = before;
  const { env } = await scriptedUser(({ url }) => ({ json: cataloguePage(url, shown) }));
  const cwd = temporaryDirectory();
  const changes = async () => {
    const argv = ['images', 'changes', '--exit-code', '--metrics-file', 'm.prom'];
    const { exitCode } = await runCli(argv, { env, cwd, time: START });
    return { exitCode, values: valuesOf(readFileSync(path.join(cwd, 'm.prom'), 'utf8')) };
  };
  expect((await changes()).values).toMatchObject({ imgctl_changes_last_added: 0 });
  const [first, second] = before;
  if (first === undefined || second === undefined) throw new Error('no images');
  shown = [
    { ...first, updated_on: 'later' },
    { ...second, path: 'elsewhere' },
    ...testImages(2, 9),
  ];
  const { exitCode, values } = await changes();
  expect(exitCode).toBe(10);
  expect(values).toEqual({
    imgctl_changes_last_run_timestamp_seconds: START / 1000,
    imgctl_changes_last_success_timestamp_seconds: START / 1000,
    imgctl_changes_last_exit_code: 10,
    imgctl_changes_last_duration_seconds: 0,
    imgctl_changes_last_added: 2,
    imgctl_changes_last_updated: 2,
    imgctl_changes_last_deleted: 2,
  });
});

it('push --metrics-file > writes the bytes that were uploaded, and no success without a sync', async () => {
  const uploads = temporaryDirectory();
  mkdirSync(path.join(uploads, 'demo'));
  const { env } = await emulatorUser({ uploads, syncDelay: 0 });
  const cwd = temporaryDirectory();
  await writeSampleOva(path.join(cwd, 'a.ova'), 'a');
  await runCli(['config', 'set', 'upload-url', `file://${uploads}/demo`], { env });
  const push = async (...options: string[]) => {
    const argv = ['push', 'a.ova', '--metrics-file', 'm.prom', ...options];
    const io = { env: { ...env, ...PASSWORD }, cwd, time: Date.now() };
    expect(await runCli(argv, io)).toMatchObject({ exitCode: 0 });
    return valuesOf(readFileSync(path.join(cwd, 'm.prom'), 'utf8'));
  };
  const uploaded = await push('--no-sync');
  const { size } = statSync(path.join(cwd, 'a.ova'));
  expect(uploaded).toMatchObject({ imgctl_push_last_uploaded_bytes: size });
  expect(uploaded).not.toHaveProperty('imgctl_push_last_success_timestamp_seconds');
  expect(await push()).toMatchObject({
    imgctl_push_last_uploaded_bytes: 0,
    imgctl_push_last_success_timestamp_seconds: expect.any(Number),
  });
});

it('withValues > keeps what other commands and profiles measured, in the order of the families', () => {
  const first = withValues('', 'push', 'b', { last_uploaded_bytes: 5e21 });
  const second = withValues(first, 'sync', 'a', { last_exit_code: 0 });
  expect(second.match(/^imgctl.*$/gm)).toEqual([
    'imgctl_sync_last_exit_code{profile="a"} 0',
    'imgctl_push_last_uploaded_bytes{profile="b"} 5e+21',
  ]);
  expect(withValues(second, 'push', 'b', {})).not.toContain('imgctl_push');
});
