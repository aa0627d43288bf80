// Settings: which source wins, and what none of them may say.

import { describe, expect, it } from 'vitest';
import {
  isSettingKey,
  SETTING_KEYS,
  type SettingKey,
  Settings,
} from '../../src/session/settings.ts';

describe('the order of sources', () => {
  const flags = { timeout: '1s' };
  const env = { IMGCTL_TIMEOUT: '2s' };
  const stored = { timeout: '3s' };

  it.each([
    ['flag', flags, env, stored, { value: '1s', origin: '--timeout' }],
    ['environment', {}, env, stored, { value: '2s', origin: 'IMGCTL_TIMEOUT' }],
    ['profile', {}, {}, stored, { value: '3s', origin: 'profile work' }],
    ['empty variable', {}, { IMGCTL_TIMEOUT: '' }, stored, { value: '3s', origin: 'profile work' }],
    ['default', {}, {}, {}, { value: '30s', origin: 'default' }],
  ])('%s', (_what, flag, variables, profile, expected) => {
    expect(new Settings('work', flag, variables, profile).resolve('timeout')).toEqual(expected);
  });

  it('gives nothing where no source says anything', () => {
    const settings = new Settings('work', {}, {}, {});
    expect(settings.resolve('base-url')).toEqual({ value: undefined, origin: '' });
    expect(settings.text('username')).toBeUndefined();
  });

  it('has defaults that are valid, in the units that are asked for', () => {
    const settings = new Settings('work', {}, {}, {});
    expect(settings.duration('timeout')).toBe(30_000);
    expect([settings.number('retries'), settings.number('concurrency')]).toEqual([4, 6]);
    for (const key of SETTING_KEYS) {
      const value = settings.text(key);
      if (value !== undefined) new Settings('work', { [key]: value }, {}, {}).resolve(key);
    }
  });
});

describe('a value that a setting cannot have', () => {
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

  it.each(cases)('%s = %s is an error that says where it stands; %s is none', (key, bad, good) => {
    const resolve = (value: string) => new Settings('work', {}, {}, { [key]: value }).resolve(key);
    expect(() => resolve(bad)).toThrowError(
      expect.objectContaining({
        code: 'config',
        message: expect.stringMatching(/ \(from profile work\)$/),
        hint: expect.any(String),
      }),
    );
    expect(resolve(good).value).toBe(good);
  });

  it('is named with its variable, or as a usage error of its flag', () => {
    const inEnv = new Settings('work', {}, { IMGCTL_OUTPUT: 'xml' }, {});
    expect(() => inEnv.resolve('output')).toThrowError(/\(from IMGCTL_OUTPUT\)$/);
    const asFlag = new Settings('work', { output: '' }, {}, {});
    expect(() => asFlag.resolve('output')).toThrowError(expect.objectContaining({ code: 'usage' }));
  });
});

it.each(['__proto__', 'constructor', 'toString', ''])('%j is no setting', (name) => {
  expect(isSettingKey(name)).toBe(false);
});
