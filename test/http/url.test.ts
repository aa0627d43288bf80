// Tests that URLs stay below the base URL, and that no error shows a password.

import { describe, expect, it } from 'vitest';
import { advice } from '../../src/facts.ts';
import {
  baseUrlText,
  isLoopback,
  parseBaseUrl,
  refusePlainHttp,
  resolveUrl,
  withoutBrackets,
} from '../../src/http/url.ts';
import { thrownBy } from '../support/errors.ts';
import { rows } from '../support/rows.ts';

const [HOST, SERVICE] = ['images.example.com', 'https://images.example.com'];

describe('parseBaseUrl', () => {
  it.each([
    ...rows(SERVICE, SERVICE, `${SERVICE}/`, 'HTTPS://Images.Example.COM:443//'),
    ...rows(`${SERVICE}/api`, `${SERVICE}/api//`, ` ${SERVICE}/api `),
    ...rows(`${SERVICE}:8443/api`, `${SERVICE}:8443/api/`),
    ...rows('http://127.0.0.1:8080', 'http://127.0.0.1:8080'),
    ...rows('http://localhost', 'http://localhost'),
    ...rows('http://[::1]', 'http://[::1]:80'),
  ])('parses %s', (text, expected) => {
    expect(baseUrlText(parseBaseUrl(text))).toBe(expected);
  });

  const NOT_HTTP = 'base URL is not an http or https URL: ';
  const EXAMPLE = `use a URL such as ${SERVICE}`;
  const USER = 'base URL must not contain a user name or password';
  const REMOVE = { kind: 'credentials-in-url' };
  const QUERY = 'base URL must not contain a query or fragment';

  it.each([
    ['', NOT_HTTP, EXAMPLE],
    ['images.example.com', `${NOT_HTTP}images.example.com`, 'use https://images.example.com'],
    ['a.b:8443/v2/x', `${NOT_HTTP}a.b:8443/v2/x`, 'use https://a.b:8443/v2/x'],
    ['a.b:port', `${NOT_HTTP}a.b:port`, EXAMPLE],
    ['images:8443', `${NOT_HTTP}images:8443`, 'use https://images:8443'],
    ['[::1]:80', `${NOT_HTTP}[::1]:80`, 'use http://[::1]:80'],
    ['a.b/two words', `${NOT_HTTP}a.b/two words`, EXAMPLE],
    ['@images.example.com', `${NOT_HTTP}…@images.example.com`, EXAMPLE],
    ['ftp://a.b/x?token=secret', `${NOT_HTTP}ftp://a.b/x?…`, EXAMPLE],
    ['localhost:8080', `${NOT_HTTP}localhost:8080`, 'use http://localhost:8080'],
    ['127.0.0.1:80/x', `${NOT_HTTP}127.0.0.1:80/x`, 'use http://127.0.0.1:80/x'],
    ['ftp://images.example.com', `${NOT_HTTP}ftp://images.example.com`, EXAMPLE],
    ['file:///etc/passwd', `${NOT_HTTP}file:///etc/passwd`, EXAMPLE],
    ['https://', `${NOT_HTTP}https://`, EXAMPLE],
    ['https://user@images.example.com', USER, REMOVE],
    ['https://:secret@images.example.com', USER, REMOVE],
    ['https://user:secret@images.example.com', USER, REMOVE],
    ['https://images.example.com?token=secret', QUERY, 'use https://images.example.com/'],
    ['https://images.example.com/a#secret', QUERY, 'use https://images.example.com/a'],
  ])('rejects %s', (text, message, hint) => {
    const error = thrownBy(() => parseBaseUrl(text));
    const facts = typeof hint === 'string' ? advice(hint) : hint;
    expect(error).toMatchObject({ code: 'config', message, facts });
  });

  it.each([
    'https//user:secret@images.example.com',
    'user:secret@images.example.com',
    'https://user:sec/ret:secret@@images.example.com:x',
  ])('does not repeat the password of %s', (text) => {
    const { message } = thrownBy(() => parseBaseUrl(text));
    expect(message).not.toMatch(/sec|ret|user/);
    expect(message).toContain('@images.example.com');
  });
});

it.each([
  ...[`${HOST}:81`, '127.0.0.1.a.com', 'localhost.a.com', 'service.localhost'],
  ...['0.0.0.0', '128.0.0.1', '[::2]'],
])('refusePlainHttp refuses http://%s', (host) => {
  const error = thrownBy(() => refusePlainHttp(new URL(`http://${host}`)));
  const message = `plain http would expose credentials sent to ${host}`;
  const facts = { kind: 'plain-http', secure: `https://${host}` };
  expect(error).toMatchObject({ code: 'config', message, facts });
});

it.each([
  ...rows(true, 'localhost', '127.0.0.1', '127.255.0.3', '[::1]', '::1'),
  ...rows(false, '10.0.0.1', 'localhost.example.com', 'x127.0.0.1'),
])('isLoopback of %s is %s', (hostname, expected) => {
  expect(isLoopback(hostname)).toBe(expected);
});

it.each([
  ['[::1]', '::1'],
  ['images.example.com', 'images.example.com'],
  ['h[', 'h['],
])('withoutBrackets of %s is %s', (hostname, address) => {
  expect(withoutBrackets(hostname)).toBe(address);
});

describe('resolveUrl', () => {
  const bare = new URL(SERVICE);
  const prefixed = new URL(`${SERVICE}/api`);

  it.each([
    [bare, '/v2/image', 'https://images.example.com/v2/image'],
    [bare, 'v2/image', 'https://images.example.com/v2/image'],
    [bare, '/v2?page=2&filter=a,eq,b#top', 'https://images.example.com/v2?page=2&filter=a,eq,b'],
    [bare, '/v2/../..', 'https://images.example.com/'],
    [bare, '/a:b/http://c', 'https://images.example.com/a:b/http://c'],
    [bare, '/\\evil.example.org/x', 'https://images.example.com//evil.example.org/x'],
    [prefixed, '/v2/image', 'https://images.example.com/api/v2/image'],
    [new URL('https://images.example.com/api//'), 'v2', 'https://images.example.com/api/v2'],
    [prefixed, '', 'https://images.example.com/api/'],
    [prefixed, '/v2/%2e%2e/x', 'https://images.example.com/api/x'],
    [prefixed, '?page=2', 'https://images.example.com/api/?page=2'],
    [prefixed, 'https://images.example.com/v2?page=2', 'https://images.example.com/v2?page=2'],
    [prefixed, 'HTTPS://IMAGES.example.com:443/x', 'https://images.example.com/x'],
  ])('resolves below %s the path %j to %s', (baseUrl, path, expected) => {
    expect(resolveUrl(baseUrl, path).href).toBe(expected);
  });

  it.each([
    ...['https://evil.example.org/v2/image', 'https://images.example.com.evil.example.org/'],
    ...['https://images.example.com:8443/v2/image', 'http://images.example.com/v2/image'],
    ...['https://images.example.com@evil.example.org/', '//evil.example.org/v2/image'],
    ...['https://user:secret@images.example.com/v2/image', 'https://user@images.example.com/v2'],
    ...['https://:secret@images.example.com/v2/image', 'file:///etc/passwd'],
    ...['javascript:alert(1)', 'https:'],
  ])('rejects %s', (path) => {
    const error = thrownBy(() => resolveUrl(bare, path));
    expect(error.message).toMatch(/^not a URL of https:\/\/images\.example\.com: (?!.*secret)./);
    const hint = 'use a path below https://images.example.com: credentials go only to its origin';
    expect(error).toMatchObject({ code: 'usage', facts: advice(hint) });
  });

  const OUTSIDE = ['..', '/../x', 'v2/../../x', '/%2e%2e/x', '..\\x', '.%2E/api2/x'];
  it.each(OUTSIDE)('rejects %s, which leaves the path prefix', (path) => {
    const message = `the path leaves the base URL: ${path}`;
    const hint = 'use a path below https://images.example.com/api';
    const error = thrownBy(() => resolveUrl(prefixed, path));
    expect(error).toMatchObject({ code: 'usage', message, facts: advice(hint) });
  });
});
