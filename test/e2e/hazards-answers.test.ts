// Hazards of responses: invalid, endless or hostile ones, against the built program.

import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pages } from '../../src/api/types.ts';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { LIST, scriptedService, startEmulatorProcess } from '../support/cli.ts';
import type { Handler, ScriptedResponse } from '../support/scripted-server.ts';

const envelope = (...data: unknown[]) => ({
  data,
  meta: { count: data.length, pages: { page: 1, pages: 1, total: data.length, next_url: null } },
});

describe('images list', () => {
  it.each<[string, ScriptedResponse, RegExp]>([
    ['HTML', { body: '<html><b>hello</b></html>' }, /with HTML instead of JSON/],
    ['an empty body', { body: '' }, /with an empty body instead of JSON/],
    ['null', { json: null }, /not a list of images/],
    ['truncated JSON', { body: '{"data": [{"id": 1' }, /truncated/],
    ['an object without data', { json: { meta: {} } }, /data is not a list/],
    ['texts for images', { json: envelope('x') }, /data does not hold images/],
    [
      'an id beyond 2^53',
      { body: JSON.stringify(envelope({ id: 0 })).replace('"id":0', '"id":9007199254740993') },
      /larger than 2\^53/,
    ],
  ])('fails with one line and exit 1 for %s', async (_what, response, reason) => {
    const service = await scriptedService(() => response);
    const result = await service.imgctl('images', 'list');
    expect(result).toMatchObject({ stdout: '', exitCode: 1 });
    const [line = '', ...rest] = result.stderr.trim().split('\n');
    expect(line).toContain(`GET ${service.baseUrl}/v2/image returned 200`);
    expect(line).toMatch(reason);
    expect(rest.filter((more) => !more.startsWith('hint: '))).toEqual([]);
    expect(service.sent()).toHaveLength(1);
  });

  it('prints images with missing, null and unknown fields', async () => {
    const images = [{ id: 1 }, { id: 2, name: null, extra: { a: [1] } }, { name: 'no id' }];
    const service = await scriptedService(() => ({ json: envelope(...images) }));
    const json = await service.imgctl(...LIST);
    expect(json).toMatchObject({ stderr: '', exitCode: 0 });
    expect(JSON.parse(json.stdout)).toEqual(images);
    const table = await service.imgctl('images', 'list', '--columns', 'id,name', '--no-header');
    expect(table).toMatchObject({ stderr: '', exitCode: 0 });
    expect(table.stdout.split('\n')).toHaveLength(4);
  });
});

describe('api', () => {
  it('stops at 64 MiB of an endless or a compressed body', async () => {
    const bomb = gzipSync(Buffer.alloc(65 * 2 ** 20));
    const service = await scriptedService({
      'GET /v2/bomb': { body: bomb, headers: { 'content-encoding': 'gzip' } },
      'GET /v2/endless': {
        raw: (socket) => {
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
          const chunk = `100000\r\n${' '.repeat(2 ** 20)}\r\n`;
          const more = () => {
            while (socket.writable && socket.write(chunk));
          };
          socket.on('drain', more);
          more();
        },
      },
    });
    for (const path of ['/v2/bomb', '/v2/endless']) {
      const result = await service.imgctl('api', path);
      expect(result).toMatchObject({ stdout: '', exitCode: 1 });
      expect(result.stderr).toContain('is larger than 64 MiB');
    }
    expect(service.sent()).toEqual(['GET /v2/bomb', 'GET /v2/endless']);
  });
});

describe('images list', () => {
  const numbered =
    (idsOf: (page: number) => readonly number[], changes: (url: URL) => Partial<Pages>): Handler =>
    ({ url }) => {
      const ids = idsOf(Number(url.searchParams.get('page')));
      const body = cataloguePage(url, testImages(8), changes(url));
      return { json: { ...body, data: ids.map((id) => testImage(id)) } };
    };

  // The maximum of requests is twice the pages first announced plus 10.
  it.each<[string, Handler, number, number]>([
    [
      'at pages A-B-A',
      numbered(
        (page) => [page % 2],
        () => ({ pages: 4, total: 8 }),
      ),
      1,
      18,
    ],
    [
      'at endless pages',
      numbered(
        (page) => [page],
        ({ href }) => ({ next_url: href }),
      ),
      1,
      26,
    ],
    [
      'at an empty page with a next page',
      numbered(
        () => [],
        ({ href }) => ({ next_url: href, total: 0 }),
      ),
      0,
      12,
    ],
  ])('never prints a short list %s', async (_where, handler, exitCode, maximum) => {
    const service = await scriptedService(handler);
    const result = await service.imgctl(...LIST, '--per-page', '1', '-o', 'json');
    expect(result).toMatchObject({ stdout: exitCode === 0 ? '[]\n' : '', exitCode });
    if (exitCode === 1) expect(result.stderr).toContain('the list is incomplete');
    expect(service.sent().length).toBeLessThanOrEqual(maximum);
  });

  it('prints every image once if pages shift', async () => {
    const service = await scriptedService(({ url }, index) => ({
      json: cataloguePage(url, index === 0 ? testImages(5) : testImages(6, 0)),
    }));
    const result = await service.imgctl('images', 'list', '--per-page', '2', '-q');
    expect(result).toMatchObject({ stdout: '0\n1\n2\n3\n4\n5\n', exitCode: 0 });
    expect(service.sent()).toHaveLength(6);
  });
});

describe('imgctl', () => {
  it('escapes hostile names and error messages', async () => {
    const image = { ...testImage(1), name: HOSTILE, folder: HOSTILE };
    const service = await scriptedService({
      'GET /v2/image': { json: envelope(image) },
      'GET /v2/user/image/vm': { status: 400, json: { message: HOSTILE } },
      'GET /v2': { status: 302, headers: { location: '/\u009b2J%1b[2J' } },
    });
    for (const argv of [LIST, ['images', 'list'], ['my-images'], ['api', '/v2']]) {
      const { stdout, stderr } = await service.imgctl(...argv, '--debug');
      expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(RAW_HARM);
    }
  });

  it('treats __proto__ and constructor as data or as a usage error', async () => {
    const body = JSON.stringify(envelope({ id: 1 })).replace(
      '"id"',
      '"__proto__":{"name":"p"},"constructor":"c","id"',
    );
    const service = await scriptedService(() => ({ body }));
    const list = await service.imgctl('images', 'list', '-o', 'ndjson');
    expect(list.stdout).toBe('{"__proto__":{"name":"p"},"constructor":"c","id":1}\n');
    const before = service.sent();
    for (const argv of [
      [...LIST, '-f', '__proto__,eq,1'],
      [...LIST, '-s', 'constructor'],
      [...LIST, '--columns', '__proto__'],
      ['config', 'set', '__proto__', 'x'],
      ['config', 'get', 'constructor'],
    ]) {
      expect(await service.imgctl(...argv)).toMatchObject({ stdout: '', exitCode: 2 });
    }
    expect(service.sent()).toEqual(before);
  });

  it('matches fifty wildcards in linear time', async () => {
    const name = 'a'.repeat(10_000);
    const service = await scriptedService(() => ({ json: envelope({ ...testImage(1), name }) }));
    const pattern = `${'%a'.repeat(50)}%b`;
    const result = await service.imgctl('my-images', '-f', `name,like,${pattern}`, '--json');
    expect(result).toMatchObject({ stdout: '[]\n', exitCode: 0 });
  });
});

it('the emulator accepts only this machine, its own host names and known users', async () => {
  const emulator = await startEmulatorProcess();
  onTestFinished(async () => {
    await emulator.stop();
  });
  const { hostname, port } = new URL(emulator.baseUrl);
  expect(hostname).toBe('127.0.0.1');
  const send = (method: string, path: string, headers: http.OutgoingHttpHeaders) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.request({ hostname, port, method, path, headers }, resolve);
      request.on('error', reject).end();
    });
  const demo = { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` };
  const other = { authorization: `Basic ${Buffer.from('root:root').toString('base64')}` };
  const token = (headers: http.OutgoingHttpHeaders) => send('POST', '/auth/request-token', headers);
  expect((await token({ ...demo, host: 'evil.example' })).statusCode).toBe(421);
  expect((await token(other)).statusCode).toBe(401);
  const response = await token({ ...demo, origin: 'https://evil.example' });
  expect(response.statusCode).toBe(200);
  expect(Object.keys(response.headers).filter((name) => name.startsWith('access-control'))).toEqual(
    [],
  );
});
