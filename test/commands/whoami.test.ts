// whoami and token: the states of a token.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FakeIoOptions } from '../support/io.ts';
import { emulatorUser, PASSWORD, TOKEN_REQUEST } from '../support/users.ts';

const NOON = Date.UTC(2026, 0, 5, 12);

/** Returns a user who logged in at noon; `at` moves the clock of the user and the service. */
async function loggedIn() {
  let now = NOON;
  const account = await emulatorUser({ tokenTtl: 3_600_000, now: () => now });
  await account.imgctl(['login'], { env: PASSWORD, time: NOON });
  account.requests.length = 0;
  const at = (milliseconds: number): FakeIoOptions => {
    now = NOON + milliseconds;
    return { time: now };
  };
  return { ...account, at };
}

describe('whoami', () => {
  it('shows a valid token and exits 0', async () => {
    const { directory, emulator, imgctl, at, requests } = await loggedIn();
    const { stdout, stderr, exitCode } = await imgctl(['whoami', '--json'], at(900_000));
    expect({ stderr, exitCode, requests }).toEqual({ stderr: '', exitCode: 0, requests: [] });
    expect(JSON.parse(stdout)).toEqual({
      profile: 'default',
      base_url: emulator.baseUrl,
      username: 'demo',
      token: 'valid',
      expires_on: '2026-01-05T13:00:00Z',
      expires_in: 2_700,
      stored_in: expect.stringContaining(path.join(directory, 'tokens', '_token.')),
    });
    const table = await imgctl('whoami', at(900_000));
    expect(table.stdout).toMatch(
      /^expires_on {2}2026-01-0\d \d\d:\d\d\nexpires_in {2}45 min\nstored_in {3}\S.*$/m,
    );
  });

  it('shows a token that has expired and exits 4', async () => {
    const { imgctl, at } = await loggedIn();
    expect(await imgctl('whoami -o csv', at(3_600_000))).toEqual({
      stdout: expect.stringMatching(/,demo,expired,2026-01-05T13:00:00Z,0,.*\.json\r\n/),
      stderr: 'imgctl: the token has expired\nhint: run: imgctl login\n',
      exitCode: 4,
    });
  });

  it('says that the next command requests a token, if the password is set', async () => {
    const { imgctl, requests } = await emulatorUser();
    const hint = 'the next command requests a token; check with: imgctl doctor\n';
    expect((await imgctl('whoami', { env: PASSWORD })).stderr).toContain(`hint: ${hint}`);
    expect(requests).toEqual([]);
  });

  it('sends a request with --check only', async () => {
    const { emulator, imgctl, at, requests } = await loggedIn();
    expect((await imgctl(['whoami', '--check'], at(0))).exitCode).toBe(0);
    expect(requests).toEqual(['GET /v2']);
    emulator.expireTokens();
    expect((await imgctl(['whoami'], at(0))).exitCode).toBe(0);
    const checked = await imgctl(['whoami', '--check'], at(0));
    expect(checked).toMatchObject({ stdout: '', exitCode: 4 });
  });

  it('shows IMGCTL_TOKEN and does not store it', async () => {
    const { imgctl } = await emulatorUser();
    const env = { IMGCTL_TOKEN: 'of-the-environment' };
    const { stdout, exitCode } = await imgctl(['whoami', '--json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ token: 'from IMGCTL_TOKEN', stored_in: null });
    expect(exitCode).toBe(0);
    expect((await imgctl(['whoami', '--check'], { env })).exitCode).toBe(4);
    expect((await imgctl(['whoami'])).stdout).toContain('none');
  });
});

describe('token', () => {
  it('prints the cached token without a request', async () => {
    const { imgctl, at, requests, credentials } = await loggedIn();
    const { stdout, stderr, exitCode } = await imgctl(['token'], at(1000));
    expect({ stderr, exitCode, requests }).toEqual({ stderr: '', exitCode: 0, requests: [] });
    await imgctl(['my-images'], at(1000));
    expect(`Bearer ${stdout}`).toBe(`${credentials.at(-1)}\n`);
  });

  it('renews an expired token with the password', async () => {
    const { imgctl, at, requests } = await loggedIn();
    const old = await imgctl(['token'], at(0));
    const renewed = await imgctl(['token'], { ...at(3_600_000), env: PASSWORD });
    expect(renewed).toMatchObject({ stderr: '', exitCode: 0 });
    expect(renewed.stdout).toMatch(/^\S+\n$/);
    expect(renewed.stdout).not.toBe(old.stdout);
    expect(requests).toEqual([TOKEN_REQUEST]);
  });

  it('exits 4 for an expired token', async () => {
    const { imgctl, at } = await loggedIn();
    expect((await imgctl(['token'], at(3_599_999))).exitCode).toBe(0);
    expect(await imgctl(['token'], at(3_600_000))).toEqual({
      stdout: '',
      stderr: 'imgctl: the token has expired\nhint: run: imgctl login\n',
      exitCode: 4,
    });
  });
});
