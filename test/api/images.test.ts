// Tests responses about images in other shapes than those of test/commands/hazards.test.ts.

import { expect, it } from 'vitest';
import { connect } from '../support/client.ts';
import { failure, hintOf } from '../support/errors.ts';
import { rows } from '../support/rows.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const catalogue = (data: unknown, pages: object = {}): ScriptedResponse => ({
  json: { data, meta: { pages: { page: 1, pages: 1, total: 1, next_url: null, ...pages } } },
});

const DEEP = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
const NO_COUNT = 'but meta.pages does not say how many images there are';

it.each<[string, ScriptedResponse, string]>([
  ['truncated JSON', { body: '{"data": [{"id": 1' }, 'with a body that is not valid JSON'],
  ['nothing', { body: ' ' }, 'with an empty body instead of JSON'],
  ['deep nesting', { body: DEEP }, 'with JSON nested deeper than 50 levels'],
  ['an array', { json: [] }, 'but the body is not a list of images'],
  ['an object as its data', { json: { data: {}, meta: {} } }, 'but data is not a list'],
  ['no meta', { json: { data: [] } }, 'but meta is missing'],
  ['no pages', { json: { data: [], meta: {} } }, 'but meta.pages is missing'],
  ['a negative total', catalogue([], { total: -1 }), NO_COUNT],
  ['half an image', catalogue([], { total: 1.5 }), NO_COUNT],
  ['a total as text', catalogue([], { total: '1' }), NO_COUNT],
  ['an endless total', catalogue([], { total: 2 ** 60 }), NO_COUNT],
  ['null as an image', catalogue([null]), 'but data does not hold images'],
])('a catalogue page is rejected if it holds %s', async (_, response, text) => {
  const { client, server } = await connect({ 'GET /v2/image': response });
  const error = await failure(client.listImages({ perPage: 100 }, 1));
  const url = `${server.baseUrl}/v2/image`;
  const message = `GET ${url} returned 200${text.startsWith('but') ? ',' : ''} ${text}`;
  expect(error).toMatchObject({ code: 'bad-answer', exitCode: 1, status: 200, message });
  const check = 'check the base URL: imgctl config get base-url';
  expect(hintOf(error)).toBe(response.body === DEEP ? `print it with: imgctl api ${url}` : check);
});

it('a catalogue page may hold more elements than it should, and a byte order mark', async () => {
  const { json } = catalogue(Array(250).fill({}));
  const { client } = await connect({ 'GET /v2/image': { body: `\ufeff${JSON.stringify(json)}` } });
  const { images, ...page } = await client.listImages({ perPage: 100 }, 1);
  expect(images).toHaveLength(250);
  expect(page).toMatchObject({ total: 1, pages: 1, hasNext: false });
});

const IMAGE = { id: 7, name: 'a.ova' };
const NO_IMAGE = 'but the body is not an image';

it.each([
  [{ data: IMAGE, meta: {} }, IMAGE],
  [IMAGE, IMAGE],
  [{ data: { ...IMAGE, id: '7' } }, { ...IMAGE, id: '7' }],
  [{ data: { name: 'a.ova' } }, { name: 'a.ova' }],
  // Another image.
  [{ data: { id: 8, name: 'a.ova' } }, 'the service sent image 8 instead of image 7'],
  [{ data: { id: '07', name: 'a.ova' } }, 'the service sent image 07 instead of image 7'],
  [{ data: null }, NO_IMAGE],
  [{ data: [{ id: 7 }] }, NO_IMAGE],
  [{ data: [], id: null }, NO_IMAGE],
  [{ id: 2 ** 53 }, 'but the image id 9007199254740992 is not between -2^53 and 2^53'],
  [{ id: -(2 ** 53) }, 'but the image id -9007199254740992 is not between -2^53 and 2^53'],
])('one image from %j is %j', async (json, expected) => {
  const { client } = await connect({ 'GET /v2/image/7': { json } });
  const outcome = await client
    .getImage(7)
    .catch(({ message }) => message.replace(/.* returned 200, /, ''));
  expect(outcome).toEqual(expected);
});

it.each<readonly [unknown, number | string]>([
  [{ data: [{ id: 1 }, { id: 2 }], meta: { count: 2 } }, 2],
  [{ data: [], meta: { count: 0 } }, 0],
  [{ data: [{ id: 1 }], meta: { count: 1, pages: { page: 1, pages: 1, next_url: null } } }, 1],
  [{ data: [{ id: 1 }, { id: 2 }], meta: { count: 1 } }, 'the body holds 2 images instead of 1'],
  ...rows(
    'the body holds 1 image instead of 2',
    { data: [{ id: 1 }], meta: { count: 2 } },
    { data: [{ id: 1 }], meta: { count: 1, pages: { total: 2 } } },
    { data: [{ id: 1 }], meta: { count: 2, pages: { total: 1 } } },
  ),
  ...rows(
    'the body has no number of images',
    { data: [], meta: {} },
    { data: [{ id: 1 }], meta: { count: '1' } },
    { data: [{ id: 1 }], meta: { pages: { total: 1 } } },
  ),
  ...rows(
    'the body is only the first page of the images',
    { data: [{ id: 1 }], meta: { count: 1, pages: { page: 1, pages: 2 } } },
    { data: [{ id: 1 }], meta: { count: 1, pages: { next_url: '?page=2' } } },
  ),
  [{ data: ['http://x/1'], meta: { count: 1 } }, 'data does not hold images'],
  [
    { data: [{ id: 2 ** 53 }], meta: { count: 1 } },
    'the image id 9007199254740992 is not between -2^53 and 2^53',
  ],
])("the user's own images from %j are %j", async (json, expected) => {
  const { client } = await connect({ 'GET /v2/user/image/vm': { json } });
  const count = client.listUserImages().then(({ images }) => images.length);
  expect(await count.catch(({ message }) => message.replace(/^.* 200, but /, ''))).toBe(expected);
});
