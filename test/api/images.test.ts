// Tests the responses to requests for catalogue pages, one image and the user's own images.

import { describe, expect, it } from 'vitest';
import { connect } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const PAGES = { page: 1, pages: 1, per_page: 100, total: 1, next_url: null };
const QUERY = { perPage: 100 };

const catalogue = (data: unknown, pages: object = {}): ScriptedResponse => ({
  json: { data, meta: { pages: { ...PAGES, ...pages } } },
});
const total = (value: unknown) => catalogue([], { total: value });

describe('a catalogue page', () => {
  it('is returned with missing, null and unknown fields, despite a byte order mark', async () => {
    const data = '[{"id": 1, "name": null, "x": {"y": [1]}, "__proto__": {"z": 1}}, {}]';
    const body = `\ufeff{"data": ${data}, "meta": {"pages": ${JSON.stringify(PAGES)}}}`;
    const { client } = await connect({ 'GET /v2/image': { body } });
    const page = await client.listImages(QUERY, 1);
    expect(JSON.stringify(page.images)).toBe(data.replaceAll(' ', ''));
    expect(page).toMatchObject({ total: 1, pages: 1, perPage: 100, hasNext: false });
  });

  it('may hold 200 elements', async () => {
    const { client } = await connect({ 'GET /v2/image': catalogue(Array(200).fill({})) });
    expect((await client.listImages(QUERY, 1)).images).toHaveLength(200);
  });

  const NOT_JSON = 'with a body that is not valid JSON';
  const NO_COUNT = 'but meta.pages does not say how many images there are';
  const DEEP = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
  const HUGE = catalogue([{ id: 2 ** 53 + 2 }]);

  it.each<[string, ScriptedResponse, string]>([
    ['truncated JSON', { body: '{"data": [{"id": 1' }, NOT_JSON],
    ['deep nesting', { body: DEEP }, 'with JSON nested deeper than 50 levels'],
    ['an array', { json: [] }, 'but the body is not a list of images'],
    ['null data', catalogue(null), 'but data is not a list'],
    ['no meta', { json: { data: [] } }, 'but meta is missing'],
    ['no pages', { json: { data: [], meta: {} } }, 'but meta.pages is missing'],
    ['a negative total', total(-1), NO_COUNT],
    ['half an image', total(1.5), NO_COUNT],
    ['a total as text', total('1'), NO_COUNT],
    ['an endless total', total(2 ** 60), NO_COUNT],
    ['201 elements', catalogue(Array(201).fill({})), 'a page holds 201 elements, more than 200'],
    ['null as an image', catalogue([null]), 'but data does not hold images'],
    ['a huge id', HUGE, 'but the image id 9007199254740994 is larger than 2^53'],
  ])('is rejected with status and URL if it holds %s', async (_, response, text) => {
    const { client, server } = await connect({ 'GET /v2/image': response });
    const error = await failure(client.listImages(QUERY, 1));
    expect([error.code, error.exitCode, error.status]).toEqual(['bad-answer', 1, 200]);
    expect(error.message).toContain(`GET ${server.baseUrl}/v2/image returned 200`);
    expect(error.message).toContain(text);
    expect(server.requests).toHaveLength(1);
  });
});

it.each([
  { data: { id: 7, name: 'a.ova' }, meta: {} },
  { id: 7, name: 'a.ova' },
])('one image is returned from %j', async (json) => {
  const { client } = await connect({ 'GET /v2/image/7': { json } });
  expect(await client.getImage(7)).toEqual({ id: 7, name: 'a.ova' });
});

it.each([{ data: null }, { data: [{ id: 7 }] }, { id: 2 ** 53 }])(
  'one image is not returned from %j',
  async (json) => {
    const { client } = await connect({ 'GET /v2/image/7': { json } });
    expect((await failure(client.getImage(7))).code).toBe('bad-answer');
  },
);

it.each([{ count: 2 }, { count: 1 }, {}])(
  "the user's own images are returned with meta %j",
  async (meta) => {
    const json = { data: [{ id: 1 }, { id: 2 }], meta };
    const { client } = await connect({ 'GET /v2/user/image/vm': { json } });
    expect(await client.listUserImages()).toEqual({ images: json.data, meta });
  },
);

it.each([
  { data: [{ id: 1 }], meta: { count: 2 } },
  { data: [{ id: 1 }], meta: { count: 1, pages: { total: 2 } } },
  { data: ['http://x/1'], meta: {} },
  { data: [{ id: 2 ** 53 }], meta: {} },
])("the user's own images are not returned from %j", async (json) => {
  const { client } = await connect({ 'GET /v2/user/image/vm': { json } });
  expect((await failure(client.listUserImages())).code).toBe('bad-answer');
});
