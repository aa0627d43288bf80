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
  it('is an error if the service answers with its error record', async () => {
    const json = { error: 'authentication error', message: 'Invalid token.', status: 401 };
    expect((await failure(submit({ json }))).code).toBe('token-refused');
    const { code, message } = await failure(submit({ json: { ...json, status: 500 } }));
    expect({ code, message }).toEqual({
      code: 'server-error',
      message: expect.stringMatching(/^the sync may have/),
    });
  });

  const LINK = 'http://host/v2/request/image_sync/41';
  const UUID = '6f1c2d3e-0000-4000-8000-1234567890ab';
  const linked = (request: unknown) => ({ _links: { request } });

  it.each<readonly [unknown, number | string]>([
    [{ request: { id: 41 }, data: { id: 1 }, id: 2, request_id: 3 }, 41],
    [{ data: { request: { id: 41 }, id: 1 }, id: 2 }, 41],
    [{ data: { id: 41 }, id: 1, request_id: 2 }, 41],
    [{ id: 41, request_id: 2 }, 41],
    [{ request_id: 41, _links: { request: 'http://host/1' } }, 41],
    ...rows(41, linked(LINK), linked(`${LINK}/?a=/9#b`), linked('/v2/request/image_sync/41')),
    ...rows(41, linked([LINK, 'http://host/9'])),
    ...['v21', 'rev2'].map((id) => [linked(LINK.replace('41', id)), id] as const),
    ...rows('41', { id: '41' }, { request: { id: '41' } }),
    [{ id: '007' }, '007'],
    [{ id: UUID }, UUID],
    [{ id: 1.5, ...linked(`${LINK}9007199254740993`) }, '419007199254740993'],
    ...rows('v21', linked('/sync/v21'), linked('/sync/v21/')),
    [linked('/sync/1v2'), '1v2'],
    [{ id: 0 }, 0],
  ])('with the response %j has the id %j', async (json, id) => {
    expect(await submit({ status: 202, json })).toMatchObject({ id, response: json });
  });

  it('has the id of a response whose message is not UTF-8', async () => {
    const body = Buffer.from('{"id": 41, "message": "Gr\u00fc\u00dfe"}', 'latin1');
    expect(await submit({ status: 202, body })).toMatchObject({ id: 41 });
  });

  it.each([
    ...[{ id: '../../x' }, { id: '..' }, { id: '-7f' }, { id: -1 }, { id: 1.5 }, [{ id: 41 }]],
    ...[{ request: null, data: null, id: null, _links: null }, linked([]), linked('/v2'), null],
    ...[linked('http://host/v2/request/image_sync'), linked('http://127.0.0.1/')],
    ...[
      linked('http://host/v2/'),
      linked('http://host/v3'),
      { success: false, message: 'Busy' },
      'Back at 5',
    ],
  ])('has an unknown outcome with the response %j, which has no id', async (json) => {
    const { code, message } = await failure(submit({ status: 202, json }));
    expect(code).toBe('outcome-unknown');
    const end = `returned 202 without the id of a sync request: ${JSON.stringify(json)}`;
    expect(message).toContain(end);
  });

  const BODIES = ['', 'accepted', '<p>', '{"request":', '{"id": 41}'];
  it.each(BODIES)('with the body %j has the id of Location if the body has none', async (body) => {
    const location = `/v2/request/image_sync/${body.includes('41') ? 9 : 41}`;
    expect((await submit({ status: 202, headers: { location }, body })).id).toBe(41);
  });

  it('has an unknown outcome if its response cannot be decoded', async () => {
    const response = { status: 202, headers: { 'content-encoding': 'gzip' }, body: 'no gzip' };
    expect((await failure(submit(response))).code).toBe('outcome-unknown');
  });
});

it.each<[string, (string | undefined)[]]>([
  ['waiting', [...'PENDING IN_PROGRESS APPROVAL_REQUIRED SCHEDULED WHAT'.split(' '), undefined]],
  [
    'succeeded',
    [
      ...'PROCESSED Processed COMPLETED COMPLETE DONE SUCCESS SUCCEEDED FINISHED'.split(' '),
      ' done ',
    ],
  ],
  [
    'failed',
    'ERROR error ERROR_RETRY CANCELLED CANCELED FAILED FAILURE REJECTED DENIED'.split(' '),
  ],
])('syncState is %s for the status words %j', (state, words) => {
  expect(words.map(syncState)).toEqual(words.map(() => state));
});

describe('a sync request', () => {
  const [created_on, updated_on] = ['2018-07-18 Wed 15:36:49 EDT', '2018-07-18 Wed 15:37:00 EDT'];
  const message = { errors: ['e1', { code: 7 }], warnings: ['w1'] };
  const CHANGES = { id: 41, status: 'PROCESSED', added: ['a'], deleted: 0 };
  const RECORD = { ...CHANGES, created_on, updated_on, message };

  it.each([{ data: RECORD }, RECORD])('is read from %j', async (json) => {
    expect(await read(json)).toEqual({
      ...{ ...CHANGES, state: 'succeeded', createdOn: created_on, updatedOn: updated_on },
      ...{ errors: ['e1', '{"code":7}'], warnings: ['w1'], response: json },
    });
  });

  const NULLS = { data: null, id: null, status: null, added: null, message: null };

  it.each([{}, { data: {} }, NULLS])('is waiting if its record is %j', async (json) => {
    const problems = json === NULLS ? [] : null;
    const found = { state: 'waiting', errors: problems, warnings: problems };
    const known = { id: 'abc1', ...found, response: json };
    const added = 'added' in json ? { added: null } : {};
    expect(await read(json, 'abc1')).toEqual({
      ...{ ...known, ...added, createdOn: null, updatedOn: null },
    });
  });

  it.each([
    ['waiting', { status: 'success', data: { id: 41, state: 'FAILED' } }],
    ['waiting', { status: 'success', request: { id: 41 } }],
    ['failed', { data: { status: 'success', request: { id: 41, status: 'ERROR' } } }],
    ['failed', { id: 41, status: 'FAILED', data: { status: 'success' } }],
    ['waiting', { data: { id: 41, status: 'PENDING', request: { status: 'success' } } }],
    ['succeeded', { id: 41, status: 'PROCESSED', data: { added: 3 } }],
    ['succeeded', { status: 'PENDING', data: { status: 'PROCESSED' } }],
  ])(
    'takes the status of the innermost record, or of the innermost with an id: %s for %j',
    async (state, json) => {
      expect(await read(json)).toMatchObject({ state });
    },
  );

  it.each([
    [{ added: 3, deleted: [] }, 3, []],
    [{ added: '3', deleted: null }, null, null],
  ])('reads from %j that it added %j and deleted %j', async (json, added, deleted) => {
    expect(await read(json)).toMatchObject({ added, deleted });
  });

  it.each([
    [{ status: 'ERROR', message: { errors: 'one', warnings: null } }, ['one'], []],
    [{ errors: ['one'], warnings: ['two', '', null] }, ['one'], ['two']],
    [{ status: 'FAILED', message: 'disk is full' }, ['disk is full'], null],
    [{ status: 'FAILED', message: 'full', errors: ['one'] }, ['one', 'full'], null],
    [{ status: 'FAILED', message: 'full', errors: ['full'] }, ['full'], null],
    [{ errors: 'one', message: { errors: ['one', 'two', 'two'] } }, ['one', 'two', 'two'], null],
    [{ status: 'PROCESSED', message: 'all well' }, null, null],
    [{ status: 'PROCESSED', message: null }, [], []],
    [{ status: 'PROCESSED', result: { failed: [{ file: 'a.ova' }] } }, null, null],
    [{ status: 'FAILED', message: ' ' }, null, null],
    [{ message: { errors: 0, warnings: false } }, [], []],
    [{ message: { errors: {}, warnings: [[]] } }, [], []],
    [{ message: { errors: 'None', warnings: [' ', { count: 0 }] } }, [], []],
    [{ message: { errors: 2, warnings: { count: 1 } } }, ['2'], ['{"count":1}']],
  ])('reads from %j the errors %j and the warnings %j', async (json, errors, warnings) => {
    expect(await read(json)).toMatchObject({ errors, warnings });
  });

  it.each([
    { id: 41, status: 'PROCESSED', message: {}, errors: ['boom'] },
    { data: { request: { id: 41, status: 'PROCESSED', errors: ['boom'] } } },
    { request_id: 41, status: 'PROCESSED', errors: 'boom' },
    { data: { id: 41, status: 'PROCESSED', errors: 'boom', request: { id: 'ab-1' } } },
  ])('is read with its errors from %j', async (json) => {
    expect(await read(json)).toMatchObject({ id: 41, state: 'succeeded', errors: ['boom'] });
  });

  it.each<[unknown]>([
    ...[-99, '99 ', 99.5, 'é99', [99], true, 'https://host/99'].map((id): [unknown] => [
      { data: { id } },
    ]),
    [{ request_id: 99, status: 'PROCESSED' }],
    [{ request: { id: 99, status: 'ERROR' } }],
    [{ data: [{ id: 99, status: 'ERROR' }] }],
    ...[null, [], 'PROCESSED', 41].map((json): [unknown] => [json]),
  ])('is not read from %j', async (json) => {
    const { code, message } = await failure(read(json));
    const text = / returned 200, but the body is not a sync request$| instead of sync request 41$/;
    expect({ code, message }).toEqual({
      code: 'bad-answer',
      message: expect.stringMatching(text),
    });
  });
});

it('a submit that a page of a firewall refuses may have been submitted', async () => {
  const response = { status: 403, body: '<html><title>Blocked</title></html>' };
  const { client } = await connect({ 'PATCH /v2/user/image/vm': response });
  const error = await failure(client.submitSync());
  expect(error.message).toMatch(/^the sync may have been submitted: /);
  expect(error.facts).toEqual({ kind: 'sync-unknown' });
});

it.each([
  [
    'a page for maintenance',
    '<html><head><title>Down\n for\nmaintenance</title></head>',
    ': Down for maintenance',
  ],
  ['a title with what looks like a tag', '<TITLE>no a<b>c</TITLE>', ': no a<b>c'],
  [
    'a page without a title',
    '<body><SCRIPT>x()</SCRIPT><h1>Back <b>at</b> 5</h1></body>',
    ': Back at 5',
  ],
  // The mark says where it was cut, so that a secret there is masked.
  ['a page of many lines', '<h1>Back\n\n at</h1>\n<p>5', ': Back at 5'],
  ['a page of many words', `<p>${'x'.repeat(300)}`, `: ${'x'.repeat(199)}…`],
  ['a page of many blanks', `<p>${' '.repeat(16_370)}long-secrets`, ': long-secre…'],
])('a submit that gets %s has an unknown outcome, with its words', async (_, body, words) => {
  const { client, server } = await connect({ 'PATCH /v2/user/image/vm': { body } });
  const error = await failure(client.submitSync());
  const response = `PATCH ${server.baseUrl} returned 200 with HTML instead of JSON${words}`;
  const message = `the sync may have been submitted: ${response}`;
  const facts = { kind: 'sync-unknown' };
  expect(error).toMatchObject({ code: 'outcome-unknown', exitCode: 3, message, facts });
  expect(server.requests).toHaveLength(1);
});
