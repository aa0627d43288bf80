// The WebDAV storage over real sockets: files, names, links, credentials, faults.

import fs, { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { basic, serve } from '../support/emulator.ts';
import { openFilesBelow } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

/** A storage with the file a.ova of the user demo. */
async function startStorage(...faults: readonly string[]) {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  fs.mkdirSync(folder);
  writeFileSync(path.join(folder, 'a.ova'), 'content');
  const service = await serve({ uploads, faults });
  const send = async (method: string, name = '', headers = {}, body?: string) => {
    const response = await fetch(`${service.baseUrl}/upload/${name}`, {
      method,
      headers: { ...basic('demo', 'demo'), ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const statusOf = async (...request: Parameters<typeof send>) => (await send(...request)).status;
  /** Starts a PUT of b.ova; returns its request and its response. */
  const put = (headers: Readonly<Record<string, string | number>>, start: string) => {
    const sent = request(`${service.baseUrl}/upload/b.ova`, { method: 'PUT', headers });
    sent.on('error', () => {}); // the end of the connection
    const response = new Promise<IncomingMessage>((resolve) => sent.on('response', resolve));
    sent.write(start);
    return { sent, response };
  };
  return { ...service, uploads, folder, send, statusOf, put, stored: () => readdirSync(folder) };
}

it('the storage stores, lists, returns, renames and deletes a file', async () => {
  const { baseUrl, folder, send, statusOf, stored } = await startStorage();
  const NAME = 'b%20%26.ova';
  expect(await statusOf('PUT', NAME, {}, 'first')).toBe(201);
  expect(await statusOf('PUT', NAME, {}, 'second')).toBe(204);
  expect(readFileSync(path.join(folder, 'b &.ova'), 'utf8')).toBe('second');
  const list = await send('PROPFIND');
  expect([list.status, list.headers.get('content-type')]).toEqual([
    ...[207, 'application/xml; charset=utf-8'],
  ]);
  const hrefs = ['', 'a.ova', NAME].map((name) => `<D:href>/upload/${name}`);
  expect(list.text.match(/<D:href>[^<]*/g)).toEqual(hrefs);
  expect((await send('PROPFIND', '', { Depth: '0' })).text).not.toContain('a.ova');
  fs.utimesSync(path.join(folder, 'a.ova'), 1, 1);
  const properties =
    '<D:resourcetype/><D:getcontentlength>7</D:getcontentlength><D:getlastmodified>Thu, 01 Jan 1970 00:00:01 GMT</D:getlastmodified><D:getetag>&quot;7-3e8&quot;</D:getetag>';
  expect((await send('PROPFIND', 'a.ova')).text).toBe(
    `<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:"><D:response><D:href>/upload/a.ova</D:href><D:propstat><D:prop>${properties}</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>`,
  );
  expect((await send('GET', 'a.ova')).text).toBe('content');
  // Before one whose body would end early.
  const beyond = await send('HEAD', 'a.ova', { Range: 'bytes=5-99' });
  expect(beyond.headers.get('content-range')).toBe('bytes 5-6/7');
  for (const [range, status, text] of [
    ['bytes=2-3', 206, 'nt'],
    ['bytes=2-', 206, 'ntent'],
    ['bytes=5-99', 206, 'nt'],
    ['bytes=7-9', 200, 'content'],
    ['bytes=0-1,3-4', 200, 'content'],
  ] as const) {
    const part = await send('GET', 'a.ova', { Range: range });
    expect({ range, status: part.status, text: part.text }).toEqual({ range, status, text });
  }
  expect(await statusOf('PUT', 'a.ova', { 'If-None-Match': '*' }, 'other')).toBe(412);
  const head = await send('HEAD', 'a.ova');
  const shown = ['content-length', 'accept-ranges'].map((name) => head.headers.get(name));
  expect([head.text, ...shown]).toEqual(['', '7', 'bytes']);
  const Destination = `${baseUrl}/upload/${NAME}`;
  const move = (Overwrite: string) => statusOf('MOVE', 'a.ova', { Destination, Overwrite });
  expect([await move('F'), await move('T'), await move('T')]).toEqual([412, 204, 404]);
  expect(await statusOf('DELETE', NAME)).toBe(204);
  expect(stored()).toEqual([]);
  await expect.poll(() => openFilesBelow(folder)).toEqual([]);
});

const NO_FILE = 'The destination is not a file of the storage.';
it.each([
  ['PUT', '%zz', {}, 400, 'The path is not properly encoded.'],
  ['PUT', 'a%2Fb', {}, 409, 'The storage has no folders.'],
  ['GET', 'none', {}, 404, 'There is no file none.'],
  ['MKCOL', 'folder', {}, 405, 'The method MKCOL is not allowed here.'],
  ['GET', 'a.ova', basic('demo', 'wrong'), 401, 'Wrong user name or password.'],
  ['PUT', 'a.ova', { 'If-None-Match': '*' }, 412, 'There is a file a.ova.'],
  [
    ...(['MOVE', 'a.ova', { Destination: '/upload/a.ova', Overwrite: 'F' }] as const),
    ...([412, 'There is a file a.ova.'] as const),
  ],
  ['PUT', 'x'.repeat(256), {}, 414, 'The name is too long.'],
  ['PUT', '', {}, 405, 'The method PUT is not allowed here.'],
  ['PUT', 'b.ova', { 'Content-Range': 'bytes 2-3/7' }, 400, 'Parts are not supported.'],
  [
    ...(['MOVE', 'a.ova', { Destination: 'http://elsewhere.example/upload/b' }] as const),
    ...([502, 'The destination is another server.'] as const),
  ],
  ['MOVE', 'a.ova', { Destination: '/other/b' }, 400, NO_FILE],
  ['MOVE', 'a.ova', { Destination: '' }, 400, NO_FILE],
  ...['..', '%2E%2E', '.', 'a%5Cb', 'a%00'].map(
    (to) =>
      [
        ...(['MOVE', 'a.ova', { Destination: `/upload/${to}` }] as const),
        ...([409, 'The storage has no folders.'] as const),
      ] as const,
  ),
  ['MOVE', 'a.ova', { Destination: '/upload/%zz' }, 400, 'The name is not properly encoded.'],
] as const)('the storage answers %s %s %j with %i: %s', async (method, name, headers, ...row) => {
  const [status, message] = row;
  const { uploads, send, stored } = await startStorage();
  const { text, ...answer } = await send(method, name, headers, method === 'PUT' ? 'x' : undefined);
  expect([answer.status, JSON.parse(text).message]).toEqual([status, message]);
  expect([readdirSync(uploads), stored()]).toEqual([['demo'], ['a.ova']]);
});

it('the storage answers a name of more than 255 bytes with 414', async () => {
  const { statusOf, stored } = await startStorage();
  const long = ['x'.repeat(5_000), `${'%C3%A4'.repeat(127)}xy`];
  for (const name of long) expect(await statusOf('PUT', name, {}, 'x')).toBe(414);
  const Destination = `/upload/${long[1]}`;
  expect(await statusOf('MOVE', 'a.ova', { Destination })).toBe(414);
  expect(stored()).toEqual(['a.ova']);
});

it('the storage names its methods, and sends an empty file', async () => {
  const { send, statusOf } = await startStorage();
  const { status, headers } = await send('OPTIONS');
  const allow = 'OPTIONS, PROPFIND, GET, HEAD, PUT, MOVE, DELETE';
  expect([status, headers.get('dav'), headers.get('allow')]).toEqual([204, '1', allow]);
  expect(await statusOf('PUT', 'empty', {}, '')).toBe(201);
  const empty = await send('GET', 'empty');
  expect([empty.status, empty.text, empty.headers.get('content-length')]).toEqual([200, '', '0']);
});

it.each(['uploads', 'folder'] as const)(
  'the storage whose %s is a file answers 403',
  async (which) => {
    const { send, ...storage } = await startStorage();
    fs.rmSync(storage[which], { recursive: true });
    writeFileSync(storage[which], '');
    for (const method of ['PROPFIND', 'PUT']) {
      const { status, text } = await send(method);
      const { message } = JSON.parse(text);
      expect([status, message]).toEqual([403, 'The upload folder is not a folder.']);
    }
  },
);

it.each([
  ['ENOSPC', 507, 'The storage is full.'],
  ['EDQUOT', 507, 'The storage is full.'],
  ['EIO', 500, 'The service failed.'],
])(
  'the storage whose disk fails with %s answers %i, and keeps nothing',
  async (code, ...expected) => {
    const { send, uploads, stored } = await startStorage();
    const handle = await open(path.join(uploads, 'demo', 'a.ova'));
    const writing = vi.spyOn(Object.getPrototypeOf(handle), 'writeFile');
    onTestFinished(() => writing.mockRestore());
    await handle.close();
    writing.mockRejectedValue(Object.assign(new Error('refused'), { code }));
    const { status, text } = await send('PUT', 'b.ova', {}, 'x');
    expect([status, JSON.parse(text).message]).toEqual(expected);
    expect(stored()).toEqual(['a.ova']);
    await expect.poll(() => openFilesBelow(uploads)).toEqual([]);
  },
);

it('the fault drop:2 ends the connection after two bytes of an upload', async () => {
  const { send, uploads, folder } = await startStorage('PUT *=drop:2');
  const dropped = { cause: { code: 'UND_ERR_SOCKET' } };
  await expect(send('PUT', 'b.ova', {}, 'xyz')).rejects.toMatchObject(dropped);
  expect(readFileSync(path.join(folder, 'b.ova'), 'utf8')).toBe('xyz');
  await expect.poll(() => openFilesBelow(uploads)).toEqual([]);
});

unixOnly('links need no rights')('the storage follows no link, in no method', async () => {
  const { baseUrl, folder, send, statusOf } = await startStorage();
  const outside = path.join(temporaryDirectory(), 'secret');
  writeFileSync(outside, 'secret');
  symlinkSync(outside, path.join(folder, 'link'));
  for (const method of ['GET', 'HEAD', 'PROPFIND', 'DELETE', 'PUT']) {
    const body = method === 'PUT' ? 'x' : undefined;
    expect([method, await statusOf(method, 'link', {}, body)]).toEqual([method, 403]);
  }
  const { message } = JSON.parse((await send('GET', 'link')).text);
  expect(message).toBe('link is not a regular file.');
  const Destination = `${baseUrl}/upload/link`;
  expect(await statusOf('MOVE', 'a.ova', { Destination })).toBe(403);
  expect((await send('PROPFIND')).text).not.toContain('link');
  expect(readFileSync(outside, 'utf8')).toBe('secret');
  // Nor one in place of the user's folder.
  fs.renameSync(folder, `${folder}.real`);
  symlinkSync(`${folder}.real`, folder);
  expect(await statusOf('GET', 'a.ova')).toBe(403);
});

const REFUSED = [{}, basic('demo', 'wrong')];
it.each(REFUSED)(
  'an upload with the credentials %j gets 401 before its end, and its connection is closed',
  async (credentials) => {
    const { put, stored } = await startStorage();
    const { sent, response } = put({ ...credentials, 'Content-Length': 10 ** 12 }, 'the start');
    const closed = new Promise((resolve) => sent.on('close', resolve));
    const { statusCode, headers } = await response;
    expect({ statusCode, headers }).toMatchObject({
      statusCode: 401,
      headers: { connection: 'close', 'www-authenticate': 'Basic realm="uploads"' },
    });
    await closed;
    expect(stored()).toEqual(['a.ova']);
  },
);

it('the fault partial shows an upload before it is complete', async () => {
  const { put, folder, stored } = await startStorage('PUT /upload/*=partial');
  const { sent, response } = put({ ...basic('demo', 'demo'), 'Content-Length': 9 }, 'the ');
  await expect.poll(() => stored().sort()).toEqual(['a.ova', 'b.ova']);
  sent.end('start');
  expect((await response).statusCode).toBe(201);
  expect(readFileSync(path.join(folder, 'b.ova'), 'utf8')).toBe('the start');
});

it('the fault late:401 responds after the whole upload, of which nothing stays', async () => {
  const { send, stored } = await startStorage('PUT *=late:401');
  const { status, text } = await send('PUT', 'b.ova', {}, 'content');
  expect([status, JSON.parse(text).message]).toEqual([401, 'Fault injected after the body.']);
  expect(stored()).toEqual(['a.ova']);
});
