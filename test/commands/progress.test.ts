// What a terminal shows while a command runs: its last line when something happens, and all of it in the end.

import { mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { holdMutex, withMutex } from '../../src/files/mutex.ts';
import { keyedFile } from '../../src/files/paths.ts';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { serve } from '../support/emulator.ts';
import { type FakeIoOptions, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { type Handler, handlerOf, type Script } from '../support/scripted-server.ts';
import { folderUser, writeOva } from '../support/uploads.ts';
import { type Environment, PASSWORD, scriptedUser } from '../support/users.ts';
import { IMAGES, images, REQUEST, record, SUBMIT, SUBMITTED } from './packages/sync-harness.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => void vi.useRealTimers());

/** Lets a moment pass, in which a spinner is drawn. */
async function pass(): Promise<void> {
  await vi.advanceTimersByTimeAsync(100);
  for (const name of ['ora', '../../src/output/width.ts']) await import(name);
  for (let turns = 0; turns < 5; turns += 1) await new Promise(setImmediate);
}

/** Starts what a command needs, which says what happens, and returns the environment. */
type Setting = (happens: (event: string) => Promise<void>) => Promise<Environment>;

const service =
  (script: Script | Handler, changes?: Environment): Setting =>
  async (happens) => {
    const handler = handlerOf(script);
    const { env } = await scriptedUser(async (request, index) => {
      await happens(`${request.method} ${request.url.pathname}`);
      return handler(request, index);
    }, changes);
    return env;
  };

/** The events of the service, and those of a storage that has a package or none. */
const storage =
  (script: Script | Handler, stored?: string): Setting =>
  async (happens) => {
    const uploads = temporaryDirectory();
    const folder = path.join(uploads, 'demo');
    mkdirSync(folder);
    if (stored) writeOva(folder, stored, 3 * 2 ** 20);
    const { baseUrl } = await serve({
      uploads,
      onRequest: ({ method, target }) =>
        happens(`${method} ${target.replace(/\.imgctl-.*/, 'PART')}`),
    });
    return service(script, {
      IMGCTL_UPLOAD_URL: `dav+${baseUrl}/upload`,
      IMGCTL_UPLOAD_USERNAME: 'demo',
      IMGCTL_UPLOAD_PASSWORD: 'demo',
    })(happens);
  };

/** Calls the function before Node reads of a file. */
async function watchReads(happens: () => Promise<void>) {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  const { read } = prototype;
  return vi.spyOn(prototype, 'read').mockImplementation(async function (this: unknown, ...to) {
    await happens();
    return read.apply(this, to);
  });
}

/** Runs imgctl, and returns what the last line of the terminal shows at each event, and stderr as a whole. */
async function watch(
  line: string,
  setting: Setting,
  options: FakeIoOptions,
  onEvent: (text: string) => unknown = () => {},
) {
  const events: string[] = [];
  const io = fakeIo({ time: 0, ...options });
  const withoutPort = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
  const happens = async (event: string) => {
    await pass();
    const shown = (io.stderr.text.split('\n').at(-1) ?? '').replace(/^. /, ' | ');
    const text = withoutPort(event + shown).replace(/\d+ %.*/, '…');
    if (events.at(-1) !== text) events.push(text);
    await onEvent(text);
  };
  const env = { ...io.env, ...(await setting(happens)) };
  const write = io.stdout.write.bind(io.stdout);
  io.stdout.write = async (data) => {
    await happens('prints');
    return write(data);
  };
  const sleep: typeof io.sleep = async (milliseconds, signal) => {
    await happens('sleeps');
    return io.sleep(milliseconds, signal);
  };
  // Reads of an upload happen while its request is sent, in any order.
  const spy = /^validate|--dry-run/.test(line) && (await watchReads(() => happens('reads')));
  await runCli(line.split(' '), { ...io, sleep, env });
  if (spy) spy.mockRestore();
  return { events, stderr: withoutPort(io.stderr.text).split('\n').slice(0, -1) };
}

const CATALOGUE = catalogueOf(testImages(5));

/** Responds to the first requests with an error, then with a list of images. */
const FAILING: Handler = (request, index) => {
  const errors = [
    { status: 429, headers: { 'retry-after': '20' } },
    { status: 503 },
    { status: 503 },
  ];
  return errors[index] ?? CATALOGUE(request, index);
};

const DONE = record({ status: 'PROCESSED', errors: [], warnings: [], added: ['web.ova'] });
const OLD = images('a.ova');
const PUSH = {
  [SUBMIT]: SUBMITTED,
  [REQUEST]: DONE,
  [IMAGES]: [OLD, OLD, images('a.ova', 'web.ova')],
};
const WAITING = [
  record({ status: 'PENDING' }),
  { status: 503 },
  { status: 404 },
  record({ status: 'IN_PROGRESS' }),
];

interface Row {
  readonly line: string;
  readonly setting: Setting;
  /** Makes stdout a terminal of this width. */
  readonly columns?: number;
  readonly events: readonly string[];
  readonly stderr: readonly string[];
  /** What is written to stderr if it is a pipe. */
  readonly piped: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    line: 'images list image --per-page 2',
    columns: 80,
    setting: service(CATALOGUE),
    events: [
      'GET /v2/image | reading the catalogue',
      'GET /v2/image | read 2 of 5 images',
      'GET /v2/image | read 4 of 5 images',
      'prints',
    ],
    stderr: ['5 images'],
    piped: [],
  },
  {
    line: 'images list -n 1',
    columns: 80,
    setting: service(FAILING),
    events: [
      'GET /v2/image | reading the catalogue',
      'sleeps | HOST asks to wait 20 s',
      'GET /v2/image | HOST asks to wait 20 s',
      'sleeps | HOST asks to wait 20 s',
      'GET /v2/image | HOST asks to wait 20 s',
      'sleeps | HOST returned 503; retrying in 1 s',
      'GET /v2/image | HOST returned 503; retrying in 1 s',
      'prints',
    ],
    stderr: ['1 of 5 images (--limit)'],
    piped: ['imgctl: HOST asks to wait 20 s', 'imgctl: HOST returned 503; retrying in 1 s'],
  },
  {
    line: 'images list -n 1 --json',
    setting: service(FAILING),
    events: [
      'GET /v2/image',
      'sleeps',
      'GET /v2/image',
      'sleeps',
      'GET /v2/image',
      'sleeps',
      'GET /v2/image',
      'prints',
    ],
    stderr: [
      '{"note":{"message":"HOST asks to wait 20 s"}}',
      '{"note":{"message":"HOST returned 503; retrying in 1 s"}}',
    ],
    piped: [
      '{"note":{"message":"HOST asks to wait 20 s"}}',
      '{"note":{"message":"HOST returned 503; retrying in 1 s"}}',
    ],
  },
  {
    line: 'images changes -o csv',
    setting: service(catalogueOf(testImages(150))),
    events: [
      'GET /v2/image | reading the catalogue',
      'GET /v2/image | read 100 of 150 images',
      'prints',
    ],
    stderr: ['imgctl: first run: remembered 150 images; the next run shows what changed'],
    piped: ['imgctl: first run: remembered 150 images; the next run shows what changed'],
  },
  {
    line: 'doctor',
    setting: service(CATALOGUE),
    events: ['GET /v2 | checking', 'prints'],
    stderr: [],
    piped: [],
  },
  {
    line: 'sync --wait --retries 0',
    setting: service({ [SUBMIT]: SUBMITTED, [REQUEST]: [...WAITING, DONE] }),
    events: [
      'PATCH /v2/user/image/vm',
      'GET /v2/request/image_sync/41',
      'sleeps | sync 41: PENDING 0 s',
      'GET /v2/request/image_sync/41 | sync 41: PENDING 2 s',
      'sleeps | sync 41: still failing (503); next try in 3 s',
      'GET /v2/request/image_sync/41 | sync 41: still failing (503); next try in 0 s',
      'sleeps | sync 41: not found yet; next try in 5 s',
      'GET /v2/request/image_sync/41 | sync 41: not found yet; next try in 0 s',
      'sleeps | sync 41: IN_PROGRESS 10 s',
      'GET /v2/request/image_sync/41 | sync 41: IN_PROGRESS 16 s',
      'prints',
    ],
    stderr: ['✓ sync 41 succeeded in 16 s: added web.ova'],
    piped: [
      'sync 41: PENDING',
      'sync 41: still failing (503); retrying',
      'sync 41: not found yet; retrying',
      'sync 41: IN_PROGRESS',
      'sync 41: PROCESSED',
    ],
  },
  {
    line: 'push web.ova',
    setting: storage(PUSH),
    events: [
      'PROPFIND /upload/',
      'GET /v2/user/image/vm',
      'PROPFIND /upload/web.ova | web.ova: comparing with HOST',
      'PROPFIND /upload/',
      'PUT /upload/PART | web.ova: uploading …',
      'PROPFIND /upload/PART | web.ova: waiting for the storage',
      'MOVE /upload/PART | web.ova: waiting for the storage',
      'PROPFIND /upload/PART | web.ova: waiting for the storage',
      'PROPFIND /upload/ | web.ova: waiting for the storage',
      'PROPFIND /upload/web.ova | web.ova: waiting for the storage',
      'PROPFIND /upload/',
      'PROPFIND /upload/web.ova | looking at the files in HOST before the sync',
      'PATCH /v2/user/image/vm',
      'GET /v2/request/image_sync/41',
      'GET /v2/user/image/vm',
      'sleeps | waiting until the list of your images has changed',
      'GET /v2/user/image/vm | waiting until the list of your images has changed',
      'prints',
    ],
    stderr: ['✓ web.ova: uploaded, 3.1 MiB', '✓ 1 image added'],
    piped: ['web.ova: uploading', 'imgctl: web.ova: uploaded, 3.1 MiB', 'sync 41: PROCESSED'],
  },
  {
    line: 'push web.ova',
    setting: storage(PUSH, 'web'),
    events: [
      'PROPFIND /upload/',
      'GET /v2/user/image/vm',
      'PROPFIND /upload/web.ova | web.ova: comparing with HOST',
      'GET /upload/web.ova | web.ova: comparing with HOST',
      'PROPFIND /upload/',
      'PROPFIND /upload/web.ova | looking at the files in HOST before the sync',
      'PATCH /v2/user/image/vm',
      'GET /v2/request/image_sync/41',
      'GET /v2/user/image/vm',
      'sleeps | waiting until the list of your images has changed',
      'GET /v2/user/image/vm | waiting until the list of your images has changed',
      'prints',
    ],
    stderr: ['✓ web.ova: already there', '✓ 1 image added'],
    piped: ['web.ova: reading', 'imgctl: web.ova: already there', 'sync 41: PROCESSED'],
  },
  {
    line: 'push web.ova --dry-run',
    setting: storage(PUSH),
    events: [
      'reads',
      'PROPFIND /upload/',
      'GET /v2/user/image/vm',
      'PROPFIND /upload/web.ova | web.ova: comparing with HOST',
      'reads',
      'reads | web.ova: reading …',
      'PROPFIND /upload/',
      'prints',
    ],
    stderr: ['imgctl: nothing was uploaded or submitted'],
    piped: [],
  },
  {
    line: 'validate web.ova small.ova',
    setting: async () => ({}),
    events: [
      'reads | web.ova: reading',
      'reads | web.ova: reading …',
      'reads | small.ova: reading',
      'reads | small.ova: reading …',
    ],
    stderr: ['✓ web.ova: valid, no findings', '✓ small.ova: valid, no findings'],
    piped: ['imgctl: web.ova: valid, no findings', 'imgctl: small.ova: valid, no findings'],
  },
];

it.each(ROWS)('$line says what it does', async ({ line, setting, columns, ...expected }) => {
  const cwd = temporaryDirectory();
  writeOva(cwd, 'web', 3 * 2 ** 20);
  writeOva(cwd, 'small');
  const terminal = { cwd, errorColumns: 120, ...(columns && { columns }) };
  const shown = await watch(line, setting, terminal);
  const { stderr: piped } = await watch(line, setting, { cwd });
  expect({ ...shown, piped }).toEqual(expected);
});

it('push says for how long it waits for another push, but no longer', async () => {
  let end = () => {};
  const other = new Promise<void>((resolve) => {
    end = resolve;
  });
  let pushing: Promise<void> | undefined;
  const setting: Setting = async (happens) => {
    const { env, folder } = await folderUser({
      onRequest: ({ method, target }) => happens(`${method} ${target.split('?')[0]}`),
    });
    const mutex = keyedFile(env.IMGCTL_CONFIG_DIR ?? '', 'push', ['file', folder, '']);
    pushing = withMutex(holdMutex(mutex, 0, fakeIo()), () => other);
    return { ...env, ...PASSWORD };
  };
  const onEvent = (text: string) => {
    if (!text.endsWith('for 2 s')) return;
    end();
    return pushing;
  };
  const cwd = temporaryDirectory();
  writeOva(cwd, 'web');
  const options = { cwd, errorColumns: 120 };
  const { events } = await watch('push web.ova --no-wait', setting, options, onEvent);
  expect(events.map((text) => text.replace(/folder \S+/, 'FOLDER'))).toEqual([
    'sleeps | waiting for another push to FOLDER for 0 s',
    'sleeps | waiting for another push to FOLDER for 1 s',
    'sleeps | waiting for another push to FOLDER for 2 s',
    'POST /auth/request-token',
    'GET /v2/user/image/vm',
    'PATCH /v2/user/image/vm',
    'prints',
  ]);
});
