// The system keychain: how its programs are called, and what they must not see.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { openPasswordStore } from '../../src/session/keychain.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { type FakeKeychain, fakeKeychain } from '../support/keychain.ts';
import { unixOnlySuite } from '../support/platform.ts';

const ACCOUNT = { profile: 'work', baseUrl: 'https://images.example/a', username: 'demo' };

const SYSTEMS = [
  ['linux', 'secret-tool'],
  ['darwin', 'security'],
] as const;

function keychainOn(
  platform: NodeJS.Platform,
  { PATH }: Pick<FakeKeychain, 'PATH'>,
  env: Record<string, string> = {},
) {
  return openPasswordStore(fakeIo({ platform, env: { ...env, PATH } }), 'keychain');
}

const onUnix = unixOnlySuite('the keychain is a shell script');

onUnix.each(SYSTEMS)('the keychain on %s', (platform, name) => {
  it.each([
    ['-x', `'"\\$(x) `],
    [`it's "a\\ b"`, 'pässwörd\n✓'],
    ['x\n-w ö', 'x'.repeat(1_000)],
  ])('stores for the user name %j the password %j unchanged', async (username, password) => {
    const program = fakeKeychain(name);
    const keychain = keychainOn(platform, program);
    await keychain.store({ ...ACCOUNT, username }, password);
    expect(await keychain.lookup({ ...ACCOUNT, username })).toBe(password);
    const argv = program.calls().flatMap((call) => call.argv);
    expect(argv.join()).not.toContain(password);
    expect(argv.join()).not.toContain(Buffer.from(password).toString('base64'));
  });

  it('returns no password for another profile, base URL or user', async () => {
    const keychain = keychainOn(platform, fakeKeychain(name));
    await keychain.store(ACCOUNT, 'p4ss');
    for (const other of [{ profile: 'wor' }, { baseUrl: 'https://images' }, { username: 'dem' }]) {
      expect(await keychain.lookup({ ...ACCOUNT, ...other })).toBeUndefined();
    }
  });

  it('stores one password per profile and removes only that', async () => {
    const program = fakeKeychain(name);
    const keychain = keychainOn(platform, program);
    await keychain.store({ ...ACCOUNT, profile: 'wor' }, 'another profile');
    await keychain.store(ACCOUNT, 'first');
    await keychain.store({ ...ACCOUNT, username: 'alice' }, 'second');
    expect(Object.keys(program.held())).toHaveLength(2);
    await keychain.forget(ACCOUNT);
    await keychain.forget(ACCOUNT);
    expect(await keychain.lookup({ ...ACCOUNT, username: 'alice' })).toBeUndefined();
    expect(await keychain.lookup({ ...ACCOUNT, profile: 'wor' })).toBe('another profile');
  });

  it('removes the password and the token from the environment of its program', async () => {
    const program = fakeKeychain(name);
    const env = { IMGCTL_PASSWORD: 'p4ss', IMGCTL_TOKEN: 't0ken', DBUS_SESSION_BUS_ADDRESS: 'x' };
    await keychainOn(platform, program, env).store(ACCOUNT, 'p4ss');
    expect(program.calls().length).toBeGreaterThan(2);
    for (const call of program.calls()) {
      expect(JSON.stringify(call.env)).not.toMatch(/p4ss|t0ken/);
      expect(call.env).toContain('DBUS_SESSION_BUS_ADDRESS=x');
    }
  });

  it('reports the first line of stderr', async () => {
    const program = fakeKeychain(name);
    program.replaceBy('echo "no session bus" >&2; echo more >&2; exit 2');
    const keychain = keychainOn(platform, program);
    const expected = {
      code: 'config',
      message: `${name} ended with exit code 2: no session bus`,
      hint: expect.stringContaining('--password-command'),
    };
    await expect(keychain.lookup(ACCOUNT)).rejects.toMatchObject(expected);
    await expect(keychain.forget(ACCOUNT)).rejects.toMatchObject(expected);
    await expect(keychain.store(ACCOUNT, 'p4ss')).rejects.toMatchObject(expected);
  });

  it('hides the stderr of a program that repeats the password', async () => {
    const program = fakeKeychain(name);
    const absent = platform === 'linux' ? 1 : 44;
    program.replaceBy(`case $1 in store|-i) cat >&2; exit 3;; esac; exit ${absent}`);
    const storing = keychainOn(platform, program).store(ACCOUNT, 'p4ss');
    await expect(storing).rejects.toMatchObject({ message: `${name} ended with exit code 3` });
  });

  it('fails if the program stores nothing or something else, and leaves nothing behind', async () => {
    const program = fakeKeychain(name);
    const absent = platform === 'linux' ? 1 : 44;
    const other = path.join(temporaryDirectory(), 'other');
    program.replaceBy(`case $1 in
      store|-i) cat > /dev/null; : > ${other};;
      lookup|find*) test -e ${other} && echo something || exit ${absent};;
      *) rm ${other} 2> /dev/null || exit ${absent};;
    esac`);
    const storing = keychainOn(platform, program).store(ACCOUNT, 'p4ss');
    await expect(storing).rejects.toMatchObject({ message: `${name} did not store the password` });
    expect(existsSync(other)).toBe(false);
    program.replaceBy(`case $1 in store|-i) cat > /dev/null;; *) exit ${absent};; esac`);
    const again = keychainOn(platform, program).store(ACCOUNT, 'p4ss');
    await expect(again).rejects.toMatchObject({ message: `${name} did not store the password` });
  });

  it('fails if the program is not installed', async () => {
    const nowhere = { PATH: '/nonexistent' };
    await expect(keychainOn(platform, nowhere).lookup(ACCOUNT)).rejects.toMatchObject({
      code: 'config',
      message: `${name}, the program for the system keychain, is not installed`,
    });
  });
});

it('the keychain on Windows is not supported', () => {
  expect(() => keychainOn('win32', { PATH: '' })).toThrowError(
    expect.objectContaining({ code: 'config', message: expect.stringContaining('Windows') }),
  );
});
