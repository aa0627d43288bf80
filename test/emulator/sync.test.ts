// Sync requests over a real socket: sections 4.5, 4.6, 2.5 and 6.

import { describe, expect, it } from 'vitest';
import type { SyncSubmitResponse } from '../../src/api/types.ts';
import { startService } from './harness.ts';
import { DELAY, ovaBytes, startUploads } from './uploads-harness.ts';

describe('submitting a sync', () => {
  it('gives the id of the request and where to follow it, and sends a mail', async () => {
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
  // Without an upload folder there is nothing to read, so that the clock alone decides.
  it('is pending, then in progress, then processed', async () => {
    const { advance, login, send } = await startService({ syncDelay: DELAY });
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
    expect(await read()).toEqual({ data: pending });
    advance(999);
    expect(await read()).toEqual({ data: pending });
    advance(1);
    expect(await read()).toEqual({ data: inProgress });
    advance(1999);
    expect(await read()).toEqual({ data: inProgress });
    advance(1);
    expect(await read()).toEqual({
      data: {
        ...pending,
        status: 'PROCESSED',
        added: [],
        deleted: [],
        updated_on: '2025-01-15 Wed 07:00:03 EST',
        message: {
          errors: [],
          warnings: ['this service was started without an uploads folder'],
        },
      },
    });
  });

  it.each(['2', '0', 'abc', '1.0', '01'])('is not found by the id %s', async (id) => {
    const { read, submit } = await startUploads();
    await submit();
    const { status, body } = await read(id);
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: 'not found', status: 404 });
  });

  it('is nobody else’s', async () => {
    const { other, read, submit } = await startUploads();
    await submit();
    expect((await read(1)).status).toBe(200);
    expect((await read(1, other)).status).toBe(404);
  });

  it('can follow another at once', async () => {
    const { advance, ended, submit, upload } = await startUploads();
    await upload({ 'small.ova': ovaBytes('small') });
    await submit();
    await submit();
    advance(DELAY);
    expect(await ended(2)).toMatchObject({ status: 'PROCESSED', added: [], deleted: [] });
    expect(await ended(1)).toMatchObject({ status: 'PROCESSED', added: ['small.ova'] });
  });
});
