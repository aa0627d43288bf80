// Credential helpers: docker's protocol, and helpers that hang, fail or print something else.

import { expect, it } from 'vitest';
import { openPasswordStore } from '../../src/session/keychain.ts';
import { fakeHelper } from '../support/credential-helper.ts';
import { fakeIo } from '../support/io.ts';
import { unixOnlySuite } from '../support/platform.ts';

const ACCOUNT = { profile: 'work', baseUrl: 'https://images.example/a', username: 'demo' };
const ABSENT = 'echo "credentials not found in native keychain"; exit 1';

function open(script?: string, limit?: number) {
  const helper = fakeHelper();
  if (script !== undefined) helper.replaceBy(script);
  const io = fakeIo({ env: { PATH: helper.PATH, IMGCTL_PASSWORD: 'p4ss', IMGCTL_TOKEN: 't0ken' } });
  return { ...helper, store: openPasswordStore(io, 'helper:fake', limit) };
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
    expect(words.slice(0, 4)).toEqual([
      `get ${url}`,
      `get ${url}`,
      `store ${JSON.stringify(record)}`,
      `get ${url}`,
    ]);
    expect(words).toContain(`erase ${url}`);
    expect(calls().join()).not.toMatch(/p4ss|t0ken/);
  });

  it('may report a missing password by an empty record', async () => {
    const { store } = open('echo \'{"Username":"","Secret":""}\'');
    expect(await store.lookup(ACCOUNT)).toBeUndefined();
  });

  it('is found by its path too', async () => {
    const { file, PATH, held } = open();
    await openPasswordStore(fakeIo({ env: { PATH } }), `helper:${file}`).store(ACCOUNT, 'secret');
    expect(held()).toMatchObject({ Secret: 'secret' });
  });

  it('returns no password of another user, leaves it at a logout and replaces it at a login', async () => {
    const { store, held } = open();
    await store.store({ ...ACCOUNT, username: 'bob' }, 'of bob');
    await expect(store.lookup(ACCOUNT)).rejects.toMatchObject({
      code: 'config',
      message: 'docker-credential-fake has the password of another user for this service',
      hint: 'replace it: imgctl login --username demo --store-password',
    });
    expect(await store.forget(ACCOUNT)).toBe(false);
    expect(held()).toMatchObject({ Username: 'bob' });
    await store.check(ACCOUNT);
    await store.store(ACCOUNT, 'of demo');
    expect(held()).toMatchObject({ Username: 'demo', Secret: 'of demo' });
  });

  it.each([
    ['hangs', 'exec sleep 60', 'docker-credential-fake get did not end within 0.1 s', 100],
    ['fails', 'echo locked; exit 3', 'docker-credential-fake get ended with exit code 3: locked'],
    [
      'fails on stderr',
      'echo "no bus" >&2; echo more >&2; exit 2',
      'docker-credential-fake get ended with exit code 2: no bus',
    ],
    [
      'fails after it printed a record',
      'echo \'{"Username":"demo","Secret":"canary"}\'; exit 1',
      'docker-credential-fake get ended with exit code 1',
    ],
    [
      'prints a bare password',
      'echo canary',
      'docker-credential-fake get printed no user name and secret in JSON',
    ],
    [
      'prints other JSON',
      'echo \'["canary"]\'',
      'docker-credential-fake get printed no user name and secret in JSON',
    ],
    [
      'prints an empty secret',
      'echo \'{"Username":"demo","Secret":""}\'',
      'docker-credential-fake gave no password',
    ],
  ])('that %s is named in the error', async (_, script, message, limit?: number) => {
    const expected = { code: 'config', message, hint: expect.stringMatching(/\w/) };
    await expect(open(script, limit).store.lookup(ACCOUNT)).rejects.toMatchObject(expected);
  });

  it('that is missing is named in the error', async () => {
    const io = fakeIo({ env: { PATH: '/nonexistent' } });
    await expect(openPasswordStore(io, 'helper:fake').lookup(ACCOUNT)).rejects.toMatchObject({
      code: 'config',
      message: 'the credential helper docker-credential-fake is not installed',
      hint: 'install it, or use another one: imgctl config set credential-helper NAME',
    });
  });

  it('that repeats the password in an error is not quoted', async () => {
    const { store } = open(`case $1 in store) cat; exit 3;; esac; ${ABSENT}`);
    await expect(store.store(ACCOUNT, 'canary')).rejects.toMatchObject({
      message: 'docker-credential-fake store ended with exit code 3',
    });
  });

  it('that stores nothing is an error', async () => {
    const { store } = open(`case $1 in get) ${ABSENT};; esac; cat > /dev/null`);
    await expect(store.store(ACCOUNT, 'secret')).rejects.toMatchObject({
      message: 'docker-credential-fake did not store the password',
    });
  });
});
