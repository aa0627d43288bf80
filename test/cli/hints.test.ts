// The hint of each kind of facts, as a whole. Tests of commands show the profile and service of their commands.

import { expect, it } from 'vitest';
import { flagsOf } from '../../src/cli/command-types.ts';
import { LOCAL_COMMANDS } from '../../src/cli/hint-commands.ts';
import { hintText } from '../../src/cli/hints.ts';
import { NO_CONFIG } from '../../src/config/config-file.ts';
import type { SettingKey } from '../../src/config/definitions.ts';
import { Given, settle } from '../../src/config/settings.ts';
import { type Facts, hint, imgctl, setting } from '../../src/facts.ts';
import { leavesOf } from '../support/commands.ts';
import { isLocal } from '../support/hints.ts';

const SOON = { resetsAt: 3_600_000, wait: 58_000 };
const SERVICE = { of: 'service' } as const;
const STORAGE = { of: 'storage' } as const;
const later = { kind: 'retry-later', resetsAt: undefined, wait: 0 } as const;
const GET = 'imgctl config get base-url';

it.each<[Facts, string]>([
  [{ kind: 'advice', text: 'wait' }, 'wait'],
  [{ kind: 'login-needed' }, 'run: imgctl login'],
  [
    { kind: 'storage-needed' },
    'add --to URL (file://, dav+https:// or s3+https://), or run: imgctl config set upload-url URL',
  ],
  [{ kind: 'username-needed' }, 'set IMGCTL_USERNAME, or run: imgctl login --username NAME'],
  [
    { kind: 'token-refused', given: 'IMGCTL_TOKEN' },
    'set IMGCTL_TOKEN to a new token, or unset it to use the login',
  ],
  [{ kind: 'token-refused' }, 'log in again: imgctl login'],
  [{ kind: 'password-refused' }, 'check the user name and password, then: imgctl login'],
  [
    { kind: 'password-refused', origin: 'PW', username: 'al' },
    'check PW and the user name al: imgctl config list',
  ],
  [{ kind: 'password-refused', origin: 'PW' }, 'check PW and the user name: imgctl config list'],
  [{ kind: 'stored-password', lead: 'store it' }, 'store it: imgctl login --store-password'],
  [
    { kind: 'token-limit', ...SOON },
    'try again at 01:00:00 (in 58 s), or wait with --wait-for-token 5m',
  ],
  [
    { kind: 'token-limit', resetsAt: 3_600_000, wait: 301_000 },
    'try again at 01:00:00 (in 5 min 1 s), or wait with --wait-for-token 6m',
  ],
  [{ kind: 'store-failed' }, 'using the tokens of this machine; check: imgctl doctor'],
  [
    { kind: 'store-token', needsKey: true },
    'set the key that encrypted it, or delete it: imgctl logout --all',
  ],
  [{ kind: 'store-token', needsKey: false }, 'delete it: imgctl logout --all'],
  [
    { kind: 'not-writable' },
    'check disk space and permissions, or set IMGCTL_CONFIG_DIR to a writable directory',
  ],
  [{ kind: 'no-home' }, 'set HOME, such as HOME=/home/alice, or IMGCTL_CONFIG_DIR'],
  [
    { kind: 'list-too-large' },
    'list fewer images with --filter, or use: imgctl images list -o ndjson',
  ],
  [
    { kind: 'snapshot', file: undefined },
    'save a snapshot to another file: imgctl images snapshot FILE',
  ],
  [{ kind: 'snapshot', file: 'a.json' }, 'save a new one with: imgctl images snapshot a.json'],
  [{ kind: 'check-address', ...SERVICE }, `check the base URL: ${GET}`],
  [
    { kind: 'check-address', ...STORAGE, part: 'host and port', more: 'wait' },
    'check the host and port of the upload URL: imgctl config get upload-url; wait',
  ],
  [{ kind: 'needs-tls', ...SERVICE }, `if the port expects TLS, use https in the base URL: ${GET}`],
  [
    { kind: 'needs-tls', ...SERVICE, otherwise: 'wait' },
    `if the port expects TLS, use https in the base URL: ${GET}; else wait`,
  ],
  [{ kind: 'moved', ...STORAGE }, 'if the storage has moved: imgctl config set upload-url URL'],
  [{ kind: 'path-twice', url: 'https://a' }, 'omit /v2: imgctl config set base-url https://a'],
  [
    { kind: 'untrusted', ...SERVICE, hasOthers: false },
    'for a private certificate authority: imgctl config set ca-file /path/to/ca.pem',
  ],
  [
    { kind: 'untrusted', ...STORAGE, hasOthers: true },
    'add the certificate of its issuer, perhaps an intermediate one, to the file: imgctl config set upload-ca-file /path/to/ca.pem',
  ],
  [
    { kind: 'timeout', ...SERVICE, milliseconds: 600 },
    `allow more time with --timeout 2s, or check the base URL: ${GET}`,
  ],
  [{ kind: 'too-large', ...STORAGE, hasQuery: true }, 'use an upload URL with fewer files'],
  [
    { kind: 'too-large', ...SERVICE, hasQuery: true },
    'reduce the page size, for example: --per-page 10',
  ],
  [{ kind: 'too-large', ...SERVICE }, `check the base URL: ${GET}`],
  [
    { kind: 'limited' },
    'try again later; for fewer requests at a time: imgctl config set concurrency 1',
  ],
  [{ ...later, hasFailed: false, wasRetried: false }, 'try again later'],
  [
    { ...later, ...SOON, hasFailed: true, wasRetried: true },
    'the service failed; try again at 01:00:00 (in 58 s), or with more --retries',
  ],
  [{ kind: 'no-such-image' }, 'list the images with: imgctl images list'],
  [{ kind: 'other-page', page: 3 }, 'use --page 3'],
  [{ kind: 'unread-body', url: 'https://a/v2' }, 'print it with: imgctl api https://a/v2'],
  [
    { kind: 'sync-unknown' },
    'check before you submit another: imgctl my-images, or the email of the service',
  ],
  [{ kind: 'region' }, 'set the region: imgctl config set upload-region REGION'],
  [
    { kind: 'region', region: 'eu-1', used: 'us-1' },
    'set the region: imgctl config set upload-region eu-1; then replace us-1 in the upload URL',
  ],
  [
    { kind: 'storage-user' },
    'check the user of the storage and its permissions: imgctl config list',
  ],
  [
    { kind: 'temporary-keys' },
    'renew access key, secret key and session token together (see: imgctl help environment)',
  ],
  [{ kind: 'conflict' }, 'rename your file, or replace the stored one with: --on-conflict replace'],
  [
    { kind: 'conflict', note: 'it is new' },
    'it is new; rename your file, or replace the stored one with: --on-conflict replace',
  ],
  [
    { kind: 'plain-http', secure: 'https://a' },
    'use https://a, or allow plain http: imgctl config set allow-http true',
  ],
  [{ kind: 'credentials-in-url' }, 'remove them from the URL, then run: imgctl login'],
  [
    { kind: 'keychain', fix: 'install it' },
    'install it, or use a password command: imgctl login --password-command COMMAND',
  ],
  [
    { kind: 'keychain', fix: undefined },
    'use wincred: imgctl config set credential-helper wincred, or use a password command: imgctl login --password-command COMMAND',
  ],
  [
    { kind: 'helper-missing' },
    'install it, or use another one: imgctl config set credential-helper NAME',
  ],
  [
    { kind: 'secret-command', setting: 'password-command', command: 'pass', isTyped: true },
    'run it by hand: pass',
  ],
  [
    { kind: 'secret-command', setting: 'password-command', command: 'pass', isTyped: false },
    'run it by hand; to show it: imgctl config get password-command',
  ],
])('the hint for %j is: %s', (facts, text) => {
  expect(hintText(facts, () => settle(NO_CONFIG, {}))).toBe(text);
});

const given = new Map<SettingKey, Given>([['concurrency', new Given('9', 9, '--concurrency')]]);
const command = { setting: 'concurrency', command: 'x', isTyped: false } as const;

it.each([
  [setting('get', 'concurrency'), '--concurrency', 'IMGCTL_CONCURRENCY'],
  [setting('set', 'concurrency', 'a b'), "--concurrency 'a b'", "IMGCTL_CONCURRENCY='a b'"],
  [setting('unset', 'concurrency'), 'omit --concurrency', 'unset IMGCTL_CONCURRENCY'],
  [
    { kind: 'secret-command', ...command } as const,
    'run it by hand; to show it: --concurrency',
    'run the command in IMGCTL_CONCURRENCY by hand',
  ],
])(
  'the hint for %j names the option or the variable that has set it',
  (facts, option, variable) => {
    const ofOption = settle(NO_CONFIG, {}, undefined, given);
    const ofVariable = settle(NO_CONFIG, { IMGCTL_CONCURRENCY: '9' });
    expect(hintText(facts, () => ofOption)).toBe(option);
    expect(hintText(facts, () => ofVariable)).toBe(variable);
  },
);

it.each([
  [['images', 'list', '--', '-x'], 'images list --profile work -- -x'],
  [['images', 'list', '--help'], 'images list --help'],
  [['images', 'list', '--from', 'a.json'], 'images list --from a.json'],
  [['logout', '--profile', 'other'], 'logout --profile other'],
  [['config', 'get', 'time'], 'config get time --profile work'],
  [['help', 'filters'], 'help filters'],
  [['images', 'get', "a'\\\n$b"], "images get $'a\\'\\\\\\n$b' --profile work"],
])('the command %j in a hint is for the profile of the run, and quoted', (words, text) => {
  const advice = hint`${imgctl(...words)}`;
  expect(hintText(advice, () => settle(NO_CONFIG, {}, 'work'))).toBe(`imgctl ${text}`);
});

it('hints name no profile for the commands that use none, and only for these', () => {
  const named = (line: string) => LOCAL_COMMANDS.some((each) => `${line} `.startsWith(`${each} `));
  for (const [line, command] of leavesOf()) {
    expect({ line, named: named(line) }).toEqual({
      line,
      named: isLocal(line.split(' '), command),
    });
  }
});

it('commands with --get and --no-trunc have -c, which the hint for a missing value names', () => {
  for (const [line, { options = [] }] of leavesOf()) {
    const flags = options.flatMap(flagsOf);
    if (!flags.includes('--get') || !flags.includes('--no-trunc')) continue;
    expect({ line, flags }).toEqual({ line, flags: expect.arrayContaining(['-c']) });
  }
});

it.each([
  ['help filters', 'help filters', 'help filters', 'help filters'],
  [
    'images list',
    'images list --profile work',
    'images list --profile work --base-url https://lab.example',
    'images list --profile work --base-url https://new.example',
  ],
  ['config set timeout 5s', ...Array(3).fill('config set timeout 5s --profile work')],
  [
    'config get upload-url',
    'config get upload-url --profile work',
    'config get upload-url --profile lab',
    'config get upload-url --profile new-example',
  ],
  [
    'login',
    'login --profile work --username bob',
    'login --profile lab --username bob',
    'login --profile new-example --base-url https://new.example --username bob',
  ],
])(
  'the command %j in a hint is for the service of the run: its own, that of another profile, or a new one',
  (line, ...texts) => {
    const profiles = new Map([
      ['work', { 'base-url': 'https://work.example' }],
      ['lab', { 'base-url': 'https://lab.example' }],
    ]);
    const shown = ['work', 'lab', 'new'].map((name) => {
      const url = `https://${name}.example`;
      const options = new Map<SettingKey, Given>([
        ['base-url', new Given(url, new URL(url), '--base-url')],
        ['username', new Given('bob', 'bob', '--username')],
      ]);
      const env = { IMGCTL_USERNAME: 'ann' };
      const settings = settle({ profile: undefined, profiles }, env, 'work', options);
      return hintText(hint`${imgctl(...line.split(' '))}`, () => settings);
    });
    expect(shown).toEqual(texts.map((text) => `imgctl ${text}`));
  },
);
