// The library's client against the embedded service and scripted ones: what it sends, returns and throws.

import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type ClientOptions,
  createClient,
  type Image,
  type ImageClient,
  type ImageQuery,
  ImgctlError,
} from '../../src/library/index.ts';
import { startService } from '../session/harness.ts';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { selfSigned } from '../support/certificate.ts';
import { DROP, errorResponse, scriptedServer } from '../support/scripted-server.ts';

const DEMO = { username: 'demo', password: 'demo' };
const TOKEN = { token: 'T1' };
const PAGE = 'GET /v2/image';

/** A client that is closed with the test; without retries, as their waits are real. */
function client(options: ClientOptions): ImageClient {
  const created = createClient({ retries: 0, ...options });
  onTestFinished(() => created.close());
  return created;
}

async function listed(from: ImageClient, query?: ImageQuery): Promise<Image[]> {
  const images: Image[] = [];
  for await (const image of from.images(query)) images.push(image);
  return images;
}

describe('images', () => {
  it('come all, in order, from as many pages as there are', async () => {
    const { emulator, requests } = await startService({ images: 250 });
    const images = await listed(client({ baseUrl: emulator.baseUrl, ...DEMO }));
    const ids = images.map(({ id }) => id);
    expect(ids).toHaveLength(250);
    expect(ids).toEqual([...ids].sort((left, right) => left - right));
    expect(requests.filter((request) => request.startsWith(PAGE))).toHaveLength(3);
  });

  it.each<[string, ImageQuery, (image: Image) => boolean]>([
    ['a text', { text: 'ubuntu' }, ({ name }) => name.includes('ubuntu')],
    ['several texts', { text: ['ubuntu', '22.04'] }, ({ name }) => /ubuntu.*22\.04/.test(name)],
    [
      'filters',
      { filter: ['name,like,%server%', 'folder,eq,ubuntu'] },
      ({ name, folder }) => name.includes('server') && folder === 'ubuntu',
    ],
  ])('are those that match %s', async (_, query, matches) => {
    const { emulator } = await startService({ images: 250 });
    const own = client({ baseUrl: emulator.baseUrl, ...DEMO });
    const expected = (await listed(own)).filter(matches);
    expect(expected.length).toBeGreaterThan(0);
    expect(await listed(own, query)).toEqual(expected);
  });

  it('come in the order asked for, up to the limit', async () => {
    const { emulator } = await startService({ images: 250 });
    const own = client({ baseUrl: emulator.baseUrl, ...DEMO });
    const images = await listed(own, { sort: ['folder', 'name,desc'], limit: 30 });
    const folders = images.map(({ folder }) => folder ?? '');
    expect(folders).toEqual([...folders].sort());
    const names = images.filter(({ folder }) => folder === null).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(1);
    expect(names).toEqual([...names].sort().reverse());
    expect(images).toHaveLength(30);
  });

  it('are fetched no further than the reader goes', async () => {
    const all = testImages(1000);
    const server = await scriptedServer(({ url }) => ({ json: cataloguePage(url, all) }));
    const own = client({ baseUrl: server.baseUrl, concurrency: 1, ...TOKEN });
    for await (const image of own.images()) if (image.id === 150) break;
    expect(server.requests.length).toBeLessThan(5);
  });

  it('are filtered here where the service did not, which onWarning hears', async () => {
    const page = { data: testImages(3), meta: { pages: { total: 3, pages: 1, next_url: null } } };
    const server = await scriptedServer({ [PAGE]: { json: page } });
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    const own = client({ baseUrl: server.baseUrl, onWarning, ...TOKEN });
    expect(await listed(own, { filter: 'id,eq,2', sort: 'id' })).toMatchObject([{ id: 2 }]);
    expect(warnings).toEqual([expect.stringContaining('did not confirm the filter and the sort')]);
  });

  it.each<[ImageQuery, string]>([
    [{ filter: 'nmae,eq,x' }, 'nmae'],
    [{ sort: 'name,up' }, 'up'],
    [{ limit: 0 }, 'limit must be a whole number of at least 1 (got 0)'],
    [{ text: '' }, 'empty search text'],
  ])('%j is an error, and nothing is sent', async (query, message) => {
    const server = await scriptedServer({});
    const own = client({ baseUrl: server.baseUrl, ...TOKEN });
    const error = { code: 'usage', message: expect.stringContaining(message) };
    await expect(listed(own, query)).rejects.toMatchObject(error);
    await expect(own.myImages(query)).rejects.toMatchObject(error);
    expect(server.requests).toEqual([]);
  });
});

it('one image, the own ones, a sync and its state, and any request', async () => {
  const own = testImages(4).map((image) => ({ ...image, public: false }));
  const server = await scriptedServer({
    'GET /v2/image/7': { json: { data: testImages(1, 7)[0], meta: {} } },
    'GET /v2/user/image/vm': { json: { data: own, meta: { count: 4 } } },
    'PATCH /v2/user/image/vm': { status: 202, json: { request: { id: 41, status: 'PENDING' } } },
    'GET /v2/request/image_sync/41': { json: { data: { id: 41, status: 'PROCESSED', added: 1 } } },
    'GET /v2': { status: 418, body: 'tea' },
  });
  const { getImage, myImages, submitSync, getSyncRequest, send } = client({
    baseUrl: server.baseUrl,
    ...TOKEN,
  });
  expect(await getImage(7)).toMatchObject({ id: 7, name: 'image-0007.ova' });
  expect(await myImages()).toEqual(own);
  const query = { filter: 'id,gt,1', sort: 'id,desc', limit: 2 };
  expect((await myImages(query)).map(({ id }) => id)).toEqual([4, 3]);
  expect(await submitSync()).toMatchObject({ id: 41, status: 'PENDING' });
  expect(await getSyncRequest(41)).toMatchObject({ state: 'succeeded', added: 1 });
  const { status, body } = await send({ method: 'GET', path: '/v2' });
  expect({ status, body: body.toString() }).toEqual({ status: 418, body: 'tea' });
  await expect(getImage(8)).rejects.toBeInstanceOf(ImgctlError);
  await expect(getImage(8)).rejects.toMatchObject({ code: 'not-found', status: 404 });
});

describe('the token', () => {
  const many = (own: ImageClient) => Promise.all([1, 2, 3, 4].map(() => own.myImages()));

  it('is requested once for many requests, and again when the service refuses it', async () => {
    const { emulator, tokenRequests } = await startService();
    const own = client({ baseUrl: emulator.baseUrl, ...DEMO });
    expect(tokenRequests()).toBe(0);
    await many(own);
    expect(tokenRequests()).toBe(1);
    emulator.expireTokens();
    await many(own);
    expect(tokenRequests()).toBe(2);
  });

  it('is requested with a password from a function, each time', async () => {
    const { emulator } = await startService();
    const passwords = ['demo', 'wrong'];
    const password = async () => passwords.shift() ?? '';
    const own = client({ baseUrl: emulator.baseUrl, username: 'demo', password });
    await own.myImages();
    emulator.expireTokens();
    await expect(own.myImages()).rejects.toMatchObject({ code: 'wrong-credentials', status: 401 });
  });

  it('is not requested once the limit is known to be reached', async () => {
    const { emulator, tokenRequests } = await startService({ tokenLimit: 2 });
    const own = client({ baseUrl: emulator.baseUrl, username: 'demo', password: 'wrong' });
    for (let round = 0; round < 2; round += 1) {
      await expect(own.myImages()).rejects.toMatchObject({ code: 'wrong-credentials' });
    }
    await expect(own.myImages()).rejects.toMatchObject({ code: 'rate-limited' });
    expect(tokenRequests()).toBe(2);
  });

  it('that was given is used as it is, and not replaced', async () => {
    const server = await scriptedServer({
      'GET /v2/user/image/vm': errorResponse(401, 'Invalid token.'),
    });
    const own = client({ baseUrl: server.baseUrl, ...TOKEN });
    await expect(own.myImages()).rejects.toMatchObject({
      code: 'token-refused',
      hint: 'create a client with a new token',
    });
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer T1']);
  });
});

describe('options', () => {
  it.each<[string, ClientOptions, string]>([
    ['no credentials', { baseUrl: 'https://a.example', token: '' }, 'either a token or'],
    [
      'no password',
      { baseUrl: 'https://a.example', username: 'u', password: '' },
      'either a token or',
    ],
    ['no URL', { baseUrl: 'images', ...TOKEN }, 'not an http or https URL'],
    ['plain http elsewhere', { baseUrl: 'http://a.example', ...TOKEN }, 'plain http'],
    ['no time', { baseUrl: 'https://a.example', timeout: 0, ...TOKEN }, 'timeout'],
    ['half a try', { baseUrl: 'https://a.example', retries: 0.5, ...TOKEN }, 'retries'],
    ['no request', { baseUrl: 'https://a.example', concurrency: 0, ...TOKEN }, 'concurrency'],
    ['a colon', { baseUrl: 'https://a.example', username: 'a:b', password: 'c' }, 'username'],
  ])('%s: createClient throws', (_, options, message) => {
    expect(() => createClient(options)).toThrow(ImgctlError);
    expect(() => createClient(options)).toThrow(message);
  });

  it('basic sends the token as the user name, below the path prefix; onTrace hears of it', async () => {
    const server = await scriptedServer({ 'GET /api/v2/image/1': { json: testImages(1)[0] } });
    const lines: string[] = [];
    const own = client({
      baseUrl: new URL('/api/', server.baseUrl),
      authScheme: 'basic',
      onTrace: (line) => lines.push(line),
      ...TOKEN,
    });
    await own.getImage(1);
    const [request] = server.requests;
    expect(request?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from('T1:').toString('base64')}`,
      'user-agent': expect.stringMatching(/^imgctl\/\d/),
    });
    expect(lines).toEqual([
      expect.stringMatching(/^GET http:\S+\/api\/v2\/image\/1: 200 in \d+ ms/),
    ]);
  });

  it('ca makes a certificate trusted', async () => {
    const certificate = selfSigned('127.0.0.1');
    const server = await scriptedServer(
      { 'GET /v2/image/1': { json: testImages(1)[0] } },
      certificate,
    );
    const { baseUrl } = server;
    await expect(client({ baseUrl, ...TOKEN }).getImage(1)).rejects.toMatchObject({ code: 'tls' });
    const trusting = client({ baseUrl, ca: certificate.cert, ...TOKEN });
    expect(await trusting.getImage(1)).toMatchObject({ id: 1 });
  });

  it('proxy is what a request goes through', async () => {
    const proxy = await scriptedServer({});
    const own = client({ baseUrl: 'https://a.example', proxy: proxy.baseUrl, ...TOKEN });
    await expect(own.getImage(1)).rejects.toMatchObject({ code: 'proxy' });
    const wrong = client({ baseUrl: 'https://a.example', proxy: 'socks5://b.example', ...TOKEN });
    await expect(wrong.getImage(1)).rejects.toMatchObject({ code: 'config' });
  });

  it('retries says how often a request is tried again', async () => {
    const server = await scriptedServer({ 'GET /v2/image/1': [DROP, { json: testImages(1)[0] }] });
    await client({ baseUrl: server.baseUrl, retries: 1, ...TOKEN }).getImage(1);
    expect(server.requests).toHaveLength(2);
  });

  it('signal ends what is under way, with its reason', async () => {
    const abort = new AbortController();
    const server = await scriptedServer(() => {
      abort.abort(new Error('enough'));
      return new Promise(() => {});
    });
    const own = client({ baseUrl: server.baseUrl, signal: abort.signal, ...TOKEN });
    await expect(own.getImage(1)).rejects.toThrow('enough');
  });
});
