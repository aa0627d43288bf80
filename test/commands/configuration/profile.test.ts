// profile, whoami and token: stored settings of profiles, and the states of a token.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { holdMutex, withMutex } from '../../../src/files/mutex.ts';
import { run } from '../../../src/main.ts';
import { fakeIo } from '../../support/io.ts';
import { fakeKeychain } from '../../support/keychain.ts';
import { unixOnly } from '../../support/platform.ts';
import { unusedPort } from '../../support/sockets.ts';
import { expectSteps, type Step } from '../../support/steps.ts';
import { emulatorUser, localUser, noted, PASSWORD, TOKEN_REQUEST } from '../../support/users.ts';

const TWO = {
  profile: 'staging',
  profiles: {
    default: { 'base-url': 'https://images.example', username: 'alice' },
    staging: { 'base-url': 'ftp://x', 'password-command': 'echo x' },
  },
};

/** A user with this config.json, which `config` reads. */
function userWith(given: unknown) {
  const user = localUser(given);
  return { ...user, config: () => JSON.parse(readFileSync(user.file, 'utf8')) };
}

const NOON = Date.UTC(2026, 0, 5, 12);
const HOUR = 3_600_000;

/** A user who logged in at noon for an hour; `at` runs steps so many milliseconds later. */
async function loggedIn() {
  let now = NOON;
  const user = await emulatorUser({ tokenTtl: HOUR, now: () => now });
  await user.imgctl('login --profile one', { env: PASSWORD, time: NOON });
  user.requests.length = 0;
  const at = (milliseconds: number, ...steps: readonly Step[]) => {
    now = NOON + milliseconds;
    return expectSteps((line) => user.imgctl(line, { time: now }), ...steps);
  };
  return { ...user, at };
}

const EXPIRED = 'imgctl: the token has expired\nhint: set IMGCTL_PASSWORD, or run: imgctl login\n';

describe('profile', () => {
  it('list shows no password of a base URL or user name that was edited by hand', async () => {
    const wrong = { 'base-url': 'https://alice:s3cret@images.example', username: 'bob:s3cret' };
    const { imgctl } = userWith({ profiles: { default: wrong } });
    const hidden = /…@images\.example(?!.*s3cret).*bob:…/s;
    await expectSteps(imgctl, ['profile list', hidden], ['profile list --json', hidden]);
  });

  it('list prints the stored settings and marks the default with *', async () => {
    const { imgctl } = userWith(TWO);
    const variables = 'IMGCTL_PROFILE=default IMGCTL_USERNAME=bob';
    const { stdout } = await imgctl(`${variables} profile list --json`);
    expect(JSON.parse(stdout).map(Object.values)).toEqual([
      ['default', false, 'https://images.example', 'alice', 'none', null],
      ['staging', true, 'ftp://x', null, 'none', 'command'],
    ]);
    const table =
      /^name +base_url +username +token_state +password\ndefault +https:.*\nstaging \* +ftp:/i;
    await expectSteps(imgctl, ['profile list', table], ['profile list -q', 'default\nstaging\n']);
    const none = 'imgctl: no profiles yet\nhint: create one with: imgctl login\n';
    await expectSteps(
      noted(localUser({}).imgctl),
      ['profile list', '', none],
      ['profile list --json', '[]\n', /no profiles yet/],
    );
  });

  it('list shows a profile with an invalid credential helper', async () => {
    const { imgctl } = userWith({ profiles: { work: { 'credential-helper': 'a b' } } });
    await expectSteps(imgctl, ['profile list --json', [{ name: 'work', password: null }]]);
  });

  it('delete refuses the default profile, unless it is the only one', async () => {
    const address = { 'base-url': 'https://images.example' };
    const profiles = { default: address, prod: address, staging: address };
    const { imgctl, config } = userWith({ profile: 'prod', profiles });
    const refused =
      'imgctl: prod is the profile in use\nhint: use another one first: imgctl profile use default\n';
    await expectSteps(
      imgctl,
      ['profile delete prod', '', refused, 2],
      ['IMGCTL_PROFILE=staging profile delete prod', '', refused, 2],
      ['profile delete staging', '', /deleted/],
      ['profile use default', '', /default/],
      ['profile delete default', '', /imgctl profile use prod\n$/, 2],
      ['profile delete prod', '', /deleted/],
      ['profile delete default', '', /deleted/],
    );
    expect(config()).toEqual({ profiles: {} });
  });

  it('without settings, if it is the default, leaves a hint to use another one', async () => {
    const prod = { 'base-url': 'https://images.example' };
    const text = 'imgctl: no service address is set\nhint:';
    const other = `${text} use another profile: imgctl profile use prod, or run: imgctl login\n`;
    const login = `${text} run: imgctl login --profile new, or to try without an account: imgctl demo\n`;
    await expectSteps(
      userWith({ profiles: { new: {}, prod } }).imgctl,
      ['images list', '', other, 2],
      ['images list --profile new', '', login, 2],
    );
  });

  it('use changes the default and nothing else, and delete removes it', async () => {
    const { imgctl, config } = userWith({ ...TWO, future: 1 });
    const changed = 'imgctl: now using profile default\n';
    await expectSteps(imgctl, ['profile use default', '', changed]);
    expect(config()).toEqual({ ...TWO, profile: 'default', future: 1 });
    const used = 'imgctl: now using profile staging\n';
    const overridden = `${used}imgctl: warning: IMGCTL_PROFILE=x overrides the default\nhint: run: unset IMGCTL_PROFILE\n`;
    await expectSteps(
      imgctl,
      ['IMGCTL_PROFILE=x profile use staging', '', overridden],
      ['IMGCTL_PROFILE=staging profile use staging', '', used],
    );
    expect(config().profile).toBe('staging');
    const deleted = 'imgctl: deleted profile default\n';
    await expectSteps(imgctl, ['profile delete default', '', deleted]);
    const { staging } = TWO.profiles;
    expect(config()).toEqual({ profile: 'staging', profiles: { staging }, future: 1 });
  });

  it('with an invalid name in the file fails with that, but can be listed and replaced', async () => {
    const { imgctl } = userWith({ ...TWO, profile: 'my profile' });
    const invalid =
      'imgctl: invalid profile name: my profile (from config.json)\nhint: select another one: imgctl profile use NAME\n';
    await expectSteps(
      imgctl,
      ['config list', '', invalid, 2],
      ['IMGCTL_PROFILE=a/b IMGCTL_OUTPUT=x profile list', /\nstaging {2}/],
      ['profile use staging', '', /now using/],
      ['profile list', /\nstaging \*/],
    );
  });

  it('use refuses a profile that is deleted while it waits for the settings', async () => {
    const { file, env } = userWith({ profiles: { work: {} } });
    let used: Promise<number> | undefined;
    await withMutex(holdMutex(file, 1_000, fakeIo()), async () => {
      await new Promise<void>((isWaiting) => {
        const io = { ...fakeIo({ env }), sleep: async () => isWaiting() };
        used = run(['profile', 'use', 'work'], io);
      });
      writeFileSync(file, '{}');
    });
    expect([await used, readFileSync(file, 'utf8')]).toEqual([5, '{}']);
  });

  it.each([
    ['stagin', 'did you mean staging?'],
    ['constructor', 'see: imgctl profile list'],
  ])('use and delete exit 5 for the unknown profile %s', async (name, hint) => {
    const { imgctl, config } = userWith(TWO);
    const unknown = `imgctl: unknown profile '${name}'\nhint: ${hint}\n`;
    await expectSteps(
      imgctl,
      [`profile use ${name}`, '', unknown, 5],
      [`profile delete ${name}`, '', unknown, 5],
    );
    expect(config()).toEqual(TWO);
  });

  it('delete deletes the rest if it cannot delete the stored password, and fails', async () => {
    const { imgctl, config } = userWith({ profiles: { work: { 'stored-password': 'keychain' } } });
    const said =
      'imgctl: deleted profile work\nimgctl: cannot delete the password in the system keychain: secret-tool is not installed\nhint: delete it there by hand\n';
    await expectSteps(imgctl, ['PATH=/nonexistent profile delete work', '', said, 2]);
    expect(config()).toEqual({ profiles: {} });
  });

  const withKeychain = unixOnly('the keychain is a shell script');
  withKeychain('delete deletes the stored password of that profile only', async () => {
    const { imgctl } = await emulatorUser({ tokenLimit: 100 });
    const keychain = fakeKeychain('secret-tool');
    const run = (line: string | readonly string[]) =>
      imgctl(line, { stdin: 'demo', env: { PATH: keychain.PATH } });
    for (const profile of ['work', 'work2']) {
      await run(`login --store-password --password-stdin --profile ${profile}`);
    }
    await expectSteps(
      run,
      ['profile delete work --profile work2', '', 'imgctl: deleted profile work\n'],
      ['profile list -o csv --profile work2', /^name,.*\r\nwork2,false,.*,valid,keychain\r\n$/],
    );
    expect(Object.keys(keychain.held())).toEqual([expect.stringContaining('profile\nwork2\n')]);
  });

  it('delete keeps a token that another profile shares, and deletes it with the last one', async () => {
    const { directory, imgctl, emulator } = await emulatorUser();
    const set = { 'base-url': emulator.baseUrl, username: 'demo' };
    writeFileSync(
      path.join(directory, 'config.json'),
      JSON.stringify({ profile: 'two', profiles: { one: set, two: set, other: {} } }),
    );
    await imgctl('login --profile one', { env: PASSWORD });
    const tokens = () =>
      readdirSync(path.join(directory, 'tokens')).filter((name) => name.endsWith('.json'));
    const limit = expect.stringMatching(/^_limit\./);
    await expectSteps(
      imgctl,
      ['profile delete one', '', /deleted/],
      ['profile delete two', '', /two is the profile in use/, 2],
      [
        'profile list --json',
        [
          { name: 'two', token_state: 'valid' },
          { name: 'other', base_url: null },
        ],
      ],
      ['profile use other', '', /other/],
      ['profile delete two', '', /deleted/],
    );
    expect(tokens()).toEqual([limit]);
  });

  it('is as fresh if it is the default and was deleted', async () => {
    const { imgctl } = userWith(TWO);
    const fresh = /^imgctl: no service address is set\nhint: run: imgctl login, /;
    await expectSteps(
      imgctl,
      ['profile delete default', '', /deleted/],
      ['profile delete staging', '', /deleted/],
      ['images list', '', fresh, 2],
      ['profile use default', '', /now using/],
    );
    const rows = JSON.parse((await imgctl('doctor --json')).stdout);
    expect(rows).toContainEqual(expect.objectContaining({ check: 'configuration', state: 'ok' }));
  });

  it('is rejected by images list if it is unknown, unless a base URL is set', async () => {
    const { imgctl } = localUser({ profiles: TWO.profiles });
    const line = 'images list --retries 0 --profile defalt';
    const hint = 'did you mean default? Otherwise, create it with: imgctl login --profile defalt';
    const unknown = `imgctl: unknown profile 'defalt'\nhint: ${hint}\n`;
    await expectSteps(imgctl, [line, '', unknown, 2]);
    const { baseUrl } = await unusedPort();
    const set = await imgctl(`IMGCTL_BASE_URL=${baseUrl} IMGCTL_TOKEN=T ${line}`);
    expect(set.exitCode).toBe(3);
  });
});

describe('whoami', () => {
  it('shows the state of the token without a request, as profile list does', async () => {
    const { directory, emulator, at, requests } = await loggedIn();
    const stored_in = expect.stringContaining(path.join(directory, 'tokens', '_token.'));
    const base_url = emulator.baseUrl;
    const user = { profile: 'default', base_url, username: 'demo', token_state: 'valid' };
    const expiry = { expires_on: '2026-01-05T13:00:00Z', expires_in: 2_700 };
    const table =
      /^token_state {2}valid\nexpires_on {3}2026-01-0\d \d\d:\d\d\nexpires_in {3}45 min\nstored_in {4}\S.*$/m;
    await at(
      900_000,
      ['whoami --json', { ...user, ...expiry, checked: false, stored_in }],
      ['whoami', table],
      [
        'IMGCTL_USERNAME=bob profile list --json',
        [{ name: 'one', base_url, token_state: 'valid' }],
      ],
    );
    await at(
      HOUR + 2_000,
      ['whoami -o csv', /,demo,expired,false,2026-01-05T13:00:00Z,0,.*\.json\r\n/, EXPIRED, 4],
      ['profile list --json', [{ name: 'one', token_state: 'expired' }]],
    );
    const next = /hint: the next command requests a token; check with: imgctl doctor\n/;
    await at(HOUR, ['IMGCTL_PASSWORD=demo whoami', /expired/, next, 4]);
    expect(requests).toEqual([]);
  });

  it('asks the service with --check only, and says so', async () => {
    const { imgctl, emulator, at, requests } = await loggedIn();
    const checked = { token_state: 'valid', checked: true };
    await at(0, ['whoami --check', /\nchecked {6}true\n/], ['whoami --check --json', checked]);
    const env = { IMGCTL_TOKEN: (await imgctl('token', { time: NOON })).stdout.trim() };
    const { stdout } = await imgctl('whoami --check --json', { env });
    expect(JSON.parse(stdout)).toMatchObject({ ...checked, token_state: 'from IMGCTL_TOKEN' });
    expect(requests).toEqual(Array(3).fill('GET /v2'));
    emulator.expireTokens();
    await at(0, ['whoami -q', 'demo\n'], ['whoami --check', '', /^imgctl: .+\nhint: /, 4]);
  });

  it('shows IMGCTL_TOKEN and does not store it', async () => {
    const { imgctl } = await emulatorUser();
    const shown = { token_state: 'from IMGCTL_TOKEN', checked: false, stored_in: null };
    await expectSteps(
      imgctl,
      ['IMGCTL_TOKEN=other whoami --json', shown],
      ['IMGCTL_TOKEN=other whoami --check', '', /refused|Invalid token/, 4],
      ['whoami', /token_state +none\n$/, /not logged in/, 4],
      ['IMGCTL_USERNAME= IMGCTL_PASSWORD=x whoami', /none/, /\nhint: run: imgctl login\n$/, 4],
    );
  });

  it('hints at a login to its profile', async () => {
    const { imgctl } = localUser(TWO);
    const line = 'IMGCTL_BASE_URL=https://images.example whoami';
    await expectSteps(
      imgctl,
      [line, /none/, /\nhint: use the profile of this service: --profile default\n$/, 4],
      [`${line} --profile default`, /none/, /\nhint: run: imgctl login --profile default\n$/, 4],
    );
  });
});

describe('token', () => {
  it('prints the cached token without a request, until it has expired', async () => {
    const { imgctl, at, requests, credentials } = await loggedIn();
    const { stdout } = await imgctl('token', { time: NOON });
    await at(HOUR - 1, ['token', stdout]);
    await at(0, [
      'IMGCTL_TOKEN=own token --json',
      { token: 'own', expires_on: null, expires_in: null },
    ]);
    await at(HOUR - 1_600, ['token --json', { token: stdout.trim(), expires_in: 2 }]);
    expect(requests).toEqual([]);
    await at(0, ['my-images']);
    expect(`Bearer ${stdout}`).toBe(`${credentials.at(-1)}\n`);
    await at(HOUR, ['IMGCTL_TOKEN=own token', 'own\n']);
    await at(HOUR, ['token', '', EXPIRED, 4], ['IMGCTL_PASSWORD=demo token', /^\S+\n$/]);
    expect((await imgctl('token', { time: NOON + HOUR })).stdout).not.toBe(stdout);
    expect(requests.slice(1)).toEqual([TOKEN_REQUEST]);
  });
});
