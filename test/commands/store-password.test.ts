// login --store-password: kept in the system keychain, used without a person, forgotten by logout.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { filesBelow } from '../support/files.ts';
import { type FakeIoOptions, fakeTerminal } from '../support/io.ts';
import { type FakeKeychain, fakeKeychain } from '../support/keychain.ts';
import { type Account, startAccount, TOKEN_REQUEST } from './account.ts';

const STORE = ['login', '--store-password'];

/** A user of a system with that program for its keychain. */
async function userWith(
  name: 'secret-tool' | 'security' = 'secret-tool',
  users = [{ name: 'demo', password: 'demo' }],
) {
  const account = await startAccount({ tokenLimit: 100, users });
  const keychain = fakeKeychain(name);
  const platform = name === 'security' ? 'darwin' : 'linux';
  const imgctl = (argv: readonly string[], io: FakeIoOptions = {}) =>
    account.imgctl(argv, { platform, ...io, env: { PATH: keychain.PATH, ...io.env } });
  return { ...account, keychain, imgctl };
}

/** Everything that is kept on disk, as one text. */
function filesOf({ env }: Account): string {
  const files = filesBelow(env.IMGCTL_CONFIG_DIR ?? '');
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

function actionsOf(keychain: FakeKeychain): (string | undefined)[] {
  return keychain.calls().map(({ argv }) => argv[0]);
}

describe.each(['secret-tool', 'security'] as const)('with %s', (name) => {
  it('the password is asked for, stored, used when the token is over, and forgotten', async () => {
    const user = await userWith(name);
    const { emulator, imgctl, keychain, requests } = user;
    const login = await imgctl(STORE, { stdin: fakeTerminal('demo\r') });
    expect(login).toMatchObject({ stdout: '', exitCode: 0 });
    expect(login.stderr).toMatch(/^Password: \n.*logged in.*\n.*kept in the system keychain\n$/);
    expect(filesOf(user)).toContain('"stored-password": "keychain"');
    const afterLogin = keychain.calls().length;

    // As long as the token is good nobody asks for the password.
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(keychain.calls()).toHaveLength(afterLogin);
    emulator.expireTokens();
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect(keychain.calls()).toHaveLength(afterLogin + 1);
    expect(requests.filter((request) => request === TOKEN_REQUEST)).toHaveLength(2);

    expect(await imgctl(['logout'])).toEqual({
      stdout: '',
      stderr: 'imgctl: logged out\nimgctl: the stored password is forgotten\n',
      exitCode: 0,
    });
    expect(keychain.held()).toEqual({});
    const afterLogout = keychain.calls().length;
    expect((await imgctl(['my-images'])).exitCode).toBe(4);
    expect((await imgctl(['logout'])).exitCode).toBe(0);
    expect(keychain.calls()).toHaveLength(afterLogout);
  });
});

it('shows the password nowhere', async () => {
  const password = 'canary-of-a-password';
  const user = await userWith('secret-tool', [{ name: 'demo', password }]);
  const { emulator, imgctl, keychain } = user;
  const argv = [...STORE, '--password-stdin', '--debug'];
  const login = await imgctl(argv, { stdin: password });
  emulator.expireTokens();
  const whoami = await imgctl(['whoami', '--check', '--debug']);
  expect([login.exitCode, whoami.exitCode]).toEqual([0, 0]);
  const asked = keychain.calls().map(({ argv, env }) => ({ argv, env }));
  const seen = JSON.stringify([login, whoami, filesOf(user), asked]);
  for (const secret of [password, Buffer.from(password).toString('base64')]) {
    expect(seen).not.toContain(secret);
  }
});

describe('other ways to the password', () => {
  it.each([
    ['IMGCTL_PASSWORD', { IMGCTL_PASSWORD: 'demo' }],
    ['IMGCTL_PASSWORD_COMMAND', { IMGCTL_PASSWORD_COMMAND: 'echo demo' }],
    ['IMGCTL_TOKEN', { IMGCTL_TOKEN: 'anything' }],
  ])('%s comes before the keychain', async (_name, env) => {
    const { emulator, imgctl, keychain } = await userWith();
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    const calls = keychain.calls().length;
    emulator.expireTokens();
    await imgctl(['my-images'], { env });
    expect(keychain.calls()).toHaveLength(calls);
  });

  it.each([
    [['--password-command', 'echo demo'], {}],
    [[], { IMGCTL_PASSWORD_COMMAND: 'echo demo' }],
  ])('a password command would be used instead: %j %j', async (argv, env) => {
    const { imgctl, keychain, requests } = await userWith();
    const { stderr, exitCode } = await imgctl([...STORE, ...argv], { env });
    expect(stderr).toMatch(/^imgctl: there is a password command \(.+\).*\nhint: .*unset/);
    expect({ exitCode, requests, calls: keychain.calls() }).toEqual({
      exitCode: 2,
      requests: [],
      calls: [],
    });
  });
});

describe('a keychain that cannot be used', () => {
  it.each([
    [
      'no program',
      { env: { PATH: '/nonexistent' } },
      'secret-tool, the program for the system keychain, is not installed',
    ],
    ['Windows', { platform: 'win32' as const }, 'on Windows'],
  ])('%s: says so and spends no token request', async (_what, io, message) => {
    const { imgctl, requests } = await userWith();
    const { stderr, exitCode } = await imgctl([...STORE, '--password-stdin'], {
      stdin: 'demo',
      ...io,
    });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/\nhint: .*--password-command/);
    expect({ exitCode, requests }).toEqual({ exitCode: 2, requests: [] });
  });

  it('one that is locked keeps nothing, and is not asked again', async () => {
    const { imgctl, keychain } = await userWith();
    keychain.replaceBy('case $1 in store) echo "secret-tool: it is locked" >&2;; esac; exit 1');
    const { stderr, exitCode } = await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    expect(stderr).toMatch(
      /^imgctl: logged in.*\nimgctl: secret-tool ended with exit code 1: it is locked\nhint: /,
    );
    expect(exitCode).toBe(2);
    expect((await imgctl(['my-images'])).exitCode).toBe(0);
    expect((await imgctl(['profile', 'list', '--json'])).stdout).not.toContain('keychain');
  });

  it('one that cannot take another password is asked by logout all the same', async () => {
    const { imgctl, keychain } = await userWith('secret-tool', [
      { name: 'demo', password: 'demo' },
      { name: 'other', password: 'x'.repeat(4_001) },
    ]);
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    const argv = [...STORE, '--password-stdin', '--username', 'other'];
    const { stderr, exitCode } = await imgctl(argv, { stdin: 'x'.repeat(4_001) });
    expect(stderr).toContain('imgctl: the password is too long for the system keychain\n');
    expect(exitCode).toBe(2);
    expect((await imgctl(['logout'])).stderr).toContain('the stored password is forgotten');
    expect(keychain.held()).toEqual({});
  });

  it('is named when the token is over, or at logout, which can be repeated', async () => {
    const { emulator, imgctl, keychain } = await userWith();
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    emulator.expireTokens();
    keychain.replaceBy('echo "no bus" >&2; exit 1');
    for (const argv of [['my-images'], ['logout'], ['logout', '--all']]) {
      const { stderr, exitCode } = await imgctl(argv);
      expect(stderr).toContain('imgctl: secret-tool ended with exit code 1: no bus\nhint: ');
      expect(exitCode).toBe(2);
    }
  });
});

describe('a stored password', () => {
  it('that is wrong by now is told, and how to replace it', async () => {
    const { emulator, imgctl, keychain } = await userWith();
    const env = { IMGCTL_PROFILE: 'work' };
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo', env });
    emulator.expireTokens();
    keychain.replaceBy('printf outdated');
    for (const argv of [['my-images'], ['login']]) {
      const { stderr, exitCode } = await imgctl(argv, { env });
      expect(stderr).toMatch(/^imgctl: .*Invalid username and password combination\n/);
      expect(stderr).toMatch(
        /\nhint: replace the password in the system keychain: imgctl login --profile work --store-password\n$/,
      );
      expect(exitCode).toBe(4);
    }
  });

  it('that is gone is told as well', async () => {
    const { emulator, imgctl, keychain } = await userWith();
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    emulator.expireTokens();
    keychain.replaceBy('exit 1');
    const { stderr, exitCode } = await imgctl(['my-images']);
    expect(stderr).toMatch(/^imgctl: the system keychain has no password for demo at http/);
    expect(stderr).toContain('\nhint: run: imgctl login --store-password\n');
    expect(exitCode).toBe(4);
  });

  it.each([
    ['holds none', 'exit 1', 'the system keychain has no password for demo'],
    ['cannot be used', 'echo "no bus" >&2; exit 1', 'secret-tool ended with exit code 1: no bus'],
  ])('is asked for by login where the keychain %s', async (_what, script, warning) => {
    const { imgctl, keychain } = await userWith();
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    keychain.replaceBy(script);
    const { stderr, exitCode } = await imgctl(['login'], { stdin: fakeTerminal('demo\r') });
    expect(stderr).toMatch(/^imgctl: warning: .+\nPassword: \nimgctl: logged in/);
    expect(stderr).toContain(warning);
    expect(exitCode).toBe(0);
  });

  it('is replaced by the next one', async () => {
    const { imgctl, keychain } = await userWith();
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    const wrong = await imgctl([...STORE, '--password-stdin'], { stdin: 'wrong' });
    expect(wrong.exitCode).toBe(4);
    expect(Object.values(keychain.held())).toEqual(['demo']);
    await imgctl([...STORE, '--password-stdin'], { stdin: 'demo' });
    expect(actionsOf(keychain).filter((action) => action === 'store')).toHaveLength(2);
    expect(Object.values(keychain.held())).toEqual(['demo']);
  });

  it('is forgotten in all profiles by logout --all', async () => {
    const { imgctl, keychain } = await userWith();
    for (const profile of ['one', 'two']) {
      await imgctl([...STORE, '--password-stdin', '--profile', profile], { stdin: 'demo' });
    }
    expect((await imgctl(['logout', '--all'])).stderr).toBe(
      [
        'imgctl: 2 tokens forgotten',
        'imgctl: the stored password of profile one is forgotten',
        'imgctl: the stored password of profile two is forgotten',
        '',
      ].join('\n'),
    );
    expect(keychain.held()).toEqual({});
  });
});

it('without a place for the settings the password is not stored', async () => {
  const { imgctl, keychain } = await userWith();
  const env = { IMGCTL_CONFIG_DIR: undefined };
  const io = { stdin: 'demo', env };
  const { stderr, exitCode } = await imgctl([...STORE, '--password-stdin'], io);
  expect(stderr).toContain('no home directory for the settings');
  expect(exitCode).toBe(2);
  expect(keychain.held()).toEqual({});
});
