// Tokens against the embedded service: which requests are sent, and which are not.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { fixedToken } from '../../src/session/tokens.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
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

  it('renews a refused token once and sends the request again', async () => {
    const { emulator, requests, open } = await startService();
    const session = await open();
    await session.client.serviceRoot();
    emulator.expireTokens();
    await session.client.serviceRoot();
    expect(requests.slice(2)).toEqual(['GET /v2', 'POST /auth/request-token', 'GET /v2']);
  });

  it('does not renew a token that was refused right after its issue', async () => {
    const service = await startService({ tokenTtl: 0 });
    const session = await sessionWith(service.emulator.baseUrl, temporaryDirectory());
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'token-refused',
      hint: 'log in again: imgctl login',
    });
    expect(service.tokenRequests()).toBe(1);
  });

  it('requests one token for many requests at the same time, at first and after a refusal', async () => {
    const { emulator, tokenRequests, open } = await startService();
    const session = await open();
    const many = () => Promise.all(Array.from({ length: 8 }, () => session.client.serviceRoot()));
    await many();
    expect(tokenRequests()).toBe(1);
    emulator.expireTokens();
    await many();
    expect(tokenRequests()).toBe(2);
  });

  it('waits for the token of another session of the user', async () => {
    const { tokenRequests, open } = await startService();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => open()));
    await Promise.all(sessions.map(({ client }) => client.serviceRoot()));
    expect(tokenRequests()).toBe(1);
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

  it('fails if a token is refused and there is no password', async () => {
    const { emulator, tokenRequests, open } = await startService();
    const session = await open({});
    await session.tokens?.login('demo');
    emulator.expireTokens();
    await expect(session.client.serviceRoot()).rejects.toMatchObject({
      code: 'token-refused',
      hint: 'log in again: imgctl login',
    });
    expect(tokenRequests()).toBe(1);
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

describe('a password that the service refuses', () => {
  const refusal = { code: 'wrong-credentials', status: 401 };

  it('causes a hint to its source', async () => {
    const { open } = await startService();
    const io = fakeIo({ env: { IMGCTL_PASSWORD: 'wrong' } });
    const session = await open({}, io);
    const hint = 'check IMGCTL_PASSWORD and the user name: imgctl config list';
    await expect(session.client.serviceRoot()).rejects.toMatchObject({ ...refusal, hint });
    await expect(session.tokens?.login('wrong', 'look there')).rejects.toMatchObject({
      ...refusal,
      hint: 'look there',
    });
  });

  it('causes a hint to log in again if it was entered', async () => {
    const { open } = await startService();
    const session = await open();
    await expect(session.tokens?.login('wrong')).rejects.toMatchObject({
      ...refusal,
      hint: 'check the user name and password, then: imgctl login',
    });
  });

  it('leaves the hint of another failure unchanged', async () => {
    const { open } = await startService({
      faults: [parseFault('POST /auth/request-token=500')],
    });
    const session = await open();
    await expect(session.tokens?.login('demo', 'look there')).rejects.toMatchObject({
      code: 'server-error',
      hint: expect.stringContaining('try again'),
    });
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
