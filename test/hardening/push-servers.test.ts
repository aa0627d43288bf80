// push to real storages: repeated, killed at random moments, and to a full disk.

import { copyFileSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tryOr } from '../../src/errors.ts';
import { counted } from '../../src/words.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { skipped } from '../support/requirements.ts';
import { writeOva } from '../support/uploads.ts';
import { account, configDirectory } from '../support/users.ts';
import { mountTmpfs, NO_TMPFS } from './disks.ts';
import { killRuns } from './kills.ts';
import { digestOf, inFolder, SERVERS, type ServerKind, setUp } from './upload-servers.ts';

// `npm run test:push` sets more of each.
const SIZE = Number(process.env.PUSH_MIB || 12) * 2 ** 20;
const KILLS = Number(process.env.PUSH_KILLS || 1);
/** Pushes at the same time, each with a home of its own. */
const AT_ONCE = 5;

/** Makes parts old enough to be removed if their process has ended. */
function ageParts(folder: string): void {
  const time = Date.now() / 1_000 - 660;
  // Other pushes rename and remove theirs meanwhile.
  for (const name of readdirSync(folder))
    if (name.endsWith('.partial'))
      tryOr(() => utimesSync(path.join(folder, name), time, time), undefined);
}

/** Kills pushes of one file and runs each again; checks what is visible meanwhile, and what is left. */
async function killPushes(
  { server, folder, user }: Awaited<ReturnType<typeof setUp>>,
  name: string,
  isElsewhere: boolean,
  kills: number,
) {
  const env = user();
  const file = writeOva(temporaryDirectory(), name, SIZE);
  const argv = ['push', file, '--poll-interval', '500ms', '--get', 'name'];
  const stored = path.join(folder, `${name}.ova`);
  // The service cannot read what moto stores, so it gets a copy.
  if (isElsewhere) copyFileSync(file, stored);
  const sizes = new Set<number | undefined>();
  const look = () => sizes.add(statSync(stored, { throwIfNoEntry: false })?.size);
  const timer = setInterval(look, 2);
  onTestFinished(() => clearInterval(timer));
  const check = async () => {
    ageParts(folder);
    const { exitCode, stdout, stderr } = await runProgram(argv, { env });
    expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0, stdout: `${name}.ova\n` });
    expect(digestOf(await server.read(`${name}.ova`))).toBe(digestOf(readFileSync(file)));
    await server.remove(`${name}.ova`);
  };
  await killRuns(kills, { argv, env, folder, check });
  sizes.delete(undefined);
  expect([...sizes].filter((size) => size !== statSync(file).size)).toEqual([]);
}

describe.each(SERVERS)('push to $name', { timeout: 1_200_000 }, (kind) => {
  const withServer = it.skipIf(kind.reason !== '');
  const why = skipped(kind.reason);

  withServer(
    `stores a file, knows it, and replaces it only if that is asked for${why}`,
    async () => {
      const { user, server } = await setUp(kind.start);
      const env = user();
      const work = temporaryDirectory();
      const run = async (...argv: string[]) => {
        const { exitCode, stdout, stderr } = await runProgram(argv, { env });
        const said = stderr.split('\n').filter(Boolean).at(-1);
        return { exitCode, stdout, said, files: await server.files() };
      };
      const push = (...options: string[]) => run('push', file, '--no-sync', ...options);
      const tried = expect.stringContaining('a file was uploaded, renamed, compared and removed');
      expect(await run('doctor', '--upload', '--json')).toMatchObject({ stdout: tried, files: [] });
      let file = writeOva(work, 'web', 100_000, 'a');
      const files = ['web.ova'];
      const done = { exitCode: 0, files };
      expect(await push()).toMatchObject({
        ...done,
        said: expect.stringMatching(/uploaded, \d+ KiB$/),
      });
      expect(await push()).toMatchObject({ ...done, said: 'imgctl: web.ova: already there' });
      const before = await server.read('web.ova');
      file = writeOva(work, 'web', 100_000, 'b');
      expect(await push()).toMatchObject({
        exitCode: 1,
        files,
        said: expect.stringMatching(/^hint: rename/),
      });
      expect(digestOf(await server.read('web.ova'))).toBe(digestOf(before));
      expect(await push('--on-conflict', 'replace')).toMatchObject(done);
      expect(digestOf(await server.read('web.ova'))).toBe(digestOf(readFileSync(file)));
    },
  );
});

async function killPushesTo({ name, start, isS3 = false, isFragile = false }: ServerKind) {
  const storage = await setUp(start);
  const atOnce = isFragile ? 1 : Math.min(AT_ONCE, KILLS);
  const kills = Math.ceil(KILLS / atOnce);
  const killed = (_: unknown, index: number) => killPushes(storage, `web${index}`, isS3, kills);
  await Promise.all(Array.from({ length: atOnce }, killed));
  expect(await storage.server.files(), name).toEqual([]);
}

it(`push to each storage ends whole after ${counted(KILLS, 'kill')}, as one image, and leaves nothing`, {
  timeout: 1_200_000 * SERVERS.length,
}, async () => {
  const installed = SERVERS.filter(({ reason }) => reason === '');
  // A push after a single kill mostly waits for the lock of the killed one.
  const together = KILLS === 1 ? installed.length : 1;
  for (let first = 0; first < installed.length; first += together)
    await Promise.all(installed.slice(first, first + together).map(killPushesTo));
});

const onTmpfs = it.skipIf(NO_TMPFS);
const NEEDS_TMPFS = skipped(NO_TMPFS);

onTmpfs(`push to an emulator whose disk is full leaves nothing${NEEDS_TMPFS}`, async () => {
  const uploads = temporaryDirectory();
  mountTmpfs('8m', uploads);
  const { baseUrl } = await serve({ uploads });
  const settings = { 'upload-url': `dav+${baseUrl}/upload`, 'upload-username': 'demo' };
  const own = { IMGCTL_CONFIG_DIR: configDirectory(settings), IMGCTL_UPLOAD_PASSWORD: 'demo' };
  const argv = ['push', writeOva(temporaryDirectory(), 'web', SIZE), '--no-sync'];
  const { exitCode, stderr } = await runProgram(argv, { env: { ...account(baseUrl), ...own } });
  expect(stderr).toMatch(/\nimgctl: 127.* is full \(507: .+\)\nhint: free space.*\n$/);
  expect([exitCode, readdirSync(path.join(uploads, 'demo'))]).toEqual([1, []]);
});

onTmpfs(`push to a full disk fails with one line and leaves nothing${NEEDS_TMPFS}`, async () => {
  const start = async (folder: string) => inFolder(`file://${mountTmpfs('8m', folder)}`, folder);
  const { server, user } = await setUp(start);
  const argv = ['push', writeOva(temporaryDirectory(), 'web', SIZE)];
  const { exitCode, stderr } = await runProgram(argv, { env: user() });
  expect(stderr).toMatch(
    /\nimgctl: folder .* is full \(no space left on device\)\nhint: free space.*\n$/,
  );
  expect([exitCode, await server.files()]).toEqual([1, []]);
});
