// Faults: how they are written, whose turn it is, and what each does over a real socket.

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { UserImageList } from '../../src/api/types.ts';
import { createFaultPicker, parseFault } from '../../src/emulator/faults.ts';
import { startService } from './harness.ts';

describe('parseFault', () => {
  it.each([
    ['GET /v2/image=503', 'GET', '/v2/image', { type: 'status', status: 503 }, 'always', 1],
    ['GET /v2/image=503,first=2', 'GET', '/v2/image', { type: 'status', status: 503 }, 'first', 2],
    ['* /v2/*=drop,every=3', '*', '/v2/*', { type: 'drop' }, 'every', 3],
    ['PATCH /v2/user/image/vm=stall', 'PATCH', '/v2/user/image/vm', { type: 'stall' }, 'always', 1],
    ['GET /v2=drip', 'GET', '/v2', { type: 'drip' }, 'always', 1],
    ['GET /v2=html', 'GET', '/v2', { type: 'html' }, 'always', 1],
    ['GET /v2=truncate', 'GET', '/v2', { type: 'truncate' }, 'always', 1],
    ['GET /v2=429:7', 'GET', '/v2', { type: 'status', status: 429, retryAfter: 7 }, 'always', 1],
  ])('reads %s', (spec, method, path, kind, when, count) => {
    expect(parseFault(spec)).toEqual({ method, path, kind, when, count });
  });

  it.each([
    '',
    'GET',
    'GET /v2',
    '/v2=503',
    'get /v2=503',
    'GET v2=503',
    'GET /v2=',
    'GET /v2=200',
    'GET /v2=600',
    'GET /v2=explode',
    'GET /v2=503:5',
    'GET /v2=429:',
    'GET /v2=429:-1',
    'GET /v2=503,first=0',
    'GET /v2=503,last=1',
    'GET /v2=503,first=1,every=2',
  ])('refuses %j in one line', (spec) => {
    expect(() => parseFault(spec)).toThrow(/^fault ".*".*$/);
  });
});

describe('the turn of a fault', () => {
  const turns = (specs: string[], count: number) => {
    const pick = createFaultPicker(specs.map(parseFault));
    return Array.from({ length: count }, () => pick('GET', '/v2')?.type ?? '-').join(' ');
  };

  it.each([
    [['GET /v2=drop'], 'drop drop drop drop'],
    [['GET /v2=drop,first=2'], 'drop drop - -'],
    [['GET /v2=drop,every=2'], '- drop - drop'],
    [['GET /v2=drop,first=1', 'GET /v2=stall,first=2'], 'drop stall - -'],
    [['GET /v2=drop,every=2', '* /*=html'], 'html drop html drop'],
    [['POST /v2=drop', 'GET /v2/image=drop', 'GET /v=drop'], '- - - -'],
    [['GET /v*=drop'], 'drop drop drop drop'],
  ])('%j gives %s', (specs, expected) => {
    expect(turns(specs, 4)).toBe(expected);
  });
});

/** Sends GET /v2/user/image/vm to a service with that fault and gives the request as it goes. */
async function requestWith(kind: string): Promise<ClientRequest> {
  const service = await startService({ faults: [parseFault(`GET /v2/user/image/vm=${kind}`)] });
  const headers = await service.login();
  return request(`${service.baseUrl}/v2/user/image/vm`, { headers }).end();
}

async function responseWith(kind: string): Promise<IncomingMessage> {
  const [response] = await once(await requestWith(kind), 'response');
  return response;
}

describe('a fault', () => {
  it('answers with a status and the error record', async () => {
    const service = await startService({ faults: [parseFault('GET /v2=503,first=1')] });
    const credentials = await service.login();
    const { status, body } = await service.send('GET', '/v2', credentials);
    expect(status).toBe(503);
    expect(body).toEqual({
      error: 'service unavailable',
      message: 'Fault injected: Service Unavailable.',
      status: 503,
    });
    expect((await service.send('GET', '/v2', credentials)).status).toBe(200);
  });

  it('answers with 429 and the seconds to wait', async () => {
    const response = await responseWith('429:7');
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBe('7');
  });

  it('redirects to a host that does not exist', async () => {
    const response = await responseWith('302');
    expect(response.statusCode).toBe(302);
    expect(response.headers.location).toBe('http://elsewhere.invalid/');
  });

  it('answers with a page of HTML', async () => {
    const response = await responseWith('html');
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toContain('text/html');
    expect(Buffer.concat(await response.toArray()).toString()).toMatch(/^<!doctype html>/);
  });

  it('drops the connection without an answer', async () => {
    const sent = await requestWith('drop');
    await expect(once(sent, 'response')).rejects.toThrow('socket hang up');
  });

  it('stalls: nothing comes as long as the client waits', async () => {
    const sent = await requestWith('stall');
    sent.setTimeout(50);
    expect(await Promise.race([once(sent, 'timeout'), once(sent, 'response')])).toEqual([]);
    sent.destroy();
  });

  it('drips: the body begins byte by byte', async () => {
    const response = await responseWith('drip');
    const [first] = await once(response, 'data');
    const [second] = await once(response, 'data');
    expect(`${first}${second}`).toBe('{"');
    expect(Number(response.headers['content-length'])).toBeGreaterThan(100);
    response.destroy();
  });

  it('truncates: half of the body, then the end of the connection', async () => {
    const response = await responseWith('truncate');
    const received: Buffer[] = [];
    response.on('data', (chunk: Buffer) => received.push(chunk));
    await expect(once(response, 'end')).rejects.toThrow('aborted');
    const length = Number(response.headers['content-length']);
    expect(Buffer.concat(received)).toHaveLength(Math.floor(length / 2));
  });

  it('of the connection lets a sync happen whose answer is lost, one of the status does not', async () => {
    const service = await startService({
      syncDelay: 0,
      faults: ['drop,first=1', '503,first=2'].map((kind) => parseFault(`PATCH /v2/*=${kind}`)),
    });
    const credentials = await service.login();
    const submit = () => service.send<UserImageList>('PATCH', '/v2/user/image/vm', credentials);
    await expect(submit()).rejects.toThrow();
    expect((await submit()).status).toBe(503);
    expect((await submit()).body).toMatchObject({ request: { id: 2 } });
  });
});
