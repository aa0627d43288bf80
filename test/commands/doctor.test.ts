// doctor: the login and the response of the service.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { type ScriptedResponse, scriptedServer } from '../support/scripted-server.ts';
import { configDirectory, emulatorUser, PASSWORD } from '../support/users.ts';
import { diagnose } from './doctor-harness.ts';

const NOON = Date.UTC(2026, 0, 5, 12);
const CHECKS = [
  ...['program', 'files', 'configuration', 'settings', 'environment'],
  ...['connection', 'clock', 'token', 'password', 'token requests'],
];

/** Returns a user with a token for an hour; `at` runs doctor that much later. */
async function loggedIn() {
  const start = Date.now();
  let now = start;
  const account = await emulatorUser({ tokenTtl: 3_600_000, now: () => now });
  await account.imgctl(['login'], { env: PASSWORD, time: start });
  account.requests.length = 0;
  account.credentials.length = 0;
  const token = (await account.imgctl(['token'], { time: start })).stdout.trim();
  const at = (milliseconds: number, env = {}) => {
    now = start + milliseconds;
    return diagnose({ time: now, env: { ...account.env, ...env } });
  };
  return { ...account, token, at };
}

describe('doctor', () => {
  unixOnly('modes are Unix')('finds no problem after a login with one GET /v2', async () => {
    const { at, requests, credentials, token, emulator } = await loggedIn();
    const { rows, of, problems, stderr, exitCode } = await at(61_000);
    expect({ problems, stderr, exitCode }).toEqual({ problems: [], stderr: '', exitCode: 0 });
    expect(rows.map(({ check }) => check)).toEqual(CHECKS);
    expect(requests).toEqual(['GET /v2']);
    expect(credentials).toEqual([`Bearer ${token}`]);
    expect(of('connection')).toBe(`ok: GET ${emulator.baseUrl}/v2 returned 200`);
    expect(of('token')).toMatch(/^ok: valid until [\dT:-]+Z, accepted by the service$/);
    expect(of('token requests')).toBe('ok: no known limit');
  });

  it.each([
    ['✓', '✗', '-', {}],
    ['ok', 'x ', '- ', { LANG: 'C' }],
  ])('marks each check on a terminal with %s, %s or %s', async (good, bad, none, locale) => {
    const env = { IMGCTL_CONFIG_DIR: temporaryDirectory(), ...locale };
    const { stdout } = await runCli(['doctor'], { env, columns: 80 });
    expect(stdout).toContain(`${good} environment     no problems`);
    const margin = ' '.repeat(good.length + 17);
    expect(stdout).toMatch(
      new RegExp(`^${bad} connection +no .*\n${margin}hint: run: imgctl login`, 'm'),
    );
    expect(stdout).toContain(`${none} clock           no base URL\n`);
    const colored = await runCli(['doctor'], { env, columns: 80, color: true });
    expect(colored.stdout).toContain(`\u001b[31m${bad}\u001b[39m connection`);
    expect(colored.stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(stdout);
  });

  it('hints at a login if nothing is set', async () => {
    const home = temporaryDirectory();
    const { stdout, stderr, exitCode } = await runCli(['doctor'], { env: { HOME: home } });
    expect(exitCode).toBe(2);
    expect(stdout).toContain('the first login creates ');
    expect(stdout).toMatch(/\nconnection +failed +no service configured.* -> run: imgctl login/);
    expect(stdout).toMatch(/\nclock +not checked +no base URL\n/);
    expect(stderr).toMatch(/^imgctl: failed checks: connection\nhint: run: imgctl login/);
    const homeless = await runCli(['doctor']);
    expect(homeless.stdout).toMatch(
      /\nfiles +warning +no home directory.* -> set IMGCTL_CONFIG_DIR/,
    );
  });

  unixOnly('modes are Unix')(
    'sends GET /v2 without a token if there is none, and requests none',
    async () => {
      const { env, requests, credentials } = await emulatorUser();
      const { of, problems, exitCode } = await diagnose({ env: { ...env, ...PASSWORD } });
      expect({ problems, exitCode }).toEqual({ problems: [], exitCode: 0 });
      expect([requests, credentials]).toEqual([['GET /v2'], ['']]);
      expect(of('connection')).toMatch(/^ok: GET \S+\/v2 returned 401$/);
      expect(of('token')).toContain(
        'ok: none yet; the next command requests one with the password',
      );
      expect(of('password')).toBe('ok: from IMGCTL_PASSWORD; not tested');
    },
  );

  it('reports a password in the keychain without reading it', async () => {
    const IMGCTL_CONFIG_DIR = configDirectory({ username: 'alice', 'stored-password': 'keychain' });
    const { of } = await diagnose({ env: { IMGCTL_CONFIG_DIR } });
    expect(of('password')).toBe('ok: from the system keychain; not tested');
    expect(of('settings')).toMatch(/^ok: /);
  });

  it('reports a password command without running it', async () => {
    const { env } = await emulatorUser();
    const file = path.join(temporaryDirectory(), 'ran');
    const command = { IMGCTL_PASSWORD_COMMAND: `touch ${file}` };
    const { of } = await diagnose({ env: { ...env, ...command } });
    expect(of('password')).toBe(
      'ok: from the password command (IMGCTL_PASSWORD_COMMAND); not tested',
    );
    expect(existsSync(file)).toBe(false);
  });

  it('exits 4 without a token and a password, and hints at a login', async () => {
    const { env } = await emulatorUser();
    const { of, exitCode, stderr } = await diagnose({ env: { ...env, IMGCTL_PROFILE: 'staging' } });
    expect(of('token')).toBe('failed: not logged in -> run: imgctl login --profile staging');
    expect(exitCode).toBe(4);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'not-logged-in',
      message: 'failed checks: token',
      hint: 'run: imgctl login --profile staging',
    });
  });

  it('does not send a token that has expired', async () => {
    const { at, credentials } = await loggedIn();
    const { of, exitCode } = await at(3_600_000);
    expect(of('token')).toBe('failed: the token has expired -> run: imgctl login');
    expect([credentials, exitCode]).toEqual([[''], 4]);
    const renewable = await at(3_600_000, PASSWORD);
    expect(renewable.of('token')).toMatch(/^ok: expired at [\dT:-]+Z; the next command/);
  });

  unixOnly('modes are Unix')('reports a refused token with one request', async () => {
    const { at, emulator, requests } = await loggedIn();
    emulator.expireTokens();
    const { of, problems, exitCode } = await at(0);
    const refused = 'the service refused the access token: Valid token, but has expired';
    const hint = 'log in again: imgctl login';
    expect(of('token')).toBe(`failed: ${refused} -> ${hint}`);
    expect([problems, exitCode]).toEqual([['token: failed'], 4]);
    const renewable = await at(0, PASSWORD);
    expect(renewable.of('token')).toBe(
      `warning: ${refused}; the next command requests one with the password from IMGCTL_PASSWORD -> ${hint}`,
    );
    expect(renewable.exitCode).toBe(0);
    expect(requests).toEqual(['GET /v2', 'GET /v2']);
  });

  it('reports withdrawn access', async () => {
    const { at, emulator } = await loggedIn();
    emulator.revokeAccess('demo');
    const { of, exitCode } = await at(0);
    expect(of('token')).toMatch(
      /^failed: the service says: User is not authorized.* -> ask the admin/,
    );
    expect(exitCode).toBe(4);
  });

  it.each([
    [
      'made-up',
      /^failed: the service refused the access token: Invalid token -> set IMGCTL_TOKEN/,
      4,
    ],
    ['two words', /^failed: IMGCTL_TOKEN is not an access token -> /, 2],
  ])('reports an invalid IMGCTL_TOKEN: %s', async (token, expected, code) => {
    const { env } = await emulatorUser();
    const { of, exitCode } = await diagnose({ env: { ...env, IMGCTL_TOKEN: token } });
    expect(of('token')).toMatch(expected);
    expect(exitCode).toBe(code);
  });

  it('reports a missing user name and names the profile in the hint', async () => {
    const { emulator } = await emulatorUser();
    const { of, exitCode } = await diagnose({
      env: { ...PASSWORD, IMGCTL_BASE_URL: emulator.baseUrl, IMGCTL_PROFILE: 'staging' },
    });
    expect(of('password')).toBe(
      'warning: from IMGCTL_PASSWORD, but no user name is set -> imgctl config set username NAME --profile staging',
    );
    expect([of('token').slice(0, 7), exitCode]).toEqual(['failed:', 4]);
  });

  it('reports how many token requests are left', async () => {
    const { env, imgctl } = await emulatorUser();
    await imgctl(['login'], { env: PASSWORD });
    expect((await diagnose({ env })).of('token requests')).toMatch(/^ok: 4 left until \d{4}-/);
    for (let count = 0; count < 4; count += 1) await imgctl(['login'], { env: PASSWORD });
    const { of, exitCode } = await diagnose({ env });
    expect(of('token requests')).toMatch(/^warning: none left until (\S+) -> log in after \1$/);
    expect(exitCode).toBe(0);
  });
});

describe('doctor', () => {
  async function responded(response: ScriptedResponse, time?: number) {
    const server = await scriptedServer({ 'GET /v2': response });
    const env = { IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T' };
    const diagnosis = await diagnose({ env, ...(time === undefined ? {} : { time }) });
    expect(server.requests).toHaveLength(1);
    return diagnosis;
  }

  it.each<[ScriptedResponse, RegExp, number]>([
    [{ body: '<html>' }, /^failed: .* 200 with HTML instead of JSON -> check that the base URL/, 1],
    [
      { status: 302, headers: { location: 'https://new.example/' } },
      /^failed: .* redirected to/,
      1,
    ],
    [{ status: 404, json: {} }, /^failed: .*: 404.* -> check that the base URL is correct/, 1],
    [{ status: 401, body: '<html>' }, /^warning: GET \S+ returned 401, but not in the format/, 4],
    [{ status: 429, headers: { 'retry-after': '9' }, json: {} }, /^failed: .*too many/, 6],
  ])('reports the response %j', async (response, expected, code) => {
    const { of, exitCode } = await responded(response);
    expect(of('connection')).toMatch(expected);
    expect(of('token')).not.toContain('accepted by the service');
    expect(exitCode).toBe(code);
  });

  const date = new Date(NOON).toUTCString();

  it.each([
    [NOON + 299_000, /^ok: /],
    [NOON + 301_000, /^warning: 5 min 1 s ahead of the service -> .*timedatectl/],
    [NOON - 3_600_000, /^warning: 1 h behind the service/],
  ])('compares the clock with the Date header: %i', async (time, expected) => {
    const { of, exitCode } = await responded({ headers: { date }, json: {} }, time);
    expect(of('clock')).toMatch(expected);
    expect(exitCode).toBe(0);
  });
});
