// doctor: what it finds in files, settings, the connection, the login and the storage.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { type FakeIoOptions, runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly, unixOnlySuite } from '../support/platform.ts';
import {
  requestsTo,
  type ScriptedResponse,
  STALL,
  scriptedServer,
} from '../support/scripted-server.ts';
import { tunnelTo, unusedPort } from '../support/sockets.ts';
import { storageUser } from '../support/uploads.ts';
import { configDirectory, emulatorUser, PASSWORD } from '../support/users.ts';

interface Row {
  readonly check: string;
  readonly state: string;
  readonly finding: string;
  readonly hint: string | null;
}

/** Runs doctor; `env` is the whole environment besides an empty folder for settings. */
async function diagnose(env: FakeIoOptions['env'] = {}, time?: number, ...argv: string[]) {
  const clock = time === undefined ? {} : { time };
  const io = { env: { IMGCTL_CONFIG_DIR: temporaryDirectory(), ...env }, ...clock };
  const { stdout, stderr, exitCode } = await runCli(['doctor', '--json', ...argv], io);
  const rows: Row[] = JSON.parse(stdout);
  /** Returns each row of a check as `state: finding -> hint`. */
  const of = (check: string) =>
    rows
      .filter((row) => row.check === check)
      .map(
        ({ state, finding, hint }) => `${state}: ${finding}${hint === null ? '' : ` -> ${hint}`}`,
      )
      .join('\n');
  const problems = rows.filter(({ state }) => state === 'failed' || state === 'warning');
  return { rows, of, problems: problems.map(({ check }) => check), stderr, exitCode };
}

/** A user with a token for an hour; `at` runs doctor that much later. */
async function loggedIn() {
  const start = Date.now();
  let now = start;
  const user = await emulatorUser({ tokenTtl: 3_600_000, now: () => now });
  const directory = path.join(user.directory, "it's here");
  const env = { ...user.env, IMGCTL_CONFIG_DIR: directory };
  await user.imgctl('login', { env: { ...env, ...PASSWORD }, time: start });
  user.requests.length = 0;
  user.credentials.length = 0;
  const at = (milliseconds: number, changes = {}) => {
    now = start + milliseconds;
    return diagnose({ ...env, ...changes }, now);
  };
  const tokens = path.join(directory, 'tokens');
  const token = fs.readdirSync(tokens).find((name) => name.startsWith('_token.')) ?? '';
  const config = path.join(directory, 'config.json');
  return { ...user, env, at, directory, config, tokens, token: path.join(tokens, token) };
}

const SKIPPED = 'not checked: connection failed';
const REFUSED = 'the service refused the access token: ';

describe('doctor', () => {
  unixOnly('modes are Unix')('finds no problem after a login with one GET /v2', async () => {
    const { at, requests, credentials, emulator } = await loggedIn();
    const { rows, of, problems, stderr, exitCode } = await at(61_000);
    expect({ problems, stderr, exitCode }).toEqual({ problems: [], stderr: '', exitCode: 0 });
    expect(rows.map(({ check }) => check)).toEqual([
      ...['program', 'files', 'configuration', 'connection', 'clock', 'token'],
    ]);
    expect(requests).toEqual(['GET /v2']);
    expect(credentials).toEqual([expect.stringMatching(/^Bearer \S+$/)]);
    expect(of('connection')).toBe(`ok: GET ${emulator.baseUrl}/v2 returned 200`);
    expect(of('token')).toMatch(/^ok: valid until [\dT:-]+Z, accepted by the service$/);
  });

  it.each([
    ['✓', '✗', '-', {}],
    ['ok', 'x ', '- ', { LANG: 'C' }],
  ])('marks each check on a terminal with %s, %s or %s', async (good, bad, none, locale) => {
    const env = { IMGCTL_CONFIG_DIR: temporaryDirectory(), ...locale };
    const { stdout } = await runCli(['doctor'], { env, columns: 80 });
    expect(stdout).toContain(`${good} configuration  profile default: 0 settings, all valid`);
    const margin = ' '.repeat(good.length + 16);
    const hint = new RegExp(`^${bad} connection +no .*\n${margin}hint: run: imgctl login`, 'm');
    expect(stdout).toMatch(hint);
    expect(stdout).toContain(`${none} clock          connection failed\n`);
    const colored = await runCli(['doctor'], { env, columns: 80, color: true });
    expect(colored.stdout).toContain(`\u001b[31m${bad}\u001b[39m connection`);
    expect(colored.stdout.replaceAll(/\u001b\[\d+m/g, '')).toBe(stdout);
  });

  it('hints at a login if nothing is set', async () => {
    const { stdout, stderr, exitCode } = await runCli(['doctor'], {
      env: { HOME: temporaryDirectory() },
    });
    expect(exitCode).toBe(2);
    expect(stdout).toContain(' does not exist yet');
    expect(stdout).toMatch(/\nconnection +failed +no service configured.* -> run: imgctl login/);
    expect(stdout).toMatch(/\nclock +not checked +connection failed\n/);
    expect(stderr).toMatch(/^imgctl: failed checks: connection\nhint: run: imgctl login/);
    const homeless = (await runCli(['doctor'])).stdout;
    expect(homeless).toMatch(/\nfiles +warning +no home directory.* -> set IMGCTL_CONFIG_DIR/);
  });

  unixOnly('modes are Unix')('prints the same rows in every format', async () => {
    const env = { IMGCTL_CONFIG_DIR: temporaryDirectory() };
    const show = async (...argv: string[]) => (await runCli(['doctor', ...argv], { env })).stdout;
    expect(await show('-o', 'csv')).toMatch(/^check,state,finding,hint\r\nprogram,ok,/);
    expect(await show('-o', 'ndjson')).toMatch(/^\{"check":"program","state":"ok"/);
    expect(await show()).toContain('to try without an account: imgctl demo\n');
    expect(await show('-q')).toBe('connection\n');
  });

  it('traces the request with --debug', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: {} } });
    const env = { IMGCTL_TOKEN: 'T', IMGCTL_BASE_URL: server.baseUrl };
    const traced = async () => (await runCli(['doctor', '--debug'], { env })).stderr;
    expect(await traced()).toMatch(/^imgctl: debug: GET http:\S+\/v2: 200 in \d+ ms, 2 B$/m);
    await server.close();
    expect(await traced()).toMatch(/^imgctl: debug: GET http:\S+\/v2: no response after \d+ ms: /m);
  });
});

describe('doctor checks the login', () => {
  it.each([
    [PASSWORD, /^ok: none; .* with the password from IMGCTL_PASSWORD$/, 0],
    [
      { IMGCTL_PASSWORD_COMMAND: 'touch /no/such/file' },
      /^ok: none; .* from the password command \(IMGCTL_PASSWORD_COMMAND\)$/,
      0,
    ],
    [{ ...PASSWORD, IMGCTL_USERNAME: '', IMGCTL_PROFILE: 'work' }, /^failed: /, 4],
    [{ IMGCTL_PROFILE: 'work' }, /^failed: not logged in -> run: imgctl login --profile work$/, 4],
  ])('without a token, sends none and requests none: %j', async (changes, token, code) => {
    const { env, requests, credentials } = await emulatorUser();
    const { of, exitCode } = await diagnose({ ...env, ...changes });
    expect(of('token')).toMatch(token);
    expect(of('connection')).toMatch(/^ok: GET \S+\/v2 returned 401$/);
    expect([requests, credentials, exitCode]).toEqual([['GET /v2'], [''], code]);
  });

  it('and names the failed checks in its error', async () => {
    const { env } = await emulatorUser();
    expect(JSON.parse((await diagnose(env)).stderr).error).toMatchObject({
      code: 'not-logged-in',
      message: 'failed checks: token',
      hint: 'run: imgctl login',
    });
  });

  it('and does not send a token that has expired', async () => {
    const { at, credentials } = await loggedIn();
    const { of, exitCode } = await at(3_600_000);
    expect(of('token')).toBe('failed: the token has expired -> run: imgctl login');
    expect([credentials, exitCode]).toEqual([[''], 4]);
    const renewable = await at(3_600_000, PASSWORD);
    expect(renewable.of('token')).toMatch(/^ok: expired; the next command/);
  });

  it('and reports a refused token with one request, and withdrawn access', async () => {
    const { at, emulator, requests } = await loggedIn();
    emulator.revokeAccess('demo');
    const denied = await at(0);
    expect(denied.of('token')).toMatch(/^failed: .*: User is not authorized.* -> ask the admin/);
    expect(denied.exitCode).toBe(4);
    emulator.expireTokens();
    const { of, exitCode } = await at(0);
    const refused = `${REFUSED}Valid token, but has expired`;
    expect(of('token')).toBe(`failed: ${refused} -> log in again: imgctl login`);
    expect(exitCode).toBe(4);
    const renewable = await at(0, PASSWORD);
    expect(renewable.of('token')).toBe(
      `warning: ${refused}; the next command requests one with the password from IMGCTL_PASSWORD -> log in again: imgctl login`,
    );
    expect([renewable.exitCode, requests]).toEqual([0, ['GET /v2', 'GET /v2', 'GET /v2']]);
  });

  it.each([
    ['made-up', `failed: ${REFUSED}Invalid token -> set IMGCTL_TOKEN`, 4],
    ['two words', 'failed: IMGCTL_TOKEN is not an access token -> ', 2],
  ])('and reports an invalid IMGCTL_TOKEN: %s', async (token, expected, code) => {
    const { env } = await emulatorUser();
    const { of, exitCode } = await diagnose({ ...env, IMGCTL_TOKEN: token });
    expect(of('token')).toContain(expected);
    expect(exitCode).toBe(code);
  });
});

describe('doctor checks the connection', () => {
  async function responded(response: ScriptedResponse, time?: number) {
    const server = await scriptedServer({ 'GET /v2': response });
    const diagnosis = await diagnose({ IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T' }, time);
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
  ])('and reports the response %j', async (response, expected, code) => {
    const { of, exitCode } = await responded(response);
    expect(of('connection')).toMatch(expected);
    expect(of('token')).not.toContain('accepted by the service');
    expect(exitCode).toBe(code);
  });

  const NOON = Date.UTC(2026, 0, 5, 12);
  it.each([
    [NOON + 299_000, /^ok: /],
    [NOON + 301_000, /^warning: 5 min 1 s ahead of the service -> .*timedatectl/],
    [NOON - 3_600_000, /^warning: 1 h behind the service/],
  ])('and compares the clock with the Date header: %i', async (time, expected) => {
    const headers = { date: new Date(NOON).toUTCString() };
    const { of, exitCode } = await responded({ headers, json: {} }, time);
    expect(of('clock')).toMatch(expected);
    expect(exitCode).toBe(0);
  });

  it('over TLS, and hints at ca-file if the certificate is not trusted', async () => {
    const identity = selfSigned('127.0.0.1');
    const server = await scriptedServer({ 'GET /v2': { json: {} } }, identity);
    const ca = path.join(temporaryDirectory(), 'ca.pem');
    fs.writeFileSync(ca, identity.cert);
    const run = (settings: Record<string, string>) => {
      const IMGCTL_CONFIG_DIR = configDirectory(settings);
      return diagnose({ IMGCTL_TOKEN: 'T', IMGCTL_BASE_URL: server.baseUrl, IMGCTL_CONFIG_DIR });
    };
    const { of, exitCode } = await run({});
    expect(of('connection')).toMatch(
      /^failed: no trusted TLS connection to .*: DEPTH_ZERO_SELF_SIGNED_CERT -> .*ca-file/,
    );
    expect([of('clock'), of('token')]).toEqual([SKIPPED, SKIPPED]);
    expect([server.requests, exitCode]).toEqual([[], 3]);
    const trusted = (await run({ 'ca-file': ca })).of('connection');
    expect(trusted).toBe(`ok: GET ${server.baseUrl}/v2 returned 200`);
  });

  unixOnly('/dev is Unix').each<[string, object, Record<string, string>, RegExp, number]>([
    [
      'https://images.invalid',
      {},
      { 'ca-file': '/no/such.pem' },
      /^failed: cannot read the ca-file .*: ENOENT -> run: imgctl config set ca-file/,
      2,
    ],
    [
      'https://images.invalid',
      {},
      { 'ca-file': '/dev/null' },
      /^failed: cannot read the ca-file .*: no valid PEM certificate -> /,
      2,
    ],
    [
      'https://images.invalid',
      {},
      {},
      /^failed: cannot reach https:\/\/images\.invalid: .* -> check/,
      3,
    ],
    ['unused', {}, {}, /^failed: .*: the connection was refused -> /, 3],
    [
      'https://images.example.com',
      { HTTPS_PROXY: 'socks5://x' },
      {},
      /^failed: HTTPS_PROXY is a SOCKS proxy.* -> use the HTTP port/,
      2,
    ],
  ])(
    'and reports why there is none to %s: %j %j',
    async (url, variables, settings, expected, code) => {
      const IMGCTL_BASE_URL = url === 'unused' ? (await unusedPort()).baseUrl : url;
      const IMGCTL_CONFIG_DIR = configDirectory(settings);
      const env = { IMGCTL_TOKEN: 'T', IMGCTL_BASE_URL, IMGCTL_CONFIG_DIR, ...variables };
      const { of, exitCode } = await diagnose(env);
      expect(of('connection')).toMatch(expected);
      expect([of('clock'), exitCode]).toEqual([SKIPPED, code]);
    },
  );

  it('and stops at --timeout after one request', async () => {
    const server = await scriptedServer({ 'GET /v2': STALL });
    const env = { IMGCTL_TOKEN: 'T', IMGCTL_BASE_URL: server.baseUrl };
    const { of } = await diagnose(env, undefined, '--timeout', '60ms');
    expect(of('connection')).toMatch(
      /^failed: .* within 0\.06 s, still waiting for the response -> /,
    );
    expect(server.requests).toHaveLength(1);
  });

  it('through a proxy, whose refusal it reports without its password', async () => {
    const server = await scriptedServer({
      'GET http://images.example.com/v2': { json: {} },
      'GET /v2': { json: {} },
    });
    const refusing = await tunnelTo('HTTP/1.1 407 No\r\n\r\n');
    const IMGCTL_CONFIG_DIR = configDirectory({ 'allow-http': 'true' });
    const through = (url: string, env: object) =>
      diagnose({ IMGCTL_TOKEN: 'T', IMGCTL_BASE_URL: url, IMGCTL_CONFIG_DIR, ...env });
    const http_proxy = server.baseUrl;
    expect((await through('http://images.example.com', { http_proxy })).of('connection')).toMatch(
      /^warning: GET \S+ returned 200, through the proxy http:\/\/127\.0\.0\.1:\d+ from http_proxy; plain http .* unencrypted -> imgctl config set base-url/,
    );
    expect((await through(server.baseUrl, { http_proxy })).of('connection')).toMatch(
      /^ok: .* returned 200; http_proxy is bypassed: this machine$/,
    );
    expect(requestsTo(server)).toEqual(['GET http://images.example.com/v2', 'GET /v2']);
    const HTTPS_PROXY = refusing.baseUrl.replace('//', '//someone:canary@');
    const { of, rows, stderr, exitCode } = await through('https://images.example.com', {
      HTTPS_PROXY,
    });
    expect(of('connection')).toMatch(
      /^failed: the proxy .* refused to connect .*: 407 -> add user/,
    );
    expect(JSON.stringify(rows) + stderr).not.toContain('canary');
    expect(exitCode).toBe(3);
    const silent = await scriptedServer(() => ({ status: 407 }));
    const failing = await through('http://images.example.com', { HTTP_PROXY: silent.baseUrl });
    expect(failing.of('connection')).toMatch(
      /^failed: the proxy .* refused to connect to images\.example\.com:80: 407 -> add user .* HTTP_PROXY/,
    );
    expect([failing.of('token'), failing.exitCode]).toEqual([SKIPPED, 3]);
  });
});

describe('doctor checks the configuration', () => {
  it('and stops if config.json is invalid', async () => {
    const { env, requests } = await emulatorUser();
    fs.writeFileSync(path.join(env.IMGCTL_CONFIG_DIR, 'config.json'), '{"secret": ');
    const { of, exitCode } = await diagnose(env);
    expect(of('configuration')).toMatch(
      /^failed: .*config\.json: not valid JSON at line 1.* -> fix/,
    );
    expect([requests, exitCode]).toEqual([[], 2]);
  });

  unixOnly('modes are Unix')('and reports every invalid setting with its hint', async () => {
    const settings = { 'bas-url': 'x', timeout: 'soon', 'columns.images': 'id,nam', retries: '3' };
    const IMGCTL_CONFIG_DIR = configDirectory(settings);
    const env = { IMGCTL_CONFIG_DIR, IMGCTL_OUTPUT: 'xml', IMGCTL_USERNAME: 'a:b' };
    expect((await diagnose(env)).of('configuration').split('\n')).toEqual([
      'failed: invalid username: a:… (from IMGCTL_USERNAME) -> use a user name without a colon',
      expect.stringMatching(
        /^failed: invalid timeout: soon .* -> imgctl config set timeout VALUE \(use a duration /,
      ),
      expect.stringMatching(
        /^failed: unknown field 'nam' in setting columns\.images.* -> imgctl config set columns\.images VALUE \(did you mean name\?/,
      ),
      `warning: unknown setting bas-url -> remove it from ${path.join(IMGCTL_CONFIG_DIR, 'config.json')}`,
    ]);
    const { stdout, exitCode } = await runCli(['doctor'], { env: { IMGCTL_OUTPUT: 'xml' } });
    expect(stdout).toMatch(
      /\nconfiguration +failed +invalid output: xml \(from IMGCTL_OUTPUT\) -> valid/,
    );
    expect(exitCode).toBe(2);
  });

  it('and reports an unknown and an invalid profile', async () => {
    const { env, imgctl } = await emulatorUser();
    await imgctl('config set time iso --profile staging');
    expect((await diagnose({ ...env, IMGCTL_PROFILE: 'stagin' })).of('configuration')).toBe(
      'warning: unknown profile stagin -> list the profiles: imgctl profile list',
    );
    const wrong = await diagnose({ ...env, IMGCTL_PROFILE: '../x' });
    expect(wrong.of('configuration')).toMatch(/^failed: invalid profile name/);
    expect(wrong.exitCode).toBe(2);
  });
});

unixOnlySuite('modes are Unix')('doctor checks files', () => {
  type Place = Awaited<ReturnType<typeof loggedIn>>;
  const mode = (file: 'tokens' | 'config' | 'directory', bits: number) => (place: Place) =>
    fs.chmodSync(place[file], bits);

  it.each<[string, (place: Place) => void, RegExp]>([
    [
      'settings that others can read',
      mode('config', 0o640),
      /config\.json is accessible to other users$/,
    ],
    ['tokens in the open', mode('tokens', 0o755), /tokens is accessible to other users$/],
    [
      'tokens behind a link in the open',
      ({ tokens, directory }) => {
        fs.renameSync(tokens, path.join(directory, 'elsewhere'));
        fs.chmodSync(path.join(directory, 'elsewhere'), 0o755);
        fs.symlinkSync('elsewhere', tokens);
      },
      /tokens is accessible to other users$/,
    ],
    ['a shared folder', mode('directory', 0o777), / is writable by other users$/],
  ])('and prints a hint that helps against %s', async (_, spoil, expected) => {
    const place = await loggedIn();
    const found = async () => (await place.at(0)).rows.filter(({ check }) => check === 'files');
    spoil(place);
    const [before, ...others] = await found();
    expect([before?.state, others]).toEqual(['warning', []]);
    expect(before?.finding).toMatch(expected);
    execFileSync('sh', ['-c', before?.hint ?? 'false']);
    expect(await found()).toEqual([expect.objectContaining({ state: 'ok', hint: null })]);
  });

  it.skipIf(process.getuid?.() === 0)('and reports a read-only folder (not as root)', async () => {
    const { at, directory } = await loggedIn();
    fs.chmodSync(directory, 0o500);
    const { of, exitCode } = await at(0);
    fs.chmodSync(directory, 0o700);
    expect(of('files')).toMatch(/^warning: cannot write to .*: EACCES -> set IMGCTL_CONFIG_DIR/);
    expect(exitCode).toBe(0);
  });

  it('and reports an invalid token file without its content, and a file in place of a folder', async () => {
    const { at, token } = await loggedIn();
    fs.writeFileSync(token, '{"token": "canary');
    const { of, stderr, exitCode } = await at(0);
    expect(of('token')).toBe('failed: not logged in -> run: imgctl login');
    expect(stderr).toMatch(/"warning":.*cannot read .*: not valid JSON at/);
    expect([stderr.includes('canary'), exitCode]).toEqual([false, 4]);
    const files = (await at(0, { IMGCTL_CONFIG_DIR: path.join(token, 'x') })).of('files');
    expect(files).toMatch(/^warning: cannot write to .*: ENOTDIR -> set IMGCTL_CONFIG_DIR/);
  });
});

describe('doctor checks the storage', () => {
  it.each<['dav' | 's3', string, object, number, RegExp]>([
    ['dav', '', {}, 0, /^ok: 127\.0\.0\.1:\d+: reachable, credentials accepted$/],
    [
      'dav',
      'unset upload-username',
      {},
      0,
      /^failed: .*\(401\) -> run: imgctl config set upload-username NAME$/,
    ],
    ['dav', 'unset upload-url', {}, 0, /^$/],
    [
      's3',
      '',
      { IMGCTL_UPLOAD_SECRET: 'wrong' },
      0,
      /^failed: .*SignatureDoesNotMatch.* -> check IMGCTL_UPLOAD_SECRET and upload-access-key: imgctl/,
    ],
    ['s3', 'unset upload-access-key', {}, 0, /^failed: no access key .* -> run: imgctl config set/],
    [
      's3',
      '',
      { IMGCTL_UPLOAD_SECRET: '', IMGCTL_UPLOAD_SECRET_FILE: '/none' },
      0,
      /^failed: cannot read the file \/none \(IMGCTL_UPLOAD_SECRET_FILE\): ENOENT -> check /,
    ],
    [
      's3',
      'set upload-secret-command false',
      { IMGCTL_UPLOAD_SECRET: '' },
      0,
      /^failed: the upload secret command .* -> .*: imgctl config get upload-secret-command$/,
    ],
    ['s3', '', {}, 3_600_000, /^failed: .*RequestTimeTooSkewed.* -> set the clock/],
  ])(
    '%s after "config %s" with %j, %i ms later',
    async (kind, change, changes, later, expected) => {
      const { env, imgctl } = await storageUser(kind);
      if (change !== '') await imgctl(`config ${change}`);
      const { of, problems } = await diagnose({ ...env, ...changes }, Date.now() + later);
      expect(of('storage')).toMatch(expected);
      expect(problems.includes('storage')).toBe(of('storage').startsWith('failed'));
    },
  );
});
