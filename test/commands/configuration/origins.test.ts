// Where the value of each setting comes from: option, variable, profile or default; and what is said of an invalid one.

import { expect, it } from 'vitest';
import { SETTING_KEYS, SETTINGS, type SettingDefinition } from '../../../src/config/definitions.ts';
import { localUser } from '../../support/users.ts';

/** A value of the profile, one of the variable and, if there are such, an invalid one. */
const ROWS: Readonly<Record<string, readonly [string, string, string?]>> = {
  'base-url': ['https://a.example', 'https://b.example', 'ftp://x'],
  username: ['alice', 'bob', 'a:b'],
  'password-command': ['echo a', 'echo b'],
  'password-file': ['/a', '/b', '~x'],
  'credential-helper': ['pass', 'wincred', 'a b'],
  timeout: ['5s', '6s', 'soon'],
  retries: ['1', '2', 'x'],
  concurrency: ['1', '2', '0'],
  'auth-scheme': ['basic', 'bearer', 'digest'],
  'allow-http': ['true', 'false', 'yes'],
  'ca-file': ['/a.pem', '/b.pem', '~x'],
  output: ['yaml', 'json', 'xml'],
  'columns.images': ['id', 'id,name', 'nam'],
  'columns.my-images': ['id', 'id,name', 'nam'],
  time: ['iso', 'local', 'utc'],
  'upload-url': ['file:///a', 'file:///b', 'ftp://x'],
  'upload-username': ['alice', 'bob', 'a:b'],
  'upload-password-command': ['echo a', 'echo b'],
  'upload-access-key': ['A', 'B', 'a\tb'],
  'upload-secret-command': ['echo a', 'echo b'],
  'upload-session-token-command': ['echo a', 'echo b'],
  'upload-region': ['eu', 'us', 'a/b'],
  'limit-rate': ['10M', '20M', 'fast'],
  'upload-ca-file': ['/a.pem', '/b.pem', '~x'],
  'token-store': ['redis://127.0.0.1', 'file', 'http://x'],
  'token-store-password-command': ['echo a', 'echo b'],
  'wait-for-token': ['5m', '6m', 'soon'],
};

/** Options of every command. */
const OPTIONS = ['base-url', 'output', 'timeout', 'retries', 'wait-for-token'];

interface Row {
  readonly key: string;
  readonly value: string | null;
  readonly origin: string | null;
  readonly error: string | null;
}

it('every setting has a row', () => {
  expect(Object.keys(ROWS).sort()).toEqual([...SETTING_KEYS].sort());
});

/** Runs `config list --all --json` and `config get` with these values in profile and environment. */
async function shown(key: string, stored?: string, variable?: string, ...options: string[]) {
  const { imgctl } = localUser({ profiles: { default: { [key]: stored } } });
  const env = { [variableOf(key)]: variable };
  const list = await imgctl(['config', 'list', '--all', '--json', ...options], { env });
  const rows: Row[] = JSON.parse(list.stdout || '[]');
  const get = await imgctl(['config', 'get', key, ...options], { env });
  return { row: rows.find((each) => each.key === key), list, get };
}

const variableOf = (key: string) => `IMGCTL_${key.toUpperCase().replaceAll(/\W/g, '_')}`;

it.each(Object.entries(ROWS))(
  '%s comes from the variable before the profile before the default',
  async (key, [stored, given]) => {
    const { fallback }: SettingDefinition = SETTINGS[key as keyof typeof SETTINGS];
    const variable = variableOf(key);
    const rows = [
      [await shown(key), fallback ?? null, fallback === undefined ? null : 'default'],
      [await shown(key, stored), stored, 'profile default'],
      [await shown(key, stored, given), given, variable],
      [await shown(key, stored, ''), stored, 'profile default'],
    ] as const;
    for (const [{ row, get, list }, value, origin] of rows) {
      // The option --json is nearer.
      const [text, from] = key === 'output' ? ['json', '--json'] : [value, origin];
      expect([row?.value, row?.origin, list.exitCode]).toEqual([text, from, 0]);
      const result = value === null ? { exitCode: 5 } : { exitCode: 0, stdout: `${value}\n` };
      expect(get).toMatchObject(result);
    }
  },
);

it.each(Object.entries(ROWS).filter(([key]) => OPTIONS.includes(key)))(
  '%s comes from the option before all others',
  async (key, [stored, given, invalid = '']) => {
    const { get, row } = await shown(key, stored, stored, `--${key}=${given}`);
    expect(get.stdout).toContain(given);
    expect(row).toMatchObject({ value: given, origin: `--${key}` });
    const wrong = await shown(key, stored, given, `--${key}=${invalid}`);
    expect(wrong.get).toMatchObject({ exitCode: 2, stdout: '' });
  },
);

it.each(Object.entries(ROWS).filter(([, [, , invalid]]) => invalid !== undefined))(
  '%s is an error with its origin if it is invalid',
  async (key, [stored, , invalid]) => {
    for (const [{ row, get, list }, origin] of [
      [await shown(key, invalid), 'profile default'],
      [await shown(key, stored, invalid), variableOf(key)],
    ] as const) {
      expect(get.exitCode).toBe(2);
      expect(get.stderr).toContain(`(from ${origin})`);
      if (key === 'output') continue;
      const error = expect.stringContaining(`(from ${origin})`);
      expect([row, list.exitCode]).toMatchObject([{ value: null, origin, error }, 2]);
    }
  },
);
