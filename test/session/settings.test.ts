// Settings: where values come from and which are valid; config.json, read strictly and changed one at a time.

import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { requireStoreAddress } from '../../src/session/session.ts';
import {
  MAX_AGE,
  parseDuration,
  SETTING_KEYS,
  SETTINGS,
  type SettingKey,
} from '../../src/session/setting-table.ts';
import {
  changeConfigFile,
  changeProfile,
  checkProfileName,
  configFilePath,
  readConfigFile,
  Settings,
} from '../../src/session/settings.ts';
import { thrownBy } from '../support/errors.ts';
import { fakeIo, impatientIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

describe('a setting', () => {
  const flags = { timeout: '1s' };
  const env = { IMGCTL_TIMEOUT: '2s' };
  const stored = { timeout: '3s' };

  it.each([
    ['flag', '--timeout', flags, env, stored, 1_000],
    ['environment', 'IMGCTL_TIMEOUT', {}, env, stored, 2_000],
    ['profile', 'profile work', {}, {}, stored, 3_000],
    ['profile', 'profile work', {}, { IMGCTL_TIMEOUT: '' }, stored, 3_000],
    ['default', 'default', {}, {}, {}, 30_000],
  ])('comes from the %s: %s', (source, origin, flag, variables, profile, value) => {
    const settings = new Settings('work', flag, variables, profile);
    expect(settings.get('timeout')).toBe(value);
    const text = `${value / 1_000}s`;
    expect(settings.find('timeout')).toEqual({ text, source, origin });
  });

  it.each([
    [{}, {}, ''],
    [{ 'base-url': 'https://own' }, {}, ''],
    [{ 'base-url': 'https://other' }, {}, ' --base-url https://other'],
    [{ 'base-url': 'https://other' }, { IMGCTL_BASE_URL: 'https://other' }, ''],
  ])(
    'is in the login command if a plain one would use another: %j %j',
    (flags, variables, added) => {
      const settings = new Settings('default', flags, variables, { 'base-url': 'https://own' });
      expect(settings.loginCommand).toBe(`imgctl login${added}`);
    },
  );

  it('throws only if it is read', () => {
    const settings = new Settings('work', {}, {}, { 'base-url': 'https://own/', output: 'xml' });
    expect(settings.get('base-url')).toEqual(new URL('https://own/'));
    expect(() => settings.get('output')).toThrowError('invalid output: xml');
    expect(settings.find('output').text).toBe('xml');
  });

  it('is undefined, or has a valid default, if no source sets it', () => {
    const settings = new Settings('work', {}, {}, {});
    const unset = { text: undefined, source: 'default', origin: '' };
    expect([settings.find('base-url'), settings.get('username')]).toEqual([unset, undefined]);
    expect([settings.get('retries'), settings.get('concurrency')]).toEqual([4, 6]);
    for (const key of SETTING_KEYS) {
      const value = settings.text(key);
      if (value !== undefined) new Settings('work', { [key]: value }, {}, {}).get(key);
    }
  });

  const cases: [SettingKey, string, string][] = [
    ['base-url', 'not a url', 'https://images.example'],
    ['username', 'a:b', 'demo'],
    ['output', 'xml', 'yaml'],
    ['timeout', '5', '500ms'],
    ['retries', '101', '100'],
    ['retries', '-1', '0'],
    ['concurrency', '0', '1'],
    ['concurrency', '33', '32'],
    ['auth-scheme', 'digest', 'basic'],
    ['allow-http', 'yes', 'true'],
    ['time', 'utc', 'age'],
  ];

  it.each(cases)('%s rejects %s with its origin and accepts %s', (key, bad, good) => {
    const textOf = (text: string) => new Settings('work', {}, {}, { [key]: text }).text(key);
    expect(() => textOf(bad)).toThrowError(
      expect.objectContaining({
        code: 'config',
        message: expect.stringMatching(/ \(from profile work\)$/),
        hint: expect.any(String),
      }),
    );
    expect(textOf(good)).toBe(good);
  });

  it('rejects a value with its variable, or as a usage error of its flag', () => {
    const inEnv = new Settings('work', {}, { IMGCTL_OUTPUT: 'xml' }, {});
    expect(() => inEnv.get('output')).toThrowError(/\(from IMGCTL_OUTPUT\)$/);
    const asFlag = new Settings('work', { output: '' }, {}, {});
    expect(() => asFlag.get('output')).toThrowError(expect.objectContaining({ code: 'usage' }));
  });
});

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    [' 5m ', 300_000],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
    ['3w', 1_814_400_000],
    ['24d', 2_073_600_000],
    ['1ms', 1],
  ])('reads %j', (text, milliseconds) => {
    expect(parseDuration(text, 'timeout')).toBe(milliseconds);
  });

  it('rejects anything else', () => {
    for (const text of [
      '',
      '5',
      's',
      '-1s',
      '0s',
      '0.4ms',
      '1e3s',
      '1y',
      '5 m',
      '5M',
      '1m30s',
      '1.s',
    ]) {
      expect(thrownBy(() => parseDuration(text, 'timeout'))).toMatchObject({
        code: 'usage',
        message: `invalid timeout: ${text}`,
        hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
      });
    }
  });

  it('rejects what is longer than a timer, unless it is an age', () => {
    for (const text of ['597h', '25d', '4w']) {
      const message = `timeout must be at most 24 days (got ${text})`;
      expect(thrownBy(() => parseDuration(text, 'timeout')).message).toBe(message);
      expect(parseDuration(text, '--since', MAX_AGE)).toBeGreaterThan(2_073_600_000);
    }
  });
});

describe('the setting token-store', () => {
  it.each([
    ['file', undefined],
    ['redis://localhost', { tls: false, host: 'localhost', port: 6379, database: 0 }],
    ['rediss://bob@[::1]:1/', { tls: true, host: '::1', port: 1, database: 0, username: 'bob' }],
    ['rediss://a%40b@r.example.com:6380/15', { database: 15, port: 6380, username: 'a@b' }],
  ])('%s is valid', (text, expected) => {
    const address = SETTINGS['token-store'].parse(text);
    if (expected === undefined) expect(address).toBeUndefined();
    else expect(address).toMatchObject({ ...expected, text });
  });

  const INVALID =
    'http://localhost redis: redis:// redis.example.com:6379 redis://h/x redis://h/0/1 redis://h/0?x=1 redis://h/0#x redis://%zz@h FILE';
  it.each(INVALID.split(' '))('%s is rejected', (text) => {
    expect(thrownBy(() => SETTINGS['token-store'].parse(text))).toMatchObject({
      code: 'usage',
      message: expect.stringMatching(/^invalid token-store: /),
    });
  });

  it.each(['redis://bob:canary@h/0', 'redis://:canary@h', 'http://bob:canary@h', 'bob:canary@h'])(
    '%s is rejected without its password',
    (text) => {
      const { message, hint } = thrownBy(() => SETTINGS['token-store'].parse(text));
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

function directoryWith(text: string): string {
  const directory = temporaryDirectory();
  writeFileSync(path.join(directory, 'config.json'), text);
  return directory;
}

const contents = (directory: string) =>
  JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8'));

it('a profile name is a letter or digit, then up to 63 letters, digits, - or _', () => {
  for (const name of ['default', 'a', '0', 'A-b_c', 'constructor', 'x'.repeat(64)]) {
    expect(checkProfileName(name)).toBe(name);
  }
  const paths = ['../../x', 'a/b', 'a\\b', '.', '.hidden'];
  for (const name of [
    '',
    ...paths,
    '-a',
    '__proto__',
    '_limit',
    'a b',
    'ä',
    'a\n',
    'x'.repeat(65),
  ]) {
    expect(thrownBy(() => checkProfileName(name)).code).toBe('usage');
  }
  expect(() => checkProfileName('x'.repeat(1_000))).toThrowError(/^.{1,120}$/);
});

describe('config.json', () => {
  it.each([
    ['{"profiles": ', /not valid JSON at line 1/],
    ['{"profile": 1}', /profile is not a string$/],
    ['{"profiles": []}', /profiles is not an object$/],
    ['{"profiles": {"a": "s3cret"}}', /profiles\.a is not an object$/],
    ['{"profiles": {"a": {"username": 42}}}', /profiles\.a\.username is not a string$/],
  ])(
    'that reads %j is an error with file and place, and is not overwritten',
    async (text, reason) => {
      const directory = directoryWith(text);
      const expected = expect.objectContaining({
        code: 'config',
        message: expect.stringMatching(reason),
      });
      expect(() => readConfigFile(directory)).toThrowError(expected);
      expect(() => readConfigFile(directory)).toThrowError(path.join(directory, 'config.json'));
      const changed = changeProfile(directory, fakeIo(), 'a', { username: 'demo' });
      await expect(changed).rejects.toThrowError(expected);
      expect(readFileSync(path.join(directory, 'config.json'), 'utf8')).toBe(text);
      expect(readdirSync(directory)).toEqual(['config.json']);
    },
  );

  it('holds __proto__ and constructor as plain data', async () => {
    const text = '{"__proto__":{"a":1},"profiles":{"__proto__":{"output":"xml"},"constructor":{}}}';
    const directory = directoryWith(text);
    const { profiles } = readConfigFile(directory);
    expect([...profiles.keys()]).toEqual(['__proto__', 'constructor']);
    const settings = new Settings('x', {}, {}, profiles.get('x') ?? {});
    expect(settings.get('output')).toBe('table');
    await changeProfile(directory, fakeIo(), 'x', { output: 'json' });
    const written = readFileSync(path.join(directory, 'config.json'), 'utf8').replace(/\s/g, '');
    expect(written).toContain('"__proto__":{"a":1}');
    expect(written).toContain('"__proto__":{"output":"xml"}');
  });

  it('keeps all other members when settings change or the default profile is removed', async () => {
    const directory = directoryWith(
      '{"future": [1], "profile": "a", "profiles": {"a": {"username": "u", "output": "csv", "new": "n"}, "b": {}}}',
    );
    await changeProfile(directory, fakeIo(), 'a', { output: undefined, timeout: '5s' });
    const profiles = { a: { username: 'u', new: 'n', timeout: '5s' }, b: {} };
    expect(contents(directory)).toEqual({ future: [1], profile: 'a', profiles });
    await changeConfigFile(directory, fakeIo(), (config) => ({ ...config, profile: undefined }));
    expect(contents(directory)).toEqual({ future: [1], profiles });
  });

  it('stores all of many changes made at the same time', async () => {
    const directory = path.join(temporaryDirectory(), 'new');
    const io = impatientIo();
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => changeProfile(directory, io, name, { username: name })));
    expect(contents(directory).profiles).toEqual(
      Object.fromEntries(names.map((name) => [name, { username: name }])),
    );
    expect(readdirSync(directory)).toEqual(['config.json']);
  });

  unixOnly('symbolic links need rights')('stays a link to a file elsewhere', async () => {
    const elsewhere = directoryWith('{}');
    const directory = temporaryDirectory();
    symlinkSync(path.join(elsewhere, 'config.json'), path.join(directory, 'config.json'));
    await changeProfile(directory, fakeIo(), 'a', { output: 'json' });
    expect(contents(elsewhere)).toEqual({ profiles: { a: { output: 'json' } } });
    expect(configFilePath(directory)).toBe(configFilePath(elsewhere));
  });

  it('that cannot be written is an error', async () => {
    const change = (directory: string | undefined) =>
      changeProfile(directory, fakeIo(), 'a', { output: 'json' });
    expect(readConfigFile(undefined).profiles.size).toBe(0);
    await expect(change(undefined)).rejects.toMatchObject({ code: 'config' });
    const below = path.join(directoryWith('{}'), 'config.json', 'below');
    await expect(change(below)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^cannot write .*config\.json: E[A-Z]+$/),
    });
  });
});
