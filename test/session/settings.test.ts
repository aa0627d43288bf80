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
    ['https://own', {}, ''],
    ['https://other', {}, ' --base-url https://other'],
    ['https://other', { IMGCTL_BASE_URL: 'https://other' }, ''],
  ])('%s is in the login command if a plain one would use another: %j', (url, env, added) => {
    const settings = new Settings('default', { 'base-url': url }, env, {
      'base-url': 'https://own',
    });
    expect(settings.loginCommand).toBe(`imgctl login${added}`);
  });

  it('is undefined, or has a valid default, if no source sets it', () => {
    const settings = new Settings('work', {}, {}, {});
    expect(settings.find('base-url')).toEqual({ text: undefined, source: 'default', origin: '' });
    expect([settings.get('username'), settings.get('retries')]).toEqual([undefined, 4]);
    for (const key of SETTING_KEYS) settings.get(key);
  });

  it.each<[SettingKey, string, string]>([
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
    ['output', '', 'csv'],
  ])('%s rejects %j when it is read, and accepts %s', (key, bad, good) => {
    const settingsOf = (text: string) => new Settings('work', {}, {}, { [key]: text });
    expect(settingsOf(bad).find(key).text).toBe(bad);
    expect(thrownBy(() => settingsOf(bad).text(key))).toMatchObject({
      code: 'config',
      message: expect.stringMatching(/ \(from profile work\)$/),
      hint: expect.any(String),
    });
    expect(settingsOf(good).text(key)).toBe(good);
    const asFlag = new Settings('work', { [key]: bad }, {}, {});
    expect(thrownBy(() => asFlag.get(key)).message).not.toContain('(from');
  });
});

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['1.5s', 1_500],
    [' 5m ', 300_000],
    ['1h', 3_600_000],
    ['24d', 2_073_600_000],
    ['3w', 1_814_400_000],
    ['1ms', 1],
  ])('reads %j', (text, milliseconds) => {
    expect(parseDuration(text, 'timeout')).toBe(milliseconds);
  });

  it.each(['', '5', 's', '-1s', '0s', '0.4ms', '1e3s', '1y', '5 m', '5M', '1m30s', '1.s'])(
    'rejects %j',
    (text) => {
      expect(thrownBy(() => parseDuration(text, 'timeout'))).toMatchObject({
        code: 'usage',
        message: `invalid timeout: ${text}`,
        hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
      });
    },
  );

  it('rejects what is longer than a timer, unless it is an age', () => {
    const message = 'timeout must be at most 24 days (got 25d)';
    expect(thrownBy(() => parseDuration('25d', 'timeout')).message).toBe(message);
    expect(parseDuration('25d', '--since', MAX_AGE)).toBe(2_160_000_000);
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
    'http://localhost redis: redis:// redis.example.com:6379 redis://h/x redis://h/0/1 redis://h/0?x=1 redis://h/0#x redis://%zz@h FILE redis://bob:canary@h/0 redis://:canary@h http://bob:canary@h bob:canary@h';
  it.each(INVALID.split(' '))('%s is rejected without its password', (text) => {
    const { code, message, hint } = thrownBy(() => SETTINGS['token-store'].parse(text));
    expect([code, `${message} ${hint}`.includes('canary')]).toEqual(['usage', false]);
  });

  it.each([
    ['rediss://h', false, true],
    ['redis://h', false, false],
    ['redis://h', true, true],
    ['redis://127.0.0.1', false, true],
    ['redis://[::1]', false, true],
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
  const paths = ['', '../../x', 'a/b', 'a\\b', '.', '.hidden'];
  const others = ['-a', '__proto__', '_limit', 'a b', 'ä', 'a\n', 'x'.repeat(65)];
  for (const name of [...paths, ...others]) {
    expect(thrownBy(() => checkProfileName(name)).code).toBe('usage');
  }
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
      const file = path.join(directory, 'config.json');
      const { code, message } = thrownBy(() => readConfigFile(directory));
      expect([code, message]).toEqual(['config', expect.stringMatching(reason)]);
      expect(message).toContain(file);
      const changed = changeProfile(directory, fakeIo(), 'a', { username: 'demo' });
      await expect(changed).rejects.toMatchObject({ code, message });
      expect([readFileSync(file, 'utf8'), readdirSync(directory)]).toEqual([text, ['config.json']]);
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
