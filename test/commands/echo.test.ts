// No message of any command shows a secret that the service sends back.

import { expect, it } from 'vitest';
import { type CliResult, runCli, temporaryDirectory } from '../support/io.ts';
import {
  type ScriptedRequest,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';

const PASSWORD = 'canary of a password, "quoted" & 100%';
const TOKEN = 'canary-token-0123456789abcdefghijklmnopqrstuvwxyz';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SECRETS = [PASSWORD, TOKEN, base64(`alice:${PASSWORD}`), base64(`${TOKEN}:`)];

/** Returns the secrets of a request, encoded and decoded. */
function secretsIn({ headers }: ScriptedRequest): string[] {
  const sent = headers.authorization ?? '';
  const credentials = sent.replace(/^\w+ /, '');
  const pair = Buffer.from(credentials, 'base64').toString();
  const parts = [sent, credentials, pair, pair.replace(/^[^:]*:/, '')];
  return parts.filter((text) => text !== '');
}

/** Returns the secrets of a request in every form that a response may have. */
function echoOf(request: ScriptedRequest): string[] {
  return secretsIn(request).flatMap((text) => [
    text,
    encodeURIComponent(text),
    JSON.stringify(text),
  ]);
}

const inUrl = (request: ScriptedRequest) => encodeURI(secretsIn(request).join(' '));

type Echo = (secrets: string, request: ScriptedRequest) => ScriptedResponse;

const failing = (status: number): [string, Echo] => [
  `${status}`,
  (message) => ({ status, json: { error: message, message, status } }),
];

/** Pads the secret so that the limit of a message cuts it. */
const cut = (length: number): [string, Echo] => [
  `cut after ${length}`,
  (secrets) => ({ status: 500, body: `${'x'.repeat(length)}${secrets}` }),
];

const ECHOES: readonly [string, Echo][] = [
  ...[400, 401, 403, 404, 429, 500].map(failing),
  ['text', (secrets) => ({ status: 500, body: secrets })],
  ...[170, 180, 480].map(cut),
  ['JSON of the wrong shape', (secrets) => ({ json: { data: secrets, meta: secrets } })],
  ['no JSON', (secrets) => ({ body: secrets })],
  ['a redirect', (_, request) => ({ status: 302, headers: { location: `/${inUrl(request)}` } })],
  [
    'a redirect to a host',
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

/** Commands that print data of the service, or the token, to stdout. */
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

it.each(ECHOES)('no command shows secrets that the service sends back as %s', async (_, echo) => {
  const sent = new Set<string>();
  const { baseUrl } = await scriptedServer((request) => {
    const parts = echoOf(request);
    for (const part of parts) sent.add(part);
    return echo(parts.join(' '), request);
  });
  const env = { ...ENV, IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory() };
  for (const line of COMMANDS) {
    const argv = [...line.split(' '), '--debug', '--retries', '0'];
    expectNoSecret(await runCli(argv, { env, time: 0 }), line);
    const withToken = { ...env, IMGCTL_TOKEN: TOKEN };
    expectNoSecret(await runCli([...argv, '--json'], { env: withToken, time: 0 }), line);
  }
  expect([...sent]).toEqual(expect.arrayContaining([PASSWORD, `Bearer ${TOKEN}`]));
});

it('whoami and doctor hide the token in Basic credentials', async () => {
  const { baseUrl } = await scriptedServer((request) => ({
    status: 500,
    body: echoOf(request).join(' '),
  }));
  const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_CONFIG_DIR: temporaryDirectory() };
  await runCli(['config', 'set', 'auth-scheme', 'basic'], { env });
  for (const line of ['whoami --check --retries 0', 'doctor']) {
    const result = await runCli(line.split(' '), { env: { ...env, IMGCTL_TOKEN: TOKEN } });
    expect(result.stderr + result.stdout).toMatch(/: 500, Basic \*\*\*/);
    expectNoSecret(result, line);
  }
});

it('whoami and doctor hide the password of a proxy', async () => {
  const proxy = await scriptedServer(() => ({
    status: 500,
    json: { message: `canary%20proxy or canary proxy or ${base64('bob:canary proxy')}` },
  }));
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

it('api and token print a token in their data', async () => {
  const body = `"${TOKEN}"\n`;
  const { baseUrl } = await scriptedServer(() => ({ body }));
  const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: TOKEN };
  expect((await runCli(['api', '/v2'], { env })).stdout).toBe(body);
  expect((await runCli(['token'], { env })).stdout).toBe(`${TOKEN}\n`);
});
