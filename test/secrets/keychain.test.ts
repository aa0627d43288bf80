// The system keychain and docker's credential helpers: how their programs are called, and what they must not see.

import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Account } from '../../src/config/settings.ts';
import { advice } from '../../src/facts.ts';
import { openPasswordStore } from '../../src/secrets/password-store.ts';
import { thrownBy } from '../support/errors.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { type FakeKeychain, fakeHelper, fakeKeychain } from '../support/keychain.ts';
import { unixOnlySuite } from '../support/platform.ts';

const ACCOUNT = { profile: 'work', baseUrl: 'https://images.example/a', username: 'demo' };

const SYSTEMS = [
  ['linux', 'secret-tool'],
  ['darwin', 'security'],
] as const;

function keychainOn(platform: NodeJS.Platform, { PATH }: Pick<FakeKeychain, 'PATH'>) {
  return openPasswordStore(fakeIo({ platform, env: { PATH } }), { kind: 'keychain' });
}

const onUnix = unixOnlySuite('the keychain is a shell script');

onUnix.each(SYSTEMS)('the keychain on %s', (platform, name) => {
  it.each([
    ['-x', `'"\\$(x) `],
    [`it's "a\\ b"`, 'pässwörd ✓'],
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

  it('stores one password per profile and removes only that', async () => {
    const program = fakeKeychain(name);
    const keychain = keychainOn(platform, program);
    await keychain.store({ ...ACCOUNT, profile: 'wor' }, 'another profile');
    await keychain.store(ACCOUNT, 'first');
    for (const other of [{ baseUrl: 'https://images' }, { username: 'dem' }]) {
      expect(await keychain.lookup({ ...ACCOUNT, ...other })).toBeUndefined();
    }
    await keychain.store({ ...ACCOUNT, username: 'alice' }, 'second');
    expect(Object.keys(program.held())).toHaveLength(2);
    await keychain.forget(ACCOUNT);
    await keychain.forget(ACCOUNT);
    expect(await keychain.lookup({ ...ACCOUNT, username: 'alice' })).toBeUndefined();
    expect(await keychain.lookup({ ...ACCOUNT, profile: 'wor' })).toBe('another profile');
  });

  it('reports the first line of stderr', async () => {
    const program = fakeKeychain(name);
    program.replaceBy('echo "no session bus" >&2; echo more >&2; exit 2');
    const { lookup, forget, store } = keychainOn(platform, program);
    const message = `${name} failed with exit code 2: no session bus`;
    const facts = { kind: 'keychain', fix: 'start and unlock the system keychain' };
    for (const call of [lookup, forget, (account: Account) => store(account, 'p4ss')]) {
      await expect(call(ACCOUNT)).rejects.toMatchObject({ code: 'config', message, facts });
    }
  });

  it('says that its program is not installed', async () => {
    const { lookup } = keychainOn(platform, { PATH: '' });
    const fix = platform === 'linux' ? 'install it (Debian: libsecret-tools)' : undefined;
    const error = { message: `${name} is not installed`, facts: { kind: 'keychain', fix } };
    await expect(lookup(ACCOUNT)).rejects.toMatchObject({ code: 'config', ...error });
  });

  const STORES_OTHER = `store|-i) cat > /dev/null; : > OTHER;;
    lookup|find*) test -e OTHER && echo something || exit ABSENT;;
    clear|delete*) rm OTHER 2> /dev/null || exit ABSENT;;`;
  it.each([
    ['repeats the password', 'store|-i) cat >&2; exit 3;;', 'failed with exit code 3'],
    [
      'repeats the password after other words',
      'store|-i) echo "unknown: $(cat)" >&2; exit 3;;',
      'failed with exit code 3',
    ],
    ['stores nothing', 'store|-i) cat > /dev/null;;', 'did not store the password'],
    ['stores something else, which is removed', STORES_OTHER, 'did not store the password'],
  ])('fails if the program %s', async (_, cases, failure) => {
    const program = fakeKeychain(name);
    const other = path.join(temporaryDirectory(), 'other');
    const script = `case $1 in ${cases} *) exit ABSENT;; esac`.replaceAll('OTHER', other);
    program.replaceBy(script.replaceAll('ABSENT', platform === 'linux' ? '1' : '44'));
    const stored = keychainOn(platform, program).store(ACCOUNT, 'p4ss');
    await expect(stored).rejects.toMatchObject({ message: `${name} ${failure}` });
    expect(existsSync(other)).toBe(false);
  });
});

onUnix('secret-tool', () => {
  it('is called with a label and attributes that users see in their keychain', async () => {
    const program = fakeKeychain('secret-tool');
    await keychainOn('linux', program).store({ ...ACCOUNT, username: 'a b' }, 'p4ss');
    const { argv } = program.calls().find(({ argv: [verb] }) => verb === 'store') ?? {};
    expect(argv).toEqual([
      ...['store', '--label=imgctl: a%20b at https://images.example/a', '--'],
      ...['service', 'imgctl', 'profile', 'work'],
      ...['base-url', 'https://images.example/a', 'username', 'a b'],
    ]);
  });

  it('that holds something else than a password asks for a new one', async () => {
    const program = fakeKeychain('secret-tool');
    program.replaceBy("printf 'a\\nb'");
    const facts = { kind: 'stored-password', lead: 'store the password again' };
    await expect(keychainOn('linux', program).lookup(ACCOUNT)).rejects.toMatchObject({ facts });
  });
});

it('the keychain on Windows is not supported', () => {
  const message = 'imgctl cannot use a system keychain on Windows';
  const error = { code: 'config', message, facts: { kind: 'keychain', fix: undefined } };
  expect(thrownBy(() => keychainOn('win32', { PATH: '' }))).toMatchObject(error);
});

const ABSENT = 'echo "credentials not found in native keychain"; exit 1';

function open(script?: string, limit?: number) {
  const helper = fakeHelper();
  if (script !== undefined) helper.replaceBy(script);
  const env = {
    IMGCTL_PASSWORD: 'p4ss',
    IMGCTL_TOKEN: 't0ken',
    IMGCTL_UPLOAD_ACCESS_KEY: 'key-id',
  };
  const io = fakeIo({ env: { PATH: helper.PATH, ...env } });
  return { ...helper, store: openPasswordStore(io, { kind: 'helper', name: 'fake' }, limit) };
}

unixOnlySuite('the credential helper is a shell script')('a credential helper', () => {
  it('gets the base URL on stdin and a record in JSON, and no secret elsewhere', async () => {
    const { store, held, calls } = open();
    expect(await store.lookup(ACCOUNT)).toBeUndefined();
    await store.store(ACCOUNT, 'pä"ss\\1');
    const record = { ServerURL: ACCOUNT.baseUrl, Username: 'demo', Secret: 'pä"ss\\1' };
    expect(held()).toEqual(record);
    expect(await store.lookup(ACCOUNT)).toBe('pä"ss\\1');
    expect(await store.forget(ACCOUNT)).toBe(true);
    expect([held(), await store.forget(ACCOUNT)]).toEqual([undefined, false]);
    const words = calls().map((call) => call.split('\n', 2).join(' '));
    const url = ACCOUNT.baseUrl;
    const expected = [`get ${url}`, `store ${JSON.stringify(record)}`, `erase ${url}`];
    expect(words).toEqual(expect.arrayContaining(expected));
    expect(calls().join()).not.toMatch(/p4ss|t0ken/);
    expect(calls().join()).toContain('key-id');
  });

  it('is found by its path too, and may report a missing password by an empty record', async () => {
    const { file, PATH, held, replaceBy } = open();
    const store = openPasswordStore(fakeIo({ env: { PATH } }), { kind: 'helper', name: file });
    await store.store(ACCOUNT, 'secret');
    expect(held()).toMatchObject({ Secret: 'secret' });
    replaceBy('echo \'{"Username":"","Secret":""}\'');
    expect(await store.lookup(ACCOUNT)).toBeUndefined();
  });

  it.each([
    ['is not installed', 'file/helper', 'ENOTDIR'],
    ['is not installed', 'none/helper', 'ENOENT'],
    ['get could not be started', 'helper', 'EACCES'],
  ])('%s if it is %s, because of %s', async (what, file, code) => {
    const folder = temporaryDirectory();
    for (const each of ['file', 'helper']) writeFileSync(path.join(folder, each), '');
    const name = path.join(folder, file);
    const store = openPasswordStore(fakeIo(), { kind: 'helper', name });
    const facts =
      code === 'EACCES' ? advice(`check it with: ${name} list`) : { kind: 'helper-missing' };
    const expected = { code: 'config', message: `helper ${what}`, facts, cause: { code } };
    await expect(store.lookup(ACCOUNT)).rejects.toMatchObject(expected);
  });

  it.each([
    ['docker-credential-none', 'docker-credential-none'],
    ['my-docker-credential-none', 'docker-credential-my-docker-credential-none'],
  ])('with the name %s is the program %s', async (name, program) => {
    const store = openPasswordStore(fakeIo({ env: { PATH: '' } }), { kind: 'helper', name });
    const expected = { message: `${program} is not installed` };
    await expect(store.lookup(ACCOUNT)).rejects.toMatchObject(expected);
  });

  it('returns no password of another user, leaves it at a logout and replaces it at a login', async () => {
    const { store, held } = open();
    await store.store({ ...ACCOUNT, username: 'bob' }, 'of bob');
    expect(await store.lookup(ACCOUNT)).toBeUndefined();
    expect(await store.forget(ACCOUNT)).toBe(false);
    expect(held()).toMatchObject({ Username: 'bob' });
    await store.store(ACCOUNT, 'of demo');
    expect(held()).toMatchObject({ Username: 'demo', Secret: 'of demo' });
  });

  const NO_JSON = 'get did not print a user name and secret as JSON';
  it.each([
    ['hangs', 'echo canary; exec sleep 60', 'get did not finish within 0.1 s', 100],
    ['fails', 'echo locked; exit 3', 'get failed with exit code 3: locked'],
    ['fails in silence', 'exit 3', 'get failed with exit code 3'],
    [
      'fails in many words',
      `echo ${'x'.repeat(300)}; exit 3`,
      `get failed with exit code 3: ${'x'.repeat(199)}…`,
    ],
    ['fails on stderr', 'echo "no bus" >&2; exit 2', 'get failed with exit code 2: no bus'],
    ['fails after a record', 'echo \'{"Secret":"canary"}\'; exit 1', 'get failed with exit code 1'],
    ['prints only a password', 'echo canary', NO_JSON],
    ['prints other JSON', 'echo \'["canary"]\'', NO_JSON],
    ['prints an empty secret', 'echo \'{"Username":"demo","Secret":""}\'', 'gave an empty line'],
  ])('that %s is named in the error', async (_, script, failure, limit?: number) => {
    const message = `docker-credential-fake ${failure}`;
    const text =
      failure === NO_JSON
        ? 'use a helper that speaks the protocol of docker-credential-helpers'
        : 'check it with: docker-credential-fake list';
    const facts = failure.startsWith('gave') ? { kind: 'stored-password' } : advice(text);
    const expected = { code: 'config', message, facts };
    await expect(open(script, limit).store.lookup(ACCOUNT)).rejects.toMatchObject(expected);
  });

  it.each([
    ['repeats its input in an error', 'store) cat; exit 3;;', 'store failed with exit code 3'],
    [
      'repeats only the password in an error',
      'store) echo "too weak: canary"; exit 3;;',
      'store failed with exit code 3',
    ],
    [
      'repeats a part of the password in an error',
      'store) echo "too weak: nary…"; exit 3;;',
      'store failed with exit code 3',
    ],
    [
      'repeats three of its characters by chance',
      'store) echo "no space for can"; exit 3;;',
      'store failed with exit code 3: no space for can',
    ],
    ['stores nothing', 'store) cat > /dev/null; exit 0;;', 'did not store the password'],
  ])('that %s is an error that does not quote it', async (_, action, failure) => {
    const { store } = open(`case $1 in ${action} esac; ${ABSENT}`);
    const message = `docker-credential-fake ${failure}`;
    await expect(store.store(ACCOUNT, 'canary')).rejects.toMatchObject({ message });
  });
});
