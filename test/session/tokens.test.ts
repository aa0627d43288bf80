// Tokens of a session: requested once, renewed once, cached; and the limit of token requests.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import { advice } from '../../src/facts.ts';
import type { CachedToken, RememberedLimit } from '../../src/session/cached-token.ts';
import { type HeldMutex, type TokenStore, TokenStores } from '../../src/session/token-store.ts';
import { fixedToken, Tokens } from '../../src/session/tokens.ts';
import { CLOCK_CHANGES, type FakeIo, fakeIo, temporaryDirectory } from '../support/io.ts';
import { errorResponse, scriptedServer, tokenResponse } from '../support/scripted-server.ts';
import { DEMO, sessionWith, startService } from './harness.ts';

const DAY = 86_400_000;

const WRONG = { passwordSource: { ...DEMO.passwordSource, read: async () => 'wrong' } };

describe('a command that needs a token', () => {
  it('requests one that the next command uses, until it expires', async () => {
    const { requests, open } = await startService();
    const io = fakeIo({ env: { IMGCTL_PASSWORD: 'demo' }, time: Date.now() });
    await (await open({}, io)).client.serviceRoot();
    const unattended = fakeIo({ time: Date.now() });
    await (await open({}, unattended)).client.serviceRoot();
    io.advance(2 * DAY);
    unattended.advance(2 * DAY);
    // It cannot renew the expired token.
    await (await open({}, unattended)).client.serviceRoot();
    await (await open({}, io)).client.serviceRoot();
    const first = ['POST /auth/request-token', 'GET /v2', 'GET /v2', 'GET /v2'];
    expect(requests()).toEqual([...first, 'POST /auth/request-token', 'GET /v2']);
  });

  it('counts its token as new for 10 s, whether the clock goes ahead or back', async () => {
    const io = fakeIo({ env: { IMGCTL_PASSWORD: 'demo' }, time: Date.now() });
    const { tokens } = await (await startService()).open(undefined, io);
    const token = await tokens?.current();
    const isNewAfter = (milliseconds: number) => {
      io.advance(milliseconds);
      return tokens?.isNew(`${token}`);
    };
    expect([9_999, 1, -19_999, -1].map(isNewAfter)).toEqual([true, false, true, false]);
    expect(tokens?.isNew('another')).toBe(false);
  });

  it.each([
    ['was refused right after its issue', { tokenTtl: 0 }, undefined],
    ['is refused if there is no password', {}, {}],
  ])('does not renew a token that %s', async (_, options, env) => {
    const { emulator, tokenRequests, open } = await startService(options);
    const session = await open(env);
    if (env) await session.tokens?.login(DEMO);
    emulator.expireTokens();
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'token-refused',
      facts: { kind: 'token-refused' },
    });
    expect(tokenRequests()).toBe(1);
  });

  it('requests one token for many requests and sessions at the same time, and one after a refusal', async () => {
    const { emulator, requests, tokenRequests, open } = await startService();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => open()));
    const all = [...sessions, ...sessions];
    await Promise.all(all.map(({ client }) => client.serviceRoot()));
    expect(tokenRequests()).toBe(1);
    emulator.expireTokens();
    await Promise.all(all.map(({ client }) => client.serviceRoot()));
    expect(tokenRequests()).toBe(2);
    emulator.expireTokens();
    const before = requests().length;
    await sessions[0]?.client.serviceRoot();
    expect(requests().slice(before)).toEqual(['GET /v2', 'POST /auth/request-token', 'GET /v2']);
  });

  it('does not run the password command without a user name', async () => {
    const { requests, open } = await startService();
    const asked = path.join(temporaryDirectory(), 'asked');
    const env = { PATH: process.env.PATH, IMGCTL_PASSWORD_COMMAND: `touch ${asked}` };
    const { client, tokens } = await open(env, undefined, {});
    const facts = { kind: 'username-needed' };
    const refusal = { code: 'not-logged-in', message: 'no user name is set', facts };
    await expect(client.serviceRoot()).rejects.toMatchObject(refusal);
    await expect(tokens?.login(DEMO)).rejects.toMatchObject(refusal);
    expect(await tokens?.renew('refused', true)).toBeUndefined();
    expect([existsSync(asked), requests()]).toEqual([false, []]);
  });

  it.each([
    [' as demo', { username: 'demo' }],
    ['', {}],
  ])('fails without a password: not logged in%s', async (who, stored) => {
    const { emulator, open, requests } = await startService();
    const { client } = await open({}, undefined, stored);
    const message = `not logged in to ${emulator.baseUrl}${who}`;
    const refusal = { code: 'not-logged-in', message, facts: { kind: 'login-needed' } };
    await expect(client.serviceRoot()).rejects.toMatchObject(refusal);
    expect(requests()).toEqual([]);
  });

  it('keeps the token in memory without a directory, and uses one renewed meanwhile', async () => {
    const { emulator, tokenRequests } = await startService();
    const { client, tokens, warnings } = await sessionWith(emulator.baseUrl, undefined);
    await Promise.all([client.serviceRoot(), client.serviceRoot()]);
    const old = (await tokens?.current()) ?? '';
    expect(tokenRequests()).toBe(1);
    const renewed = await tokens?.renew(old, true);
    expect(renewed).not.toBe(old);
    expect(await tokens?.renew(old, true)).toBe(renewed);
    expect([tokenRequests(), new Set(warnings).size]).toEqual([2, 1]);
  });
});

it('a token request gets a hint to the source of its password, if the service refuses it', async () => {
  const { open } = await startService();
  const session = await open({}, fakeIo({ env: { IMGCTL_PASSWORD: 'wrong' } }));
  const kind = 'password-refused';
  const variable = { kind, origin: 'IMGCTL_PASSWORD', username: 'demo' };
  for (const [request, facts] of [
    [() => session.client.serviceRoot(), variable],
    [() => session.tokens?.login(WRONG), { kind }],
  ] as const) {
    const refusal = { code: 'wrong-credentials', status: 401, facts };
    await expect(request()).rejects.toMatchObject(refusal);
  }
  const faults = ['POST /auth/request-token=500'];
  const broken = await (await startService({ faults })).open();
  const failed = { code: 'server-error', facts: { kind: 'retry-later' } };
  await expect(broken.tokens?.login(DEMO)).rejects.toMatchObject(failed);
});

describe('IMGCTL_TOKEN', () => {
  it('is used unchanged, and neither cached nor renewed', async () => {
    const { requests, open } = await startService();
    const env = { IMGCTL_TOKEN: 'unknown', IMGCTL_PASSWORD: 'demo' };
    const session = await open(env);
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'token-refused',
      facts: { kind: 'token-refused', given: 'IMGCTL_TOKEN' },
    });
    expect(requests()).toEqual(['GET /v2']);
    expect(session.files.read()).toBeUndefined();
    expect(await fixedToken('unknown', 'IMGCTL_TOKEN').current()).toBe('unknown');
  });

  it.each(['tok en', '\ntoken', 'token\n\n', 'tökén'])('is rejected if it is %j', async (token) => {
    const opened = sessionWith('https://images.example', undefined, { IMGCTL_TOKEN: token });
    await expect(opened).rejects.toMatchObject({
      code: 'config',
      message: 'IMGCTL_TOKEN is not an access token',
      facts: advice('set IMGCTL_TOKEN to a token: up to 8 KiB, without spaces or line breaks'),
    });
  });
});

it.each([
  ['https://images.example', '0', 1],
  ['https://images.example', '1', 0],
  ['http://127.0.0.1', '0', 0],
])('a session with %s warns of NODE_TLS_REJECT_UNAUTHORIZED=%s %d times', async (...row) => {
  const [url, value, count] = row;
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: value };
  const { warnings } = await sessionWith(url, temporaryDirectory(), env);
  const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified';
  expect(warnings).toEqual(Array(count).fill(message));
});

describe('the token request limit', () => {
  const logIn = async (session: Awaited<ReturnType<typeof sessionWith>>, count: number) => {
    for (let login = 0; login < count; login += 1) await session.tokens?.login(DEMO);
  };

  it('counts failed logins and is not exceeded by the next command', async () => {
    const { tokenRequests, open } = await startService({ tokenLimit: 3 });
    const first = await open();
    await logIn(first, 1);
    await expect(first.tokens?.login(WRONG)).rejects.toMatchObject({
      code: 'wrong-credentials',
    });
    const second = await open();
    expect((await second.tokens?.login(DEMO))?.limit.remaining).toBe(0);
    const message = 'token request limit reached';
    const limited = {
      code: 'rate-limited',
      message,
      facts: expect.objectContaining({ kind: 'token-limit' }),
    };
    await expect(logIn(second, 1)).rejects.toMatchObject(limited);
    expect(tokenRequests()).toBe(3);
  });

  it('counts a request without a response, but none that was never sent', async () => {
    const faults = ['POST /auth/request-token=drop,every=2'];
    const { emulator, open } = await startService({ faults });
    const session = await open();
    const left = () => session.files.readLimit()?.remaining;
    await logIn(session, 1);
    await expect(logIn(session, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(left()).toBe(3);
    await emulator.close();
    await expect(logIn(session, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(left()).toBe(3);
  });

  it('of a 429 with only Retry-After keeps the next command from a request', async () => {
    const limited = { ...errorResponse(429, 'enough'), headers: { 'retry-after': '60' } };
    const server = await scriptedServer({ 'POST /auth/request-token': [limited] });
    const directory = temporaryDirectory();
    for (const _command of [1, 2]) {
      const session = await sessionWith(server.baseUrl, directory);
      await expect(logIn(session, 1)).rejects.toMatchObject({ code: 'rate-limited' });
    }
    expect(server.requests).toHaveLength(1);
  });
});

it.each([
  ['the remaining requests', { 'x-ratelimit-remaining': '1' }],
  ['the reset time', { 'x-ratelimit-reset': '60' }],
])('the token request limit ignores a response with only %s', async (_, half) => {
  const whole = { 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '60' };
  const responses = [whole, half].map((headers) => ({ ...tokenResponse('T'), headers }));
  const server = await scriptedServer({ 'POST /auth/request-token': responses });
  const { tokens, files } = await sessionWith(server.baseUrl, temporaryDirectory());
  for (const _login of responses) await tokens?.login(DEMO);
  expect(files.readLimit()?.remaining).toBe(3);
  const receivedAt = Date.now();
  await files.writeLimit({ remaining: 0, receivedAt, resetsAt: receivedAt + 60_000 });
  await tokens?.login({ ...DEMO, ignoreLimit: true });
  expect(files.readLimit()?.remaining).toBe(0);
});

/**
 * A service whose one token request is used up. Its clock is true, and waits take no time, but
 * `beforeWait` is called at their start.
 */
async function usedUp(
  patience: string | undefined,
  beforeWait: (io: FakeIo) => unknown = () => {},
) {
  const fake = fakeIo({ env: { IMGCTL_PASSWORD: 'demo' }, time: Date.now() });
  const io: FakeIo = {
    ...fake,
    sleep: async (milliseconds, signal) => {
      await beforeWait(io);
      return fake.sleep(milliseconds, signal);
    },
  };
  const service = await startService({ tokenLimit: 1, now: io.elapsed });
  const stored = { username: 'demo', ...(patience && { 'wait-for-token': patience }) };
  const directory = temporaryDirectory();
  const open = (folder = directory) =>
    sessionWith(service.emulator.baseUrl, folder, io.env, io, stored);
  const first = await open();
  await first.client.serviceRoot();
  const limit = first.files.readLimit();
  service.emulator.expireTokens();
  return { ...service, io, open, first, window: (limit?.resetsAt ?? 0) - io.now() };
}

describe('--wait-for-token', () => {
  it('waits until the limit ends, then requests a token', async () => {
    const { first, io, tokenRequests, window } = await usedUp('5m');
    const before = io.now();
    await first.client.serviceRoot();
    // The clock of the test moves only by waits.
    expect([tokenRequests(), io.now() - before]).toEqual([2, window]);
    const note = /^token request limit reached; waiting 1 min( \d+ s)?$/;
    expect(first.notes).toEqual([expect.stringMatching(note)]);
  });

  it.each([
    ['only the service knows the limit', temporaryDirectory],
    ['the limit cannot be stored', () => '/dev/null/none'],
  ])('also waits if %s', async (_, folder) => {
    const { open, io, tokenRequests } = await usedUp('5m');
    const before = io.now();
    await (await open(folder())).client.serviceRoot();
    expect(io.now()).toBeGreaterThan(before);
    // The second one was refused.
    expect(tokenRequests()).toBe(3);
  });

  it('uses the token that another process gets meanwhile', async () => {
    const { first, io, tokenRequests } = await usedUp('5m', ({ now }) =>
      first.files.write({ token: 'T', receivedAt: now(), expiresAt: now() + DAY }),
    );
    const before = io.elapsed();
    expect(await first.tokens?.renew((await first.tokens?.current()) ?? '', true)).toBe('T');
    // It looks every few seconds, long before the limit ends.
    expect([tokenRequests(), io.elapsed() - before]).toEqual([1, 5_000]);
  });

  it.each([
    ['for a limit that ends later', '30s'],
    ['by default', undefined],
  ])('does not wait %s', async (_, patience) => {
    const { first, io, tokenRequests } = await usedUp(patience);
    const before = io.now();
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'rate-limited' });
    expect([io.now() - before, tokenRequests(), first.notes]).toEqual([0, 1, []]);
  });

  it.each(CLOCK_CHANGES)('ends with the limit if the clock is set by %s ms', async (change) => {
    const { first, io, tokenRequests, window } = await usedUp('5m', ({ setClock }) =>
      setClock(change),
    );
    const before = io.elapsed();
    await first.client.serviceRoot();
    expect([tokenRequests(), io.elapsed() - before]).toEqual([2, window]);
  });

  it('ends when the session is closed, without a token request', async () => {
    let closed: Promise<void> | undefined;
    const { first, io, tokenRequests } = await usedUp('5m', () => {
      closed ??= first.close();
      return new Promise(setImmediate);
    });
    const before = io.elapsed();
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'interrupted' });
    await closed;
    expect([io.elapsed() - before, tokenRequests()]).toEqual([5_000, 1]);
  });

  it('ends at an interrupt', async () => {
    const { first } = await usedUp('5m', ({ interrupt }) => interrupt());
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'interrupted' });
  });
});

describe('a token store', () => {
  const tokenOf = (token: string): CachedToken => ({ token, receivedAt: 0, expiresAt: DAY });

  const failure = (code: ImgctlError['code']) => new ImgctlError(code, '');

  const MUTEX: HeldMutex = {
    assertHeld: async () => {},
    writeToken: async () => true,
    release: async () => {},
  };

  /** Tokens of a store, and how many token requests they sent. */
  function tokensOf(
    changes: Partial<TokenStore>,
    patience = 0,
    readLimit = (_now: number): RememberedLimit | undefined => undefined,
  ) {
    const io = fakeIo({ time: 0 });
    let requests = 0;
    const limit = { remaining: undefined, resetsAt: undefined };
    const requestToken = async () => {
      io.signal.throwIfAborted();
      requests += 1;
      return { ...tokenOf(`T${requests}`), limit };
    };
    const store: TokenStore = {
      read: () => undefined,
      readLimit: () => readLimit(io.now()),
      writeLimit: async () => {},
      readRefusal: () => undefined,
      writeRefusal: async () => {},
      acquire: async () => ({ mutex: MUTEX }),
      location: undefined,
      testWrite: async () => {},
      ...changes,
    };
    const tokens = new Tokens({
      ...{ io, patience, username: 'demo', baseUrl: '', redact: String },
      stores: new TokenStores(store, store, () => {}),
      passwordSource: { read: async () => 'demo', factsIfRefused: advice(''), origin: '' },
      client: () => ({ requestToken }),
    });
    return { io, tokens, requests: () => requests };
  }

  it.each([
    ['uses', 'its valid token if it cannot be renewed', failure('rate-limited'), DAY - 1, 'T'],
    ['uses', 'its valid token if others hold the mutex', failure('locked'), DAY - 1, 'T'],
    ['uses', 'no token that has expired', failure('rate-limited'), DAY, undefined],
    ['hides', 'no refused password behind a valid token', failure('wrong-credentials'), DAY - 1],
    ['hides', 'no defect behind a valid token', new TypeError(), DAY - 1],
  ] as const)('%s %s', async (_, _what, error, time, expected?) => {
    let tries = 0;
    const acquire = () => {
      tries += 1;
      return Promise.reject(error);
    };
    const { tokens, io } = tokensOf({ read: () => tokenOf('T'), acquire });
    io.advance(time);
    const current = () => tokens.current().catch(() => undefined);
    expect([await current(), await current()]).toEqual([expected, expected]);
    expect(tries).toBe(expected ? 1 : 2);
  });

  it('that answers late does not replace a token that was requested meanwhile', async () => {
    let answer = (_token: CachedToken) => {};
    const read = () => new Promise<CachedToken>((resolve) => (answer = resolve));
    const { tokens } = tokensOf({ read });
    const current = tokens.current();
    await tokens.login(DEMO);
    answer(tokenOf('old'));
    expect([await current, await tokens.current()]).toEqual(['T1', 'T1']);
  });

  it('whose mutex another process took while the password was read sends no request', async () => {
    const assertHeld = () => Promise.reject(new Error('lost'));
    const lost: HeldMutex = { ...MUTEX, assertHeld };
    const { tokens, requests } = tokensOf({ acquire: async () => ({ mutex: lost }) });
    await expect(tokens.current()).rejects.toThrow('lost');
    expect(requests()).toBe(0);
  });

  it('whose other copy of the limit ends a little later is waited for once', async () => {
    const readLimit = (now: number) => {
      const resetsAt = [60_000, 60_400].find((end) => now < end);
      return resetsAt === undefined ? undefined : { remaining: 0, receivedAt: 0, resetsAt };
    };
    const { tokens, io, requests } = tokensOf({}, 100_000, readLimit);
    expect(await tokens.current()).toBe('T1');
    expect([requests(), io.elapsed()]).toEqual([1, 60_000]);
  });

  it('with several limits is waited for no longer than the patience in all', async () => {
    const readLimit = (now: number) => {
      return { remaining: 0, receivedAt: now, resetsAt: now + 60_000 };
    };
    const { tokens, io } = tokensOf({}, 100_000, readLimit);
    await expect(tokens.current()).rejects.toThrow('token request limit reached');
    expect(io.elapsed()).toBe(60_000);
  });

  it('whose limit ends while the mutex is released still gets a token after the wait', async () => {
    const limit = { remaining: 0, receivedAt: 0, resetsAt: 60_000 };
    const readLimit = (now: number) => (now < 60_000 ? limit : undefined);
    const release = async () => io.advance(60_000);
    const acquire = async () => ({ mutex: { ...MUTEX, release } });
    const { tokens, io, requests } = tokensOf({ acquire }, 150_000, readLimit);
    expect([await tokens.current(), requests()]).toEqual(['T1', 1]);
  });

  it.each([
    ['once it was counted', 'writeLimit', [3, 4]],
    ['before it was counted', 'assertHeld', []],
  ])('counts no request that was interrupted %s', async (_when, place, counts) => {
    const left: number[] = [];
    const interruptIn = (step: string) => step === place && io.interrupt();
    const writeLimit = async ({ remaining }: RememberedLimit) => {
      left.push(remaining);
      interruptIn('writeLimit');
    };
    const mutex = { ...MUTEX, assertHeld: async () => void interruptIn('assertHeld') };
    const readLimit = () => ({ remaining: 4, receivedAt: 0, resetsAt: 60_000 });
    const changes = { writeLimit, acquire: async () => ({ mutex }) };
    const { tokens, io, requests } = tokensOf(changes, 0, readLimit);
    await expect(tokens.current()).rejects.toMatchObject({ code: 'interrupted' });
    expect([left, requests()]).toEqual([counts, 0]);
  });
});
