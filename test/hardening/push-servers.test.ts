// push to real storages: killed at random moments, raced by another home, and on a full disk.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tryOr } from '../../src/errors.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { skipped } from '../support/requirements.ts';
import { writeOva } from '../support/uploads.ts';
import { account, configDirectory } from '../support/users.ts';
import { mountTmpfs, NO_TMPFS } from './disks.ts';
import { killRuns } from './kills.ts';
import { inFolder, SERVERS, type ServerKind } from './upload-servers.ts';

// `npm run test:push` sets more of each.
const SIZE = Number(process.env.PUSH_MIB || 16) * 2 ** 20;
const KILLS = Number(process.env.PUSH_KILLS || 5);
const RACES = Number(process.env.PUSH_RACES || 2);
const RACE_SIZE = 6 * 2 ** 20;
/**
 * What the slower push says. moto fails with 500 if an upload was removed, where S3 says NoSuchUpload, and computes the
 * ETag of a part without a lock, so it is wrong if another push completes the upload at that moment.
 */
const TOLD =
  /already has a different race|another push removed|it was not removed|another file replaced|failed: PUT .*\(500|part 1 has the wrong ETag/;
/** Milliseconds between two starts. */
const MAX_GAP = 300;
/** Pushes at the same time, each with a home of its own. */
const AT_ONCE = 5;

/** A storage below a folder, and users of it. */
async function setUp(start: ServerKind['start']) {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const server = await start(folder);
  const { baseUrl } = await serve({ uploads, syncDelay: 20, tokenLimit: 1000 });
  const user = () => {
    const IMGCTL_CONFIG_DIR = configDirectory(server.settings);
    return {
      ...{ ...account(baseUrl), IMGCTL_CONFIG_DIR },
      IMGCTL_UPLOAD_SECRET: server.secret ?? 'demo',
    };
  };
  return { server, folder, user };
}

const digestOf = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

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
  const argv = ['push', file, '--poll-interval', '50ms', '--get', 'name'];
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

  const { isS3 = false, isFragile = false } = kind;

  withServer(
    `ends whole after ${KILLS} kills, as one image, and leaves nothing${why}`,
    async () => {
      const storage = await setUp(kind.start);
      const atOnce = isFragile ? 1 : AT_ONCE;
      const kills = Math.ceil(KILLS / atOnce);
      const killed = (_: unknown, index: number) => killPushes(storage, `web${index}`, isS3, kills);
      await Promise.all(Array.from({ length: atOnce }, killed));
      expect(await storage.server.files()).toEqual([]);
    },
  );

  if (isFragile) return;

  // moto looks for an object and stores one in two steps, so a push may overwrite what another has completed.
  // 20 races on it with different content all had one winner, whose bytes were there. With the same content, both
  // pushes ended 0 in 17 of 20 races, and one in 3: moto answered 500 to a part of an upload that was removed.
  const result = isS3 ? 'leaves one file, whole' : 'has its bytes there if it ends 0';

  withServer.each([
    ['the same content', ['a', 'a']],
    ['different content', ['a', 'b']],
  ])(`raced by another home with %s ${result}${why}`, async (_what, seeds) => {
    const { user, server } = await setUp(kind.start);
    for (let round = 0; round < RACES; round += 1) {
      const name = `race${round}.ova`;
      const gap = (MAX_GAP * round) / Math.max(1, RACES - 1);
      const pushes = seeds.map(async (seed, index) => {
        const file = writeOva(temporaryDirectory(), path.parse(name).name, RACE_SIZE, seed);
        await wait(gap * index);
        const { exitCode, stderr } = await runProgram(['push', file, '--no-sync'], {
          env: user(),
        });
        if (exitCode !== 0)
          expect({ exitCode, stderr }).toEqual({
            exitCode: 1,
            stderr: expect.stringMatching(TOLD),
          });
        return { exitCode, digest: digestOf(readFileSync(file)) };
      });
      const results = await Promise.all(pushes);
      const winners = results.filter(({ exitCode }) => exitCode === 0);
      const contents = new Set(winners.map(({ digest }) => digest));
      if (!isS3) expect(contents.size, 'contents whose push ended 0').toBeLessThanOrEqual(1);
      const files = await server.files();
      if (winners.length > 0) {
        const meant = isS3 ? results.map(({ digest }) => digest) : [...contents];
        expect(meant).toContain(digestOf(await server.read(name)));
      }
      // A part of another push is removed after a day.
      const left = files.filter((each) => each !== name && !/^\.imgctl-.*\.partial$/.test(each));
      expect(left).toEqual([]);
      if (files.includes(name)) await server.remove(name);
    }
  });

  const raced = withServer.each(['fail', 'replace']);
  raced(`raced with proofs and --on-conflict %s stores what ended 0${why}`, async (onConflict) => {
    const { user, server } = await setUp(kind.start);
    const name = 'race.ova';
    const homes = ['a', 'b'].map((seed) => {
      const file = writeOva(temporaryDirectory(), 'race', RACE_SIZE, seed);
      return { env: user(), file, digest: digestOf(readFileSync(file)) };
    });
    const push = async ({ env, file, digest }: (typeof homes)[number], option: string) => {
      const argv = ['push', file, '--no-sync', '--on-conflict', option];
      return { ...(await runProgram(argv, { env })), digest };
    };
    for (let round = 0; round < RACES; round += 1) {
      // Younger files are not remembered. Others than WebDAV remember uploads at once.
      if (round === 0 || server.settings['upload-url']?.startsWith('dav')) await wait(2_100);
      // Who has its content there proves it. In every other round, with fail, nothing is there.
      const proofs = await Promise.all(homes.map((home) => push(home, 'fail')));
      expect(proofs.some(({ exitCode }) => exitCode === 0)).toBe(true);
      if (onConflict === 'fail' && round % 2 === 1) await server.remove(name);
      const results = await Promise.all(homes.map((home) => push(home, onConflict)));
      for (const { exitCode, stderr } of results)
        if (exitCode !== 0)
          expect({ exitCode, stderr }).toEqual({
            exitCode: 1,
            stderr: expect.stringMatching(TOLD),
          });
      const winners = results.filter(({ exitCode }) => exitCode === 0);
      const stored = digestOf(await server.read(name));
      expect(winners.map(({ digest }) => digest)).toContain(stored);
      if (onConflict === 'fail') expect(winners).toHaveLength(1);
    }
  });
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
