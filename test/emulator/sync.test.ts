// Sync requests over a real socket: sections 4.5, 4.6, 2.5 and 6.

import { describe, expect, it } from 'vitest';
import type { SyncSubmitResponse } from '../../src/api/types.ts';
import { serveWithClock } from '../support/emulator.ts';
import { DELAY, ovaBytes, startUploads } from './uploads-harness.ts';

describe('PATCH /v2/user/image/vm', () => {
  it('returns the id of the request and its URL, and logs a mail', async () => {
    const { baseUrl, mails, submit } = await startUploads();
    const { status, headers, body } = await submit();
    const url = `${baseUrl}/v2/request/image_sync/1`;
    expect(status).toBe(202);
    expect(headers.get('Location')).toBe(url);
    expect(body).toEqual({
      status: 202,
      message: expect.any(String),
      request: { id: 1, status: 'PENDING', task_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      _links: { request: url },
    });
    expect(mails).toEqual([expect.stringMatching(/^mail to demo: .*request 1 /)]);
  });
});

describe('a sync request', () => {
  // Without an upload folder there is nothing to scan, so only the clock decides.
  it('is pending, then in progress, then processed', async () => {
    const { advance, login, send } = await serveWithClock({ syncDelay: DELAY });
    const credentials = await login();
    const submitted = await send<SyncSubmitResponse>('PATCH', '/v2/user/image/vm', credentials);
    const read = async () => (await send('GET', '/v2/request/image_sync/1', credentials)).body;
    const pending = {
      id: 1,
      status: 'PENDING',
      type: 'image_sync',
      added: null,
      deleted: null,
      created_on: '2025-01-15 Wed 07:00:00 EST',
      updated_on: '2025-01-15 Wed 07:00:00 EST',
      task_id: submitted.body.request.task_id,
      user: { username: 'demo' },
      message: { errors: [], warnings: [] },
    };
    const inProgress = {
      ...pending,
      status: 'IN_PROGRESS',
      updated_on: '2025-01-15 Wed 07:00:01 EST',
    };
    const processed = {
      ...pending,
      status: 'PROCESSED',
      added: [],
      deleted: [],
      updated_on: '2025-01-15 Wed 07:00:03 EST',
      message: { errors: [], warnings: ['this service was started without an uploads folder'] },
    };
    for (const [milliseconds, data] of [
      [0, pending],
      [999, pending],
      [1, inProgress],
      [1999, inProgress],
      [1, processed],
    ] as const) {
      advance(milliseconds);
      expect(await read()).toEqual({ data });
    }
  });

  it.each(['2', '0', 'abc', '1.0', '01'])('gets 404 with the id %s', async (id) => {
    const { read, submit } = await startUploads();
    await submit();
    const { status, body } = await read(id);
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: 'not found', status: 404 });
  });

  it('gets 404 for another user', async () => {
    const { other, read, submit } = await startUploads();
    await submit();
    expect((await read(1)).status).toBe(200);
    expect((await read(1, other)).status).toBe(404);
  });

  it('may follow another at once', async () => {
    const { advance, ended, submit, upload } = await startUploads();
    await upload({ 'small.ova': ovaBytes('small') });
    await submit();
    await submit();
    advance(DELAY);
    expect(await ended(2)).toMatchObject({ status: 'PROCESSED', added: [], deleted: [] });
    expect(await ended(1)).toMatchObject({ status: 'PROCESSED', added: ['small.ova'] });
  });
});
