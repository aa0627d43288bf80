// Tokens while the world moves: other processes, machines and logouts between two steps of a token request.

import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { advice } from '../../src/facts.ts';
import type { SharedStore } from '../../src/session/shared-store.ts';
import { forgetTokens } from '../../src/session/token-files.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, sharedRedis } from '../support/redis.ts';
import {
  after,
  errorResponse,
  type Handler,
  requestsTo,
  scriptedServer,
  tokenResponse,
} from '../support/scripted-server.ts';
import { DEMO, type SessionUnderTest, sessionWith } from './harness.ts';

const TOKEN = 'POST /auth/request-token';
const PASSWORD = { IMGCTL_PASSWORD: 'demo' };
const token = (text: string, age = 0) => ({
  token: text,
  receivedAt: Date.now() - age,
  expiresAt: Date.now() + 86_400_000,
});

/** A service that accepts these tokens, and issues them in turn. */
function accepting(issued: readonly string[], accepted: readonly string[] = issued): Handler {
  let count = 0;
  return ({ method, headers }) => {
    if (method === 'POST') {
      count += 1;
      return tokenResponse(issued[count - 1] ?? 'none');
    }
    const isAccepted = accepted.some((each) => headers.authorization === `Bearer ${each}`);
    return isAccepted ? { json: 1 } : errorResponse(401, 'Valid token, but has expired.');
  };
}

/** Opens a session of a user; `act` moves the world during the first token request. */
async function sessionDuring(
  act: (session: SessionUnderTest, directory: string) => unknown,
  script: Handler,
) {
  const directory = temporaryDirectory();
  const server = await scriptedServer(after(TOKEN, () => act(session, directory), script));
  const session = await sessionWith(server.baseUrl, directory, PASSWORD);
  return { directory, server, session };
}

/** Logs in with a password during whose first reading the world moves. */
function logInAfter({ tokens }: SessionUnderTest, move: () => unknown) {
  let isFirst = true;
  const read = async () => {
    if (isFirst) await move();
    isFirst = false;
    return 'demo';
  };
  return tokens?.login({ passwordSource: { ...DEMO.passwordSource, read } });
}

/** What another process does that takes over the mutex of one that was stopped. */
function takeOver({ files }: SessionUnderTest): void {
  const folder = `${files.limitFile}.lock`;
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  writeFileSync(join(folder, randomUUID()), '');
}

describe('a token request', () => {
  it('does not replace the token of a process that took over, but uses it', async () => {
    const stopped = async (session: SessionUnderTest) => {
      takeOver(session);
      await session.files.write(token('newer'));
    };
    // The service knows one token of each user.
    const { session } = await sessionDuring(stopped, accepting(['older'], ['newer']));
    expect(await session.client.serviceRoot()).toBe(1);
    expect(session.files.read()?.token).toBe('newer');
    expect(session.warnings).toEqual([]);
  });

  it.each([
    ['of the account', false],
    ['of all accounts', true],
  ])('stores no token after a logout %s', async (_, all) => {
    const logOut = ({ account }: SessionUnderTest, directory: string) =>
      forgetTokens(directory, all ? undefined : account);
    const { session } = await sessionDuring(logOut, accepting(['T']));
    expect(await session.client.serviceRoot()).toBe(1);
    expect([session.files.read(), session.warnings]).toEqual([undefined, []]);
    // The run itself goes on with it.
    expect(await session.tokens?.current()).toBe('T');
  });

  it('stores no token after a logout while its password is read', async () => {
    const { session, directory, server } = await sessionDuring(() => {}, accepting(['T']));
    const login = logInAfter(session, () => forgetTokens(directory));
    await expect(login).rejects.toMatchObject({
      ...{ code: 'failed', facts: advice('run the command again') },
      message: expect.stringMatching(/\.lock was removed, or another imgctl took it over$/),
    });
    // The few requests are not spent on a token that could not be stored.
    expect([session.files.read(), server.requests]).toEqual([undefined, []]);
  });

  it('of a login fails if another process took over and has stored no token', async () => {
    const { session } = await sessionDuring(takeOver, accepting(['T']));
    await session.files.write(token('earlier', 60_000));
    await expect(session.tokens?.login(DEMO)).rejects.toThrow('took over the lock');
    expect(session.files.read()?.token).toBe('earlier');
  });

  it('of a login succeeds if a process that took over has stored a newer token', async () => {
    const stopped = async (session: SessionUnderTest) => {
      takeOver(session);
      await session.files.write(token('newer'));
    };
    const { session } = await sessionDuring(stopped, accepting(['older']));
    await session.files.write(token('earlier', 60_000));
    expect(await session.tokens?.login(DEMO)).toMatchObject({ token: 'older' });
    expect([session.files.read()?.token, await session.tokens?.current()]).toEqual([
      'newer',
      'newer',
    ]);
  });

  it('of a login succeeds if its token is stored, though the clock was set back', async () => {
    const { baseUrl } = await scriptedServer(accepting(['T']));
    const io = fakeIo({ env: PASSWORD, time: Date.now() });
    const session = await sessionWith(baseUrl, temporaryDirectory(), PASSWORD, io);
    await logInAfter(session, () => io.setClock(-3_600_000));
    expect(session.files.read()?.token).toBe('T');
  });

  it('of a login fails after a logout', async () => {
    const logOut = ({ account }: SessionUnderTest, directory: string) =>
      forgetTokens(directory, account);
    const { session } = await sessionDuring(logOut, accepting(['T']));
    const message = 'another imgctl logged out or took over the lock during this login';
    await expect(session.tokens?.login(DEMO)).rejects.toMatchObject({
      ...{ code: 'failed', facts: advice('run the command again') },
      message,
    });
    expect(session.files.read()).toBeUndefined();
  });

  it('stores its token after a logout of another account', async () => {
    const logOut = ({ account }: SessionUnderTest, directory: string) =>
      forgetTokens(directory, { ...account, username: 'other' });
    const { session } = await sessionDuring(logOut, accepting(['T']));
    expect(await session.client.serviceRoot()).toBe(1);
    expect(session.files.read()?.token).toBe('T');
  });

  const WRONG = errorResponse(401, 'Invalid username and password combination.');
  const source = { kind: 'password-refused', origin: 'IMGCTL_PASSWORD', username: 'demo' };
  const wrong = { code: 'wrong-credentials', status: 401, facts: source };
  const denied = {
    ...{ code: 'not-permitted', status: 403, message: 'the service says: no access' },
    facts: { kind: 'advice', text: expect.stringContaining('for access to its API') },
  };
  it.each([
    ['a wrong password shares it', 'old', WRONG, wrong, 1],
    ['a wrong password is sent with another one', 'older', WRONG, wrong, 2],
    ['an account without access shares it', 'old', errorResponse(403, 'no access'), denied, 1],
  ] as const)('that waited for the refusal of %s', async (...row) => {
    const [, other, refused, reason, count] = row;
    const directory = temporaryDirectory();
    let isWaiting = () => {};
    const waiting = new Promise<void>((resolve) => {
      isWaiting = resolve;
    });
    const server = await scriptedServer(
      after(
        TOKEN,
        () => waiting,
        () => refused,
      ),
    );
    const open = (text: string, io = fakeIo({ env: { IMGCTL_PASSWORD: text } })) =>
      sessionWith(server.baseUrl, directory, {}, io);
    const first = await open('old');
    const now = Date.now();
    await first.files.writeLimit({ remaining: 9, receivedAt: now, resetsAt: now + 3_600_000 });
    const started = first.client.serviceRoot();
    await expect.poll(() => server.requests.length).toBe(1);
    const io = fakeIo({ env: { IMGCTL_PASSWORD: other } });
    const { sleep } = io;
    io.sleep = (milliseconds, signal) => {
      isWaiting();
      return sleep(milliseconds, signal);
    };
    const second = await open(other, io);
    const results = await Promise.allSettled([started, second.client.serviceRoot()]);
    expect(results).toMatchObject([{ reason }, { reason }]);
    expect(server.requests).toHaveLength(count);
    // A new run tries again.
    await expect((await open(other)).client.serviceRoot()).rejects.toMatchObject(reason);
    expect(server.requests).toHaveLength(count + 1);
    expect(first.files.readLimit()?.remaining).toBe(9 - (count + 1));
  });
});

it('a request renews its token until one that it has requested is refused', async () => {
  const server = await scriptedServer(accepting(['fresh', 'never'], ['fresh']));
  const session = await sessionWith(server.baseUrl, temporaryDirectory(), PASSWORD);
  await session.files.write(token('own'));
  expect(await session.tokens?.current()).toBe('own');
  await session.files.write(token('other'));
  expect(await session.client.serviceRoot()).toBe(1);
  expect(requestsTo(server)).toEqual(['GET /v2', 'GET /v2', TOKEN, 'GET /v2']);
});

it('a request ends at a token that the service refuses and issues again', async () => {
  const issued = tokenResponse('same');
  const server = await scriptedServer({
    [TOKEN]: [issued, issued, errorResponse(403, 'enough')],
    'GET /v2': [{ json: 1 }, errorResponse(401, 'Valid token, but has expired.')],
  });
  const session = await sessionWith(server.baseUrl, temporaryDirectory(), PASSWORD);
  await session.client.serviceRoot();
  await expect(session.client.serviceRoot()).rejects.toMatchObject({ code: 'token-refused' });
  expect(requestsTo(server)).toEqual([TOKEN, 'GET /v2', 'GET /v2', TOKEN, 'GET /v2']);
});

it.each([
  ['new token is refused uses that of a login that came meanwhile', PASSWORD, 'newer'],
  ['new token is refused fails if there was no login', PASSWORD, 'older'],
  ['token is refused without a password uses that of a login', {}, 'newer'],
])('a request whose %s', async (_, env, stored) => {
  const logIn = () => session.files.write(token(stored));
  const script = after('GET /v2', logIn, accepting(['older'], ['newer']));
  const server = await scriptedServer(script);
  const session = await sessionWith(server.baseUrl, temporaryDirectory(), env);
  if (env !== PASSWORD) await session.files.write(token('older'));
  const root = session.client.serviceRoot();
  if (stored === 'newer') expect(await root).toBe(1);
  else await expect(root).rejects.toMatchObject({ code: 'token-refused' });
  const requests = server.requests.filter(({ method }) => method === 'GET');
  const used = new Set(['older', stored].map((each) => `Bearer ${each}`));
  expect(requests.map(({ headers }) => headers.authorization)).toEqual([...used]);
});

const freshRedis = sharedRedis();

const logOutEverywhere = ({ stores }: SessionUnderTest) =>
  (stores.current as SharedStore).account.forgetToken();

describe.skipIf(NO_REDIS)(`a shared token store${NO_REDIS}`, () => {
  it.each([
    ['the lock was taken over', 'another', 'newer 86400000'],
    ['a logout deleted the lock', '', ''],
  ])('gets no token if %s during its request', async (_, owner, stored) => {
    const redis = await freshRedis();
    const env = { ...redis.env, ...PASSWORD };
    const server = await scriptedServer(
      after(TOKEN, () => move(), accepting(['older'], ['older', 'newer'])),
    );
    const open = () => sessionWith(server.baseUrl, temporaryDirectory(), env);
    const session = await open();
    const move = async () => {
      const lock = redis.cli('keys', '*lock');
      if (owner === '') return logOutEverywhere(session);
      redis.cli('set', lock, owner, 'px', '20000');
      return redis.cli('set', lock.replace(/lock$/, 'token'), stored, 'px', '80000');
    };
    expect(await session.client.serviceRoot()).toBe(1);
    const key = redis.cli('keys', '*token');
    expect([key && redis.cli('get', key), session.warnings]).toEqual([stored, []]);
    expect(session.files.read()?.token ?? '').toBe(stored.split(' ')[0]);
  });

  it('whose lock another machine took gets no token of a login, which then uses that of the machine', async () => {
    const redis = await freshRedis();
    const takeOverLock = () => {
      const lock = redis.cli('keys', '*lock');
      redis.cli('set', lock, 'another', 'px', '20000');
      redis.cli('set', lock.replace(/lock$/, 'token'), 'newer 86400000', 'px', '86400000');
    };
    const server = await scriptedServer(after(TOKEN, takeOverLock, accepting(['older'])));
    const session = await sessionWith(server.baseUrl, temporaryDirectory(), redis.env);
    await session.files.write(token('earlier', 60_000));
    expect(await session.tokens?.login(DEMO)).toMatchObject({ token: 'older' });
    expect(await session.tokens?.current()).toBe('newer');
  });

  it('gets the token of a request during which the session is closed', async () => {
    const redis = await freshRedis();
    const env = { ...redis.env, ...PASSWORD };
    let closed: Promise<void> | undefined;
    const close = () => {
      closed = session.close();
    };
    const server = await scriptedServer(after(TOKEN, close, accepting(['T'])));
    const session = await sessionWith(server.baseUrl, temporaryDirectory(), env);
    expect(await session.tokens?.current()).toBe('T');
    await closed;
    expect(redis.cli('get', redis.cli('keys', '*token'))).toMatch(/^T /);
  });

  it('gets no token if a logout deleted the lock while the password was read', async () => {
    const redis = await freshRedis();
    const env = { ...redis.env, ...PASSWORD };
    const { baseUrl } = await scriptedServer(accepting(['T']));
    const session = await sessionWith(baseUrl, temporaryDirectory(), env);
    await expect(logInAfter(session, () => logOutEverywhere(session))).rejects.toMatchObject({
      message: 'the lock of the token store was removed, or another imgctl took it over',
      facts: advice('run the command again'),
    });
    expect([redis.cli('keys', '*token'), session.files.read()]).toEqual(['', undefined]);
  });

  it('shares the refusal of a request among the machines that waited for it', async () => {
    const redis = await freshRedis();
    const env = { ...redis.env, IMGCTL_PASSWORD: 'old' };
    let isWaiting = () => {};
    const waiting = new Promise<void>((resolve) => {
      isWaiting = resolve;
    });
    const refused = errorResponse(401, 'Invalid username and password combination.');
    const server = await scriptedServer(
      after(
        TOKEN,
        () => waiting,
        () => refused,
      ),
    );
    const first = await sessionWith(server.baseUrl, temporaryDirectory(), env);
    const started = first.client.serviceRoot();
    await expect.poll(() => server.requests.length).toBe(1);
    const io = fakeIo({ env });
    const { sleep } = io;
    io.sleep = (milliseconds, signal) => {
      // The pause between two looks at the lock, not the limit of a reply.
      if (milliseconds !== 2_000) isWaiting();
      return sleep(milliseconds, signal);
    };
    const second = await sessionWith(server.baseUrl, temporaryDirectory(), env, io);
    const results = await Promise.allSettled([started, second.client.serviceRoot()]);
    const reason = { code: 'wrong-credentials' };
    expect(results).toMatchObject([{ reason }, { reason }]);
    expect(server.requests).toHaveLength(1);
  });
});
