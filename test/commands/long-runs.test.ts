// What push and sync write while they take minutes and stderr is no terminal. A server moves the timers.

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RequestRecord } from '../../src/emulator/settings.ts';
import { holdMutex, withMutex } from '../../src/files/mutex.ts';
import { keyedFile } from '../../src/files/paths.ts';
import { serve } from '../support/emulator.ts';
import { fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { programUser } from '../support/program.ts';
import { folderUser, storageUser, writeOva } from '../support/uploads.ts';
import { account, scriptedUser } from '../support/users.ts';
import { IMAGES, images, REQUEST, record, SUBMIT, SUBMITTED } from './packages/sync-harness.ts';

const THIRTY_SECONDS = 30_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

const pass = () => vi.advanceTimersByTime(THIRTY_SECONDS);

describe('a run without a terminal', () => {
  it('says that a sync is still waiting', async () => {
    let checks = 0;
    const request = (status: string) => ({ json: { request: { id: 41, status } } });
    const { env } = await programUser(({ method }) => {
      if (method === 'PATCH') return request('PENDING');
      checks += 1;
      pass();
      return request(checks < 4 ? 'PENDING' : 'PROCESSED');
    });
    const argv = ['sync', '--wait', '--poll-interval', '40s'];
    const { stderr } = await runCli(argv, { env, time: Date.now() });
    expect(stderr.split('\n').filter((line) => line.startsWith('sync 41'))).toEqual([
      'sync 41: PENDING',
      'sync 41: still PENDING after 40 s',
      'sync 41: still PENDING after 1 min 20 s',
      'sync 41: still PENDING after 2 min',
      'sync 41: PROCESSED',
    ]);
  });

  it.each([
    ['sync-status 41 --wait --retries 0', 'sync 41: still failing (503); next try in 2 s'],
    ['push FILE --to FOLDER --retries 0', 'waiting until the list of your images has changed'],
  ])('%s says what it waits for between two requests', async (line, expected) => {
    const statuses = [{ status: 503 }, record({ status: 'PROCESSED', message: { errors: [] } })];
    const { env } = await scriptedUser({
      [IMAGES]: [images('old.ova'), images('old.ova'), images('old.ova', 'web.ova')],
      [SUBMIT]: SUBMITTED,
      [REQUEST]: line.startsWith('push') ? statuses.slice(1) : statuses,
    });
    const io = fakeIo({ env, time: 0 });
    const sleep: typeof io.sleep = (...given) => {
      pass();
      return io.sleep(...given);
    };
    const file = writeOva(temporaryDirectory(), 'web');
    const argv = line.replace('FILE', file).replace('FOLDER', temporaryDirectory()).split(' ');
    const { stderr, exitCode } = await runCli(argv, { ...io, sleep });
    expect(stderr.split('\n')).toContain(expected);
    expect(exitCode).toBe(0);
  });

  it.each<['dav' | 's3', string, RegExp]>([
    ['s3', 'PUT /s3/web.ova?partNumber=2', /^web\.ova: uploading \d\d %, .*\/s, .* left$/],
    ['dav', 'MOVE', /^web\.ova: waiting for the storage$/],
    ['dav', 'MOVE', /^web\.ova: waiting for 127\.0\.0\.1:\d+: MOVE \/upload\/\S+ \(.*\)$/],
    ['dav', 'GET', /^web\.ova: comparing with 127\.0\.0\.1:\d+$/],
    ['dav', 'PROPFIND', /^looking at the files in 127\.0\.0\.1:\d+ before the sync$/],
  ])('says what a push to %s does while it waits at %s', async (kind, slow, line) => {
    const user = await storageUser(kind, [], ({ method, target }) => {
      if (!`${method} ${target}`.startsWith(slow)) return;
      pass();
      pass();
    });
    const file = writeOva(user.work, 'web', 5.5 * 2 ** 20);
    const push = `push ${file} --poll-interval 500ms --part-size 5M --parallel 1`.split(' ');
    const runs = [await runCli(push, { env: user.env }), await runCli(push, { env: user.env })];
    const lines = runs.flatMap(({ stderr }) => stderr.split('\n'));
    expect(lines).toContainEqual(expect.stringMatching(line));
  });
});

it.each([
  ['login', 'POST /auth/request-token'],
  ['images list -n 1', 'GET /v2/image'],
  ['sync', 'PATCH /v2/user/image/vm'],
  ['sync --wait', 'GET /v2/request/image_sync/1'],
  ['push web.ova --to dav+BASE/upload', 'PROPFIND /upload/'],
  ['push web.ova --to dav+BASE/upload', 'POST /auth/request-token'],
  ['push web.ova --to dav+BASE/upload', 'GET /v2/user/image/vm'],
  ['push web.ova --to dav+BASE/upload', 'PATCH /v2/user/image/vm'],
])('%s says each 30 s that it waits for %s', async (line, slow) => {
  const uploads = temporaryDirectory();
  const onRequest = ({ method, target }: RequestRecord) => {
    if (`${method} ${target.split('?')[0]}` === slow) pass();
  };
  const { baseUrl } = await serve({ uploads, syncDelay: 0, onRequest });
  const env = {
    ...account(baseUrl),
    IMGCTL_UPLOAD_USERNAME: 'demo',
    IMGCTL_UPLOAD_PASSWORD: 'demo',
  };
  const cwd = temporaryDirectory();
  writeOva(cwd, 'web');
  const { stderr } = await runCli(line.replace('BASE', baseUrl).split(' '), {
    env,
    cwd,
    time: Date.now(),
  });
  expect(stderr).toContain(`waiting for ${new URL(baseUrl).host}: ${slow} (`);
});

it.each([
  ['images list -n 1', '_limit.', 'waiting for another imgctl that requests a token'],
  ['images changes', 'default.', 'waiting for another run with this cursor'],
  [
    'images lock add x --replace --file ~/x.json',
    'x.json',
    'waiting for another imgctl that changes the lock file',
  ],
])('%s says every 30 s that another process holds the mutex of %s', async (line, prefix, text) => {
  const { baseUrl } = await serve({ images: 1 });
  const env = account(baseUrl);
  expect(await runCli(line.split(' '), { env })).toMatchObject({ exitCode: 0 });
  const files = readdirSync(env.HOME, { recursive: true, encoding: 'utf8' });
  const mutex = files.find((file) => path.basename(file).startsWith(prefix)) ?? '';
  for (const token of files.filter((file) => path.basename(file).startsWith('_token.')))
    rmSync(path.join(env.HOME, token));
  const io = fakeIo({ env });
  const waited = await withMutex(holdMutex(path.join(env.HOME, mutex), 0, io), async () => {
    const ended = runCli(line.split(' '), io);
    const said = () => {
      pass();
      return io.stderr.text;
    };
    await expect.poll(said).toContain(`${text}\n`);
    return { ended };
  });
  expect(await waited.ended).toMatchObject({ exitCode: 0 });
});

describe('a second push to a storage', () => {
  /** A push that another one makes wait. */
  const setUp = async () => {
    const { env, folder, work } = await folderUser();
    const mutex = keyedFile(env.IMGCTL_CONFIG_DIR ?? '', 'push', ['file', folder, '']);
    const io = fakeIo({ env });
    const start = (options = '') => {
      const argv = ['push', writeOva(work, 'web'), '--no-sync', ...options.split(' ')];
      return runCli(options === '' ? argv.slice(0, 3) : argv, io);
    };
    return { folder, mutex, io, start };
  };

  it('says so and waits, then goes on', async () => {
    const { folder, mutex, io, start } = await setUp();
    const waiting = `waiting for another push to folder ${folder}`;
    const pushed = await withMutex(holdMutex(mutex, 0, io), async () => {
      const ended = start();
      await expect.poll(() => io.stderr.text).toBe(`${waiting}\n`);
      pass();
      await expect.poll(() => io.stderr.text).toMatch(/ for \d+ (ms|s)\n$/);
      return { ended };
    });
    expect(await pushed.ended).toMatchObject({ exitCode: 0 });
    expect(io.stderr.text).toMatch(/\nweb\.ova: uploading\nimgctl: web\.ova: uploaded, .*\n$/);
  });

  it('ends with 1 after --wait-timeout, except for --dry-run, which waits for nothing', async () => {
    const { mutex, io, start } = await setUp();
    await withMutex(holdMutex(mutex, 0, io), async () => {
      expect((await start('--dry-run')).stderr).not.toContain('waiting');
      const text =
        /waiting for another push .*\nimgctl: another imgctl has locked .* for 0\.2 s\nhint: /;
      expect(await start('--wait-timeout 200ms')).toMatchObject({
        exitCode: 1,
        stderr: expect.stringMatching(text),
      });
    });
  });
});
