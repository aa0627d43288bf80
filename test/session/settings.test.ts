// Settings: where values come from, which are invalid, and durations.

import { describe, expect, it } from 'vitest';
import { isSettingKey, SETTING_KEYS, type SettingKey } from '../../src/session/setting-table.ts';
import { MAX_AGE, parseDuration } from '../../src/session/setting-values.ts';
import { Settings } from '../../src/session/settings.ts';

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

  it('is undefined if no source sets it', () => {
    const settings = new Settings('work', {}, {}, {});
    const unset = { text: undefined, source: 'default', origin: '' };
    expect(settings.find('base-url')).toEqual(unset);
    expect(settings.get('username')).toBeUndefined();
  });

  it('is parsed once, and throws only if it is read', () => {
    const settings = new Settings('work', {}, {}, { 'base-url': 'https://own/', output: 'xml' });
    expect(settings.get('base-url')).toEqual(new URL('https://own/'));
    expect(settings.get('base-url')).toBe(settings.get('base-url'));
    expect(() => settings.get('output')).toThrowError('invalid output: xml');
    expect(settings.find('output').text).toBe('xml');
  });

  it('has a valid default', () => {
    const settings = new Settings('work', {}, {}, {});
    expect(settings.get('timeout')).toBe(30_000);
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

it.each(['__proto__', 'constructor', 'toString', ''])('isSettingKey rejects %j', (name) => {
  expect(isSettingKey(name)).toBe(false);
});

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5s', 1_500],
    [' 5m ', 300_000],
    ['1h', 3_600_000],
    ['576h', 2_073_600_000],
    ['2d', 172_800_000],
    ['3w', 1_814_400_000],
    ['24d', 2_073_600_000],
    ['1ms', 1],
  ])('reads %j', (text, milliseconds) => {
    expect(parseDuration(text, 'timeout')).toBe(milliseconds);
  });

  const INVALID = ['', '5', 's', '-1s', '0s', '0.4ms', '1e3s', '1y', '5 m', '5M', '1m30s'];
  it.each([...INVALID, '1.s', '٣s'])('rejects %j', (text) => {
    expect(() => parseDuration(text, 'timeout')).toThrowError(
      expect.objectContaining({
        code: 'usage',
        message: `invalid timeout: ${text}`,
        hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
      }),
    );
  });
});

it.each(['597h', '25d', '4w'])('parseDuration rejects %s as longer than a timer', (text) => {
  expect(() => parseDuration(text, 'timeout')).toThrowError(
    expect.objectContaining({ message: `timeout must be at most 24 days (got ${text})` }),
  );
  expect(parseDuration(text, '--since', MAX_AGE)).toBeGreaterThan(2_073_600_000);
});
