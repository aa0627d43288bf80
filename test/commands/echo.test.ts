// A service that sends back whatever it was sent: no message of any command repeats a secret.

import { expect, it } from 'vitest';
import { type CliResult, runCli, temporaryDirectory } from '../support/io.ts';
import {
  type ScriptedRequest,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';

const PASSWORD = 'canary of a password, "quoted" & 100%';
const TOKEN = 'canary-token-0123456789abcdefghijklmnopqrstuvwxyz';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SECRETS = [PASSWORD, TOKEN, base64(`alice:${PASSWORD}`), base64(`${TOKEN}:`)];

/** The secrets of a request, as they were sent and decoded. */
function secretsIn({ headers }: ScriptedRequest): string[] {
  const sent = headers.authorization ?? '';
  const credentials = sent.replace(/^\w+ /, '');
  const pair = Buffer.from(credentials, 'base64').toString();
  const parts = [sent, credentials, pair, pair.replace(/^[^:]*:/, '')];
  return parts.filter((text) => text !== '');
}

/** The same in all the ways in which it may come back. */
function toldBy(request: ScriptedRequest): string[] {
  return secretsIn(request).flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text),
  ]);
}

/** For what holds no spaces. */
const inUrl = (request: ScriptedRequest) => encodeURI(secretsIn(request).join(' '));

type Echo = (told: string, request: ScriptedRequest) => ScriptedResponse;

const failing = (status: number): [string, Echo] => [
  `${status}`,
  (message) => ({ status, json: { error: message, message, status } }),
];

/** So much before the secret that it is cut where messages end. */
const cut = (length: number): [string, Echo] => [
  `cut after ${length}`,
  (told) => ({ status: 500, body: `${'x'.repeat(length)}${told}` }),
];

const ECHOES: readonly [string, Echo][] = [
  ...[400, 401, 403, 404, 409, 422, 429, 500, 503].map(failing),
  ['text', (told) => ({ status: 500, body: told })],
  ...[170, 180, 480].map(cut),
  ['JSON of the wrong shape', (told) => ({ json: { data: told, meta: told } })],
  ['no JSON', (told) => ({ body: told })],
  ['a redirect', (_, request) => ({ status: 302, headers: { location: `/${inUrl(request)}` } })],
  [
    'a redirect to a host of that name',
    (_, { headers }) => ({
      status: 302,
      headers: { location: `https://${headers.authorization?.replace(/^\w+ |=+$/g, '')}.example/` },
    }),
  ],
  [
    'headers',
    (_, request) => ({
      status: 429,
      headers: { 'x-ratelimit-remaining': inUrl(request), 'x-ratelimit-limit': inUrl(request) },
      json: {},
    }),
  ],
];

const COMMANDS = [
  'login',
  'whoami --check',
  'images list',
  'images get 5',
  'images get ubuntu',
  'my-images',
  'sync',
  'sync-status 41',
  'sync-status 41 --wait --wait-timeout 1ms',
  'api /v2',
  'token',
  'doctor',
];

const ENV = { IMGCTL_USERNAME: 'alice', IMGCTL_PASSWORD: PASSWORD };

/** What these print is what their user asked for; a proof of that is below. */
const DATA = /^(api|token|sync)/;

function expectNoSecret({ stdout, stderr }: CliResult, line: string): void {
  const shown = DATA.test(line) ? stderr : stdout + stderr;
  for (const secret of SECRETS) {
    for (const form of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      expect(shown.toLowerCase()).not.toContain(form.slice(0, 20).toLowerCase());
    }
  }
  expect(shown).not.toContain('quoted');
}

it.each(ECHOES)('an echo as %s', async (_, echo) => {
  const told = new Set<string>();
  const { baseUrl } = await scriptedServer((request) => {
    const parts = toldBy(request);
    for (const part of parts) told.add(part);
    return echo(parts.join(' '), request);
  });
  const env = { ...ENV, IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory() };
  for (const line of COMMANDS) {
    const argv = [...line.split(' '), '--debug', '--retries', '0'];
    expectNoSecret(await runCli(argv, { env, time: 0 }), line);
    const withToken = { ...env, IMGCTL_TOKEN: TOKEN };
    expectNoSecret(await runCli([...argv, '--json'], { env: withToken, time: 0 }), line);
  }
  expect([...told]).toEqual(expect.arrayContaining([PASSWORD, `Bearer ${TOKEN}`]));
});

it('the token as a user name is not repeated either', async () => {
  const { baseUrl } = await scriptedServer((request) => ({
    status: 500,
    body: toldBy(request).join(' '),
  }));
  const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory() };
  await runCli(['config', 'set', 'auth-scheme', 'basic'], { env });
  for (const line of ['whoami --check --retries 0', 'doctor']) {
    const result = await runCli(line.split(' '), { env: { ...env, IMGCTL_TOKEN: TOKEN } });
    expect(result.stderr + result.stdout).toMatch(/: 500, Basic \*\*\*/);
    expectNoSecret(result, line);
  }
});

it('nothing of a failed login is repeated', async () => {
  const { baseUrl } = await scriptedServer((request) => ({
    status: 401,
    json: { message: `wrong password: ${toldBy(request).join(' ')}` },
  }));
  const env = { ...ENV, IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory() };
  const result = await runCli(['login', '--debug'], { env });
  expect(result.stderr).toMatch(/the service says: wrong password: Basic \*\*\*/);
  expectNoSecret(result, 'login');
  const { IMGCTL_PASSWORD: _, ...asked } = env;
  const typed = await runCli(['login', '--password-stdin'], { env: asked, stdin: `${PASSWORD}\n` });
  expect(typed.stderr).toContain('wrong password: Basic ***');
  expectNoSecret(typed, 'login');
});

it('what is shown while waiting repeats nothing', async () => {
  const { baseUrl } = await scriptedServer(() => ({ json: { data: { id: 41, status: TOKEN } } }));
  const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: TOKEN };
  const argv = ['sync-status', '41', '--wait', '--wait-timeout', '1ms'];
  const { stderr, exitCode } = await runCli(argv, { env, time: 0 });
  expect([exitCode, stderr.includes('***'), stderr.includes(TOKEN)]).toEqual([7, true, false]);
});

it('the password of a proxy is not repeated either', async () => {
  const { baseUrl } = await scriptedServer(() => ({
    status: 500,
    json: { message: `canary%20proxy or canary proxy or ${base64('bob:canary proxy')}` },
  }));
  const proxy = await tunnelTo('HTTP/1.1 200 OK\r\n\r\n', baseUrl);
  const directory = temporaryDirectory();
  const env = {
    IMGCTL_BASE_URL: 'http://images.example.com',
    IMGCTL_CONFIG_DIR: directory,
    IMGCTL_TOKEN: TOKEN,
    HTTP_PROXY: proxy.baseUrl.replace('//', '//bob:canary%20proxy@'),
  };
  await runCli(['config', 'set', 'allow-http', 'true'], { env });
  for (const line of ['whoami --check --debug --retries 0', 'doctor --debug']) {
    const { stdout, stderr } = await runCli(line.split(' '), { env });
    expect(stdout + stderr).toContain('*** or *** or ***');
    expect(stdout + stderr).not.toContain('canary');
  }
});

it('data that was asked for is left as it is', async () => {
  const body = `"${TOKEN}"\n`;
  const { baseUrl } = await scriptedServer(() => ({ body }));
  const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: TOKEN };
  expect((await runCli(['api', '/v2'], { env })).stdout).toBe(body);
  expect((await runCli(['token'], { env })).stdout).toBe(`${TOKEN}\n`);
});
