// Tokens of a session: requested once, renewed once, cached; and the limit of token requests.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { fixedToken } from '../../src/session/tokens.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { sessionWith, startService } from './harness.ts';

const DAY = 86_400_000;

describe('a command that needs a token', () => {
  it('requests one that the next command uses', async () => {
    const { requests, open } = await startService();
    await (await open()).client.serviceRoot();
    await (await open({})).client.serviceRoot();
    expect(requests).toEqual(['POST /auth/request-token', 'GET /v2', 'GET /v2']);
  });

  it('renews an expired token before its first request', async () => {
    const { requests, open } = await startService();
    const io = fakeIo({ env: { IMGCTL_PASSWORD: 'demo' }, time: Date.now() });
    const first = await open({}, io);
    await first.client.serviceRoot();
    io.advance(2 * DAY);
    const second = await open({}, io);
    await second.client.serviceRoot();
    expect(requests.slice(2)).toEqual(['POST /auth/request-token', 'GET /v2']);
  });

  it.each([
    ['was refused right after its issue', { tokenTtl: 0 }, undefined],
    ['is refused if there is no password', {}, {}],
  ])('does not renew a token that %s', async (_, options, env) => {
    const { emulator, tokenRequests, open } = await startService(options);
    const session = await open(env);
    if (env) await session.tokens?.login('demo');
    emulator.expireTokens();
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'token-refused',
      hint: 'log in again: imgctl login',
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
    const before = requests.length;
    await sessions[0]?.client.serviceRoot();
    expect(requests.slice(before)).toEqual(['GET /v2', 'POST /auth/request-token', 'GET /v2']);
  });

  it('finishes a renewal before it closes, and stores the token', async () => {
    const { open } = await startService();
    const { tokens, cache, close } = await open();
    const renewal = tokens?.renew((await tokens?.current()) ?? '', true);
    await close();
    expect(cache.read()?.token).toBe(await renewal);
    expect(existsSync(`${cache.limitFile}.lock`)).toBe(false);
  });

  it('names the login command and sends nothing without a password', async () => {
    const { emulator, requests, open } = await startService();
    const session = await open({});
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'not-logged-in',
      message: `not logged in to ${emulator.baseUrl} as demo`,
      hint: 'run: imgctl login',
    });
    expect(requests).toEqual([]);
  });

  it('does not run the password command without a user name', async () => {
    const { emulator, requests, open } = await startService();
    const directory = temporaryDirectory();
    const asked = path.join(directory, 'asked');
    const env = { PATH: process.env.PATH, IMGCTL_PASSWORD_COMMAND: `touch ${asked}` };
    const { client, tokens } = await open(env, undefined, {});
    const refusal = {
      code: 'not-logged-in',
      message: `not logged in to ${emulator.baseUrl}`,
    };
    await expect(client.serviceRoot()).rejects.toMatchObject(refusal);
    await expect(tokens?.login('demo')).rejects.toMatchObject(refusal);
    expect(await tokens?.renew('refused', true)).toBeUndefined();
    expect([existsSync(asked), requests]).toEqual([false, []]);
  });

  it('uses the token renewed meanwhile instead of one refused late', async () => {
    const { emulator, tokenRequests } = await startService();
    const { tokens } = await sessionWith(emulator.baseUrl, undefined);
    const old = (await tokens?.current()) ?? '';
    const renewed = await tokens?.renew(old, true);
    expect(renewed).not.toBe(old);
    expect(await tokens?.renew(old, true)).toBe(renewed);
    expect(tokenRequests()).toBe(2);
  });

  it('sends an expired token that it cannot renew', async () => {
    const { open } = await startService();
    const io = fakeIo({ time: Date.now() });
    const login = await open({}, io);
    await login.tokens?.login('demo');
    io.advance(2 * DAY);
    const later = await open({}, io);
    await expect(later.client.serviceRoot()).resolves.toBeDefined();
  });

  it('keeps the token in memory, with one warning, without a directory', async () => {
    const { emulator, tokenRequests } = await startService();
    const session = await sessionWith(emulator.baseUrl, undefined);
    await Promise.all([session.client.serviceRoot(), session.client.serviceRoot()]);
    await session.client.serviceRoot();
    expect(tokenRequests()).toBe(1);
    expect(session.warnings).toHaveLength(1);
  });
});

it('a token request that fails gets a hint to the source of its password, if the service refuses it', async () => {
  const login = 'check the user name and password, then: imgctl login';
  const { open } = await startService();
  const session = await open({}, fakeIo({ env: { IMGCTL_PASSWORD: 'wrong' } }));
  for (const [request, hint] of [
    [
      () => session.client.serviceRoot(),
      'check IMGCTL_PASSWORD and the user name: imgctl config list',
    ],
    [() => session.tokens?.login('wrong', 'look there'), 'look there'],
    [() => session.tokens?.login('wrong'), login],
  ] as const) {
    const refusal = { code: 'wrong-credentials', status: 401, hint };
    await expect(request()).rejects.toMatchObject(refusal);
  }
  const faults = [parseFault('POST /auth/request-token=500')];
  const broken = await (await startService({ faults })).open();
  await expect(broken.tokens?.login('demo', 'look there')).rejects.toMatchObject({
    code: 'server-error',
    hint: expect.stringContaining('try again'),
  });
});

describe('IMGCTL_TOKEN', () => {
  it('is used unchanged, and neither cached nor renewed', async () => {
    const { requests, open } = await startService();
    const env = { IMGCTL_TOKEN: 'unknown', IMGCTL_PASSWORD: 'demo' };
    const session = await open(env);
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'token-refused',
      hint: expect.stringContaining('IMGCTL_TOKEN'),
    });
    expect(requests).toEqual(['GET /v2']);
    expect(session.cache.read()).toBeUndefined();
    expect(await fixedToken('unknown', 'IMGCTL_TOKEN', '').current()).toBe('unknown');
  });

  it.each(['tok en', '\ntoken', 'token\n', 'tökén'])(
    'is rejected without being shown: %j',
    async (token) => {
      const opened = sessionWith('https://images.example', undefined, { IMGCTL_TOKEN: token });
      await expect(opened).rejects.toMatchObject({
        code: 'config',
        message: 'IMGCTL_TOKEN is not an access token',
        hint: 'set IMGCTL_TOKEN to a token, without spaces or line breaks',
      });
    },
  );
});

describe('the token request limit', () => {
  const logIn = async (session: Awaited<ReturnType<typeof sessionWith>>, count: number) => {
    for (let login = 0; login < count; login += 1) await session.tokens?.login('demo');
  };

  it('counts failed logins and is not exceeded by the next command', async () => {
    const { tokenRequests, open } = await startService({ tokenLimit: 3 });
    const first = await open();
    await logIn(first, 1);
    await expect(first.tokens?.login('wrong')).rejects.toMatchObject({ code: 'wrong-credentials' });
    const second = await open();
    expect((await second.tokens?.login('demo'))?.limit.remaining).toBe(0);
    await expect(logIn(second, 1)).rejects.toMatchObject({
      code: 'rate-limited',
      message: 'token request limit reached',
      hint: expect.stringMatching(
        /^try again in .+, at [\d:]+, add --wait-for-token 5m, or ask the service now: imgctl login --ignore-limit$/,
      ),
    });
    expect(tokenRequests()).toBe(3);
  });

  it('does not count a request that was never sent', async () => {
    const { emulator, open } = await startService();
    const session = await open();
    await logIn(session, 1);
    const before = session.cache.readLimit(Date.now());
    await emulator.close();
    await expect(logIn(session, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(session.cache.readLimit(Date.now())).toEqual(before);
  });

  it('counts a request without a response', async () => {
    const fault = parseFault('POST /auth/request-token=drop,every=2');
    const { emulator } = await startService({ faults: [fault] });
    const session = await sessionWith(emulator.baseUrl, temporaryDirectory());
    await logIn(session, 1);
    await expect(logIn(session, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(session.cache.readLimit(Date.now())?.remaining).toBe(3);
  });
});

it.each([
  ['the remaining requests', { 'x-ratelimit-remaining': '1' }],
  ['the reset time', { 'x-ratelimit-reset': '60' }],
])('the token request limit ignores a response with only %s', async (_, half) => {
  const issue = { token: 'T', duration: 3_600 };
  const whole = { 'x-ratelimit-remaining': '4', 'x-ratelimit-reset': '60' };
  const server = await scriptedServer({
    'POST /auth/request-token': [
      { json: issue, headers: whole },
      { json: issue, headers: half },
    ],
  });
  const { tokens, cache } = await sessionWith(server.baseUrl, temporaryDirectory());
  await tokens?.login('demo');
  await tokens?.login('demo');
  expect(cache.readLimit(Date.now())?.remaining).toBe(3);
});

/** A service whose one token request is used up. Its clock is that of the machine, and waits take no time. */
async function usedUp(patience: string | undefined) {
  const io = fakeIo({ env: { IMGCTL_PASSWORD: 'demo' }, time: Date.now() });
  const service = await startService({ tokenLimit: 1, now: io.now });
  const stored = { username: 'demo', ...(patience && { 'wait-for-token': patience }) };
  const directory = temporaryDirectory();
  const open = (folder = directory) =>
    sessionWith(service.emulator.baseUrl, folder, io.env, io, stored);
  const first = await open();
  await first.client.serviceRoot();
  const limit = first.cache.readLimit(io.now());
  service.emulator.expireTokens();
  return { ...service, io, open, first, window: (limit?.resetsAt ?? 0) - io.now() };
}

describe('--wait-for-token', () => {
  it('waits until the limit ends, then requests a token', async () => {
    const { first, io, tokenRequests, window } = await usedUp('5m');
    const before = io.now();
    await first.client.serviceRoot();
    expect(tokenRequests()).toBe(2);
    // The clock of the test moves only by waits.
    expect(io.now() - before).toBe(window);
    expect(first.notes).toEqual([
      expect.stringMatching(/^token request limit reached; waiting 1 min( \d+ s)?$/),
    ]);
  });

  it('also waits if only the service knows the limit', async () => {
    const { open, io, tokenRequests } = await usedUp('5m');
    const before = io.now();
    const other = await open(temporaryDirectory());
    await other.client.serviceRoot();
    expect(io.now()).toBeGreaterThan(before);
    // The second one was refused.
    expect(tokenRequests()).toBe(3);
  });

  it('uses the token that another process gets meanwhile', async () => {
    const { first, io, tokenRequests } = await usedUp('5m');
    const { store } = first;
    const sleep = io.sleep;
    let waits = 0;
    io.sleep = async (milliseconds, signal) => {
      waits += 1;
      if (waits === 3) {
        await store.write({ token: 'T', receivedAt: io.now(), expiresAt: io.now() + 3_600_000 });
      }
      return sleep(milliseconds, signal);
    };
    expect(await first.tokens?.renew((await first.tokens?.current()) ?? '', true)).toBe('T');
    expect(waits).toBe(3);
    expect(tokenRequests()).toBe(1);
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

  it('ends at an interrupt', async () => {
    const { first, io } = await usedUp('5m');
    const sleep = io.sleep;
    io.sleep = async (milliseconds, signal) => {
      io.interrupt();
      return sleep(milliseconds, signal);
    };
    await expect(first.client.serviceRoot()).rejects.toMatchObject({ code: 'interrupted' });
  });
});
