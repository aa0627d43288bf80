// Tests which proxy the environment chooses for a URL.

import { describe, expect, it } from 'vitest';
import { chooseProxy } from '../../src/http/proxies.ts';
import { thrownBy } from '../support/errors.ts';
import { rows } from '../support/rows.ts';

const HTTPS = 'https://images.example.com/v2';

describe('chooseProxy', () => {
  it.each<[string, Record<string, string>, string | undefined]>([
    [HTTPS, {}, undefined],
    [HTTPS, { HTTPS_PROXY: 'http://proxy:3128' }, 'http://proxy:3128/'],
    [HTTPS, { https_proxy: 'http://small', HTTPS_PROXY: 'http://CAPITAL' }, 'http://small/'],
    [HTTPS, { https_proxy: '', HTTPS_PROXY: 'http://capital' }, 'http://capital/'],
    [HTTPS, { HTTPS_PROXY: 'proxy:3128' }, 'http://proxy:3128/'],
    [HTTPS, { HTTP_PROXY: 'http://proxy' }, undefined],
    ['http://images.example.com', { HTTP_PROXY: 'http://proxy' }, 'http://proxy/'],
    ['http://images.example.com', { HTTPS_PROXY: 'http://proxy' }, undefined],
    ['http://127.0.0.1:8080', { HTTP_PROXY: 'http://proxy' }, undefined],
    ['http://localhost', { http_proxy: 'http://proxy' }, undefined],
    ['https://[::1]', { HTTPS_PROXY: 'http://proxy' }, undefined],
  ])('returns for %s and %j the proxy %s', (url, env, expected) => {
    expect(chooseProxy(new URL(url), env).proxy?.url.href).toBe(expected);
  });

  it.each([
    ...rows(HTTPS, 'images.example.com', 'IMAGES.Example.com', 'example.com'),
    ...rows(HTTPS, '.example.com', '*.example.com', 'images.example.com:443'),
    ...rows(HTTPS, 'other, images.example.com', 'other images.example.com', '*'),
    ...rows(HTTPS, 'example.com.'),
    ...rows('https://10.1.2.3', '10.1.2.3', '0.0.0.0/0'),
    ...rows('https://example.com:8443', 'example.com:8443'),
    ...rows('https://[fd00::1]', 'fd00::1', '[fd00::1]', 'FD00:0::1'),
    ...rows('https://[fd00::1]:8443', '[fd00::1]:8443'),
    ...rows('https://[fe80::1]', 'fe80::1%eth0'),
    ...rows('https://images.example.com.', 'example.com'),
    ...rows('https://10.200.3.4', '10.0.0.0/8'),
    ...rows('https://10.1.2.3:8443', '10.1.2.3/32'),
    ...rows('https://172.31.255.255', '172.16.0.0/12,'),
    ...rows('https://[fd12:3456::1]', 'fd00::/8', '[fd00::]/8'),
  ])('matches NO_PROXY=%s with %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', NO_PROXY: noProxy };
    expect(chooseProxy(new URL(url), env).proxy).toBeUndefined();
  });

  it.each([
    ...rows(HTTPS, '', ',', 'ample.com', 'images.example.com:8443'),
    ...rows(HTTPS, 'images.example.com.evil.org', 'x.images.example.com'),
    ...rows(HTTPS, 'fe80::1%eth0, fe80::%eth0/10', 'images.example.com/24'),
    ...rows('https://[fd00::2]', 'fd00::1'),
    ...rows('https://[fd00::1]:8443', 'fd00::1:8443'),
    ...rows('https://10.0.0.1', '0.0.1', '10.0.0.0/33', '10.0.0.0/', '10.0/8', '::/0'),
    ...rows('https://11.0.0.1', '10.0.0.0/8'),
    ...rows('https://[fd00::1]', '0.0.0.0/0', 'fd00::/129'),
    ...rows('https://10.example.com', '10.0.0.0/8'),
  ])('does not match NO_PROXY=%s with %s', (noProxy, url) => {
    const env = { HTTPS_PROXY: 'http://proxy', no_proxy: noProxy };
    expect(chooseProxy(new URL(url), env).proxy?.url.href).toBe('http://proxy/');
  });

  it.each<[string, Record<string, string>, string | undefined, string | undefined]>([
    [HTTPS, { HTTPS_PROXY: 'proxy' }, 'HTTPS_PROXY', undefined],
    [HTTPS, { https_proxy: 'proxy', HTTPS_PROXY: 'other' }, 'https_proxy', undefined],
    [
      HTTPS,
      { HTTPS_PROXY: 'proxy', NO_PROXY: 'a,10.0.0.0/8 *.example.com' },
      'HTTPS_PROXY',
      'NO_PROXY entry *.example.com',
    ],
    [HTTPS, { https_proxy: 'proxy', no_proxy: '*' }, 'https_proxy', 'no_proxy entry *'],
    ['https://127.0.0.9', { HTTPS_PROXY: 'proxy' }, 'HTTPS_PROXY', 'this machine'],
    [HTTPS, { NO_PROXY: '*' }, undefined, undefined],
  ])(
    'returns for %s and %j the variable %s and the bypass reason %s',
    (url, env, variable, bypassReason) => {
      const choice = chooseProxy(new URL(url), env);
      expect([choice.variable, choice.bypassReason]).toEqual([variable, bypassReason]);
    },
  );

  it.each([
    ['socks5://proxy:1080', /^HTTPS_PROXY is a SOCKS proxy, which/],
    ['SOCKS5H://user:secret@proxy', /^HTTPS_PROXY is a SOCKS proxy, which/],
    ['ftp://user:secret@proxy', /^HTTPS_PROXY is not an http or https URL/],
    ['http://', /^HTTPS_PROXY is not/],
    ['http://user:secret@bad host', /^HTTPS_PROXY is not/],
    ['user:secret/x@proxy:3128', /^HTTPS_PROXY is not/],
    ['proxy:99999', /^HTTPS_PROXY is not/],
  ])('rejects %s without its password', (text, message) => {
    const error = thrownBy(() => chooseProxy(new URL(HTTPS), { HTTPS_PROXY: text }));
    expect(error).toMatchObject({
      code: 'config',
      exitCode: 2,
      message: expect.stringMatching(message),
      hint: expect.stringContaining('http://proxy.example.com:3128'),
    });
    expect(String(error)).not.toContain('secret');
  });
});
