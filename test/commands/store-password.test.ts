// login --store-password: the password in the system keychain.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { fakeHelper } from '../support/credential-helper.ts';
import { type FakeIoOptions, failed, fakeTerminal } from '../support/io.ts';
import { fakeKeychain } from '../support/keychain.ts';
import { unixOnlySuite } from '../support/platform.ts';
import { emulatorUser, TOKEN_REQUEST } from '../support/users.ts';

const LOGIN = ['login', '--store-password'];
const STDIN = [...LOGIN, '--password-stdin'];

/** Returns a user with secret-tool; `store` logs in with --store-password. */
async function keychainUser() {
  const user = await emulatorUser({ tokenLimit: 100 });
  const keychain = fakeKeychain('secret-tool');
  const imgctl = (argv: readonly string[], io: FakeIoOptions = {}) =>
    user.imgctl(argv, { platform: 'linux', ...io, env: { PATH: keychain.PATH, ...io.env } });
  const store = (password = 'demo', ...options: string[]) =>
    imgctl([...STDIN, ...options], { stdin: password });
  return { ...user, keychain, imgctl, store };
}

unixOnlySuite('the keychain is a shell script')('login --store-password', () => {
  it('stores a password that renews the token until logout deletes it', async () => {
    const { directory, emulator, imgctl, keychain, requests } = await keychainUser();
    const login = await imgctl(LOGIN, { stdin: fakeTerminal('demo\r') });
    expect(login).toMatchObject({ stdout: '', exitCode: 0 });
    expect(login.stderr).toMatch(/^Password: \n✓ Logged in.*\n.*stored in the system keychain\n$/);
    expect(readFileSync(path.join(directory, 'config.json'), 'utf8')).toContain(
      '"stored-password": "keychain"',
    );
    const afterLogin = keychain.calls().length;

    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(keychain.calls()).toHaveLength(afterLogin);
    emulator.expireTokens();
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(keychain.calls()).toHaveLength(afterLogin + 1);
    expect(requests.filter((request) => request === TOKEN_REQUEST)).toHaveLength(2);

    expect(await imgctl(['logout'])).toEqual({
      stdout: '',
      stderr: 'imgctl: logged out\nimgctl: deleted the stored password\n',
      exitCode: 0,
    });
    expect(keychain.held()).toEqual({});
    const afterLogout = keychain.calls().length;
    expect((await imgctl(['my-images'])).exitCode).toBe(4);
    expect((await imgctl(['logout'])).exitCode).toBe(0);
    expect(keychain.calls()).toHaveLength(afterLogout);
  });

  it.each([
    [{ IMGCTL_PASSWORD: 'demo' }],
    [{ IMGCTL_PASSWORD_COMMAND: 'echo demo' }],
    [{ IMGCTL_TOKEN: 'anything' }],
  ])('stores a password that is not read with %j', async (env) => {
    const { emulator, imgctl, keychain, store } = await keychainUser();
    await store();
    const calls = keychain.calls().length;
    emulator.expireTokens();
    await imgctl(['my-images'], { env });
    expect(keychain.calls()).toHaveLength(calls);
  });

  it.each([
    [['--password-command', 'echo demo'], {}],
    [[], { IMGCTL_PASSWORD_COMMAND: 'echo demo' }],
  ])('rejects a password command: %j %j', async (argv, env) => {
    const { imgctl, keychain, requests } = await keychainUser();
    const message =
      /^imgctl: the password command \(.+\) would override .*\nhint: omit --store-password, or remove /;
    expect(await imgctl([...LOGIN, ...argv], { env })).toEqual(failed(2, message));
    expect([...requests, ...keychain.calls()]).toEqual([]);
  });

  it('fails without secret-tool before a token request', async () => {
    const { imgctl, requests } = await keychainUser();
    const result = await imgctl(STDIN, { stdin: 'demo', env: { PATH: '/nonexistent' } });
    const message =
      /^imgctl: secret-tool, the program for the system keychain, is not installed\nhint: .*--password-command/;
    expect(result).toEqual(failed(2, message));
    expect(requests).toEqual([]);
  });

  it('stores nothing if there is no folder for settings', async () => {
    const { imgctl, keychain } = await keychainUser();
    const env = { IMGCTL_CONFIG_DIR: undefined };
    expect(await imgctl(STDIN, { stdin: 'demo', env })).toEqual(
      failed(2, 'no home directory for the settings'),
    );
    expect(keychain.held()).toEqual({});
  });

  it('stores nothing in a locked keychain', async () => {
    const { imgctl, keychain, store } = await keychainUser();
    keychain.replaceBy('case $1 in store) echo "secret-tool: it is locked" >&2;; esac; exit 1');
    const locked =
      /^imgctl: logged in.*\nimgctl: secret-tool ended with exit code 1: it is locked\nhint: /;
    expect(await store()).toEqual(failed(2, locked));
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect((await imgctl(['profile', 'list', '--json'])).stdout).not.toContain('keychain');
  });

  it('replaces a stored password, but not by a wrong one', async () => {
    const { keychain, store } = await keychainUser();
    await store();
    expect((await store('wrong')).exitCode).toBe(4);
    expect(Object.values(keychain.held())).toEqual(['demo']);
    await store();
    expect(keychain.calls().filter(({ argv }) => argv[0] === 'store')).toHaveLength(2);
    expect(Object.values(keychain.held())).toEqual(['demo']);
  });
});

unixOnlySuite('the keychain is a shell script')('a stored password', () => {
  it('is deleted in all profiles by logout --all', async () => {
    const { imgctl, keychain, store } = await keychainUser();
    for (const profile of ['one', 'two']) await store('demo', '--profile', profile);
    expect((await imgctl(['logout', '--all'])).stderr).toBe(
      [
        'imgctl: deleted 1 token',
        'imgctl: deleted the stored password of profile one',
        'imgctl: deleted the stored password of profile two',
        '',
      ].join('\n'),
    );
    expect(keychain.held()).toEqual({});
  });

  it('fails commands and logout if the keychain fails', async () => {
    const { emulator, imgctl, keychain, store } = await keychainUser();
    await store();
    emulator.expireTokens();
    keychain.replaceBy('echo "no bus" >&2; exit 1');
    for (const argv of [['my-images'], ['logout'], ['logout', '--all']]) {
      expect(await imgctl(argv)).toEqual(
        failed(2, 'imgctl: secret-tool ended with exit code 1: no bus\nhint: '),
      );
    }
  });

  it('that is outdated fails with the command that replaces it', async () => {
    const { emulator, imgctl, keychain, store } = await keychainUser();
    await store('demo', '--profile', 'work');
    emulator.expireTokens();
    keychain.replaceBy('printf outdated');
    for (const argv of [['my-images'], ['login']]) {
      const result = await imgctl(argv, { env: { IMGCTL_PROFILE: 'work' } });
      expect(result).toEqual(failed(4, /^imgctl: .*Invalid username and password combination\n/));
      expect(result.stderr).toMatch(
        /\nhint: replace the password in the system keychain: imgctl login --profile work --store-password\n$/,
      );
    }
  });

  it('that is missing fails with the command that stores it', async () => {
    const { emulator, imgctl, keychain, store } = await keychainUser();
    await store();
    emulator.expireTokens();
    keychain.replaceBy('exit 1');
    const result = await imgctl(['my-images']);
    expect(result).toEqual(
      failed(4, /^imgctl: the system keychain has no password for demo at http/),
    );
    expect(result.stderr).toContain('\nhint: run: imgctl login --store-password\n');
  });

  it.each([
    ['holds none', 'exit 1', 'the system keychain has no password for demo'],
    ['fails', 'echo "no bus" >&2; exit 1', 'secret-tool ended with exit code 1: no bus'],
  ])('is prompted for by login if the keychain %s', async (_what, script, warning) => {
    const { imgctl, keychain, store } = await keychainUser();
    await store();
    keychain.replaceBy(script);
    const { stderr, exitCode } = await imgctl(['login'], { stdin: fakeTerminal('demo\r') });
    expect(stderr).toMatch(/^imgctl: warning: .+\nPassword: \n✓ Logged in/);
    expect(stderr).toContain(warning);
    expect(exitCode).toBe(0);
  });
});

unixOnlySuite('the credential helper is a shell script')('the setting credential-helper', () => {
  async function helperUser() {
    const user = await keychainUser();
    const helper = fakeHelper();
    const imgctl: typeof user.imgctl = (argv, io = {}) =>
      user.imgctl(argv, {
        ...io,
        env: { PATH: `${helper.PATH}:${user.keychain.PATH}`, ...io.env },
      });
    const set = () => imgctl(['config', 'set', 'credential-helper', 'fake']);
    return { ...user, helper, imgctl, set };
  }

  it('makes login store the password there, commands read it, and logout erase it', async () => {
    const { emulator, helper, imgctl, keychain, set } = await helperUser();
    await set();
    const login = await imgctl(STDIN, { stdin: 'demo' });
    expect(login).toMatchObject({ stdout: '', exitCode: 0 });
    expect(login.stderr).toContain('the password is stored in the credential helper fake');
    expect(helper.held()).toEqual({
      ServerURL: emulator.baseUrl,
      Username: 'demo',
      Secret: 'demo',
    });
    emulator.expireTokens();
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    const [profile] = JSON.parse((await imgctl(['profile', 'list', '--json'])).stdout);
    expect(profile.password).toBe('helper');
    const { stderr } = await imgctl(['logout']);
    expect(stderr).toBe('imgctl: logged out\nimgctl: deleted the stored password\n');
    expect([helper.held(), keychain.calls()]).toEqual([undefined, []]);
    const message =
      /^imgctl: the credential helper fake has no password for demo at .*\nhint: run: imgctl login --store-password\n$/;
    expect(await imgctl(['my-images'])).toEqual(failed(4, message));
  });

  it('reads a password that another program stored', async () => {
    const { emulator, helper, imgctl, requests, set } = await helperUser();
    await set();
    helper.replaceBy(
      `echo '{"ServerURL":"${emulator.baseUrl}","Username":"demo","Secret":"demo"}'`,
    );
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(requests[0]).toBe(TOKEN_REQUEST);
  });

  it('moves the password out of the keychain with the next login', async () => {
    const { helper, imgctl, keychain, set, store } = await helperUser();
    await store();
    await set();
    expect((await imgctl(STDIN, { stdin: 'demo' })).exitCode).toBe(0);
    expect(helper.held()).toMatchObject({ Secret: 'demo' });
    expect(keychain.held()).toEqual({});
  });

  it('leaves the password in the keychain if the helper fails', async () => {
    const { helper, imgctl, keychain, set, store } = await helperUser();
    await store();
    await set();
    helper.replaceBy('case $1 in get) echo "credentials not found";; esac; exit 1');
    expect((await imgctl(STDIN, { stdin: 'demo' })).exitCode).toBe(2);
    expect(Object.values(keychain.held())).toEqual(['demo']);
    await imgctl(['config', 'unset', 'credential-helper']);
    await imgctl(['logout']);
    expect(keychain.held()).toEqual({});
  });

  it('is used by logout after it was removed', async () => {
    const { helper, imgctl, set } = await helperUser();
    await set();
    await imgctl(STDIN, { stdin: 'demo' });
    await imgctl(['config', 'unset', 'credential-helper']);
    expect((await imgctl(['logout', '--all'])).stderr).toContain('deleted the stored password');
    expect(helper.held()).toBeUndefined();
  });

  it('fails before a token request if the helper is missing', async () => {
    const { imgctl, requests, set } = await helperUser();
    await set();
    const result = await imgctl(STDIN, { stdin: 'demo', env: { PATH: '/nonexistent' } });
    expect(result).toEqual(
      failed(2, 'the credential helper docker-credential-fake is not installed'),
    );
    expect(requests).toEqual([]);
  });

  it('takes a name or a path, which becomes absolute', async () => {
    const { imgctl, set } = await helperUser();
    expect((await set()).exitCode).toBe(0);
    await imgctl(['config', 'set', 'credential-helper', './helper'], { cwd: '/somewhere' });
    expect((await imgctl(['config', 'get', 'credential-helper'])).stdout).toBe(
      '/somewhere/helper\n',
    );
    expect(await imgctl(['config', 'set', 'credential-helper', 'docker-credential-pass'])).toEqual(
      failed(2, 'invalid credential-helper: docker-credential-pass\nhint: use pass\n'),
    );
    expect(await imgctl(['config', 'set', 'credential-helper', 'a b'])).toEqual(
      failed(2, 'hint: use a name such as pass, or a path'),
    );
  });
});
