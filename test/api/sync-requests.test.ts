// Tests submitted syncs and sync requests in the shapes that services send.

import { describe, expect, it } from 'vitest';
import { syncState } from '../../src/api/sync-requests.ts';
import { connect } from '../support/client.ts';
import { failure } from '../support/errors.ts';
import { rows } from '../support/rows.ts';
import type { ScriptedResponse } from '../support/scripted-server.ts';

const submit = async (response: ScriptedResponse) => {
  const { client } = await connect({ 'PATCH /v2/user/image/vm': response });
  return client.submitSync();
};
const read = async (json: unknown, id: number | string = 41) => {
  const { client } = await connect(() => ({ json }));
  return client.getSyncRequest(id);
};

describe('a submitted sync', () => {
  const LINK = 'http://host/v2/request/image_sync/41';
  const UUID = '6f1c2d3e-0000-4000-8000-1234567890ab';
  const linked = (request: unknown) => ({ _links: { request } });

  it.each<readonly [unknown, number | string | undefined]>([
    [{ request: { id: 41 }, data: { id: 1 }, id: 2, request_id: 3 }, 41],
    [{ data: { request: { id: 41 }, id: 1 }, id: 2 }, 41],
    [{ data: { id: 41 }, id: 1, request_id: 2 }, 41],
    [{ id: 41, request_id: 2 }, 41],
    [{ request_id: 41, _links: { request: 'http://host/1' } }, 41],
    ...rows(41, linked(LINK), linked(`${LINK}/?a=/9#b`), linked('/v2/request/image_sync/41')),
    ...rows(41, linked([LINK, 'http://host/9'])),
    ...rows('41', { id: '41' }, { request: { id: '41' } }),
    [{ id: '007' }, '007'],
    [{ id: UUID }, UUID],
    [{ id: '9007199254740993' }, '9007199254740993'],
    [{ id: 1.5, ...linked(`${LINK}9007199254740993`) }, '419007199254740993'],
    [{ id: 0 }, 0],
    ...rows(undefined, { id: '../../x' }, { id: '..' }, { id: -1 }, { id: 1.5 }, [{ id: 41 }]),
    ...rows(undefined, null, { request: null, data: null, id: null, _links: null }, linked([])),
    ...rows(undefined, linked('http://host/v2/request/image_sync'), linked('http://127.0.0.1/')),
  ])('with the response %j has the id %j', async (json, id) => {
    expect(await submit({ status: 202, json })).toMatchObject({ id, response: json });
  });

  it.each(['9007199254740993', '123456789012345678901234567890'])(
    'keeps the id %s exactly',
    async (id) => {
      const submitted = await submit({ body: `{"request":{"id":${id}}}` });
      expect(`${submitted.id}`).toBe(id);
      expect(submitted.id).not.toBe(id);
      const { client, server } = await connect(() => ({ body: `{"id":${id}}` }));
      expect(`${(await client.getSyncRequest(submitted.id ?? 0)).id}`).toBe(id);
      expect(server.requests[0]?.target).toBe(`/v2/request/image_sync/${id}`);
    },
  );

  it.each([[''], ['accepted'], ['{"request":']])(
    'with the body %j takes its id from Location',
    async (body) => {
      const headers = { location: '/v2/request/image_sync/41' };
      const submitted = await submit({ status: 202, headers, body });
      expect(submitted).toEqual({ id: 41, response: body });
      expect((await submit({ status: 202, body })).id).toBeUndefined();
    },
  );

  it('takes its id from the body rather than from Location', async () => {
    const headers = { location: '/v2/request/image_sync/9' };
    expect((await submit({ headers, json: { id: 41 } })).id).toBe(41);
  });

  it.each<[object, string | undefined, string | undefined]>([
    [{ message: 'Accepted.', request: { id: 41, status: 'PENDING' } }, 'PENDING', 'Accepted'],
    [{ data: { request: { id: 41, status: 'Processed' } } }, 'Processed', undefined],
    [{ data: { id: 41, status: 'SCHEDULED' } }, 'SCHEDULED', undefined],
    [{ id: 41, status: 'PENDING' }, 'PENDING', undefined],
    [{ id: 41, status: 202 }, undefined, undefined],
  ])('with the response %j has the status %s and the message %s', async (json, status, message) => {
    expect(await submit({ status: 202, json })).toMatchObject({ status, message, response: json });
  });

  it('has an unknown outcome if its response cannot be decoded', async () => {
    const response = { status: 202, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' };
    expect((await failure(submit(response))).code).toBe('outcome-unknown');
  });
});

it.each([
  ['waiting', 'PENDING IN_PROGRESS APPROVAL_REQUIRED SCHEDULED WHATEVER'.split(' ')],
  ['waiting', ['', undefined]],
  ['succeeded', 'PROCESSED Processed COMPLETED COMPLETE DONE SUCCESS'.split(' ')],
  ['succeeded', ['SUCCEEDED', 'FINISHED', ' done ']],
  [
    'failed',
    'ERROR error ERROR_RETRY CANCELLED CANCELED FAILED FAILURE REJECTED DENIED'.split(' '),
  ],
])('syncState is %s for the status words %j', (state, words) => {
  expect(words.map(syncState)).toEqual(words.map(() => state));
});

describe('a sync request', () => {
  const [created_on, updated_on] = ['2018-07-18 Wed 15:36:49 EDT', '2018-07-18 Wed 15:37:00 EDT'];
  const COUNTS = { added: ['a.ova'], deleted: 0 };
  const RECORD = { id: 41, status: 'PROCESSED', created_on, updated_on, ...COUNTS };
  const NOTHING = { added: null, deleted: null, createdOn: null, updatedOn: null };

  it.each([
    ['with', (data: object) => ({ data })],
    ['without', (data: object) => data],
  ])('is read %s a data wrapper', async (_, wrap) => {
    const message = { errors: ['e1', { code: 7 }], warnings: ['w1'] };
    const json = wrap({ ...RECORD, message, user: { username: 'ann' } });
    expect(await read(json)).toEqual({
      ...{ id: 41, status: 'PROCESSED', state: 'succeeded', ...COUNTS },
      ...{ createdOn: created_on, updatedOn: updated_on },
      ...{ errors: ['e1', '{"code":7}'], warnings: ['w1'], response: json },
    });
  });

  it.each([
    [{}],
    [{ data: {} }],
    [{ data: null, id: null, status: null, added: null, message: null }],
  ])('is waiting if its record is %j', async (json) => {
    const known = { id: 'abc1', state: 'waiting', errors: [], warnings: [], response: json };
    expect(await read(json, 'abc1')).toEqual({ ...known, ...NOTHING });
  });

  it.each([
    [3, 3],
    [[], []],
    [null, null],
    ['3', null],
  ])('turns added and deleted %j into %j', async (sent, expected) => {
    const request = await read({ added: sent, deleted: sent });
    expect(request).toMatchObject({ added: expected, deleted: expected });
  });

  it.each([
    [{ status: 'ERROR', message: { errors: 'one', warnings: null } }, ['one'], []],
    [{ status: 'ERROR', errors: ['one'], warnings: ['two', '', null] }, ['one'], ['two']],
    [{ status: 'FAILED', message: 'disk is full' }, ['disk is full'], []],
    [{ status: 'FAILED', message: 'disk is full', errors: ['one'] }, ['one', 'disk is full'], []],
    [{ status: 'PROCESSED', message: 'all well' }, [], []],
    [{ status: 'PENDING', message: 'queued' }, [], []],
    [{ status: 'FAILED', message: ' ' }, [], []],
  ])('reads from %j the errors %j and the warnings %j', async (json, errors, warnings) => {
    expect(await read(json)).toMatchObject({ errors, warnings });
  });

  it('is requested by its percent-encoded id', async () => {
    const { client, server } = await connect(() => ({ json: {} }));
    await client.getSyncRequest('../a b');
    expect(server.requests[0]?.target).toBe('/v2/request/image_sync/..%2Fa%20b');
  });

  it.each([[null], [[]], ['PROCESSED'], [41]])('is not read from %j', async (json) => {
    expect((await failure(read(json))).code).toBe('bad-answer');
  });
});
