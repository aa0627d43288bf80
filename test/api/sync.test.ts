// Sync requests in every shape that services are known to send, and some that they are not.

import { describe, expect, it } from 'vitest';
import { syncState } from '../../src/api/sync.ts';
import { start } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const submit = async (answer: ScriptedResponse) => {
  const { client } = await start({ 'PATCH /v2/user/image/vm': answer });
  return client.submitSync();
};
const read = async (json: unknown, id: number | string = 41) => {
  const { client } = await start(() => ({ json }));
  return client.getSyncRequest(id);
};

describe('the id of a submitted sync', () => {
  const LINK = 'http://host/v2/request/image_sync/41';

  it.each<[string, unknown, number | string | undefined]>([
    ['request.id', { request: { id: 41 }, data: { id: 1 }, id: 2, request_id: 3 }, 41],
    ['data.request.id', { data: { request: { id: 41 }, id: 1 }, id: 2 }, 41],
    ['data.id', { data: { id: 41 }, id: 1, request_id: 2 }, 41],
    ['id', { id: 41, request_id: 2 }, 41],
    ['request_id', { request_id: 41, _links: { request: 'http://host/1' } }, 41],
    ['_links.request', { _links: { request: LINK } }, 41],
    ['a link with slash and query', { _links: { request: `${LINK}/?a=/9#b` } }, 41],
    ['a link without host', { _links: { request: '/v2/request/image_sync/41' } }, 41],
    ['a list of links', { _links: { request: [LINK, 'http://host/9'] } }, 41],
    ['text', { id: '41' }, 41],
    [
      'a UUID',
      { id: '6f1c2d3e-0000-4000-8000-1234567890ab' },
      '6f1c2d3e-0000-4000-8000-1234567890ab',
    ],
    ['text beyond 2^53', { id: '9007199254740993' }, '9007199254740993'],
    [
      'a number beyond 2^53, which only the link has exactly',
      { id: 2 ** 60, _links: { request: `${LINK}9007199254740993` } },
      '419007199254740993',
    ],
    ['zero', { id: 0 }, 0],
    ['a path', { id: '../../x' }, undefined],
    ['dots', { id: '..' }, undefined],
    ['a negative number', { id: -1 }, undefined],
    ['a fraction', { id: 1.5 }, undefined],
    ['null', { request: null, data: null, id: null, _links: null }, undefined],
    [
      'a link to all requests',
      { _links: { request: 'http://host/v2/request/image_sync' } },
      undefined,
    ],
    ['a link to the host', { _links: { request: 'http://127.0.0.1/' } }, undefined],
    ['an empty list of links', { _links: { request: [] } }, undefined],
    ['an array', [{ id: 41 }], undefined],
    ['null alone', null, undefined],
  ])('is found: %s', async (_, json, id) => {
    const submitted = await submit({ status: 202, json });
    expect(submitted.id).toBe(id);
    expect(submitted.response).toEqual(json);
  });

  it.each([
    ['an empty body', ''],
    ['text', 'accepted'],
    ['JSON that breaks off', '{"request":'],
  ])('is taken from Location beside %s', async (_, body) => {
    const headers = { location: '/v2/request/image_sync/41' };
    expect(await submit({ status: 202, headers, body })).toEqual({
      id: 41,
      status: undefined,
      message: undefined,
      response: body,
    });
    expect((await submit({ status: 202, body })).id).toBeUndefined();
  });

  it('comes first from the body', async () => {
    const headers = { location: '/v2/request/image_sync/9' };
    expect((await submit({ headers, json: { id: 41 } })).id).toBe(41);
  });
});

it.each<[unknown, string | undefined, string | undefined]>([
  [
    { status: 202, message: 'Accepted.', request: { id: 41, status: 'PENDING', task_id: 'a' } },
    'PENDING',
    'Accepted',
  ],
  [{ data: { request: { id: 41, status: 'Processed' } } }, 'Processed', undefined],
  [{ data: { id: 41, status: 'SCHEDULED' } }, 'SCHEDULED', undefined],
  [{ id: 41, status: 'PENDING' }, 'PENDING', undefined],
  [{ id: 41, status: 202 }, undefined, undefined],
])('status and message of %j', async (json, status, message) => {
  expect(await submit({ status: 202, json })).toMatchObject({ status, message, response: json });
});

it.each([
  [400, 'failed'],
  [403, 'not-permitted'],
  [404, 'not-found'],
  [500, 'server-error'],
])('a submit answered with %i fails', async (status, code) => {
  const error = await failure(submit({ status, json: { message: 'No space left.' } }));
  expect([error.code, error.status]).toEqual([code, status]);
  expect(error.message).toContain('No space left');
});

it('an answer to a submit that cannot be decoded leaves its outcome unknown', async () => {
  const answer = { status: 202, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' };
  expect((await failure(submit(answer))).code).toBe('outcome-unknown');
});

it.each([
  [
    'waiting',
    ['PENDING', 'IN_PROGRESS', 'APPROVAL_REQUIRED', 'SCHEDULED', 'WHATEVER', '', undefined],
  ],
  ['succeeded', ['PROCESSED', 'Processed', 'COMPLETED', 'COMPLETE', 'DONE', 'SUCCESS']],
  ['succeeded', ['SUCCEEDED', 'FINISHED', ' done ']],
  ['failed', ['ERROR', 'error', 'ERROR_RETRY', 'CANCELLED', 'CANCELED', 'FAILED', 'FAILURE']],
  ['failed', ['REJECTED', 'DENIED']],
])('%s are %j', (state, words) => {
  expect(words.map(syncState)).toEqual(words.map(() => state));
});

describe('a sync request', () => {
  const RECORD = {
    id: 41,
    status: 'PROCESSED',
    type: 'image_sync',
    added: ['a.ova'],
    deleted: 0,
    created_on: '2018-07-18 Wed 15:36:49 EDT',
    updated_on: '2018-07-18 Wed 15:37:00 EDT',
    task_id: 'a',
    user: { username: 'ann' },
    message: { errors: ['e1', { code: 7 }], warnings: ['w1'] },
  };

  it.each([
    ['with data', { data: RECORD }],
    ['without data', RECORD],
  ])('is read %s', async (_, json) => {
    expect(await read(json)).toEqual({
      id: 41,
      status: 'PROCESSED',
      state: 'succeeded',
      added: ['a.ova'],
      deleted: 0,
      errors: ['e1', '{"code":7}'],
      warnings: ['w1'],
      createdOn: RECORD.created_on,
      updatedOn: RECORD.updated_on,
      response: json,
    });
  });

  it.each([
    [{}],
    [{ data: {} }],
    [{ data: null, id: null, status: null, added: null, message: null }],
  ])('is still waiting where it says nothing: %j', async (json) => {
    expect(await read(json, 'abc1')).toEqual({
      id: 'abc1',
      status: undefined,
      state: 'waiting',
      added: null,
      deleted: null,
      errors: [],
      warnings: [],
      createdOn: null,
      updatedOn: null,
      response: json,
    });
  });

  it.each([
    [3, 3],
    [[], []],
    [null, null],
    ['3', null],
  ])('added %j is %j', async (added, expected) => {
    expect(await read({ added, deleted: added })).toMatchObject({
      added: expected,
      deleted: expected,
    });
  });

  it.each([
    [{ status: 'ERROR', message: { errors: 'one', warnings: null } }, ['one'], []],
    [{ status: 'ERROR', errors: ['one'], warnings: ['two', '', null] }, ['one'], ['two']],
    [{ status: 'FAILED', message: 'disk is full' }, ['disk is full'], []],
    [{ status: 'FAILED', message: 'disk is full', errors: ['one'] }, ['one', 'disk is full'], []],
    [{ status: 'PROCESSED', message: 'all well' }, [], []],
    [{ status: 'PENDING', message: 'queued' }, [], []],
    [{ status: 'FAILED', message: ' ' }, [], []],
  ])('errors and warnings of %j', async (json, errors, warnings) => {
    expect(await read(json)).toMatchObject({ errors, warnings });
  });

  it('is asked for by its id, whatever that is', async () => {
    const { client, server } = await start(() => ({ json: {} }));
    await client.getSyncRequest('../a b');
    expect(server.requests[0]?.target).toBe('/v2/request/image_sync/..%2Fa%20b');
  });

  it.each([[null], [[]], ['PROCESSED'], [41]])('is not %j', async (json) => {
    expect((await failure(read(json))).code).toBe('bad-answer');
  });
});
