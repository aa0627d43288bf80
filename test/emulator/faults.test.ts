// Faults: their syntax, which is due, and what each does over a real socket.

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createFaultPicker, parseFault } from '../../src/emulator/faults.ts';
import { serve } from '../support/emulator.ts';

describe('parseFault', () => {
  it.each([
    ['GET /v2/image=503,first=2', 'GET', '/v2/image', { type: 'status', status: 503 }, 'first', 2],
    ['* /v2/*=drop,every=3', '*', '/v2/*', { type: 'drop' }, 'every', 3],
    ['GET /v2=429:7', 'GET', '/v2', { type: 'status', status: 429, retryAfter: 7 }, 'always', 1],
  ])('reads %s', (spec, method, path, kind, when, count) => {
    expect(parseFault(spec)).toEqual({ method, path, kind, when, count });
  });

  it.each([
    ...['', 'GET', 'GET /v2', '/v2=503', 'get /v2=503', 'GET v2=503', 'GET /v2='],
    ...['GET /v2=503,first=0', 'GET /v2=503,last=1', 'GET /v2=503,first=1,every=2'],
  ])('refuses %j, which is not of its form', (spec) => {
    expect(() => parseFault(spec)).toThrow(/^fault ".*" is not METHOD PATH=KIND.*$/);
  });

  it.each(['200', '600', 'explode', '503:5', '429:', '429:-1'])('refuses the kind %j', (kind) => {
    expect(() => parseFault(`GET /v2=${kind}`)).toThrow(`has the unknown kind "${kind}"`);
  });
});

describe('createFaultPicker', () => {
  it.each([
    [['GET /v2=drop'], 'drop drop drop drop'],
    [['GET /v2=drop,first=2'], 'drop drop - -'],
    [['GET /v2=drop,every=2'], '- drop - drop'],
    [['GET /v2=drop,first=1', 'GET /v2=stall,first=2'], 'drop stall - -'],
    [['GET /v2=drop,every=2', '* /*=html'], 'html drop html drop'],
    [['POST /v2=drop', 'GET /v2/image=drop', 'GET /v=drop'], '- - - -'],
  ])('with %j picks %s', (specs, expected) => {
    const pick = createFaultPicker(specs.map(parseFault));
    const picked = Array.from({ length: 4 }, () => pick('GET', '/v2')?.type ?? '-');
    expect(picked.join(' ')).toBe(expected);
  });
});

/** Returns the response to GET /v2/user/image/vm of a service with a fault of that kind. */
async function responseWith(kind: string): Promise<IncomingMessage> {
  const faults = [parseFault(`GET /v2/user/image/vm=${kind}`)];
  const { baseUrl, login } = await serve({ faults });
  const sent = request(`${baseUrl}/v2/user/image/vm`, { headers: await login() }).end();
  const [response] = await once(sent, 'response');
  return response;
}

describe('a fault', () => {
  it.each([
    ['503', 503, {}, /"error":"service unavailable","message":"Fault injected: /],
    ['429:7', 429, { 'retry-after': '7' }, /./],
    ['302', 302, { location: 'http://elsewhere.invalid/' }, /./],
    ['html', 200, { 'content-type': expect.stringContaining('text/html') }, /^<!doctype html>/],
  ])('%s sends the status %i, headers and a body', async (kind, status, headers, body) => {
    const response = await responseWith(kind);
    expect([response.statusCode, response.headers]).toMatchObject([status, headers]);
    expect(Buffer.concat(await response.toArray()).toString()).toMatch(body);
  });

  it('drip sends the body byte by byte', async () => {
    const response = await responseWith('drip');
    const [first] = await once(response, 'data');
    const [second] = await once(response, 'data');
    expect(`${first}${second}`).toBe('{"');
    expect(Number(response.headers['content-length'])).toBeGreaterThan(100);
    response.destroy();
  });

  it('truncate sends half of the body and closes the connection', async () => {
    const response = await responseWith('truncate');
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    await expect(once(response, 'end')).rejects.toThrow('aborted');
    const length = Number(response.headers['content-length']);
    expect(Buffer.concat(chunks)).toHaveLength(Math.floor(length / 2));
  });
});
