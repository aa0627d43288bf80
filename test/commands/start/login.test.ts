// login and logout: prompts, sources of the password, stored settings and passwords, the token request limit.

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FakeIoOptions, failed, fakeTerminal, temporaryDirectory } from '../../support/io.ts';
import { fakeHelper, fakeKeychain } from '../../support/keychain.ts';
import { unixOnlySuite } from '../../support/platform.ts';
import { errorResponse, tokenResponse } from '../../support/scripted-server.ts';
import { expectSteps } from '../../support/steps.ts';
import {
  emulatorUser,
  localUser,
  noted,
  PASSWORD,
  scriptedUser,
  TOKEN_REQUEST,
} from '../../support/users.ts';

const NOTHING = { IMGCTL_BASE_URL: undefined, IMGCTL_USERNAME: undefined };
const DEMO = 'IMGCTL_PASSWORD=demo';
const REFUSED = 'the service says: Invalid username and password combination';

/** A user; `stored` returns what the default profile stores, `typing` runs a line at a terminal. */
async function newUser(options: Parameters<typeof emulatorUser>[0] = {}) {
  const user = await emulatorUser(options);
  const file = path.join(user.directory, 'config.json');
  const stored = () => JSON.parse(readFileSync(file, 'utf8')).profiles.default;
  const typing = (keys: string, line = 'login', env: FakeIoOptions['env'] = {}) =>
    user.imgctl(line, { stdin: fakeTerminal(keys), env });
  const tokenRequests = () => user.requests.filter((request) => request === TOKEN_REQUEST).length;
  return { ...user, stored, typing, tokenRequests, baseUrl: user.emulator.baseUrl };
}

describe('login', () => {
  it('prompts for what is missing and stores all but the password', async () => {
    const { imgctl, requests, stored, baseUrl } = await newUser();
    const stdin = fakeTerminal(`${baseUrl}/\rdemo\rdemo\r`);
    expect(await imgctl('login', { env: NOTHING, stdin, time: Date.now() })).toEqual({
      stdout: '',
      stderr: `Address of the service, such as images.example.com: User name: Password for demo at ${baseUrl}: \n✓ Logged in to ${baseUrl} as demo (token valid for 24 h)\n`,
      exitCode: 0,
    });
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'demo' });
    expect((await imgctl('whoami', { env: NOTHING })).exitCode).toBe(0);
    expect(requests).toEqual([TOKEN_REQUEST]);
  });

  it('reads the password from stdin or a command, which is stored and later renews the token', async () => {
    const { emulator, imgctl, tokenRequests } = await newUser();
    expect((await imgctl('login --password-stdin', { stdin: 'demo\r\nmore\n' })).exitCode).toBe(0);
    await imgctl("IMGCTL_PASSWORD=wrong login --password-command 'echo demo'");
    emulator.expireTokens();
    expect((await imgctl('my-images')).exitCode).toBe(0);
    expect(tokenRequests()).toBe(3);
  });

  it('exits 1 after a login whose password command or user name cannot be stored', async () => {
    const { imgctl, directory } = await newUser();
    await imgctl(`${DEMO} login`);
    // No lock can be made.
    writeFileSync(path.join(directory, 'config.json.lock'), '');
    const stderr =
      /^imgctl: warning: cannot write .*config\.json: .*\nhint: move it elsewhere; the settings are unchanged\nimgctl: logged in/;
    const command = "login --password-command 'echo demo'";
    await expectSteps(
      imgctl,
      [command, '', stderr, 1],
      // Nothing is to be stored.
      [`${DEMO} login`, '', /^imgctl: logged in/],
      [`${DEMO} login --profile new`, '', stderr],
      [`${DEMO} IMGCTL_USERNAME= login --profile new -u demo`, '', stderr, 1],
    );
  });

  it('shows how many token requests are left if at most two are, and can ignore the limit', async () => {
    const { imgctl, requests } = await newUser();
    const line = `${DEMO} login`;
    const limit = /limit reached[\s\S]*, or wait with --wait-for-token 5m\n/;
    expect((await imgctl(line)).stderr).not.toMatch(/left/);
    await imgctl(line);
    await expectSteps(
      noted(imgctl),
      [line, '', /you can log in 2 more times in the next .*\n/],
      [line, '', /you can log in once more in the next .*\n/],
      [line, '', /you cannot log in again in the next .*\n/],
      [line, '', limit, 6],
      [`${line} --ignore-limit`, '', /too many requests/, 6],
    );
    expect(requests).toHaveLength(6);
  });

  it('exits 1 if its token cannot be stored once it is there', async () => {
    const { imgctl, env } = await scriptedUser(() => {
      const folder = path.join(env.IMGCTL_CONFIG_DIR, 'tokens');
      const lock = readdirSync(folder).find((name) => name.endsWith('.lock')) ?? '';
      mkdirSync(path.join(folder, lock.replace('_limit', '_token').replace('.lock', '')));
      return tokenResponse('T');
    });
    const { stderr, exitCode } = await imgctl(`${DEMO} IMGCTL_TOKEN= login -u demo`);
    const warning = /^imgctl: warning: cannot store the access token .*; it is used for this run/;
    expect([stderr, exitCode]).toEqual([expect.stringMatching(warning), 1]);
    expect(stderr).toMatch(/\nimgctl: logged in to /);
  });

  it('shows how many are left although the service does not say for how long', async () => {
    const response = { ...tokenResponse('T'), headers: { 'x-ratelimit-remaining': '1' } };
    const { imgctl } = await scriptedUser({ [TOKEN_REQUEST]: response });
    const { stderr } = await noted(imgctl)(`${DEMO} IMGCTL_TOKEN= login -u demo --profile new`);
    const note =
      'imgctl: use this profile with --profile new, or make it the default: imgctl profile use new\n';
    expect(stderr.replaceAll('\n    ', ' ')).toContain(`${note}imgctl: you can log in once more\n`);
  });

  it.each([
    ['login --password-file /no-such-file', 'hint: create it, or check password-file\n'],
    [`${DEMO} login --username ''`, 'username must not be empty'],
    ["login --password-command ''", 'password-command must not be empty'],
    [`${DEMO} login --username a:b`, 'use a user name without a colon'],
    ['login --password-stdin', 'standard input gave an empty line'],
    ["login --password-command 'exit 3'", 'exit code 3\nhint: run it by hand: exit 3\n'],
    [
      'IMGCTL_PASSWORD_COMMAND=false images list',
      'exit code 1\nhint: run the command in IMGCTL_PASSWORD_COMMAND by hand\n',
    ],
    [
      'login',
      'cannot prompt for the password without a terminal\nhint: provide it with --password-stdin, --password-command, --password-file or IMGCTL_PASSWORD\n',
    ],
    [
      'IMGCTL_BASE_URL= login',
      'cannot prompt for the base URL without a terminal\nhint: provide it with --base-url or IMGCTL_BASE_URL\n',
    ],
    [
      'IMGCTL_USERNAME= login',
      'cannot prompt for the user name without a terminal\nhint: provide it with --username or IMGCTL_USERNAME\n',
    ],
    [
      `${DEMO} IMGCTL_TOKEN=T login`,
      'IMGCTL_TOKEN is set and would override this login\nhint: unset IMGCTL_TOKEN, then run: imgctl login\n',
    ],
  ])('rejects %s without a request', async (line, message) => {
    const { imgctl, requests } = await newUser();
    expect(await imgctl(line)).toEqual(failed(2, message));
    expect(requests).toEqual([]);
  });

  it.each(['ftp://images.example', 'http://images.example'])(
    'prompts for nothing else after an invalid base URL: %s',
    async (typed) => {
      const { typing } = await newUser();
      const { stderr, exitCode } = await typing(`${typed}\rdemo\rdemo\r`, 'login', NOTHING);
      expect(stderr).toMatch(/^Address of [^:]*: \n?imgctl: .+\nhint: .+\n$/);
      expect(exitCode).toBe(2);
    },
  );

  it.each([
    [undefined, 'no home directory'],
    ['file/x', 'not a directory'],
  ])('fails without a folder before its request, and others warn: %s', async (folder, reason) => {
    const { imgctl, requests } = await newUser();
    const { directory } = localUser();
    writeFileSync(path.join(directory, 'file'), 'mine');
    const env = { ...PASSWORD, IMGCTL_CONFIG_DIR: folder && path.join(directory, folder) };
    const message = `cannot store the access token (${reason})\nhint: check disk space`;
    expect(await imgctl('login', { env })).toEqual(failed(1, message));
    expect(requests).toEqual([]);
    for (const line of ['images list -q --limit 1', 'sync']) {
      const { stderr, exitCode } = await imgctl(line, { env });
      expect([exitCode, stderr.match(/warning: /g)]).toEqual([0, ['warning: ']]);
    }
    expect(readdirSync(directory)).toEqual(['file']);
  });
});

describe('login at a terminal', () => {
  it('asks for a wrong password again, three times in all', async () => {
    const { typing, requests } = await newUser();
    const { stderr, exitCode } = await typing('a\rb\rdemo\r');
    const unwrapped = stderr.replaceAll('\n    ', ' ');
    expect(stderr.match(/^Password for demo at .*: $/gm)).toHaveLength(3);
    expect(unwrapped).toContain(`\nimgctl: warning: ${REFUSED} (2 attempts left)\n`);
    expect(unwrapped).toContain(`\nimgctl: warning: ${REFUSED} (1 attempt left)\n`);
    expect({ exitCode, requests: requests.length }).toEqual({ exitCode: 0, requests: 3 });
  });

  it('does not read the password from it as standard input', async () => {
    const { typing, requests } = await newUser();
    const message =
      'imgctl: --password-stdin reads a pipe or file, not a terminal\nhint: omit it to be prompted for the password\n';
    expect(await typing('demo\r', 'login --password-stdin')).toEqual(failed(2, message));
    expect(requests).toEqual([]);
  });

  const CHECK = `imgctl: ${REFUSED}\nhint: check `;
  const OF_VARIABLE = `${CHECK}IMGCTL_PASSWORD and the user name demo: imgctl config list\n`;
  it.each([
    ['after three', {}, 'a\rb\rc\rdemo\r', '', 3, `${CHECK}the user name and password, then: `],
    ['after as many as the service allows', { tokenLimit: 2 }, 'a\rb\rdemo\r', '', 2, ''],
    ['at once if it was not typed', {}, 'demo\r', 'IMGCTL_PASSWORD=wrong ', 1, OF_VARIABLE],
  ])('gives up %s', async (_when, options, keys, variables, count, error) => {
    const { typing, imgctl, requests } = await newUser(options);
    const { stderr, exitCode } = await typing(keys, `${variables}login`);
    expect(stderr).toContain(error);
    expect({ exitCode, requests: requests.length }).toEqual({ exitCode: 4, requests: count });
    expect((await imgctl('whoami')).exitCode).toBe(4);
  });

  it('saves nothing of a login that fails, and asks again', async () => {
    const { typing, stored, directory, baseUrl } = await newUser();
    expect((await typing(`${baseUrl}\rdemo\r\u0003`, 'login', NOTHING)).exitCode).toBe(130);
    expect(readdirSync(directory)).toEqual([]);
    const refused = await typing(`${baseUrl}\rdmeo\ra\rb\rc\r`, 'login', NOTHING);
    const hint = `hint: check the user name and password, then: imgctl login --base-url ${baseUrl}\n`;
    expect([refused.stderr.replaceAll('\n    ', ' ').endsWith(hint), refused.exitCode]).toEqual([
      true,
      4,
    ]);
    const lost = await typing('127.0.0.1:9\rdemo\rdemo\r', 'login --retries 0', NOTHING);
    expect(lost.exitCode).toBe(3);
    expect(readdirSync(directory)).not.toContain('config.json');
    const { stderr, exitCode } = await typing(`${baseUrl}\rdemo\rdemo\r`, 'login', NOTHING);
    expect({ stderr, exitCode }).toEqual({
      stderr: expect.stringMatching(
        /^Address of the service, .*: User name: Password for demo at /,
      ),
      exitCode: 0,
    });
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'demo' });
  });

  it('replaces what the profile has, also its password command, only after success', async () => {
    const users = ['alice', 'bob'].map((name) => ({ name, password: name }));
    const { imgctl, stored, baseUrl } = await newUser({ users });
    await imgctl('config set username alice');
    const login = (password: string) => {
      const line = `login -u bob --base-url ${baseUrl} --password-command`;
      return imgctl([...line.split(' '), `echo ${password}`], { env: NOTHING });
    };
    expect((await login('wrong')).exitCode).toBe(4);
    expect(stored()).toEqual({ username: 'alice' });
    expect((await login('bob')).exitCode).toBe(0);
    const command = { 'password-command': 'echo bob' };
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'bob', ...command });
  });

  it('of another user removes the password file of the former, and hints at that user', async () => {
    const { imgctl, stored, baseUrl } = await newUser();
    await imgctl('config set username alice');
    await imgctl('config set password-file pw');
    const login = (stdin: string) =>
      imgctl('login -u demo --password-stdin', { stdin, env: NOTHING });
    await imgctl(`config set base-url ${baseUrl}`);
    expect(await login('wrong')).toEqual(failed(4, 'then: imgctl login --username demo\n'));
    expect((await login('demo')).stderr).toMatch(
      /^imgctl: removed the setting password-file, which was for user alice\n/,
    );
    expect(stored()).toEqual({ 'base-url': baseUrl, username: 'demo' });
  });

  it('of another user keeps the password file that has given the password', async () => {
    const { imgctl, stored, baseUrl, directory } = await newUser();
    const file = path.join(directory, 'pw');
    writeFileSync(file, 'demo');
    const settings = { 'base-url': baseUrl, username: 'alice', 'password-file': file };
    for (const [key, value] of Object.entries(settings)) await imgctl(`config set ${key} ${value}`);
    await expectSteps(
      (line) => imgctl(line, { env: NOTHING }),
      ['login -u demo', '', /^imgctl: logged in/],
    );
    expect(stored()).toEqual({ ...settings, username: 'demo' });
  });

  it('--store-password without a keychain saves nothing', async () => {
    const { imgctl, baseUrl, directory } = await newUser();
    const line = `login --store-password --base-url ${baseUrl} -u demo`;
    expect((await imgctl(line, { env: { ...NOTHING, PATH: '/nowhere' } })).exitCode).not.toBe(0);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([
    ['images.invalid', 'https://images.invalid'],
    ['images:8443/api', 'https://images:8443/api'],
    ['127.0.0.1:9', 'http://127.0.0.1:9'],
  ])('takes %s, typed or as an option, for %s', async (typed, url) => {
    const { typing } = await newUser();
    const line = 'login --retries 0 --timeout 1s';
    const options = await typing('demo\r\u0003', `${line} --base-url ${typed}`, NOTHING);
    for (const { stderr } of [options, await typing(`${typed}\rdemo\r\u0003`, line, NOTHING)]) {
      expect(stderr).toContain(`Password for demo at ${url}: `);
    }
  });

  it.each([
    [401, 'One-time password required.', 'needs a one-time password, which imgctl cannot send'],
    [403, 'TOTP required', 'needs a one-time password, which imgctl cannot send'],
    [400, 'Must enable TOTP', 'needs a one-time password, which imgctl cannot send'],
  ])('explains a refusal with %i: %s', async (status, reason, message) => {
    const { imgctl, requests } = await scriptedUser(() => errorResponse(status, reason));
    const line = `${DEMO} IMGCTL_TOKEN= IMGCTL_USERNAME=demo login`;
    expect(await imgctl(line, { stdin: fakeTerminal('demo\r') })).toEqual(failed(4, message));
    expect(requests()).toHaveLength(1);
  });
});

/** The report of logout. */
const OUT = /^imgctl: logged out of http:\S+ as demo\n$/;

describe('login --password-file', () => {
  it.each(['/dev/fd/63', '/dev/stdin', '/proc/self/fd/0'])('refuses to store %s', async (file) => {
    const { imgctl, requests } = await newUser();
    const line = `login --password-file ${file}`;
    const message = `password-file must be a file that later commands can read (got ${file})\nhint: use --password-command, or --password-stdin\n`;
    expect(await imgctl(line, { stdin: 'demo' })).toEqual(failed(2, message));
    expect(requests).toEqual([]);
  });

  it('stores the path, from which other commands in other folders renew the token', async () => {
    const { emulator, imgctl, directory } = await newUser();
    const cwd = temporaryDirectory();
    writeFileSync(path.join(cwd, 'pw'), 'demo\n');
    const file = path.join(cwd, 'pw');
    expect(await imgctl('login --password-file pw', { cwd })).toMatchObject({
      exitCode: 0,
    });
    const { profiles } = JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8'));
    expect(profiles.default['password-file']).toBe(file);
    emulator.expireTokens();
    const from = `the file ${file} (password-file)`;
    await expectSteps(
      (line) => imgctl(line, { env: NOTHING }),
      ['my-images'],
      ['profile list --json', [{ password: 'file' }]],
      [
        'doctor -o csv --check-password',
        new RegExp(`^password,ok,${from.replace(/[()]/g, '.')} gives`, 'm'),
      ],
      ['login --store-password', '', /the password file \(profile default\) would override/, 2],
    );
    const out = /Logged out\nimgctl: commands log in again with the file \S+ \(password-file\)\n$/;
    await expectSteps(noted(imgctl), ['IMGCTL_PASSWORD= logout --all', '', out]);
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    await expectSteps(
      (line) => imgctl(line, { env: NOTHING }),
      ['doctor -o csv', /^password,not checked,.*,check it with: imgctl doctor --check-password/m],
      ['doctor -q --check-password', 'password\n', /failed checks: password/, 2],
    );
  });
});

describe('logout', () => {
  it('deletes the token for any spelling of the base URL, and leaves the settings', async () => {
    const { emulator, imgctl } = await newUser();
    await imgctl('login', { env: PASSWORD });
    const none = { username: 'demo', token_state: 'none' };
    await expectSteps(
      imgctl,
      [`IMGCTL_BASE_URL=${emulator.baseUrl.toUpperCase()}// logout`, '', OUT],
      ['IMGCTL_BASE_URL= IMGCTL_USERNAME= whoami --json', none, /not logged in/, 4],
      ['logout'],
    );
    await expectSteps(noted(imgctl), ['logout', '', 'imgctl: you were not logged in\n']);
  });

  it('deletes the token of one profile, or all tokens with --all', async () => {
    const users = ['one', 'old', 'two'].map((name) => ({ name, password: 'demo' }));
    const { directory, imgctl } = await newUser({ users });
    const login = (name: string, profile = name) =>
      imgctl(`${DEMO} login -u ${name} --profile ${profile}`);
    for (const { name } of users) await login(name, name === 'old' ? 'one' : name);
    const whoami = async (name: string) =>
      (await imgctl(`whoami --profile ${name}`, { env: NOTHING })).exitCode;
    const out = /^imgctl: logged out of http:\S+ as old\n$/;
    await expectSteps(imgctl, ['IMGCTL_USERNAME= logout --profile one', '', out]);
    expect([await whoami('one'), await whoami('two')]).toEqual([4, 0]);
    await expectSteps(imgctl, ['logout --all', '', 'imgctl: logged out (deleted 2 tokens)\n']);
    const left = readdirSync(path.join(directory, 'tokens'));
    expect(left.filter((name) => !name.startsWith('_limit.'))).toEqual([]);
  });

  it('names the other profiles in the settings that have the same account', async () => {
    const { imgctl, baseUrl } = await newUser();
    await imgctl(`config set base-url ${baseUrl.toUpperCase()}/ --profile two`);
    await imgctl('config set username demo --profile two');
    await imgctl(`config set base-url ${baseUrl} --profile three`);
    await imgctl(`${DEMO} login --profile one`);
    const out =
      /logged out of \S+ as demo\nimgctl: also logged out, because they share the token: two\n$/;
    await expectSteps(imgctl, ['logout --profile one', '', out]);
    await expectSteps(noted(imgctl), [
      'logout --profile one',
      '',
      'imgctl: you were not logged in\n',
    ]);
    const unknown = /warning: unknown profile 'on'\nhint: did you mean one\?\n$/;
    await expectSteps(imgctl, ['logout --profile on', '', unknown]);
    expect((await imgctl('whoami --profile two', { env: NOTHING })).exitCode).toBe(4);
  });

  it.each(['logout', 'logout --all'])('works without a home and settings: %s', async (line) => {
    const env = { IMGCTL_CONFIG_DIR: undefined };
    const result = await noted(localUser().imgctl)(line, { env });
    expect(result).toEqual({ stdout: '', stderr: 'imgctl: you were not logged in\n', exitCode: 0 });
  });
});

const STORE = 'login --store-password --password-stdin';

/** A user with secret-tool and a credential helper; `store` logs in with --store-password. */
async function keychainUser() {
  const user = await newUser({ tokenLimit: 100 });
  const keychain = fakeKeychain('secret-tool');
  const helper = fakeHelper();
  const env = { PATH: `${keychain.PATH}:${helper.PATH}` };
  const imgctl = (line: string | readonly string[], io: FakeIoOptions = {}) =>
    user.imgctl(line, { stdin: 'demo', ...io, env: { ...env, ...io.env } });
  const store = (options = '', stdin = 'demo') => imgctl(`${STORE} ${options}`, { stdin });
  return { ...user, keychain, helper, imgctl, store };
}

const DELETED = /^imgctl: logged out of \S+ as demo\nimgctl: deleted the stored password\n$/;

unixOnlySuite('the keychain is a shell script')('login --store-password', () => {
  it('stores a password that renews the token until logout deletes it', async () => {
    const { emulator, imgctl, keychain, stored, tokenRequests } = await keychainUser();
    const { stderr } = await imgctl('login --store-password', { stdin: fakeTerminal('demo\r') });
    expect(stderr).toMatch(/^Password for demo at .*\n✓ Logged in.*\n.*in the system keychain\n$/);
    const calls = keychain.calls().length;
    for (const more of [0, 1]) {
      expect((await imgctl('my-images')).exitCode).toBe(0);
      expect([keychain.calls().length, tokenRequests()]).toEqual([calls + more, 1 + more]);
      emulator.expireTokens();
    }
    await expectSteps(imgctl, ['logout', '', DELETED]);
    expect(keychain.held()).toEqual({});
    expect(stored()).not.toHaveProperty('stored-password');
    expect((await imgctl('my-images')).exitCode).toBe(4);
  });

  it('has nothing to delete with logout if the password is gone', async () => {
    const { imgctl, keychain, store } = await keychainUser();
    await store();
    keychain.replaceBy('exit 1');
    await expectSteps(imgctl, ['logout', '', /^imgctl: logged out of \S+ as demo\n$/]);
  });

  it('is not called deleted by logout if the profile cannot be changed', async () => {
    const { directory, imgctl, keychain, store } = await keychainUser();
    await store();
    const file = path.join(directory, 'config.json');
    keychain.replaceBy(`[ $1 != clear ] || { rm '${file}'; mkdir '${file}'; }`);
    const { stderr, exitCode } = await imgctl('logout');
    expect(stderr).toMatch(
      /^imgctl: logged out of .*\nimgctl: cannot read the settings in .*\nhint: .*\n$/,
    );
    expect(exitCode).toBe(2);
  });

  const STORE_TYPED = 'login --store-password';
  const override = (origin: string, how: string) =>
    `the password command (${origin}) would override a stored password\nhint: omit --store-password, or remove the password command: ${how}\n`;
  const MISSING = /^imgctl: secret-tool is not installed\nhint: .*--password-command/;
  it.each([
    [
      `${STORE_TYPED} --password-command x`,
      override('--password-command', 'omit --password-command'),
    ],
    [
      `IMGCTL_PASSWORD_COMMAND=x ${STORE_TYPED}`,
      override('IMGCTL_PASSWORD_COMMAND', 'unset IMGCTL_PASSWORD_COMMAND'),
    ],
    [`PATH=/nonexistent ${STORE}`, MISSING],
  ])('fails before a token request: %s', async (line, message) => {
    const { imgctl, keychain, requests } = await keychainUser();
    expect(await imgctl(line)).toEqual(failed(2, message));
    expect([...requests, ...keychain.calls()]).toEqual([]);
  });

  it('stores nothing without a folder for settings, or in a locked keychain', async () => {
    const { imgctl, keychain } = await keychainUser();
    await expectSteps(imgctl, [`IMGCTL_CONFIG_DIR= ${STORE}`, '', /no home directory/, 1]);
    expect(keychain.held()).toEqual({});
    keychain.replaceBy('case $1 in store) echo "secret-tool: it is locked" >&2;; esac; exit 1');
    const locked = /^imgctl: logged in.*\nimgctl: secret-tool .* 1: it is locked\nhint: /;
    await expectSteps(imgctl, [STORE, '', locked, 2], ['my-images']);
  });

  it('stores no password that a logout meanwhile could not find', async () => {
    const { directory, keychain, store, imgctl } = await keychainUser();
    await imgctl('login', { env: PASSWORD });
    const config = path.join(directory, 'config.json');
    copyFileSync(config, `${config}.old`);
    const script = readFileSync(keychain.file, 'utf8');
    keychain.replaceBy(`[ $1 != store ] || cp '${config}.old' '${config}'\n${script}`);
    const message = /\nimgctl: another imgctl logged out during this login\nhint: run the command/;
    expect(await store()).toEqual(failed(1, message));
    expect(keychain.held()).toEqual({});
  });

  it('changes no profile that belongs to another service meanwhile', async () => {
    const { directory, imgctl, stored } = await keychainUser();
    const config = path.join(directory, 'config.json');
    const other = { 'base-url': 'https://other.example' };
    writeFileSync(`${config}.other`, JSON.stringify({ profiles: { default: other } }));
    const command = `cp '${config}.other' '${config}'; echo demo`;
    const message = /^imgctl: profile default belongs to https:\/\/other\.example\nhint: /;
    const line = ['login', '--password-command', command];
    expect(await imgctl(line)).toEqual(failed(2, message));
    expect(stored()).toEqual(other);
  });

  it('replaces a stored password, but not by a wrong one', async () => {
    const { keychain, store } = await keychainUser();
    await store();
    expect((await store('', 'wrong')).exitCode).toBe(4);
    expect(Object.values(keychain.held())).toEqual(['demo']);
    await store();
    expect(keychain.calls().filter(({ argv }) => argv[0] === 'store')).toHaveLength(2);
  });

  it('is undone in all profiles by logout --all', async () => {
    const { imgctl, keychain, store } = await keychainUser();
    for (const profile of ['one', 'two']) await store(`--profile ${profile}`);
    const deleted = 'imgctl: deleted the stored password of profile';
    const output = `imgctl: logged out\n${deleted} one\n${deleted} two\n`;
    await expectSteps(imgctl, ['logout --all', '', output]);
    expect(keychain.held()).toEqual({});
  });

  const LOGIN = 'imgctl login --store-password --profile work';
  const BROKEN = 'imgctl: secret-tool failed with exit code 1: no bus\nhint: ';
  const REPLACE = `combination\nhint: replace the password in the system keychain: ${LOGIN}\n`;
  const NONE = /^imgctl: the system keychain has no password for demo at http.*\nhint: run: imgctl/;
  it.each([
    ['fails', 'echo "no bus" >&2; exit 1', ['my-images'], 2, BROKEN],
    ['has an outdated password', 'printf outdated', ['my-images', 'login'], 4, REPLACE],
    ['has no password', 'exit 1', ['my-images'], 4, NONE],
  ])('makes commands fail with a hint if the keychain %s', async (...row) => {
    const [, script, lines, code, message] = row;
    const { emulator, imgctl, keychain, store } = await keychainUser();
    await store('--profile work');
    emulator.expireTokens();
    keychain.replaceBy(script);
    for (const line of lines) {
      expect(await imgctl(`IMGCTL_PROFILE=work ${line}`)).toEqual(failed(code, message));
    }
  });

  it.each([
    ['exit 1', 'the system keychain has no password for demo'],
    ['echo "no bus" >&2; exit 1', 'secret-tool failed with exit code 1: no bus'],
  ])('lets login prompt if the keychain runs %s', async (script, warning) => {
    const { imgctl, keychain, store } = await keychainUser();
    await store();
    keychain.replaceBy(script);
    const { stderr, exitCode } = await imgctl('login', { stdin: fakeTerminal('demo\r') });
    expect(stderr).toMatch(
      /^imgctl: warning: .+\n(?: {4}.+\n)?Password for demo at .*: \n✓ Logged in/,
    );
    expect([stderr.includes(warning), exitCode]).toEqual([true, 0]);
  });
});

unixOnlySuite('the credential helper is a shell script')('the setting credential-helper', () => {
  const SET = 'config set credential-helper fake';

  it('makes login store the password there, commands read it, and logout erase it', async () => {
    const { emulator, helper, imgctl, keychain, baseUrl } = await keychainUser();
    const done = /the password is stored in the credential helper fake/;
    await expectSteps(imgctl, [SET], [STORE, '', done]);
    expect(helper.held()).toEqual({ ServerURL: baseUrl, Username: 'demo', Secret: 'demo' });
    emulator.expireTokens();
    const none =
      /^imgctl: the credential helper fake has no password for demo at .*\nhint: run: imgctl/;
    await expectSteps(
      imgctl,
      ['my-images'],
      ['profile list --json', [{ password: 'helper' }]],
      ['logout', '', DELETED],
      ['my-images', '', none, 4],
    );
    expect({ held: helper.held(), calls: keychain.calls() }).toEqual({
      held: undefined,
      calls: [],
    });
  });

  it('moves the password out of the keychain with the next login, and logout --all finds it after unset', async () => {
    const { helper, imgctl, keychain, store } = await keychainUser();
    await store();
    await imgctl(SET);
    const before = helper.calls().length;
    expect((await store()).exitCode).toBe(0);
    expect(helper.calls().length).toBeGreaterThan(before);
    expect(helper.held()).toMatchObject({ Secret: 'demo' });
    expect(keychain.held()).toEqual({});
    await imgctl('config unset credential-helper');
    await expectSteps(imgctl, ['logout --all', '', /deleted the stored password/]);
    expect(helper.held()).toBeUndefined();
  });

  it('leaves the former password to another profile that uses it', async () => {
    const { helper, imgctl, store } = await keychainUser();
    for (const profile of ['one', 'two']) {
      await imgctl(`${SET} --profile ${profile}`);
      await store(`--profile ${profile}`);
    }
    for (const [profile, isLeft] of [
      ['one', true],
      ['two', false],
    ] as const) {
      await imgctl(`config unset credential-helper --profile ${profile}`);
      await store(`--profile ${profile}`);
      expect([profile, helper.held() !== undefined]).toEqual([profile, isLeft]);
    }
  });

  it('that fails leaves the password in the keychain, until logout', async () => {
    const { helper, imgctl, keychain, store } = await keychainUser();
    await store();
    await imgctl(SET);
    helper.replaceBy('case $1 in get) echo "credentials not found";; esac; exit 1');
    expect((await store()).exitCode).toBe(2);
    expect(Object.values(keychain.held())).toEqual(['demo']);
    await imgctl('config unset credential-helper');
    await imgctl('logout');
    expect(keychain.held()).toEqual({});
  });

  it('says where the former password is left if the keychain fails', async () => {
    const { helper, imgctl, keychain, store } = await keychainUser();
    await store();
    await imgctl(SET);
    keychain.replaceBy('echo locked >&2; exit 1');
    const left =
      /stored in the credential helper fake\nimgctl: cannot delete the password in the system keychain: .*: locked\nhint: delete it there by hand\n$/;
    await expectSteps(imgctl, [STORE, '', left, 2]);
    expect(helper.held()).toMatchObject({ Secret: 'demo' });
  });

  it.each(['logout', 'logout --all', 'profile delete default'])(
    'leaves no password of an earlier address or user behind: %s',
    async (line) => {
      const { helper, imgctl, store, baseUrl, stored } = await keychainUser();
      await imgctl(SET);
      await store();
      expect(stored()['stored-password']).toBe(`helper:fake ${baseUrl} demo`);
      await imgctl('config set base-url http://localhost:1');
      await imgctl('config set username bob');
      expect((await imgctl(line, { env: NOTHING })).exitCode).toBe(0);
      expect(helper.held()).toBeUndefined();
    },
  );

  it('deletes the password of an earlier address with the next login', async () => {
    const { helper, imgctl, store, baseUrl } = await keychainUser();
    await imgctl(SET);
    await store();
    const port = new URL(baseUrl).port;
    await imgctl(`config set base-url http://localhost:${port}`);
    await imgctl(`${STORE} -u demo`, { env: NOTHING });
    await imgctl('logout', { env: NOTHING });
    expect(helper.held()).toBeUndefined();
  });

  it('has a password for several profiles, which stays until the last one is deleted or one logs out', async () => {
    const { helper, imgctl, store, baseUrl } = await keychainUser();
    await imgctl('config set time iso');
    for (const profile of ['one', 'two', 'three']) {
      await imgctl(`${SET} --profile ${profile}`);
      await store(`--profile ${profile}`);
    }
    // Another user of the same helper shares no password.
    await imgctl(`${SET} --profile four`);
    await imgctl(`config set base-url ${baseUrl} --profile four`);
    await imgctl('config set username bob --profile four');
    await expectSteps(imgctl, ['profile delete one', '', 'imgctl: deleted profile one\n']);
    expect(helper.held()).toBeDefined();
    const shared = /deleted the stored password\nimgctl: other profiles used the password: three\n/;
    await expectSteps(imgctl, ['logout --profile two', '', shared]);
    expect(helper.held()).toBeUndefined();
  });

  it.each(['profile delete default', 'logout --all'])(
    'is found below the home by profile list and %s, without the mark of a login',
    async (line) => {
      const { directory, helper, imgctl, store } = await keychainUser();
      await imgctl(SET);
      await store();
      await imgctl('config unset stored-password');
      const file = path.join(directory, 'config.json');
      const text = readFileSync(file, 'utf8').replace('"fake"', '"~/docker-credential-fake"');
      writeFileSync(file, text);
      const env = { ...NOTHING, HOME: path.dirname(helper.file) };
      const run: typeof imgctl = (words) => imgctl(words, { env });
      await expectSteps(run, ['profile list --json', [{ password: 'helper' }]], [line, '', /./]);
      expect(helper.held()).toBeUndefined();
    },
  );

  it('is asked for no password of a profile without an address', async () => {
    const { helper, imgctl } = await keychainUser();
    await imgctl('config set time iso');
    const deleted = 'imgctl: deleted profile two\n';
    await expectSteps(imgctl, [`${SET} --profile two`], ['profile delete two', '', deleted]);
    expect(helper.calls()).toEqual([]);
  });

  it('that is gone does not stop logout, nor that of other profiles', async () => {
    const { directory, imgctl, keychain, store, stored } = await keychainUser();
    await store('--profile two');
    const file = path.join(directory, 'config.json');
    const config = JSON.parse(readFileSync(file, 'utf8'));
    config.profiles.default = { 'stored-password': 'helper:gone' };
    writeFileSync(file, JSON.stringify(config));
    const left =
      'imgctl: cannot delete the password in the credential helper gone: docker-credential-gone is not installed\nhint: when the password store works again, run: imgctl logout --profile default; to forget the password without deleting it: imgctl config unset stored-password --profile default\n';
    await expectSteps(
      imgctl,
      [
        'logout --all',
        '',
        `imgctl: logged out\nimgctl: deleted the stored password of profile two\n${left}`,
        2,
      ],
      ['logout', '', left, 2],
      ['config unset stored-password'],
      ['logout'],
    );
    expect([keychain.held(), stored()]).toEqual([{}, {}]);
  });

  it('sends nothing if the helper is missing', async () => {
    const { imgctl, requests } = await keychainUser();
    const missing = /docker-credential-none is not installed/;
    await expectSteps(imgctl, [SET.replace('fake', 'none')], [STORE, '', missing, 2]);
    expect(requests).toEqual([]);
  });
});
