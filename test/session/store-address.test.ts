// The setting token-store: URLs of Redis servers.

import { describe, expect, it } from 'vitest';
import { requireStoreAddress } from '../../src/session/session.ts';
import { parseStoreAddress } from '../../src/session/setting-values.ts';
import { Settings } from '../../src/session/settings.ts';
import { thrownBy } from '../support/errors.ts';

describe('token-store', () => {
  it.each([
    ['file', undefined],
    ['redis://localhost', { tls: false, host: 'localhost', port: 6379, database: 0 }],
    ['rediss://bob@[::1]:1/', { tls: true, host: '::1', port: 1, database: 0, username: 'bob' }],
    ['rediss://a%40b@r.example.com:6380/15', { database: 15, port: 6380, username: 'a@b' }],
  ])('%s is valid', (text, expected) => {
    const address = parseStoreAddress(text);
    if (expected === undefined) expect(address).toBeUndefined();
    else expect(address).toMatchObject({ ...expected, text });
  });

  const INVALID =
    'http://localhost redis: redis:// redis.example.com:6379 redis://h/x redis://h/0/1 redis://h/0?x=1 redis://h/0#x redis://%zz@h FILE';
  it.each(INVALID.split(' '))('%s is rejected', (text) => {
    expect(thrownBy(() => parseStoreAddress(text))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^invalid token-store: /),
    });
  });

  it.each(['redis://bob:canary@h/0', 'redis://:canary@h', 'http://bob:canary@h', 'bob:canary@h'])(
    '%s is rejected without its password',
    (text) => {
      const { message, hint } = thrownBy(() => parseStoreAddress(text));
      expect(`${message} ${hint}`).not.toContain('canary');
    },
  );

  it.each([
    ['rediss://h', false, true],
    ['redis://h', false, false],
    ['redis://h', true, true],
    ['redis://127.0.0.1', false, true],
    ['redis://[::1]', false, true],
    ['redis://localhost', false, true],
    ['redis://localhost.example.com', false, false],
  ])('%s is safe with allow-http %s: %s', (text, allowHttp, isSafe) => {
    const flags = { 'token-store': text, 'allow-http': `${allowHttp}` };
    const settings = new Settings('p', flags, {}, {});
    if (isSafe) return expect(requireStoreAddress(settings)).toMatchObject({ text });
    const { host } = new URL(text);
    expect(thrownBy(() => requireStoreAddress(settings))).toMatchObject({
      code: 'config',
      message: `plain redis:// would expose tokens sent to ${host}`,
      hint: `use rediss://${host}, or allow it: imgctl config set allow-http true --profile p`,
    });
  });
});
