// Answers that lie, never end or do harm, against the built program: an error or plain data, soon.

import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Pages } from '../../src/api/types.ts';
import { HOSTILE, RAW_HARM } from '../output/hostile.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { LIST, scriptedService, startEmulatorProcess } from '../support/cli.ts';
import type { Handler, ScriptedResponse } from '../support/scripted-server.ts';

const page = (url: URL, changes: Partial<Pages>, ids: readonly number[]): ScriptedResponse => ({
  json: { ...cataloguePage(url, testImages(8), changes), data: ids.map(testImage) },
});

const envelope = (...data: unknown[]) => ({
  data,
  meta: { count: data.length, pages: { page: 1, pages: 1, total: data.length, next_url: null } },
});

describe('an answer that is no list', () => {
  it.each<[string, ScriptedResponse, RegExp]>([
    ['HTML', { body: '<html><b>hello</b></html>' }, /with HTML instead of JSON/],
    ['nothing', { body: '' }, /with an empty body instead of JSON/],
    ['null', { json: null }, /not a list of images/],
    ['JSON that breaks off', { body: '{"data": [{"id": 1' }, /truncated/],
    ['an array', { json: [] }, /not a list of images/],
    ['without data', { json: { meta: {} } }, /data is not a list/],
    ['without meta', { json: { data: [] } }, /meta is missing/],
    ['without pages', { json: { data: [], meta: {} } }, /meta\.pages is missing/],
    ['with texts for images', { json: envelope('x') }, /data does not hold images/],
    [
      'with an id beyond 2^53',
      { body: JSON.stringify(envelope({ id: 0 })).replace('"id":0', '"id":9007199254740993') },
      /larger than 2\^53/,
    ],
  ])('%s: one clear line, exit 1', async (_what, answer, reason) => {
    const service = await scriptedService(() => answer);
    const result = await service.imgctl('images', 'list');
    expect(result).toMatchObject({ stdout: '', exitCode: 1 });
    const [line = '', ...rest] = result.stderr.trimEnd().split('\n');
    expect(line).toContain(`GET ${service.baseUrl}/v2/image returned 200`);
    expect(line).toMatch(reason);
    expect(rest.filter((more) => !more.startsWith('hint: '))).toEqual([]);
    expect(service.sent()).toHaveLength(1);
  });

  it('of endless length ends at a cap, as does one that unfolds', async () => {
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

it('images with missing, null and further fields are shown as far as they go', async () => {
  const images = [{ id: 1 }, { id: 2, name: null, extra: { a: [1] } }, { name: 'no id' }];
  const service = await scriptedService(() => ({ json: envelope(...images) }));
  const json = await service.imgctl(...LIST);
  expect(json).toMatchObject({ stderr: '', exitCode: 0 });
  expect(JSON.parse(json.stdout)).toEqual(images);
  const table = await service.imgctl('images', 'list', '--columns', 'id,name', '--no-header');
  expect(table).toMatchObject({ stderr: '', exitCode: 0 });
  expect(table.stdout.split('\n')).toHaveLength(4);
});

describe('pages that lead astray', () => {
  const numbered =
    (
      idsOf: (page: number) => readonly number[],
      changes: (page: number, url: URL) => Partial<Pages>,
    ): Handler =>
    ({ url }) => {
      const number = Number(url.searchParams.get('page'));
      return page(url, changes(number, url), idsOf(number));
    };
  const here = (_page: number, url: URL) => ({ next_url: url.href });

  it.each<[string, Handler, number, number]>([
    // An exit code, and the most requests: twice the pages first announced plus 10.
    [
      'A-B-A',
      numbered(
        (number) => [number % 2],
        () => ({ pages: 4, total: 8 }),
      ),
      1,
      18,
    ],
    ['without end', numbered((number) => [number], here), 1, 26],
    [
      'empty, with a next page',
      numbered(
        () => [],
        (_page, url) => ({ ...here(0, url), total: 0 }),
      ),
      0,
      12,
    ],
  ])('%s: they end, and never in a quiet short list', async (_how, handler, exitCode, most) => {
    const service = await scriptedService(handler);
    const result = await service.imgctl(...LIST, '--per-page', '1', '-o', 'json');
    expect(result).toMatchObject({ stdout: exitCode === 0 ? '[]\n' : '', exitCode });
    if (exitCode === 1) expect(result.stderr).toContain('the list is incomplete');
    expect(service.sent().length).toBeLessThanOrEqual(most);
  });

  it('that shift while they are read: every image once', async () => {
    const service = await scriptedService(({ url }, index) => ({
      json: cataloguePage(url, index === 0 ? testImages(5) : testImages(6, 0)),
    }));
    const result = await service.imgctl('images', 'list', '--per-page', '2', '-q');
    expect(result).toMatchObject({ stdout: '0\n1\n2\n3\n4\n5\n', exitCode: 0 });
    expect(service.sent()).toHaveLength(6);
  });
});

describe('hostile text', () => {
  const raw = (text: string) => text.replaceAll('\n', '').match(RAW_HARM);

  it('of names and errors reaches no terminal and no message raw', async () => {
    const image = { ...testImage(1), name: HOSTILE, folder: HOSTILE };
    const service = await scriptedService({
      'GET /v2/image': { json: envelope(image) },
      'GET /v2/user/image/vm': { status: 400, json: { message: HOSTILE } },
      'GET /v2': { status: 302, headers: { location: '/\u009b2J%1b[2J' } },
    });
    for (const argv of [
      LIST,
      ['images', 'list'],
      ['my-images'],
      ['my-images', '--json'],
      ['api', '/v2'],
    ]) {
      const { stdout, stderr } = await service.imgctl(...argv, '--debug');
      expect(raw(stdout + stderr)).toBeNull();
    }
  });

  it('of prototype names is plain data or a usage error', async () => {
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

  it('of wildcards is matched in linear time', async () => {
    const name = 'a'.repeat(10_000);
    const service = await scriptedService(() => ({ json: envelope({ ...testImage(1), name }) }));
    const pattern = `${'%a'.repeat(50)}%b`;
    const result = await service.imgctl('my-images', '-f', `name,like,${pattern}`, '--json');
    expect(result).toMatchObject({ stdout: '[]\n', exitCode: 0 });
  });
});

it('the embedded service answers this machine alone, no other site, and those it knows', async () => {
  const emulator = await startEmulatorProcess();
  onTestFinished(async () => {
    await emulator.stop();
  });
  const { hostname, port } = new URL(emulator.baseUrl);
  expect(hostname).toBe('127.0.0.1');
  const ask = (method: string, path: string, headers: http.OutgoingHttpHeaders) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.request({ hostname, port, method, path, headers }, resolve);
      request.on('error', reject).end();
    });
  const demo = { authorization: `Basic ${Buffer.from('demo:demo').toString('base64')}` };
  const other = { authorization: `Basic ${Buffer.from('root:root').toString('base64')}` };
  const token = (headers: http.OutgoingHttpHeaders) => ask('POST', '/auth/request-token', headers);
  expect((await token({ ...demo, host: 'evil.example' })).statusCode).toBe(421);
  expect((await token(other)).statusCode).toBe(401);
  const answer = await token({ ...demo, origin: 'https://evil.example' });
  expect(answer.statusCode).toBe(200);
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual(
    [],
  );
});
