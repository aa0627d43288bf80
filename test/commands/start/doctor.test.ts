// doctor: what it finds in files, settings, the connection, the login and the storage.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { fakeTerminal, runCli, temporaryDirectory } from '../../support/io.ts';
import { unixOnly, unixOnlySuite } from '../../support/platform.ts';
import {
  errorResponse,
  requestsTo,
  type ScriptedResponse,
  STALL,
  scriptedServer,
  tokenResponse,
} from '../../support/scripted-server.ts';
import { tunnelTo, unusedPort } from '../../support/sockets.ts';
import { storageUser } from '../../support/uploads.ts';
import {
  configDirectory,
  type Environment,
  emulatorUser,
  PASSWORD,
  TOKEN_REQUEST,
} from '../../support/users.ts';

type Settings = Readonly<Record<string, string>>;

type Row = Readonly<Record<'check' | 'state' | 'finding', string>> & { hint: string | null };

/** Runs doctor; `env` is the whole environment besides a folder with these settings. */
async function diagnose(env: Environment, settings: Settings = {}, time?: number, line = '') {
  const clock = time === undefined ? {} : { time };
  const io = { env: { IMGCTL_CONFIG_DIR: configDirectory(settings), ...env }, ...clock };
  const argv = `doctor --json ${line}`.trim().split(' ');
  const { stdout, stderr, exitCode } = await runCli(argv, io);
  const rows: Row[] = JSON.parse(stdout);
  /** Returns each row of a check as `state: finding -> hint`. */
  const of = (name: string) =>
    rows.flatMap(({ check, state, finding, hint }) =>
      check === name ? `${state}: ${finding}${hint === null ? '' : ` -> ${hint}`}` : [],
    );
  return { rows, of, stderr, exitCode };
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
    return diagnose({ ...env, ...changes }, {}, now);
  };
  const tokens = path.join(directory, 'tokens');
  const token = fs.readdirSync(tokens).find((name) => name.startsWith('_token.')) ?? '';
  const config = path.join(directory, 'config.json');
  return { ...user, env, at, directory, config, tokens, token: path.join(tokens, token) };
}

const at = (baseUrl: string, changes: Environment = {}) => {
  return { IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: 'T', ...changes };
};
const SKIPPED = ['not checked: connection failed'];

describe('doctor', () => {
  unixOnly('modes are Unix')('finds no problem after a login with one GET /v2', async () => {
    const { at, requests, credentials, emulator, directory } = await loggedIn();
    fs.writeFileSync(path.join(directory, 'doctor.test'), 'of the user');
    const before = fs.readdirSync(directory);
    const { rows, of, stderr, exitCode } = await at(61_000);
    expect(fs.readdirSync(directory)).toEqual(before);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const checks = ['program', 'files', 'configuration', 'connection', 'clock', 'token'];
    expect(rows.map(({ check, state }) => [check, state])).toEqual(
      checks.map((check) => [check, 'ok']),
    );
    expect(requests).toEqual(['GET /v2']);
    expect(credentials).toEqual([expect.stringMatching(/^Bearer \S+$/)]);
    expect(of('connection')).toEqual([`ok: GET ${emulator.baseUrl}/v2 returned 200`]);
    expect(of('token')[0]).toMatch(/^ok: valid until [\dT:-]+Z, accepted by the service$/);
  });

  unixOnly('modes are Unix')('prints the same rows in every format', async () => {
    const env = { HOME: temporaryDirectory() };
    const show = async (...argv: string[]) => (await runCli(['doctor', ...argv], { env })).stdout;
    const { stdout, stderr, exitCode } = await runCli(['doctor'], { env });
    expect(stdout).toContain(' does not exist yet');
    expect(stdout).toMatch(
      /\nconnection +failed +no service address is set\n +hint: run: imgctl login/,
    );
    expect(stdout).toMatch(/\nclock +not checked +connection failed\n/);
    expect(stderr).toMatch(/^imgctl: failed checks: connection\nhint: run: imgctl login/);
    expect(exitCode).toBe(2);
    expect(await show('-o', 'csv')).toMatch(/^check,state,finding,hint\r\nprogram,ok,/);
    expect(await show('-o', 'ndjson')).toMatch(/^\{"check":"program","state":"ok"/);
    const none = 'password,not checked,none is set; a login prompts for it,';
    expect(await show('-o', 'csv', '--check-password')).toContain(none);
    expect(await show('-q')).toBe('connection\n');
    for (const columns of [39, 60]) {
      const shown = await runCli(['doctor'], { env, columns });
      expect(shown.stdout).not.toMatch(/…|hint +-$/m);
      expect(shown.stdout).toMatch(/hint:? +run: imgctl\s/);
      expect(shown.stderr).toBe('imgctl: failed checks: connection\n');
    }
    const homeless = await runCli(['doctor', '-q'], { env: {} });
    expect(homeless).toMatchObject({ stdout: 'files\nconnection\n', exitCode: 2 });
    expect(homeless.stderr).toContain('\nhint: set HOME, such as HOME=/home/alice, ');
    const lost =
      'files,warning,"no home directory: tokens last for one run, and settings cannot be';
    expect((await runCli(['doctor', '-o', 'csv'])).stdout).toContain(lost);
  });
});

it('doctor --help names every check, and what it sends to the storage', async () => {
  const env = { IMGCTL_TOKEN_STORE: 'redis://127.0.0.1:9' };
  const { rows } = await diagnose(env, { 'upload-url': 'file:///no/such/folder' });
  const { stdout } = await runCli(['doctor', '--help']);
  const found = new Set(rows.map(({ check }) => check));
  expect([...found]).toHaveLength(8);
  for (const check of found) expect(stdout).toMatch(new RegExp(`^  ${check}  `, 'm'));
  expect(stdout).toMatch(/ runs the command of its password .* sends the password/s);
});

const MOVED = { status: 302, headers: { location: 'https://new.example/' } };
const BUSY = { status: 429, headers: { 'retry-after': '9' }, json: {} };
const UNTRUSTED = /^failed: no trusted TLS .*: self-signed certificate -> .*ca-file/;
const NO_HOST = 'https://images.invalid';
const NO_SERVICE =
  /^warning: GET \S+ returned 401, but not in the format of the service -> check the base URL: IMGCTL_BASE_URL$/;

const diagnoseLogin = (env: Environment) => runCli(['doctor', '--login', '-q'], { env });

const NO_LOGIN = /^failed: not logged in -> run: imgctl login --profile work$/;

describe('doctor checks the login', () => {
  it('warns if the service allows no token request now', async () => {
    const { imgctl, env, directory } = await emulatorUser({ tokenLimit: 1 });
    const own = { ...env, ...PASSWORD, IMGCTL_CONFIG_DIR: directory };
    await imgctl('login', { env: own });
    await imgctl('logout', { env: own });
    const { of, exitCode } = await diagnose(own);
    const reached = /^warning: no token yet; token request limit reached -> try again at /;
    expect([of('token'), exitCode]).toEqual([[expect.stringMatching(reached)], 0]);
  });

  it.each([
    [
      PASSWORD,
      /^not checked: no token yet; .* logs in with the password from IMGCTL_PASSWORD -> check it with: imgctl doctor --login$/,
      0,
    ],
    [
      { IMGCTL_PASSWORD_COMMAND: 'touch /no' },
      /^not checked: no token yet; .* from the password command /,
      0,
    ],
    [{ ...PASSWORD, IMGCTL_USERNAME: '' }, /^failed: /, 4],
    [{ IMGCTL_PROFILE: 'work' }, NO_LOGIN, 4],
  ])('without a token, sends none and requests none: %j', async (changes, token, code) => {
    const { env, requests, credentials } = await emulatorUser();
    const { of, stderr, exitCode } = await diagnose({ ...env, ...changes });
    expect(of('token')).toEqual([expect.stringMatching(token)]);
    expect(of('connection')[0]).toMatch(/^ok: GET \S+\/v2 without a token returned 401$/);
    expect({ requests, credentials, exitCode }).toEqual({
      requests: ['GET /v2'],
      credentials: [''],
      exitCode: code,
    });
    const error = { code: 'not-logged-in', message: 'failed checks: token' };
    if (code !== 0) expect(JSON.parse(stderr)).toMatchObject({ error });
  });

  it('with --login by requesting a token, which shows a wrong password beside a valid token', async () => {
    const { env, requests, imgctl } = await emulatorUser();
    await imgctl('doctor --check-password', { env: PASSWORD });
    expect(requests).toEqual(['GET /v2']);
    expect((await imgctl('doctor --login -q')).exitCode).toBe(4);
    const run = (password: string) => diagnoseLogin({ ...env, IMGCTL_PASSWORD: password });
    expect(await run('demo')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(await run('wrong')).toMatchObject({ exitCode: 4, stdout: 'token\n' });
    expect(requests.filter((each) => each === TOKEN_REQUEST)).toHaveLength(2);
    const password = async (IMGCTL_PASSWORD: string) =>
      (await diagnose({ ...env, IMGCTL_PASSWORD }, {}, undefined, '--login')).of('password');
    expect(await password('demo')).toEqual(['ok: IMGCTL_PASSWORD, accepted by the service']);
    expect(await password('wrong')).toEqual([]);
    // Without a password, the valid token is all that can be checked.
    expect((await imgctl('doctor --login -q')).exitCode).toBe(0);
  });

  it('and sends one request, whatever the service says about the token', async () => {
    const { at, emulator, requests, credentials } = await loggedIn();
    const expectToken = async (later: number, changes: Environment, ...expected: unknown[]) => {
      const { of, exitCode } = await at(later, changes);
      expect([...of('token'), exitCode]).toEqual(expected);
    };
    const text = (pattern: RegExp) => expect.stringMatching(pattern);
    emulator.revokeAccess('demo');
    await expectToken(0, {}, text(/^failed: .*: User is not authorized.* -> ask the admin/), 4);
    emulator.expireTokens();
    const refused = 'the service refused the access token: Valid token, but has expired';
    const again = 'log in again: imgctl login';
    const next = `${refused}; the next command logs in with the password from IMGCTL_PASSWORD`;
    await expectToken(0, {}, `failed: ${refused} -> ${again}`, 4);
    await expectToken(0, PASSWORD, `warning: ${next} -> ${again}`, 0);
    expect(credentials).not.toContain('');
    await expectToken(3_600_000, {}, 'failed: the token has expired -> run: imgctl login', 4);
    await expectToken(3_600_000, PASSWORD, text(/^not checked: expired; the next command/), 0);
    expect(credentials.slice(3)).toEqual(['', '']);
    expect(requests).toEqual(Array(5).fill('GET /v2'));
  });

  it('with a new token that a node of the service does not know yet', async () => {
    const server = await scriptedServer({
      [TOKEN_REQUEST]: tokenResponse('T1'),
      'GET /v2': [errorResponse(401, 'Invalid token.'), { json: {} }],
    });
    const env = { IMGCTL_BASE_URL: server.baseUrl, IMGCTL_USERNAME: 'demo', ...PASSWORD };
    const { of } = await diagnose(env, {}, Date.now(), '--login');
    expect(of('token')).toEqual([expect.stringMatching(/^ok: .* accepted by the service$/)]);
    expect(requestsTo(server)).toEqual([TOKEN_REQUEST, 'GET /v2', 'GET /v2']);
  });

  it.each([
    [
      '',
      PASSWORD,
      ['not checked: IMGCTL_PASSWORD -> check it with: imgctl doctor --check-password'],
    ],
    ['--check-password', PASSWORD, ['ok: IMGCTL_PASSWORD gives a password']],
    ['', { ...PASSWORD, IMGCTL_TOKEN: 'T' }, []],
    [
      '--check-password',
      { ...PASSWORD, IMGCTL_TOKEN: 'T' },
      ['not checked: IMGCTL_TOKEN is used instead'],
    ],
    ['', {}, []],
    ['--check-password', {}, ['not checked: none is set; a login prompts for it']],
  ])('and names the source of the password: doctor %s with %j', async (line, env, expected) => {
    const { of } = await diagnose(
      { IMGCTL_BASE_URL: 'http://127.0.0.1:1', ...env },
      {},
      undefined,
      line,
    );
    expect(of('password')).toEqual(expected);
  });

  it.each([
    ['made-up', /^failed: .* token: Invalid token -> set IMGCTL_TOKEN/, 4],
    ['two words', /^failed: IMGCTL_TOKEN is not an access token -> /, 2],
  ])('and reports an invalid IMGCTL_TOKEN: %s', async (token, expected, code) => {
    const { env } = await emulatorUser();
    const { of, exitCode } = await diagnose({ ...env, IMGCTL_TOKEN: token });
    expect(of('token')).toEqual([expect.stringMatching(expected)]);
    expect(exitCode).toBe(code);
  });
});

describe('doctor checks the connection', () => {
  async function responded(response: ScriptedResponse, time?: number, line?: string) {
    const server = await scriptedServer({ 'GET /v2': response });
    const diagnosis = await diagnose(at(server.baseUrl), {}, time, line);
    expect(server.requests).toHaveLength(1);
    return diagnosis;
  }

  it.each<[ScriptedResponse, RegExp, number]>([
    [{ body: '<html>' }, /^failed: .* HTML instead of JSON -> check the base URL/, 1],
    [MOVED, /^failed: .* redirected to/, 1],
    [{ status: 404, json: {} }, /^failed: .*: 404.* -> check the base URL/, 1],
    [{ status: 401, body: '<html>' }, /^failed: GET \S+: 401, with HTML .* firewall or portal/, 1],
    [{ json: { error: 'x', message: 'No', status: 401 } }, /^ok: GET \S+ returned 401/, 4],
    [{ status: 401, body: 'No' }, NO_SERVICE, 4],
    [BUSY, /^failed: .*too many/, 6],
  ])('and reports the response %j', async (response, expected, code) => {
    const { of, exitCode } = await responded(response);
    expect(of('connection')[0]).toMatch(expected);
    expect(of('token')[0]).not.toContain('accepted by the service');
    expect(exitCode).toBe(code);
  });

  it('and stops at --timeout, which --debug traces', async () => {
    const { of, stderr } = await responded(STALL, undefined, '--timeout 400ms --debug');
    const [found] = of('connection');
    const hint = 'allow more time with --timeout 1s, or check the base URL: IMGCTL_BASE_URL';
    expect(found).toMatch(/^failed: .* within 0\.4 s, still waiting for the response -> /);
    expect(found?.split(' -> ')[1]).toBe(hint);
    expect(stderr).toMatch(/^\{"debug":\{"message":"GET http:\S+\/v2: no response after \d+ ms: /m);
  });

  const NOON = Date.UTC(2026, 0, 5, 12);
  const SET_CLOCK = 'set the clock of this machine, on Linux: sudo timedatectl set-ntp true';
  it.each([
    [NOON + 299_000, 'ok: agrees with the service'],
    [NOON - 299_000, 'ok: agrees with the service'],
    [NOON + 301_000, `warning: 5 min 1 s ahead of the service -> ${SET_CLOCK}`],
    [NOON - 3_600_000, `warning: 1 h behind the service -> ${SET_CLOCK}`],
    [NOON, 'not checked: the service sent no valid date', 'soon'],
  ])('and compares the clock with the Date header: %i, %s', async (time, expected, date = '') => {
    const headers = { date: date || new Date(NOON).toUTCString() };
    const { of, exitCode } = await responded({ headers, json: {} }, time);
    expect([...of('clock'), exitCode]).toEqual([expected, 0]);
  });

  it('over TLS, and hints at ca-file if the certificate is not trusted', async () => {
    const identity = selfSigned('127.0.0.1');
    const server = await scriptedServer({ 'GET /v2': { json: {} } }, identity);
    const ca = path.join(temporaryDirectory(), 'ca.pem');
    fs.writeFileSync(ca, identity.cert);
    const { of, exitCode } = await diagnose(at(server.baseUrl));
    expect(of('connection')[0]).toMatch(UNTRUSTED);
    expect([of('clock'), of('token')]).toEqual([SKIPPED, SKIPPED]);
    expect({ requests: server.requests, exitCode }).toEqual({ requests: [], exitCode: 3 });
    const trusted = await diagnose(at(server.baseUrl), { 'ca-file': ca });
    expect(trusted.of('connection')).toEqual([`ok: GET ${server.baseUrl}/v2 returned 200`]);
  });

  unixOnly('/dev is Unix').each<[string, Environment, Settings, RegExp, number]>([
    [
      NO_HOST,
      {},
      { 'ca-file': '/no' },
      /ca-file .*: no such file .* -> use another file: imgctl config set ca-file/,
      2,
    ],
    [NO_HOST, {}, { 'ca-file': '/etc/passwd' }, /ca-file .*: no valid PEM certificate -> /, 2],
    [NO_HOST, {}, { 'ca-file': '/dev/null' }, /ca-file .*: it is not a regular file -> /, 2],
    [NO_HOST, {}, {}, /^failed: cannot reach https:\/\/images\.invalid: .* -> check/, 3],
    ['unused', {}, {}, /^failed: .*: the connection was refused -> /, 3],
    [NO_HOST, { HTTPS_PROXY: 'socks5://x' }, {}, /^failed: .* SOCKS proxy.* -> use the HTTP/, 2],
  ])('and reports why there is none to %s: %j %j', async (url, env, settings, expected, code) => {
    const baseUrl = url === 'unused' ? (await unusedPort()).baseUrl : url;
    const { of, exitCode } = await diagnose(at(baseUrl, env), settings);
    expect(of('connection')[0]).toMatch(expected);
    // The settings are not called valid beside it.
    if (settings['ca-file']) expect(of('configuration')[0]).toMatch(expected);
    expect([of('clock'), exitCode]).toEqual([SKIPPED, code]);
  });

  it('through a proxy, whose refusal it reports without its password', async () => {
    const target = 'http://images.example.com';
    const script = { [`GET ${target}/v2`]: { json: {} }, 'GET /v2': { json: {} } };
    const server = await scriptedServer(script);
    const refusing = await tunnelTo('HTTP/1.1 407 No\r\n\r\n');
    const http_proxy = server.baseUrl;
    const through = (url: string) => diagnose(at(url, { http_proxy }), { 'allow-http': 'true' });
    const [plain] = (await through(target)).of('connection');
    const risk = 'plain http sends the password and the token unencrypted';
    expect(plain).toBe(
      `warning: GET ${target}/v2 returned 200, through the proxy ${http_proxy} from http_proxy; ${risk} -> IMGCTL_BASE_URL=https://images.example.com`,
    );
    const [direct] = (await through(server.baseUrl)).of('connection');
    expect(direct).toMatch(/^ok: .* returned 200; http_proxy is bypassed: this machine$/);
    expect(requestsTo(server)).toEqual([`GET ${target}/v2`, 'GET /v2']);
    const HTTPS_PROXY = refusing.baseUrl.replace('//', '//someone:canary@');
    const { of, stderr, exitCode } = await diagnose(at(NO_HOST, { HTTPS_PROXY }));
    expect(of('connection')[0]).toMatch(
      /^failed: the proxy .* refused the user someone: 407 -> check user/,
    );
    expect(of('connection') + stderr).not.toContain('canary');
    expect([of('token'), exitCode]).toEqual([SKIPPED, 3]);
  });
});

describe('doctor checks the configuration', () => {
  it('and reports a profile or a config.json that it cannot use', async () => {
    const { env, requests } = await emulatorUser();
    const wrong = await diagnose({ ...env, IMGCTL_PROFILE: '../x' });
    expect(wrong.of('configuration')[0]).toMatch(/^failed: invalid profile name/);
    const unknown = (await diagnose({ IMGCTL_PROFILE: 'stagin' })).of('configuration');
    expect(unknown).toEqual([
      'warning: unknown profile stagin -> list the profiles: imgctl profile list',
    ]);
    fs.writeFileSync(path.join(env.IMGCTL_CONFIG_DIR, 'config.json'), '{"secret": ');
    const { of, exitCode } = await diagnose(env);
    const [found] = of('configuration');
    expect(found).toMatch(/^failed: .*config\.json: not valid JSON at line 1.* -> fix/);
    expect([requests, wrong.exitCode, exitCode]).toEqual([[], 2, 2]);
  });

  unixOnly('modes are Unix')('and reports every invalid setting with its hint', async () => {
    const unknown = { 'bas-url': 'x', 'k\u001b': 'x' };
    const ca = { 'upload-ca-file': '/none' };
    const invalid = { timeout: 'soon', 'wait-for-token': '25d', 'columns.images': 'id,nam', ...ca };
    const settings = { ...unknown, ...invalid, retries: '3' };
    const IMGCTL_CONFIG_DIR = configDirectory(settings);
    const wrong = { IMGCTL_OUTPUT: 'xml', IMGCTL_USERNAME: 'a:b', IMGCTL_UPLOD_URL: 'x' };
    const env = { IMGCTL_CONFIG_DIR, IMGCTL_VERSION: '1', IMGCTL_EMPTY: '', ...wrong };
    expect((await diagnose(env)).of('configuration')).toEqual([
      'failed: invalid username: a:… (from IMGCTL_USERNAME) -> use a user name without a colon',
      expect.stringMatching(/^failed: invalid timeout: soon .* imgctl config set timeout VALUE \(/),
      expect.stringMatching(
        /'nam' in columns\.images.* \(from profile default\) .* columns\.images VALUE \(did you/,
      ),
      expect.stringMatching(/at most 24 days .* set wait-for-token VALUE \(see its help\)$/),
      expect.stringMatching(/^failed: cannot read the upload-ca-file /),
      'warning: unknown setting bas-url -> remove it with: imgctl config unset bas-url',
      expect.stringMatching(/^warning: unknown setting k.* -> remove it from config\.json$/),
      'warning: unknown variable IMGCTL_VERSION -> see: imgctl help environment',
      'warning: unknown variable IMGCTL_UPLOD_URL -> did you mean IMGCTL_UPLOAD_URL?',
    ]);
    const { stdout, exitCode } = await runCli(['doctor'], { env: { IMGCTL_OUTPUT: 'xml' } });
    expect(stdout).toMatch(/\nfiles +warning +no home directory.*\n +hint: set HOME, such as /);
    const found = "unknown format 'xml' in output \\(from IMGCTL_OUTPUT\\)";
    expect(stdout).toMatch(new RegExp(`\nconfiguration +failed +${found}\n +hint: valid`));
    expect(exitCode).toBe(2);
  });
});

unixOnlySuite('modes are Unix')('doctor checks files', () => {
  type Place = Awaited<ReturnType<typeof loggedIn>>;
  const linkTokens = ({ tokens, directory }: Place) => {
    fs.renameSync(tokens, path.join(directory, 'elsewhere'));
    fs.chmodSync(path.join(directory, 'elsewhere'), 0o750);
    fs.symlinkSync('elsewhere', tokens);
  };

  it.each<[string, (place: Place) => void, RegExp]>([
    ['open tokens behind a link', linkTokens, /tokens is accessible to other users$/],
    [
      'a shared folder',
      ({ directory }) => fs.chmodSync(directory, 0o777),
      / is writable by other users$/,
    ],
  ])('and prints a hint that helps against %s', async (_, spoil, expected) => {
    const place = await loggedIn();
    const found = async () => (await place.at(0)).rows.filter(({ check }) => check === 'files');
    spoil(place);
    const [before, ...others] = await found();
    expect({ state: before?.state, others }).toEqual({ state: 'warning', others: [] });
    expect(before?.finding).toMatch(expected);
    execFileSync('sh', ['-c', before?.hint ?? 'false']);
    const finding = `${place.directory}: permissions are correct`;
    expect(await found()).toEqual([{ check: 'files', state: 'ok', finding, hint: null }]);
  });

  it.each(['IMGCTL_PASSWORD_FILE', 'IMGCTL_UPLOAD_SECRET_FILE'])(
    'and warns of a secret file of the user that everyone can read: %s',
    async (name) => {
      const { at, directory } = await loggedIn();
      const secret = path.join(directory, 'secret');
      fs.writeFileSync(secret, 'demo');
      const found = async () => (await at(0, { [name]: secret })).rows[1];
      fs.chmodSync(secret, 0o643);
      expect(await found()).toMatchObject({ check: 'files', state: 'ok' });
      fs.chmodSync(secret, 0o644);
      const open = await found();
      expect(open).toMatchObject({
        state: 'warning',
        finding: `${secret} is readable by every user`,
      });
      execFileSync('sh', ['-c', open?.hint ?? 'false']);
      expect(await found()).toMatchObject({ state: 'ok', hint: null });
      // Only root can give a file away.
      if (process.getuid?.() !== 0) return;
      fs.chmodSync(secret, 0o644);
      fs.chownSync(secret, 65_534, 65_534);
      expect(await found()).toMatchObject({ state: 'ok', hint: null });
    },
  );

  it('and leaves out what needs settings if every user can change them', async () => {
    const HOME = temporaryDirectory();
    const file = path.join(HOME, '.config/imgctl/config.json');
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, '{}');
    fs.chmodSync(file, 0o606);
    const { rows, of, stderr, exitCode } = await diagnose({ HOME, IMGCTL_CONFIG_DIR: undefined });
    expect(rows.map(({ check }) => check)).toEqual(['program', 'files']);
    const hint = `check ${file}, then run: chmod o-w ${file}`;
    expect(of('files')).toEqual([`failed: every user can change ${file} -> ${hint}`]);
    const error = { code: 'config', message: 'failed checks: files', hint };
    expect([JSON.parse(stderr), exitCode]).toMatchObject([{ error }, 2]);
    const { stdout } = await runCli(['doctor'], { env: { HOME } });
    expect(stdout).toMatch(/\nfiles +failed +every user .*\n +hint: check .*\n$/);
  });

  it('and reports an invalid token file without its content, and a folder it cannot create', async () => {
    const { at, token } = await loggedIn();
    fs.writeFileSync(token, '{"token": "canary');
    const { of, stderr, exitCode } = await at(0);
    expect(of('token')).toEqual(['failed: not logged in -> run: imgctl login']);
    expect(stderr).toMatch(/"warning":.*cannot read .*: not valid JSON at/);
    expect([stderr.includes('canary'), exitCode]).toEqual([false, 4]);
    const [found] = (await at(0, { IMGCTL_CONFIG_DIR: path.join(token, 'x') })).of('files');
    expect(found).toMatch(/^warning: cannot write to .*: not a directory -> check disk space/);
    const home = { HOME: temporaryDirectory(), XDG_STATE_HOME: path.join(token, 'y') };
    const [state] = (await at(0, { ...home, IMGCTL_CONFIG_DIR: undefined })).of('files');
    expect(state).toMatch(/^warning: cannot write to .*: not a directory -> /);
    const folder = path.dirname(token);
    fs.rmSync(folder, { recursive: true });
    fs.writeFileSync(folder, '', { mode: 0o600 });
    const [tokens] = (await at(0)).of('files');
    expect(tokens).toMatch(
      /^warning: cannot write to .*tokens: not a directory -> check disk space/,
    );
  });
});

const SECRET = 'IMGCTL_UPLOAD_SECRET';
const NO_SECRET = { [SECRET]: '' };
const NO_SESSION = { [SECRET]: 'wrong', IMGCTL_UPLOAD_SESSION_TOKEN: '' };
const FAILING = /^failed: the upload secret command .* -> .*: imgctl config get upload-secret-com/;
const NO_NAME =
  /^not checked: no user name .* -> set IMGCTL_UPLOAD_USERNAME, or run: imgctl config set /;
const WRONG = /^failed: .*SignatureDoesNotMatch.* -> check \w+ and upload-access-key: imgctl/;
const TEMPORARY =
  / -> check IMGCTL_UPLOAD_SECRET and upload-access-key: imgctl config get upload-access-key; keys that begin with ASIA also need IMGCTL_UPLOAD_SESSION_TOKEN$/;
const NO_FILE = /^failed: \/none does not exist -> create it, or check IMGCTL_UPLOAD_SECRET_FILE$/;
const PORT =
  /^failed: cannot reach .* -> check the port of .*: imgctl config get upload-url; the server may/;
const NO_PASSWORD = /^not checked: no password .* -> set IMGCTL_UPLOAD_PASSWORD or /;
const NO_KEY = /^not checked: no access key .* -> set IMGCTL_UPLOAD_ACCESS_KEY, or run: /;

it.each<['dav' | 's3', string, Environment, number, RegExp[]]>([
  ['dav', '', {}, 0, [/^ok: 127\.0\.0\.1:\d+: reachable, credentials accepted$/]],
  ['dav', 'unset upload-username', {}, 0, [NO_NAME]],
  ['dav', '', { IMGCTL_UPLOAD_PASSWORD: '' }, 0, [NO_PASSWORD]],
  ['dav', 'set upload-url dav+http://127.0.0.1:1/x', {}, 0, [PORT]],
  ['s3', '', { [SECRET]: 'wrong' }, 0, [WRONG]],
  ['s3', 'set upload-access-key ASIA', NO_SESSION, 0, [TEMPORARY]],
  ['s3', 'unset upload-access-key', {}, 0, [NO_KEY]],
  ['s3', '', { ...NO_SECRET, [`${SECRET}_FILE`]: '/none' }, 0, [NO_FILE]],
  ['s3', 'set upload-secret-command false', NO_SECRET, 0, [FAILING]],
  ['s3', '', {}, 3_600_000, [/^failed: .*RequestTimeTooSkewed.* -> set the clock/]],
])('doctor checks the storage: %s, config %s, %j, %i ms later', async (kind, change, ...row) => {
  const [changes, later, expected] = row;
  const { env, imgctl } = await storageUser(kind);
  if (change !== '') await imgctl(`config ${change}`);
  const { of } = await diagnose({ ...env, ...changes }, {}, Date.now() + later);
  expect(of('storage')).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
});

it('doctor finds a folder as the storage, which has no credentials', async () => {
  const folder = temporaryDirectory();
  const { of } = await diagnose({}, { 'upload-url': `file://${folder}` });
  expect(of('storage')).toEqual([`ok: folder ${folder}: found`]);
});

it('doctor exits with the code of the first failed check', async () => {
  const settings = { 'upload-url': '/no/such/folder' };
  const { exitCode, stderr } = await diagnose(at('http://127.0.0.1:1'), settings);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 3,
    stderr: expect.stringContaining('"failed checks: connection, storage"'),
  });
});

const TRIED = /^ok: .*: a file was uploaded, renamed, compared and removed$/;
const NO_DOT = /^failed: .* does not permit PUT .* -> .* accepts names that begin with a dot$/;

it.each<['dav' | 's3', string[], number, RegExp]>([
  ['dav', [], 0, TRIED],
  ['s3', [], 0, TRIED],
  ['dav', ['PUT /upload/*=403'], 4, NO_DOT],
  [
    'dav',
    ['MOVE /upload/*=405'],
    1,
    /^failed: .* refused MOVE .* -> the server must allow PROPFIND/,
  ],
  ['dav', ['GET /upload/*=403'], 4, /^failed: .* does not permit GET /],
  ['dav', ['DELETE /upload/*=403'], 4, /^failed: .* does not permit DELETE .* -> check the user/],
  ['dav', ['PUT /upload/*=507', 'DELETE /upload/*=403'], 1, /^failed: .* is full \(507/],
  ['dav', ['PUT /upload/*=drop:10'], 3, /^failed: .* closed the connection/],
  ['s3', ['POST /s3/*=501'], 1, /^failed: .*: POST .*\(501/],
  ['s3', ['PUT /s3/*=drop:0', 'DELETE /s3/*=404'], 3, /^failed: .* closed the connection/],
])('doctor --upload does on %s with %j what push does', async (kind, faults, exitCode, finding) => {
  let directory: string | undefined;
  const files: string[] = [];
  const { env, stored, storage } = await storageUser(kind, faults, () => {
    if (directory) files.push(...fs.readdirSync(directory));
  });
  directory = env.IMGCTL_CONFIG_DIR;
  const result = await diagnose(env, {}, Date.now(), '--upload');
  // A push that starts meanwhile would remove the parts that are named there.
  expect(files.filter((file) => file.endsWith('.parts'))).toEqual([]);
  expect(result.of('storage')).toEqual([expect.stringMatching(finding)]);
  expect(result.exitCode).toBe(exitCode);
  expect(
    result.stderr.match(/[\w.-]+(?= may still be in [^"]+","hint":"remove it")/g) ?? [],
  ).toEqual(stored());
  const isOfUpload = ({ target }: { target: string }) => target.includes('uploadId=');
  const last = storage.requests.filter(isOfUpload).at(-1);
  if (kind === 's3' && exitCode === 3) expect(last?.method).toBe('DELETE');
});

it.each([
  [
    'GET',
    'GET',
    'one -> imgctl cannot compare them: the server does not return parts of files; ask the administrators',
  ],
  ['DELETE', 'PROPFIND', 'did not remove the file -> ask the administrators'],
])('doctor --upload finds that another program wrote its file after %s, at %s', async (...row) => {
  const [first, then, finding] = row;
  let isChanged = false;
  let name = '';
  const { env, folder } = await storageUser('dav', [], ({ method, target }) => {
    if (method === first) [isChanged, name] = [true, path.basename(target)];
    if (isChanged && method === then) fs.writeFileSync(path.join(folder, name), 'x'.repeat(50));
  });
  const { of, exitCode } = await diagnose(env, {}, Date.now(), '--upload');
  const text = `${finding} of the storage, and remove ${name} from it`;
  expect([...of('storage'), exitCode]).toEqual([expect.stringContaining(text), 1]);
});

it('doctor --upload fails without an upload storage, or without its credentials', async () => {
  const { of } = await diagnose({}, {}, undefined, '--upload');
  expect(of('storage')).toEqual([
    expect.stringMatching(/^failed: .* -> run: imgctl config set upload-url URL$/),
  ]);
  const { env } = await storageUser('s3');
  const unset = { ...env, IMGCTL_UPLOAD_SECRET: undefined };
  const { of: ofS3, exitCode } = await diagnose(unset, {}, undefined, '--upload');
  expect([...ofS3('storage'), exitCode]).toEqual([expect.stringMatching(/^failed: no /), 4]);
  // It prompts for nothing.
  const terminal = { stdin: fakeTerminal('\u0004') };
  const { stderr } = await runCli(['doctor', '--upload'], { env: unset, ...terminal });
  expect(stderr).toMatch(/^imgctl: failed checks: storage\nhint: set IMGCTL_UPLOAD_SECRET or /);
});
