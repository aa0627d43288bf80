// WebDAV storages that answer without end or with something else than they were sent: limits, statuses, renames.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { failed } from '../support/io.ts';
import type { Handler, ScriptedRequest, ScriptedResponse } from '../support/scripted-server.ts';
import { pushToScript } from '../support/uploads.ts';

const multistatus = (content: string): ScriptedResponse => ({
  status: 207,
  body: `<multistatus xmlns="DAV:">${content}</multistatus>`,
});
const FOLDER =
  '<response><href>/bucket/</href><propstat><prop><resourcetype><collection/></resourcetype></prop></propstat></response>';
const nested = (depth: number) => `${'<response>'.repeat(depth)}${'</response>'.repeat(depth)}`;

/** Milliseconds of work, whatever else the machine does. */
const cpu = () => process.cpuUsage().user / 1_000;

describe('push to a WebDAV storage', () => {
  it.each([
    ['10 MB', nested(45).repeat(10_000), 'more than 4194304 bytes'],
    ['elements without end', '<response/>'.repeat(100_000), 'more than 100000 ele'],
    ['51 levels', nested(50), 'nested more than 50 levels deep'],
  ])('that sends XML of %s ends within 2 s with one line', async (_what, content, text) => {
    const { push } = await pushToScript('dav', () => multistatus(`${FOLDER}${content}`));
    const started = cpu();
    const line = new RegExp(`^imgctl: 127.* sent too much XML: ${text}.*\\nhint: .*\\n$`);
    expect(await push()).toEqual(failed(1, line));
    expect(cpu() - started).toBeLessThan(2_000);
  });

  it.each([
    ['ends within 2 s', 1],
    ['is interrupted by Ctrl-C', 130],
  ])('that sends the most XML that is read %s', async (_what, exitCode) => {
    const content = `${FOLDER}${nested(45).repeat(2_200)}`;
    let onSent = () => {};
    const { start } = await pushToScript('dav', ({ method }) => {
      if (method !== 'PROPFIND') return { status: 500 };
      const { body = '' } = multistatus(content);
      const head = `HTTP/1.1 207 Multi-Status\r\nContent-Length: ${body.length}\r\n\r\n`;
      return { raw: (socket) => socket.write(`${head}${body}`, () => onSent()) };
    });
    const started = cpu();
    const { io, ended } = start();
    if (exitCode === 130) onSent = () => io.interrupt();
    expect((await ended).exitCode).toBe(exitCode);
    expect(cpu() - started).toBeLessThan(2_000);
  });

  it.each([
    ['ends within --timeout', '1s', 3],
    ['is interrupted by Ctrl-C', '60s', 130],
  ])('whose response drips after the upload %s', async (_what, timeout, exitCode) => {
    let drops = 0;
    const { start } = await pushToScript('dav', ({ method, target }) => {
      if (method === 'PROPFIND')
        return target === '/bucket/' ? multistatus(FOLDER) : { status: 404 };
      return {
        raw: (socket) => {
          socket.write('HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n');
          const timer = setInterval(() => socket.write('x', () => (drops += 1)), 50);
          socket.on('close', () => clearInterval(timer));
        },
      };
    });
    const { io, ended } = start(`--no-sync --timeout ${timeout}`);
    await expect.poll(() => drops).toBeGreaterThan(2);
    if (exitCode === 130) io.interrupt();
    expect((await ended).exitCode).toBe(exitCode);
  });
});

type Answer = (
  request: ScriptedRequest,
  sizes: Map<string, string>,
) => ScriptedResponse | undefined | false;

/**
 * A WebDAV storage, which keeps sizes.
 * @param answer what it answers instead
 * @param tagOf its ETags, by path
 */
function dav(answer: Answer = () => undefined, tagOf?: (target: string) => string): Handler {
  const sizes = new Map<string, string>();
  return (request) => {
    const { method, target, headers } = request;
    const instead = answer(request, sizes);
    if (instead) return instead;
    const { destination, 'content-length': length } = headers;
    if (method === 'PUT') sizes.set(target, `${length}`);
    if (method === 'MOVE') sizes.set(new URL(`${destination}`).pathname, `${sizes.get(target)}`);
    if (method === 'MOVE' || method === 'DELETE') sizes.delete(target);
    if (method !== 'PROPFIND') return { status: 201 };
    if (target === '/bucket/') return multistatus(FOLDER);
    return sizes.has(target) ? shown(target, sizes.get(target), tagOf?.(target)) : { status: 404 };
  };
}

const pushTo = (...changes: Parameters<typeof dav>) => pushToScript('dav', dav(...changes));

const shown = (target: string, size = '', tag = '') => multistatus(element(target, size, tag));
const element = (target: string, size: string, tag: string) =>
  `<response><href>${target}</href><getcontentlength>${size}</getcontentlength><getetag>${tag}</getetag></response>`;

describe('an upload to WebDAV', () => {
  const busy = (status: number, seconds: number) => {
    return { status, headers: { 'retry-after': `${seconds}` } };
  };

  it.each<[string, number, number[], ...ScriptedResponse[]]>([
    ['as long as the response asks', 0, [2_000, 60_000], busy(503, 2), busy(429, 60)],
    ['at least the backoff', 0, [188, 375], busy(503, 0), { status: 500 }],
    ['not at all if the response asks for more than a minute', 1, [], busy(503, 61)],
    ['not at all after 501', 1, [], { status: 501 }],
  ])('waits before it is retried under another name: %s', async (_what, code, sleeps, ...busy) => {
    const { start, requests } = await pushTo(({ method }) => method === 'PUT' && busy.shift());
    const { io, ended } = start('--no-sync --retries 2', 0);
    expect((await ended).exitCode).toBe(code);
    expect(io.sleeps).toEqual(sleeps);
    const puts = requests.filter(({ method }) => method === 'PUT').map(({ target }) => target);
    expect(new Set(puts).size).toBe(sleeps.length + 1);
  });
});

it.each([
  ['refuses to list', { status: 403 }],
  ['sends too much XML to list', multistatus(nested(51))],
])('push to a folder that WebDAV %s waits for other pushes, and succeeds', async (_what, list) => {
  const { start } = await pushTo(({ headers }) => headers.depth === '1' && list);
  const { io, ended } = start('--no-sync', 0);
  expect((await ended).exitCode).toBe(0);
  expect(io.sleeps).toEqual([2_000]);
});

it.each([
  ['without ETags moves nothing', ''],
  ['copies instead of moving', '"1"'],
])('push --on-conflict replace fails if a storage %s', async (_what, tag) => {
  const stored = '/bucket/web.ova';
  let files = new Map<string, string>();
  const { start } = await pushTo(
    ({ method, headers }, sizes) => {
      files = sizes;
      if (method === 'PUT') sizes.set(stored, `${headers['content-length']}`);
      return method === 'MOVE' && { status: 207 };
    },
    () => tag,
  );
  const result = await start('--no-sync --on-conflict replace').ended;
  expect(result).toEqual(failed(1, /127.* did not rename \.imgctl-.* to web\.ova\nhint: /));
  expect([...files.keys()]).toEqual([stored]);
});

const weakForParts = (target: string) => `${/partial$/.test(target) ? 'W/' : ''}"1"`;
const byPath = (target: string) => `"${target}"`;

it.each([
  ['replace', 'web.ova failed: another file replaced it\nhint: run the command again'],
  ['fail', 'already has a different web.ova'],
])('push --on-conflict %s says that another push replaced its file', async (action, text) => {
  const { start } = await pushTo(undefined, byPath);
  expect(await start(`--no-sync --on-conflict ${action}`).ended).toEqual(failed(1, text));
});

it.each([
  ['takes an ETag that is no longer weak for the same', 0, weakForParts],
  ['reads back what a server gave a new ETag when it moved it', 1, byPath],
])('push --on-conflict replace %s', async (_what, reads, tagOf) => {
  let body = Buffer.alloc(0);
  const storage = pushTo(({ method }) => method === 'GET' && { body }, tagOf);
  const { file, start, requests } = await storage;
  body = readFileSync(file);
  expect((await start('--no-sync --on-conflict replace').ended).exitCode).toBe(0);
  expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(reads);
});

describe('push to WebDAV that answers with a status within a multistatus', () => {
  const within = (status: string) =>
    multistatus(`<response><href>/x</href><status>HTTP/1.1 ${status}</status></response>`);

  it.each([
    ['404 for a file that is absent', 'PROPFIND', within('404 Not Found'), 0, 'web.ova: uploaded'],
    ['423 for a file', 'PROPFIND', within('423 Locked'), 1, 'has locked /bucket/web.ova (423)'],
    ['423 for a MOVE', 'MOVE', within('423 Locked'), 1, 'has locked /bucket/.imgctl-'],
    ['507 for a MOVE', 'MOVE', within('507 Full'), 1, 'is full (507)'],
  ])('%s takes it for that of the file', async (_what, refused, response, code, text) => {
    let isMoved = false;
    const { start } = await pushTo(({ method, target }) => {
      const isFile = method === 'PROPFIND' && target === '/bucket/web.ova' && !isMoved;
      isMoved ||= method === 'MOVE';
      return (refused === 'MOVE' ? method === 'MOVE' : isFile) && response;
    });
    const result = await start('--no-sync', 0).ended;
    expect(result).toMatchObject({ exitCode: code, stderr: expect.stringContaining(text) });
  });

  it.each([
    [423, 1, /has locked \/bucket\/\.imgctl-.* \(423\)\nhint: wait until /],
    [409, 5, /^.*\nimgctl: folder http.*\/bucket does not exist\nhint: create it, /],
  ])('or with %i for the upload', async (status, code, text) => {
    const { push } = await pushTo(({ method }) => method === 'PUT' && { status });
    expect(await push()).toEqual(failed(code, text));
  });
});

it('push to WebDAV waits for another that is about to move its file over this one', async () => {
  let part = '';
  let owner = '';
  const { start } = await pushTo(
    ({ method, target }) => {
      if (method === 'PUT') part = target;
      if (method === 'MOVE') owner = 'this';
      if (method !== 'PROPFIND' || target !== '/bucket/' || owner === '') return undefined;
      owner = 'other';
      return multistatus(
        FOLDER + element(part.replace(/\w{8}\.partial$/, '00000000.partial'), '1', ''),
      );
    },
    (target) => (target === part ? 'this' : owner),
  );
  const { io, ended } = start('--no-sync', 0);
  expect(await ended).toEqual(failed(1, 'already has a different web.ova'));
  expect(io.sleeps).toEqual([2_000]);
});
