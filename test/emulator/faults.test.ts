// Faults: their syntax, which is due, and what each does over a real socket.

import { describe, expect, it } from 'vitest';
import { createFaultPicker, parseFault } from '../../src/emulator/faults.ts';
import { serve } from '../support/emulator.ts';

it.each([
  ...['', 'GET', 'GET /v2', '/v2=503', 'get /v2=503', 'GET v2=503', 'GET /v2='],
  ...['GET /v2=503,first=0', 'GET /v2=503,last=1', 'GET /v2=503,first=1,every=2'],
  ...['200', '600', 'explode', '503:5', '429:', '429:-1'].map((kind) => `GET /v2=${kind}`),
])('parseFault refuses %j', (spec) => {
  expect(() => parseFault(spec)).toThrow(/^fault ".*" (is not METHOD PATH=KIND|has the unknown k)/);
});

it.each([
  [['GET /v2=drop'], 'drop drop drop drop'],
  [['GET /v2=drop,first=2'], 'drop drop - -'],
  [['GET /v2=drop,every=2'], '- drop - drop'],
  [['GET /v2=drop,first=1', 'GET /v2=stall,first=2'], 'drop stall - -'],
  [['GET /v2=drop,every=2', '* /*=html'], 'html drop html drop'],
  [['POST /v2=drop', 'GET /v2/image=drop', 'GET /v=drop'], '- - - -'],
])('createFaultPicker with %j picks %s', (specs, expected) => {
  const pick = createFaultPicker(specs.map(parseFault));
  const picked = Array.from({ length: 4 }, () => pick('GET', '/v2')?.type ?? '-');
  expect(picked.join(' ')).toBe(expected);
});

describe('a fault', () => {
  const responseWith = async (kind: string) => {
    const { baseUrl } = await serve({ faults: [parseFault(`GET /v2=${kind}`)] });
    return fetch(`${baseUrl}/v2`, { redirect: 'manual' });
  };

  it.each([
    ['503', 503, 'content-type', 'application/json', /"message":"Fault injected: /],
    ['429:7', 429, 'retry-after', '7', /./],
    ['302', 302, 'location', 'http://elsewhere.invalid/', /./],
    ['html', 200, 'content-type', 'text/html; charset=utf-8', /^<!doctype html>/],
  ])('%s sends the status %i, %s: %s and a body', async (kind, status, name, value, body) => {
    const response = await responseWith(kind);
    expect([response.status, response.headers.get(name)]).toEqual([status, value]);
    expect(await response.text()).toMatch(body);
  });

  it('drip sends the body byte by byte', async () => {
    const reader = (await responseWith('drip')).body?.getReader();
    const read = async () => Buffer.from((await reader?.read())?.value ?? []).toString();
    expect((await read()) + (await read())).toBe('{"');
    await reader?.cancel();
  });

  it('truncate sends half of the body and closes the connection', async () => {
    const response = await responseWith('truncate');
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(40);
    await expect(response.text()).rejects.toThrow('terminated');
  });
});
