// What a network's error means, and what helps.

import { describe, expect, it } from 'vitest';
import { SERVICE } from '../../src/api/client.ts';
import { networkError } from '../../src/http/errors.ts';

const REQUEST = {
  method: 'GET',
  url: new URL('https://images.example/v2'),
  headers: {},
  timeout: 1_000,
  signal: new AbortController().signal,
};

const meaning = (code: string) => {
  const thrown = Object.assign(new Error('by the system'), { code });
  const { message, hint, transient } = networkError(REQUEST, thrown, false, SERVICE);
  return { message, hint, transient };
};

describe('an error of the network', () => {
  it.each([
    ['ECONNREFUSED', 'the connection was refused', /port of the base URL/, true],
    ['ENOTFOUND', 'unknown host name', /host of the base URL/, false],
    ['EAI_AGAIN', 'the host name lookup failed', /name servers/, true],
    ['EHOSTUNREACH', 'the host is unreachable', /firewall/, true],
    ['ENETUNREACH', 'the network is unreachable', /firewall/, true],
    ['ETIMEDOUT', 'the connection timed out', /firewall/, true],
    ['ECONNRESET', 'the connection was closed', /try again later/, true],
    ['constructor', 'constructor', /try again later/, true],
    ['ESTRANGE', 'ESTRANGE', /try again later/, true],
    ['', 'the connection failed', /try again later/, true],
  ])('%s', (code, reason, hint, transient) => {
    expect(meaning(code)).toEqual({
      message: `cannot reach https://images.example: ${reason}`,
      hint: expect.stringMatching(hint),
      transient,
    });
  });

  it.each(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])(
    'has no remedy for %s: the client itself',
    (code) => {
      expect(meaning(code)).toEqual({
        message: 'cannot reach https://images.example: the client is closed',
        hint: undefined,
        transient: false,
      });
    },
  );
});
