// Settings: where values come from and which are valid; config.json, read strictly and changed one at a time.

import fs, { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hintText } from '../../src/cli/hints.ts';
import { readCertificates } from '../../src/config/addresses.ts';
import {
  changeConfigFile,
  changeProfile,
  checkTrust,
  configFilePath,
  readConfigFile,
} from '../../src/config/config-file.ts';
import { SETTING_KEYS, SETTINGS, STORED_PASSWORD } from '../../src/config/definitions.ts';
import { Settings, settle } from '../../src/config/settings.ts';
import { checkName, MAX_AGE, parseDuration } from '../../src/config/values.ts';
import { hint, imgctl } from '../../src/facts.ts';
import { type System, systemOf } from '../../src/io.ts';
import { failure, hintOf, thrownBy } from '../support/errors.ts';
import { fakeIo, impatientIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly, unixOnlySuite } from '../support/platform.ts';

/** The address of the default profile, that of the run, its variable, and what the login command adds. */
it.each([
  ['https://own', 'https://own', {}, ''],
  ['https://own', 'https://own', { IMGCTL_PROFILE: 'taken' }, ' --profile default'],
  ['own', 'https://OWN:443/', {}, ' --base-url https://OWN:443/'],
  [undefined, 'https://x', {}, ' --base-url https://x'],
  [undefined, 'https://x', { IMGCTL_BASE_URL: 'https://x' }, ''],
  [
    'https://own',
    'https://a.example:8443',
    {},
    ' --profile a-example-8443 --base-url https://a.example:8443',
  ],
  [
    'https://own',
    'https://x',
    { IMGCTL_BASE_URL: 'https://x' },
    ' --profile x --base-url https://x',
  ],
  ['https://own', 'https://taken', {}, ' --profile taken-2 --base-url https://taken'],
  ['https://own', 'https://[::1]:1', {}, " --profile 1-1 --base-url 'https://[::1]:1'"],
  ['https://own', 'https://[::]', {}, " --profile other --base-url 'https://[::]'"],
  ['https://own', 'https://default', {}, ' --profile default-2 --base-url https://default'],
  [
    'https://own',
    `https://${'a'.repeat(63)}`,
    {},
    ` --profile ${'a'.repeat(60)} --base-url https://${'a'.repeat(63)}`,
  ],
  ['https://own', 'https://test.example/', {}, ' --profile taken'],
])(
  'of a profile with the address %s, a login to %s with %j has the flags%s',
  (own, url, env, added) => {
    const profiles = new Map([
      ['default', own === undefined ? {} : { 'base-url': own }],
      ['taken', { 'base-url': 'https://test.example' }],
    ]) as Map<string, Record<string, string>>;
    const settings = new Settings({ profile: undefined, profiles }, 'default', env);
    const changed = settings.with({ 'base-url': url });
    const login = hintText(hint`${imgctl('login')}`, () => changed);
    expect(login).toBe(`imgctl login${added}`);
  },
);

it('a login in a hint for another profile names the user only if that profile has another', () => {
  const taken = { 'base-url': 'https://test.example', username: 'alice' };
  const own = { 'base-url': 'https://own.example' };
  const profiles = new Map(Object.entries({ default: own, taken }));
  const settings = new Settings({ profile: undefined, profiles }, 'default', {});
  const textFor = (username: string) => {
    const run = settings.with(
      { username, 'base-url': 'https://test.example' },
      (key) => `--${key}`,
    );
    return hintText(hint`${imgctl('login')}`, () => run);
  };
  const other = settings.with({ 'base-url': 'https://test.example' });
  const textOf = (key: string) => hintText(hint`${imgctl('config', 'get', key)}`, () => other);
  expect(textOf('upload-url')).toBe('imgctl config get upload-url --profile taken');
  expect(textOf('timeout')).toBe('imgctl config get timeout');
  expect(textFor('alice')).toBe('imgctl login --profile taken');
  expect(textFor('bob')).toBe('imgctl login --profile taken --username bob');
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

  const INVALID = [
    '',
    '5',
    's',
    '-1s',
    '0s',
    '0.4ms',
    '1e3s',
    '1x',
    '5 m',
    '5M',
    '1m30s',
    '1.s',
    'x1s',
    '1sx',
  ];
  it.each(INVALID)('rejects %j', (text) => {
    const { message } = thrownBy(() => parseDuration(text, 'timeout'));
    expect(message).toBe(`invalid timeout: ${text}`);
  });

  it('rejects what is longer than a timer, unless it is an age', () => {
    const message = 'timeout must be at most 24 days (got 25d)';
    expect(thrownBy(() => parseDuration('25d', 'timeout')).message).toBe(message);
    expect(parseDuration('25d', '--since', MAX_AGE)).toBe(2_160_000_000);
  });
});

describe('the setting token-store', () => {
  const REDIS = { tls: false, host: 'localhost', port: 6379, database: 0, username: undefined };
  it.each([
    ['file', undefined],
    [' file\r', undefined],
    ['redis://localhost', REDIS],
    ['rediss://bob@[::1]:1/', { tls: true, host: '::1', port: 1, database: 0, username: 'bob' }],
    ['redis://a%40b@localhost:6379/15', { ...REDIS, database: 15, username: 'a@b' }],
  ])('%s is valid', (text, expected) => {
    expect(SETTINGS['token-store'].value.parse(text)).toEqual(expected && { ...expected, text });
  });

  const INVALID =
    'http://localhost redis: redis:// redis.example.com:6379 redis://h/x redis://h/12345 redis://h/0/1 redis://h/0?x=1 redis://h/0#x redis://h/0x xredis://h redissx://h redis://%zz@h FILE redis://bob:canary@h/0 redis://:canary@h http://bob:canary@h bob:canary@h';
  it.each(INVALID.split(' '))('%s is rejected without its password', (text) => {
    const error = thrownBy(() => SETTINGS['token-store'].value.parse(text));
    expect([error.code, `${error.message} ${hintOf(error)}`.includes('canary')]).toEqual([
      'usage',
      false,
    ]);
  });
});

function directoryWith(text: string): string {
  const directory = temporaryDirectory();
  writeFileSync(path.join(directory, 'config.json'), text);
  return directory;
}

const runIn = (config: string) => fakeIo({ env: { IMGCTL_CONFIG_DIR: config } });

const contents = (directory: string) =>
  JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8'));

it('a profile name is a letter or digit, then up to 63 letters, digits, - or _', () => {
  for (const name of ['default', 'a', '0', 'A-b_c', 'constructor', 'x'.repeat(64)]) {
    expect(checkName(name, 'profile')).toBe(name);
  }
  const paths = ['', ' ', '../../x', 'a/b', 'a\\b', '.', '.hidden', 'a.b'];
  const others = ['-a', '__proto__', '_limit', 'a b', 'ä', 'a\n', 'x'.repeat(65)];
  for (const name of [...paths, ...others]) {
    expect(thrownBy(() => checkName(name, 'profile')).code).toBe('usage');
  }
});

describe('config.json', () => {
  it.each([
    ['{"profile": 1}', /profile is not a string$/],
    ['{"profiles": []}', /profiles is not an object$/],
    ['{"profiles": {"a": "s3cret"}}', /profiles\.a is not an object$/],
    ['{"profiles": {"a": {"username": 42}}}', /profiles\.a\.username is not a string$/],
    ['{"profiles": {"a": {"time": "iso", "time": "age"}}}', /: it has time twice$/],
    [
      '{"profiles": {"a": {"base_url": "x"}}}',
      /profiles\.a\.base_url is not a setting; use base-url$/,
    ],
    ['{"profiles": {"a": {"columns_images": "x"}}}', /; use columns\.images$/],
    ['{"profiles": {"a": {"caFile": "x"}}}', /profiles\.a\.caFile is not a setting; use ca-file$/],
    ['{"Profiles": {}}', /: Profiles is unknown; use profiles$/],
    ['{"base_url": "x"}', /base_url belongs in profiles\.default as base-url$/],
  ])('that reads %j is an error', (text, reason) => {
    const { code, message } = thrownBy(() => readConfigFile(directoryWith(text), fakeIo()));
    expect({ code, message }).toEqual({ code: 'config', message: expect.stringMatching(reason) });
  });

  it('that is not UTF-8 is an error and stays as it is', async () => {
    const directory = temporaryDirectory();
    const bytes = Buffer.from('{"profiles": {"a": {"username": "J\u00f6rg"}}}', 'latin1');
    const file = path.join(directory, 'config.json');
    writeFileSync(file, bytes);
    const message = `cannot read the settings in ${file}: it is not UTF-8`;
    const change = changeProfile(runIn(directory), 'a', { time: 'iso' });
    await expect(change).rejects.toMatchObject({ code: 'config', message });
    expect(readFileSync(file)).toEqual(bytes);
  });

  it('keeps all other members, also __proto__, when settings change or the default is removed', async () => {
    const text =
      '{"__proto__":{"a":1},"profile":"a","profiles":{"a":{"output":"csv","new":"n"},"__proto__":{"output":"xml"}}}';
    const directory = directoryWith(text);
    await changeProfile(runIn(directory), 'a', { output: undefined, timeout: '5s' });
    await changeConfigFile(runIn(directory), (config) => ({ ...config, profile: undefined }));
    expect(JSON.stringify(contents(directory))).toBe(
      '{"profiles":{"a":{"new":"n","timeout":"5s"},"__proto__":{"output":"xml"}},"__proto__":{"a":1}}',
    );
  });

  it.each([
    ['https://a.example', { username: 'ann' }, 'https://a.example'],
    ['https://a.example', { time: 'iso' }, undefined],
    ['ftp://a.example', { username: 'ann' }, undefined],
  ])('remembers the removed base URL %s beside %j as %s', async (url, others, former) => {
    const stored = { 'base-url': url, ...others };
    const directory = directoryWith(JSON.stringify({ profiles: { a: stored } }));
    await changeProfile(runIn(directory), 'a', { 'base-url': undefined });
    const kept = former === undefined ? others : { ...others, 'former-base-url': former };
    expect(contents(directory)).toEqual({ profiles: { a: kept } });
  });

  unixOnly('symbolic links need rights')(
    'stays a link to a file elsewhere, and loses no change by either path',
    async () => {
      const elsewhere = directoryWith('{}');
      const directory = temporaryDirectory();
      symlinkSync(path.join(elsewhere, 'config.json'), path.join(directory, 'config.json'));
      const changes = ['a', 'b', 'c', 'd'].map((name, index) => {
        const env = { IMGCTL_CONFIG_DIR: index % 2 === 0 ? directory : elsewhere };
        return changeProfile({ ...impatientIo(), env }, name, { output: 'json' });
      });
      await Promise.all(changes);
      expect(Object.keys(contents(elsewhere).profiles).sort()).toEqual(['a', 'b', 'c', 'd']);
      expect(configFilePath(directory)).toBe(configFilePath(elsewhere));
    },
  );
});

unixOnlySuite('owners and modes are Unix')('settings in a home', () => {
  // Folders of root are trusted too.
  const OWN = process.getuid?.() || 4321;

  /** A folder of this mode whose config.json has this owner and mode. */
  function homeWith(uid: number, mode: number, folderMode = 0o700) {
    const directory = directoryWith('{}');
    chmodSync(directory, folderMode);
    const stat = Object.assign(statSync(path.join(directory, 'config.json')), { uid, mode });
    const check = (env = {}, system: Partial<System> = {}) =>
      checkTrust(directory, stat, { env, system: { ...systemOf(process), uid: OWN, ...system } });
    return { directory, stat, check };
  }

  const TRUST =
    'to trust it, set IMGCTL_CONFIG_DIR to FOLDER; for your own settings, run: sudo -H imgctl …';
  const CLOSE = 'check FILE, then run: chmod o-w ';
  it.each([
    ['of another user', OWN + 1, 0o644, 0o700, 'FILE belongs to another user', TRUST],
    ['that everyone may write', OWN, 0o606, 0o700, 'every user can change FILE', `${CLOSE}FILE`],
    ['of root, but open', 0, 0o646, 0o700, 'every user can change FILE', `${CLOSE}FILE`],
    ['in an open folder', OWN, 0o600, 0o777, 'every user can change FOLDER', `${CLOSE}FOLDER`],
  ])('%s are used on Windows and in IMGCTL_CONFIG_DIR only', (_whose, uid, mode, ...row) => {
    const [folderMode, message, hint] = row;
    const { directory, check } = homeWith(uid, mode, folderMode);
    const named = (text: string) =>
      text.replaceAll('FILE', `${directory}/config.json`).replaceAll('FOLDER', directory);
    const error = thrownBy(() => check());
    expect(error).toMatchObject({ code: 'config', message: named(message) });
    expect(hintOf(error)).toBe(named(hint));
    check({ IMGCTL_CONFIG_DIR: directory });
    check({}, { uid: undefined });
  });

  it('are used if they are those of root, or if only the group may write them', () => {
    homeWith(0, 0o644).check();
    homeWith(OWN, 0o660).check();
  });

  it.each([
    ['in an open folder', 0o777, 0o700],
    ['into an open folder', 0o700, 0o777],
  ])('are not used if a link %s leads to them', (_where, mode, targetMode) => {
    const { directory, stat } = homeWith(OWN, 0o600, targetMode);
    const linked = temporaryDirectory();
    symlinkSync(path.join(directory, 'config.json'), path.join(linked, 'config.json'));
    chmodSync(linked, mode);
    const io = { env: {}, system: { ...systemOf(process), uid: OWN } };
    const { message } = thrownBy(() => checkTrust(linked, stat, io));
    expect(message).toBe(`every user can change ${mode === 0o777 ? linked : directory}`);
  });
});

it('a profile of another service keeps only what is of no service', () => {
  const stored = Object.fromEntries(SETTING_KEYS.map((key) => [key, 'https://a.example']));
  const profiles = new Map([['default', { ...stored, [STORED_PASSWORD]: 'keychain' }]]);
  const keptAt = (baseUrl: string) => {
    const config = { profile: undefined, profiles, isHomeless: false };
    const settings = settle(config, { IMGCTL_BASE_URL: baseUrl });
    const kept = SETTING_KEYS.filter((key) => settings.find(key).layer === 'profile');
    return { kept, storedAt: settings.storedAt };
  };
  const own = SETTING_KEYS.filter((key) => key !== 'base-url');
  expect(keptAt('https://a.example')).toEqual({ kept: own, storedAt: 'keychain' });
  const kept =
    'timeout retries concurrency ca-file output columns.images columns.my-images time limit-rate token-store token-store-password-command wait-for-token';
  const others = { kept: kept.split(' '), storedAt: undefined };
  expect(keptAt('https://b.example')).toEqual(others);
});

it('settings that the user may not read are an error that says how to look at their rights', () => {
  const directory = directoryWith('{}');
  const open = vi.spyOn(fs, 'openSync').mockImplementation(() => {
    throw Object.assign(new Error('open'), { code: 'EACCES' });
  });
  onTestFinished(() => open.mockRestore());
  const error = thrownBy(() => readConfigFile(directory, fakeIo()));
  const file = path.join(directory, 'config.json');
  const message = `cannot read the settings in ${file}: permission denied`;
  expect(error).toMatchObject({ code: 'config', message });
  expect(hintOf(error)).toBe(`check the permissions: ls -ld ${directory} ${file}`);
});

const onUnix = unixOnly('paths are written for Unix');
onUnix('settings that cannot be written are an error with its cause and a hint', async () => {
  const error = await failure(changeProfile(runIn('/dev/null/x'), 'a', { time: 'iso' }));
  const message = 'cannot write /dev/null/x/config.json: not a directory';
  expect(error).toMatchObject({ code: 'config', message, cause: { code: 'ENOTDIR' } });
  expect(hintOf(error)).toBe(
    'check disk space and permissions, or set IMGCTL_CONFIG_DIR; the settings are unchanged',
  );
});

it('an unreadable file of certificates is an error with its cause', () => {
  const config = { profile: undefined, profiles: new Map() };
  const settings = new Settings(config, 'default', { IMGCTL_CA_FILE: 'none.pem' });
  const error = thrownBy(() => readCertificates(settings, fakeIo({ cwd: temporaryDirectory() })));
  const message = 'cannot read the ca-file none.pem: no such file or directory';
  expect(error).toMatchObject({ code: 'config', message, cause: { code: 'ENOENT' } });
});
