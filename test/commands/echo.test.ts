// No message or file of any command holds a secret that the service or a proxy sends back.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { filesBelow } from '../support/files.ts';
import { runCli } from '../support/io.ts';
import {
  type ScriptedRequest,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import { configDirectory } from '../support/users.ts';

const PASSWORD = 'canary of a password, "quoted" & 100%';
const TOKEN = 'canary-token-0123456789abcdefghijklmnopqrstuvwxyz';

const base64 = (text: string) => Buffer.from(text).toString('base64');
const SECRETS = [PASSWORD, TOKEN, base64(`alice:${PASSWORD}`), base64(`${TOKEN}:`)];

/** Returns the secrets of a request, encoded and decoded. */
function secretsIn({ headers }: ScriptedRequest): string[] {
  const sent = headers.authorization ?? '';
  const credentials = sent.replace(/^\w+ /, '');
  const pair = Buffer.from(credentials, 'base64').toString();
  return [sent, credentials, pair, pair.replace(/^[^:]*:/, '')].filter((text) => text !== '');
}

const inUrl = (request: ScriptedRequest) => encodeURI(secretsIn(request).join(' '));
const inHost = ({ headers }: ScriptedRequest) =>
  `https://${headers.authorization?.replace(/^\w+ |=+$/g, '')}.example/`;

type Echo = (secrets: string, request: ScriptedRequest) => ScriptedResponse;

const failing = (status: number): Echo => {
  return (message) => ({ status, json: { error: message, message, status } });
};
/** Pads the secret so that the limit of a message cuts it. */
const cut = (length: number): Echo => {
  return (secrets) => ({ status: 500, body: `${'x'.repeat(length)}${secrets}` });
};
const redirectTo = (location: string) => ({ status: 302, headers: { location } });
const limitOf = (text: string) => ({ 'x-ratelimit-remaining': text, 'x-ratelimit-limit': text });

const ECHOES: readonly (readonly [string, Echo])[] = [
  ...[400, 401, 403, 404, 429, 500].map((status) => [`${status}`, failing(status)] as const),
  ...[0, 170].map((length) => [`cut after ${length}`, cut(length)] as const),
  ['JSON of the wrong shape', (secrets) => ({ json: { data: secrets, meta: secrets } })],
  ['no JSON', (secrets) => ({ body: secrets })],
  ['a redirect', (_, request) => redirectTo(`/${inUrl(request)}`)],
  ['a redirect to a host', (_, request) => redirectTo(inHost(request))],
  ['headers', (_, request) => ({ status: 429, headers: limitOf(inUrl(request)), json: {} })],
];

const COMMANDS = [
  ...['login', 'whoami --check', 'images list', 'images get 5', 'images get ubuntu', 'my-images'],
  ...['sync', 'sync-status 41', 'sync-status 41 --wait --wait-timeout 1ms', 'doctor'],
  // They print data of the service, or the token, to stdout.
  ...['api /v2', 'token'],
];

function expectNoSecret(text: string): void {
  for (const secret of SECRETS)
    expect(text.toLowerCase()).not.toContain(secret.slice(0, 20).toLowerCase());
  expect(text).not.toContain('quoted');
}

it.each(ECHOES.map(([what, echo], row) => [what, echo, row] as const))(
  'no command shows or stores secrets that the service sends back as %s',
  async (what, echo, row) => {
    const sent = new Set<string>();
    const { baseUrl } = await scriptedServer((request) => {
      const parts = secretsIn(request);
      for (const part of parts) sent.add(part);
      return echo(parts.join(' '), request);
    });
    const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_USERNAME: 'alice', IMGCTL_PASSWORD: PASSWORD };
    const withToken = { ...env, IMGCTL_TOKEN: TOKEN };
    const folder = configDirectory({});
    const IMGCTL_CONFIG_DIR = configDirectory({ 'auth-scheme': 'basic' });
    const ways = [
      { env: { ...env, IMGCTL_CONFIG_DIR: folder }, more: [] },
      { env: withToken, more: ['--json'] },
      { env: { ...withToken, IMGCTL_CONFIG_DIR }, more: [] },
    ];
    for (const [index, line] of COMMANDS.entries()) {
      // Each command in each way, and each way with each echo.
      const { more, ...io } = ways[(index + row) % ways.length] ?? { more: [] };
      const argv = [...line.split(' '), '--debug', '--retries', '0', ...more];
      const { stdout, stderr } = await runCli(argv, { ...io, time: 0 });
      expectNoSecret(/^(api|token|sync)/.test(line) ? stderr : stdout + stderr);
    }
    const files = [folder, IMGCTL_CONFIG_DIR].flatMap(filesBelow);
    for (const file of files) expectNoSecret(readFileSync(file, 'utf8'));
    const refusals = files.filter((file) => /_refused\.\w+\.json$/.test(file));
    expect(refusals).toHaveLength(['401', '403'].includes(what) ? 1 : 0);
    const tokens = [`Bearer ${TOKEN}`, `Basic ${base64(`${TOKEN}:`)}`];
    expect([...sent]).toEqual(expect.arrayContaining([PASSWORD, ...tokens]));
  },
);

it('no command shows the password of a proxy, which sends it back', async () => {
  const message = `canary%20proxy or canary proxy or ${base64('bob:canary proxy')}`;
  const proxy = await scriptedServer(() => ({ status: 500, json: { message } }));
  const env = {
    IMGCTL_BASE_URL: 'http://images.example.com',
    IMGCTL_CONFIG_DIR: configDirectory({ 'allow-http': 'true' }),
    IMGCTL_TOKEN: TOKEN,
    HTTP_PROXY: proxy.baseUrl.replace('//', '//bob:canary%20proxy@'),
  };
  for (const line of ['whoami --check --debug --retries 0', 'doctor --debug']) {
    const { stdout, stderr } = await runCli(line.split(' '), { env });
    expect(stdout + stderr).toContain('*** or *** or ***');
    expect(stdout + stderr).not.toContain('canary');
  }
});
