// The token request limit: what counts, to whom it applies, and incomplete headers.

import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { temporaryDirectory } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { sessionWith, startService } from './harness.ts';

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
