// The WebDAV storage over real sockets: files, names, links, credentials, faults.

import fs, { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { basic, serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

/** A storage with the file a.ova of the user demo. */
async function startStorage(faults: readonly string[] = []) {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  fs.mkdirSync(folder);
  writeFileSync(path.join(folder, 'a.ova'), 'content');
  const service = await serve({ uploads, faults: faults.map(parseFault) });
  const send = async (method: string, name = '', options: RequestInit = {}) => {
    const response = await fetch(`${service.baseUrl}/upload/${name}`, {
      method,
      ...options,
      headers: { ...basic('demo', 'demo'), ...options.headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const statusOf = async (...options: Parameters<typeof send>) => (await send(...options)).status;
  return { ...service, uploads, folder, send, statusOf, stored: () => readdirSync(folder).sort() };
}

describe('the storage', () => {
  it('stores, lists, returns, renames and deletes a file', async () => {
    const { baseUrl, folder, send, statusOf, stored } = await startStorage();
    expect(await statusOf('PUT', 'b%20%26.ova', { body: 'first' })).toBe(201);
    expect(await statusOf('PUT', 'b%20%26.ova', { body: 'second' })).toBe(204);
    expect(readFileSync(path.join(folder, 'b &.ova'), 'utf8')).toBe('second');
    const list = await send('PROPFIND');
    expect(list.status).toBe(207);
    expect(list.text.match(/<D:href>[^<]*/g)).toEqual([
      '<D:href>/upload/',
      '<D:href>/upload/a.ova',
      '<D:href>/upload/b%20%26.ova',
    ]);
    expect((await send('PROPFIND', '', { headers: { Depth: '0' } })).text).not.toContain('a.ova');
    expect((await send('PROPFIND', 'a.ova')).text).toContain('<D:getcontentlength>7<');
    expect((await send('GET', 'a.ova')).text).toBe('content');
    const head = await send('HEAD', 'a.ova');
    expect([head.text, head.headers.get('content-length')]).toEqual(['', '7']);
    const move = (overwrite: string) =>
      statusOf('MOVE', 'a.ova', {
        headers: { Destination: `${baseUrl}/upload/b%20%26.ova`, Overwrite: overwrite },
      });
    expect([await move('F'), await move('T'), await move('T')]).toEqual([412, 204, 404]);
    expect(await statusOf('DELETE', 'b%20%26.ova')).toBe(204);
    expect(stored()).toEqual([]);
  });

  it.each([
    ['PUT', '%zz', 400],
    ['PUT', 'a%2Fb', 409],
    ['GET', 'none', 404],
    ['MKCOL', 'folder', 405],
    ['PUT', '', 405],
  ])('answers %s %s with %i', async (method, name, status) => {
    const { uploads, statusOf, stored } = await startStorage();
    expect(await statusOf(method, name, method === 'PUT' ? { body: 'x' } : {})).toBe(status);
    expect([readdirSync(uploads), stored()]).toEqual([['demo'], ['a.ova']]);
  });

  it('refuses a part of a file, and to move one elsewhere', async () => {
    const { statusOf, stored } = await startStorage();
    for (const Destination of ['http://elsewhere.example/upload/b', '/other/b', '']) {
      const status = await statusOf('MOVE', 'a.ova', { headers: { Destination } });
      expect([Destination, status]).toEqual([Destination, Destination.startsWith('h') ? 502 : 400]);
    }
    const headers = { 'Content-Range': 'bytes 2-3/7' };
    expect(await statusOf('PUT', 'a.ova', { body: 'xx', headers })).toBe(400);
    expect(await statusOf('PUT', 'b.ova', { body: 'xx', headers })).toBe(400);
    expect(stored()).toEqual(['a.ova']);
  });
});

unixOnly('links need no rights')('the storage follows no link, in no method', async () => {
  const { baseUrl, uploads, folder, send, statusOf } = await startStorage();
  const outside = path.join(temporaryDirectory(), 'secret');
  writeFileSync(outside, 'secret');
  symlinkSync(outside, path.join(folder, 'link'));
  for (const method of ['GET', 'HEAD', 'PROPFIND', 'DELETE', 'PUT']) {
    const body = method === 'PUT' ? { body: 'x' } : {};
    expect([method, await statusOf(method, 'link', body)]).toEqual([method, 403]);
  }
  const headers = { Destination: `${baseUrl}/upload/link` };
  expect(await statusOf('MOVE', 'a.ova', { headers })).toBe(403);
  expect((await send('PROPFIND')).text).not.toContain('link');
  expect(readFileSync(outside, 'utf8')).toBe('secret');
  expect(fs.lstatSync(path.join(folder, 'link')).isSymbolicLink()).toBe(true);
  const other = temporaryDirectory();
  symlinkSync(other, path.join(uploads, 'bob'));
  const bob = await serve({ uploads, users: [{ name: 'bob', password: 'bob' }] });
  const options = { method: 'PUT', headers: basic('bob', 'bob'), body: 'x' };
  expect((await fetch(`${bob.baseUrl}/upload/x`, options)).status).toBe(403);
  expect(readdirSync(other)).toEqual([]);
});

it.each([{}, basic('demo', 'wrong')])(
  'an upload without credentials gets 401 before its body ends: %j',
  async (credentials) => {
    const { baseUrl, stored } = await startStorage();
    const headers = { ...credentials, 'Content-Length': 10 ** 12 };
    const sent = request(`${baseUrl}/upload/b.ova`, { method: 'PUT', headers });
    const closed = new Promise((resolve) => sent.on('close', resolve));
    sent.on('error', () => {}); // the end of the connection
    const status = new Promise((resolve) => sent.on('response', (r) => resolve(r.statusCode)));
    sent.write('the start');
    expect(await status).toBe(401);
    await closed;
    expect(stored()).toEqual(['a.ova']);
  },
);

describe('an upload with the fault', () => {
  it.each(['507', 'late:401'])('%s gets that status and leaves no file', async (kind) => {
    const { statusOf, stored } = await startStorage([`PUT /upload/*=${kind}`]);
    const status = await statusOf('PUT', 'b.ova', { body: 'x'.repeat(100_000) });
    expect([status, stored()]).toEqual([Number(kind.slice(-3)), ['a.ova']]);
  });

  it('partial shows the file before it is complete', async () => {
    const { baseUrl, folder, stored } = await startStorage(['PUT /upload/*=partial']);
    const headers = { ...basic('demo', 'demo'), 'Content-Length': 9 };
    const sent = request(`${baseUrl}/upload/b.ova`, { method: 'PUT', headers });
    const ended = new Promise((resolve) => sent.on('response', (r) => resolve(r.statusCode)));
    sent.write('the ');
    await expect.poll(stored).toEqual(['a.ova', 'b.ova']);
    sent.end('start');
    expect(await ended).toBe(201);
    expect(readFileSync(path.join(folder, 'b.ova'), 'utf8')).toBe('the start');
  });
});
