// Tests the library's client against the emulator and scripted servers.

import type { IncomingHttpHeaders } from 'node:http';
import { rootCertificates } from 'node:tls';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { advice } from '../../src/facts.ts';
import {
  type ClientOptions,
  createClient,
  type Image,
  type ImageClient,
  type ImageQuery,
  ImgctlError,
} from '../../src/library/index.ts';
import { testImages } from '../support/catalogue-page.ts';
import { selfSigned } from '../support/certificate.ts';
import { type ServeOptions, serve } from '../support/emulator.ts';
import {
  DROP,
  errorResponse,
  requestsTo,
  type ScriptedResponse,
  STALL,
  scriptedServer,
  tokenResponse,
} from '../support/scripted-server.ts';

const DEMO = { username: 'demo', password: 'demo' };
const TOKEN = { token: 'T1' };
const FIRST_IMAGE = { json: testImages(1)[0] };

/** Repeats the credentials of a request, as they are and decoded. */
function echo(status: number, { authorization = '' }: IncomingHttpHeaders): ScriptedResponse {
  const decoded = Buffer.from(`${authorization.split(' ')[1]}`, 'base64').toString();
  return { status, json: { message: `refused ${authorization} ${decoded}` } };
}

/** Closes the client after the test. It does not retry, as its waits are real. */
function client(options: ClientOptions): ImageClient {
  const created = createClient({ retries: 0, ...options });
  onTestFinished(() => created.close());
  return created;
}

async function emulator(options: ServeOptions = {}) {
  const service = await serve(options);
  const count = (start: string) =>
    requestsTo(service).filter((each) => each.startsWith(start)).length;
  return { ...service, count };
}

async function list(from: ImageClient, query?: ImageQuery): Promise<Image[]> {
  const images: Image[] = [];
  for await (const image of from.images(query)) images.push(image);
  return images;
}

describe('library images', () => {
  it('yields every image, or those of a query with words, filters and sort keys', async () => {
    const { baseUrl, count } = await emulator({ images: 250 });
    const all = client({ baseUrl, ...DEMO });
    const everything = await list(all);
    expect([everything.length, count('GET /v2/image')]).toEqual([250, 3]);
    const matches = ({ id, name }: Image) => id > 1010 && /ubuntu.*server/.test(name);
    const expected = everything.filter(matches).sort((left, right) => right.id - left.id);
    expect(expected.length).toBeGreaterThan(3);
    const filter = ['id,gt,1010', 'public,eq,true'];
    const query = { text: ['ubuntu', 'server'], filter, sort: ['public', 'id,desc'] };
    expect(await list(all, query)).toEqual(expected);
    expect(await list(all, { ...query, limit: 3 })).toEqual(expected.slice(0, 3));
  });

  it.each<[ImageQuery, string]>([
    [{ filter: 'nmae,eq,x' }, 'nmae'],
    [{ sort: 'name,up' }, 'up'],
    [{ limit: 0 }, 'limit must be a whole number of at least 1 (got 0)'],
    [{ text: '' }, 'empty search text'],
    // As a program without types may pass them.
    [JSON.parse('{"filters": "name,eq,x"}'), "unknown option 'filters' in the query"],
    [JSON.parse('{"words": "ubuntu"}'), "unknown option 'words' in the query"],
    [JSON.parse('null'), 'the query must be an object'],
  ])('throws a usage error for %j and sends no request', async (query, message) => {
    const { baseUrl, requests } = await scriptedServer({});
    const { images, myImages } = client({ baseUrl, ...TOKEN });
    const error = { code: 'usage', message: expect.stringContaining(message) };
    await expect(images(query).next()).rejects.toMatchObject(error);
    await expect(myImages(query)).rejects.toMatchObject(error);
    expect(requests).toEqual([]);
  });
});

it('library methods send their request and return its result', async () => {
  const userImages = testImages(4).map((image) => ({ ...image, public: false }));
  const { baseUrl } = await scriptedServer({
    'GET /v2/image/7': { json: { data: testImages(1, 7)[0], meta: {} } },
    'GET /v2/user/image/vm': { json: { data: userImages, meta: { count: 4 } } },
    'PATCH /v2/user/image/vm': { status: 202, body: '{"request": {"id": "007"}}' },
    'GET /v2/request/image_sync/007': {
      json: { data: { id: '007', status: 'PROCESSED', added: 1 } },
    },
    'GET /v2': { status: 418, body: 'tea' },
  });
  const { getImage, myImages, submitSync, getSyncRequest, send } = client({ baseUrl, ...TOKEN });
  expect(await getImage(7)).toMatchObject({ id: 7, name: 'image-0007.ova' });
  expect(await myImages()).toEqual(userImages);
  const query = { filter: 'id,gt,1', sort: 'id,desc', limit: 2 };
  expect((await myImages(query)).map(({ id }) => id)).toEqual([4, 3]);
  const { id } = await submitSync();
  expect(await getSyncRequest(id ?? '')).toMatchObject({ state: 'succeeded', added: 1 });
  const { status, body } = await send({ method: 'get', path: '/v2' });
  expect({ status, body: body.toString() }).toEqual({ status: 418, body: 'tea' });
  const error = await getImage(8).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ImgctlError);
  expect(error).toMatchObject({ code: 'not-found', status: 404 });
});

describe('library token', () => {
  it('is requested once for many requests, and again if refused, up to the limit', async () => {
    const { baseUrl, count, expireTokens } = await emulator({ tokenLimit: 2 });
    const { myImages } = client({ baseUrl, ...DEMO });
    for (const requests of [1, 2]) {
      await Promise.all([1, 2, 3, 4].map(() => myImages()));
      expect(count('POST')).toBe(requests);
      expireTokens();
    }
    await expect(myImages()).rejects.toMatchObject({ code: 'rate-limited' });
    expect(count('POST')).toBe(2);
  });

  it('is not requested with a password that has a control character', async () => {
    const { baseUrl, requests } = await emulator();
    const { myImages } = client({ baseUrl, username: 'demo', password: 'de\u001bmo\n' });
    const message = 'password has a control character (U+001B)';
    await expect(myImages()).rejects.toMatchObject({ code: 'usage', message });
    expect(requests).toEqual([]);
  });

  it.each([5, undefined, null, {}, Buffer.from('demo'), Symbol('demo')])(
    'is not requested if the password function returns %s',
    async (returned) => {
      const { baseUrl, requests } = await emulator();
      const password = () => returned as unknown as string;
      const { myImages } = client({ baseUrl, username: 'demo', password });
      const message = 'the password function returned no password';
      await expect(myImages()).rejects.toMatchObject({ code: 'usage', message });
      expect(requests).toEqual([]);
    },
  );

  it.each<[string, Parameters<typeof scriptedServer>[0]]>([
    ['a refused password', ({ headers }) => echo(401, headers)],
    [
      'an error of the service',
      ({ method, headers }) =>
        method === 'POST' ? tokenResponse('T-of-alice') : echo(500, headers),
    ],
  ])('and its password are masked in messages and traces of %s', async (_, script) => {
    const { baseUrl } = await scriptedServer(script);
    const shown: string[] = [];
    const onTrace = shown.push.bind(shown);
    const user = client({ baseUrl, username: 'alice', password: 'hunter2/x', onTrace });
    for (const call of [() => list(user), user.myImages, user.submitSync, () => user.getImage(1)]) {
      // With its stack, its cause and all members.
      shown.push(inspect(await call().catch((error: unknown) => error)));
    }
    expect(shown.join()).toMatch(/refused \w+ \*{3}/);
    expect(shown.filter((text) => /hunter2|T-of-alice|YWxpY2U6/.test(text))).toEqual([]);
  });

  it('is requested with a new result of the password function each time', async () => {
    const { baseUrl, expireTokens } = await emulator();
    const passwords = ['demo', 'wrong', ''];
    const password = async () => passwords.shift() ?? '';
    const { myImages } = client({ baseUrl, username: 'demo\n', password });
    await myImages();
    expireTokens();
    const facts = { kind: 'password-refused', origin: 'the option password', username: 'demo' };
    const refused = { code: 'wrong-credentials', status: 401, facts };
    await expect(myImages()).rejects.toMatchObject(refused);
    const message = 'the password function returned no password';
    await expect(myImages()).rejects.toMatchObject({ code: 'usage', message });
  });
});

it('library errors show a short password that is the user name too, and mask that of a proxy', async () => {
  const { baseUrl } = await scriptedServer(({ headers }) =>
    errorResponse(403, `demo ${headers['proxy-authorization']}`),
  );
  const proxy = baseUrl.replace('//', '//ann:hunter2@');
  const options = { baseUrl: 'http://images.example', allowHttp: true, proxy };
  const message = expect.stringMatching(/: demo Basic \*{3}$/);
  await expect(client({ ...options, ...DEMO }).getImage(1)).rejects.toMatchObject({ message });
});

it('library errors name the option token, which the service refused', async () => {
  const { baseUrl } = await scriptedServer(() => errorResponse(401, 'Invalid token.'));
  const facts = { kind: 'token-refused', given: 'the option token' };
  const refused = { code: 'token-refused', facts };
  await expect(client({ baseUrl, ...TOKEN }).getImage(1)).rejects.toMatchObject(refused);
});

describe('library submitSync', () => {
  const SUBMIT = 'PATCH /v2/user/image/vm';
  const TOKENS = 'POST /auth/request-token';
  const FAILURES: readonly (readonly [string, ScriptedResponse, string, number])[] = [
    ['503', { status: 503 }, 'server-error', 60_000],
    ['HTML', { body: '<html>' }, 'bad-answer', 60_000],
    ['a closed connection', DROP, 'unreachable', 60_000],
    ['no response', STALL, 'timeout', 1_000],
  ];

  it.each(FAILURES)(
    'knows that nothing was submitted if its token request gets %s',
    async (_, response, code, timeout) => {
      const server = await scriptedServer({
        [TOKENS]: [response, tokenResponse('T1'), response],
        [SUBMIT]: { status: 401, json: { message: 'Valid token, but has expired.' } },
        'GET /v2/image/1': FIRST_IMAGE,
      });
      const user = client({ baseUrl: server.baseUrl, ...DEMO, timeout });
      const fails = async () => {
        const error = await user.submitSync().catch((thrown: unknown) => thrown);
        const message = expect.not.stringContaining('may have');
        expect(error).toMatchObject({ code, message });
        return requestsTo(server);
      };
      expect(await fails()).toEqual([TOKENS]);
      // The service accepts the next token, and refuses it later.
      await user.getImage(1);
      expect((await fails()).slice(3)).toEqual([SUBMIT, TOKENS]);
    },
  );

  it('keeps its outcome if onTrace throws, and warns once', async () => {
    const { baseUrl } = await scriptedServer({ [SUBMIT]: { json: { request: { id: 7 } } } });
    const warnings: string[] = [];
    const onWarning = (text: string) => warnings.push(text);
    const onTrace = () => {
      throw new Error('disk full');
    };
    const user = client({ baseUrl, ...TOKEN, onTrace, onWarning });
    expect(await user.submitSync()).toMatchObject({ id: 7 });
    expect(await user.submitSync()).toMatchObject({ id: 7 });
    expect(warnings).toEqual(['onTrace failed: disk full']);
    const failing = async () => {
      throw new Error('full');
    };
    const other = client({ baseUrl, ...TOKEN, onTrace: failing, onWarning: failing });
    expect(await other.submitSync()).toMatchObject({ id: 7 });
  });
});

describe('a signal of the library', () => {
  it.each(['client', 'request'])('of the %s ends a call that waits for a token', async (where) => {
    const { baseUrl, requests } = await scriptedServer({});
    const abort = new AbortController();
    const { signal } = abort;
    const password = () => {
      setImmediate(() => abort.abort(new Error('stop')));
      return new Promise<string>(() => {});
    };
    const options = where === 'client' ? { signal } : {};
    const user = client({ baseUrl, username: 'demo', password, ...options });
    await expect(user.getSyncRequest(1, signal)).rejects.toThrow('stop');
    expect(requests).toEqual([]);
  });

  it.each([new Error('stop'), 'stop'])('ends a request with its reason: %j', async (reason) => {
    const abort = new AbortController();
    const { baseUrl } = await scriptedServer(() => {
      setImmediate(() => abort.abort(reason));
      return STALL;
    });
    const user = client({ baseUrl, ...TOKEN });
    await expect(user.getSyncRequest(1, abort.signal)).rejects.toThrow('stop');
  });
});

describe('library close', () => {
  const CLOSED = { code: 'unreachable', message: 'the client is closed' };

  it('ends a call that waits for a password', async () => {
    const { baseUrl } = await scriptedServer({});
    const password = () => {
      void user.close();
      return new Promise<string>(() => {});
    };
    const user = client({ baseUrl, username: 'alice', password });
    await expect(user.getImage(1)).rejects.toMatchObject(CLOSED);
  });

  it('ends a call that waits before a retry', async () => {
    const { baseUrl } = await scriptedServer(() => ({
      status: 503,
      headers: { 'retry-after': '30' },
    }));
    const user = client({ baseUrl, ...TOKEN, retries: 1, onTrace: () => void user.close() });
    await expect(user.getImage(1)).rejects.toMatchObject(CLOSED);
  });

  it('says that the outcome of a submit that was sent is unknown', async () => {
    const { baseUrl } = await scriptedServer(() => {
      void user.close();
      return STALL;
    });
    const user = client({ baseUrl, ...TOKEN });
    const message = expect.stringMatching(/^the sync may have been submitted: /);
    await expect(user.submitSync()).rejects.toMatchObject({ code: 'outcome-unknown', message });
  });
});

describe('by default, the library', () => {
  it('opens 6 connections', async () => {
    const waiting: (() => void)[] = [];
    const { baseUrl } = await scriptedServer(async () => {
      await new Promise<void>((resolve) => waiting.push(resolve));
      return FIRST_IMAGE;
    });
    const user = client({ baseUrl, ...TOKEN });
    const images = Array.from({ length: 7 }, () => user.getImage(1));
    await expect.poll(() => waiting.length).toBe(6);
    for (let turns = 0; turns < 9; turns += 1) await new Promise(setImmediate);
    expect(waiting.splice(0).map((respond) => respond())).toHaveLength(6);
    await expect.poll(() => waiting.length).toBe(1);
    waiting[0]?.();
    expect(await Promise.all(images)).toHaveLength(7);
  });

  it('gives a request 30 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { baseUrl, requests } = await scriptedServer(() => STALL);
    const image = client({ baseUrl, ...TOKEN }).getImage(1);
    const message = expect.stringContaining(' within 30 s, ');
    const ended = expect(image).rejects.toMatchObject({ code: 'timeout', message });
    await expect.poll(() => requests).toHaveLength(1);
    vi.advanceTimersByTime(2 ** 31 - 1);
    await ended;
  });

  it('retries a request 4 times', async () => {
    const sleep = vi.spyOn(process.getBuiltinModule('node:timers/promises'), 'setTimeout');
    onTestFinished(() => sleep.mockRestore());
    sleep.mockResolvedValue(undefined);
    const { baseUrl, requests } = await scriptedServer(() => ({ status: 500 }));
    const user = client({ baseUrl, ...TOKEN, retries: undefined });
    await expect(user.getImage(1)).rejects.toMatchObject({ code: 'server-error' });
    expect(requests).toHaveLength(5);
  });
});

describe('library options', () => {
  const HTTPS = { baseUrl: 'https://a.example' };
  const CUT_CA = `${rootCertificates[0]}\n${rootCertificates[1]?.slice(0, 500)}`;

  // As a program without types may pass them; a value may be secret.
  const MISSPELLED = JSON.parse('{"timeOut": 5}');
  const TOKENS = JSON.parse('{"token": ["T1"]}');
  it.each<[string, ClientOptions, RegExp]>([
    [
      'an empty token',
      { ...HTTPS, token: '' },
      /^createClient needs either a token or a username and password$/,
    ],
    [
      'an invalid base URL',
      { baseUrl: 'images', ...TOKEN },
      /^base URL is not an http or https URL: images$/,
    ],
    [
      'plain http to another host',
      { baseUrl: 'http://a.example', ...TOKEN },
      /^plain http would expose credentials sent to a.example$/,
    ],
    [
      'a ca without a certificate',
      { ...HTTPS, ...TOKEN, ca: 'junk' },
      /^cannot read ca: no valid PEM certificate$/,
    ],
    [
      'a ca that ends early',
      { ...HTTPS, ...TOKEN, ca: CUT_CA },
      /^cannot read ca: certificate 2 of 2 is invalid$/,
    ],
    [
      'a misspelled option',
      { ...HTTPS, ...TOKEN, ...MISSPELLED },
      /^unknown option 'timeOut' in the options of the client$/,
    ],
    [
      'a user name with a colon',
      { ...HTTPS, username: 'a:b', password: 'x' },
      /^invalid username: a:…$/,
    ],
    // Also for a service on this machine, which is reached without it.
    [
      'a SOCKS proxy',
      { baseUrl: 'http://localhost', ...TOKEN, proxy: 'socks5://b.example' },
      /^the option proxy is a SOCKS proxy, which is not supported$/,
    ],
    ['an option of another type', { ...HTTPS, ...TOKENS }, /^token must be a string$/],
  ])('make createClient throw for %s', (_, options, message) => {
    expect(() => createClient(options)).toThrow(ImgctlError);
    expect(() => createClient(options)).toThrow(message);
  });

  it('authScheme, a base URL with a path, onTrace and onWarning apply to each request', async () => {
    const images = testImages(3).map((image) => ({
      ...image,
      updated_on: '2024-06-30 Sun 10:00:00 IST',
    }));
    const page = { data: images, meta: { pages: { total: 3, pages: 1, next_url: null } } };
    const server = await scriptedServer({
      'GET /api/v2/image': { json: page },
      'GET /api/v2/user/image/vm': { json: { data: images, meta: { count: 3 } } },
    });
    const lines: string[] = [];
    const collect = { onTrace: lines.push.bind(lines), onWarning: lines.push.bind(lines) };
    const baseUrl = new URL('/api/', server.baseUrl);
    const from = client({ baseUrl, authScheme: 'basic', ...collect, ...TOKEN });
    // The service ignores both.
    const query = { filter: ['id,eq,2', 'updated_on>=2024-06-30'], sort: 'id' };
    expect(await list(from, query)).toMatchObject([{ id: 2 }]);
    const authorization = `Basic ${Buffer.from('T1:').toString('base64')}`;
    const agent = expect.stringMatching(/^imgctl\/\d/);
    expect(server.requests[0]?.headers).toMatchObject({ authorization, 'user-agent': agent });
    expect(lines[0]).toMatch(/^GET http:\S+\/api\/v2\/image\?\S+: 200 in \d+ ms/);
    expect(lines[1]).toBe('1 image has times in the unknown zone IST; it is shown');
    expect(await from.myImages(query)).toMatchObject([{ id: 2 }]);
    expect(lines.slice(3)).toEqual(lines.slice(1, 2));
  });

  it('ca adds a trusted certificate', async () => {
    const certificate = selfSigned('127.0.0.1');
    const { baseUrl } = await scriptedServer({ 'GET /v2/image/1': FIRST_IMAGE }, certificate);
    await expect(client({ baseUrl, ...TOKEN }).getImage(1)).rejects.toMatchObject({ code: 'tls' });
    const trusting = client({ baseUrl, ca: certificate.cert, ...TOKEN });
    expect(await trusting.getImage(1)).toMatchObject({ id: 1 });
  });

  it('proxy that cannot be reached is an error of its own, unless the service is on this machine', async () => {
    const { baseUrl } = await scriptedServer({ 'GET /v2/image/1': FIRST_IMAGE });
    const direct = client({ baseUrl, proxy: '127.0.0.1:9', ...TOKEN });
    expect(await direct.getImage(1)).toMatchObject({ id: 1 });
    const proxied = client({ ...HTTPS, proxy: '127.0.0.1:9', ...TOKEN });
    const error = { code: 'proxy', facts: advice('check the option proxy') };
    await expect(proxied.getImage(1)).rejects.toMatchObject(error);
  });

  it.each<[string, (user: ImageClient, value: never) => Promise<unknown>, readonly unknown[]]>([
    [
      'id must be a whole number',
      (user, id) => user.getImage(id),
      [undefined, null, {}, 'x', 1.5, -1, 2 ** 60],
    ],
    [
      'id must be a number, or a string such as',
      (user, id) => user.getSyncRequest(id),
      [undefined, {}, NaN, '', '..', 'a/b'],
    ],
    ['signal must be an AbortSignal', (user, until) => user.getSyncRequest(1, until), [5]],
    ['the request must be an object', (user, request) => user.send(request), [undefined, null, 5]],
    [
      'method must be a string',
      (user, method) => user.send({ method, path: '/' }),
      [undefined, 5, 'connect'],
    ],
    ['path must be a string', (user, path) => user.send({ method: 'GET', path }), [undefined, 5]],
  ])('methods refuse other arguments: %s', async (message, call, values) => {
    const { baseUrl, requests } = await scriptedServer({});
    for (const value of values) {
      const error = { code: 'usage', message: expect.stringContaining(message) };
      await expect(call(client({ baseUrl, ...TOKEN }), value as never)).rejects.toMatchObject(
        error,
      );
    }
    expect(requests).toEqual([]);
  });
});
