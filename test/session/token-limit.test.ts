// The limit of token requests: what counts, for whom it holds, and what half of it tells.

import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { temporaryDirectory } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { sessionWith, startService } from './harness.ts';

describe('the limit of token requests', () => {
  it('counts refused logins too: no sixth request is sent, by whatever session', async () => {
    const { emulator, tokenRequests } = await startService();
    const directory = temporaryDirectory();
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const session = await sessionWith(emulator.baseUrl, directory);
      await expect(session.tokens?.login('wrong')).rejects.toMatchObject({
        code: 'wrong-credentials',
      });
    }
    const session = await sessionWith(emulator.baseUrl, directory);
    await expect(session.tokens?.login('demo')).rejects.toMatchObject({ code: 'rate-limited' });
    expect(tokenRequests()).toBe(5);
  });

  const attempts = async (session: Awaited<ReturnType<typeof sessionWith>>, count: number) => {
    for (let attempt = 0; attempt < count; attempt += 1) await session.tokens?.login('demo');
  };

  it('is shown by a login, and not overrun', async () => {
    const { emulator, tokenRequests } = await startService({ tokenLimit: 2 });
    const session = await sessionWith(emulator.baseUrl, temporaryDirectory());
    await attempts(session, 1);
    expect((await session.tokens?.login('demo'))?.limit.remaining).toBe(0);
    await expect(attempts(session, 1)).rejects.toMatchObject({
      code: 'rate-limited',
      message: 'no token request is left: the service allows only a few',
      hint: expect.stringMatching(/^try again after \d{4}-\d\d-\d\dT[\d:]+Z$/),
    });
    expect(tokenRequests()).toBe(2);
  });

  it('holds for the next command too, and counts attempts that failed', async () => {
    const { emulator, tokenRequests } = await startService({ tokenLimit: 3 });
    const directory = temporaryDirectory();
    const first = await sessionWith(emulator.baseUrl, directory);
    await attempts(first, 1);
    await expect(first.tokens?.login('wrong')).rejects.toMatchObject({ code: 'wrong-credentials' });
    const second = await sessionWith(emulator.baseUrl, directory);
    await attempts(second, 1);
    await expect(attempts(second, 1)).rejects.toMatchObject({ code: 'rate-limited' });
    expect(tokenRequests()).toBe(3);
  });

  it('does not count what was never sent', async () => {
    const { emulator } = await startService();
    const session = await sessionWith(emulator.baseUrl, temporaryDirectory());
    await attempts(session, 1);
    const before = session.cache.readLimit(Date.now());
    await emulator.close();
    await expect(attempts(session, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(session.cache.readLimit(Date.now())).toEqual(before);
  });

  it('counts what was sent, though no answer came', async () => {
    const fault = parseFault('POST /auth/request-token=drop,every=2');
    const { emulator } = await startService({ faults: [fault] });
    const session = await sessionWith(emulator.baseUrl, temporaryDirectory());
    await attempts(session, 1);
    await expect(attempts(session, 1)).rejects.toMatchObject({ code: 'unreachable' });
    expect(session.cache.readLimit(Date.now())?.remaining).toBe(3);
  });
});

it.each([
  ['what is left', { 'x-ratelimit-remaining': '1' }],
  ['when it ends', { 'x-ratelimit-reset': '60' }],
])('a limit of which only %s is told changes nothing of the one known', async (_, half) => {
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
