// Failures that try to show a secret: by the service, a proxy, a broken file or the user.

import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { account, type CliOptions, freshHome, issue, runBuilt } from '../support/cli.ts';
import {
  errorResponse,
  type ScriptedRequest,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';
import { recordingCommand, type Secrets } from './canaries.ts';
import { tokensOf } from './home.ts';

interface LeakingCommand extends CliOptions {
  readonly argv: readonly string[];
}

type Prepare = (secrets: Secrets) => LeakingCommand | Promise<LeakingCommand>;

const LIST = ['images', 'list', '--retries', '0', '--timeout', '2s'];

/** Returns the base64 of a Basic pair, or the token. */
const secretIn = ({ headers }: ScriptedRequest) => headers.authorization?.split(' ')[1] ?? '';

/** A service that sends the token back in every response but that of the token request. */
const echoedToken =
  (echo: (token: string) => ScriptedResponse, argv: readonly string[] = LIST): Prepare =>
  async ({ user, token }) => {
    const { baseUrl } = await scriptedServer((request) =>
      request.method === 'POST' ? issue(token) : echo(secretIn(request)),
    );
    return { env: account(baseUrl, user.name, user.password), argv };
  };

const throughProxy =
  (response: string | undefined): Prepare =>
  async ({ user, proxy }) => {
    const { baseUrl } = await tunnelTo(response);
    const url = baseUrl.replace('//', `//${proxy.name}:${proxy.password}@`);
    const env = account('https://images.example', user.name, user.password);
    return { env: { ...env, HTTPS_PROXY: url }, argv: LIST };
  };

const withVariable =
  (name: string, value: (secrets: Secrets) => string): Prepare =>
  (secrets) => {
    const env = account('https://images.invalid', secrets.user.name, secrets.user.password);
    return { env: { ...env, [name]: value(secrets) }, argv: LIST };
  };

/** Arguments of a user with a token. */
const typed =
  (argvOf: (secrets: Secrets) => string[]): Prepare =>
  async (secrets) => {
    const { baseUrl } = await scriptedServer({});
    const env = { ...freshHome(), IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: secrets.token };
    return { env, argv: argvOf(secrets) };
  };

const withSettings =
  (textOf: (secrets: Secrets) => string): Prepare =>
  (secrets) => {
    const env = account('https://images.invalid', secrets.user.name, secrets.user.password);
    const IMGCTL_CONFIG_DIR = path.join(env.HOME, 'settings');
    mkdirSync(IMGCTL_CONFIG_DIR);
    writeFileSync(path.join(IMGCTL_CONFIG_DIR, 'config.json'), textOf(secrets));
    return { env: { ...env, IMGCTL_CONFIG_DIR }, argv: LIST };
  };

const truncatedCache: Prepare = async ({ user, token }) => {
  const { baseUrl } = await scriptedServer(() => issue(token));
  const { IMGCTL_PASSWORD, ...env } = account(baseUrl, user.name, user.password);
  await runBuilt(['login', '--password-stdin'], { env, stdin: IMGCTL_PASSWORD });
  const tokens = tokensOf(env.HOME);
  const [name = ''] = readdirSync(tokens).filter((entry) => entry.startsWith('_token.'));
  truncateSync(path.join(tokens, name), 130);
  return { env, argv: LIST };
};

const failingCommand: Prepare = ({ user }) => {
  const { IMGCTL_PASSWORD: _password, ...env } = account('http://127.0.0.1:9', user.name);
  const IMGCTL_PASSWORD_COMMAND = `${recordingCommand(user.password).command}; exit 1`;
  return { env: { ...env, IMGCTL_PASSWORD_COMMAND }, argv: LIST };
};

const refusedInput: Prepare = async ({ user }) => {
  const { baseUrl } = await scriptedServer(() => errorResponse(401, 'Invalid username.'));
  const { IMGCTL_PASSWORD, ...env } = account(baseUrl, user.name, user.password);
  return { env, argv: ['login', '--password-stdin'], stdin: `${IMGCTL_PASSWORD}\n` };
};

const defect: Prepare = ({ user }) => {
  const env = account('http://127.0.0.1:9', user.name, user.password);
  const file = path.join(env.HOME, 'defect.cjs');
  // Every login calls this, and nothing expects it to fail.
  writeFileSync(file, 'URL.canParse = () => broken();');
  return { env: { ...env, NODE_OPTIONS: `--require ${file}` }, argv: ['login'] };
};

/** A sync request with these fields. */
const sync = (fields: object): ScriptedResponse => ({ json: { data: { id: 1, ...fields } } });

const ROWS: readonly (readonly [title: string, exitCode: number, prepare: Prepare])[] = [
  ['the token in a 401', 4, echoedToken((token) => errorResponse(401, `unknown token ${token}.`))],
  [
    'the token in a redirect',
    1,
    echoedToken((token) => ({
      status: 307,
      headers: { location: `http://${token}@${token}.example/${token}?${token}` },
    })),
  ],
  [
    'the token in the errors of a sync',
    1,
    echoedToken(
      (token) => sync({ status: 'ERROR', message: { errors: [token], warnings: [token] } }),
      ['sync-status', '1', '--wait'],
    ),
  ],
  [
    'the token in the status of a sync',
    7,
    echoedToken(
      (token) => sync({ status: token }),
      ['sync-status', '1', '--wait', '--wait-timeout', '1ms'],
    ),
  ],
  ['a proxy that answers 407', 3, throughProxy('HTTP/1.1 407 Authentication Required\r\n\r\n')],
  ['a proxy that hangs up', 3, throughProxy(undefined)],
  ['a proxy that speaks SSH', 3, throughProxy('SSH-2.0-none\r\n')],
  [
    'a SOCKS proxy',
    2,
    withVariable('HTTPS_PROXY', ({ proxy }) => `socks5://${proxy.name}:${proxy.password}@p`),
  ],
  [
    'an invalid proxy URL',
    2,
    withVariable('HTTPS_PROXY', ({ proxy }) => `${proxy.name}:${proxy.password}@p:port`),
  ],
  [
    'a base URL with a password',
    2,
    withVariable('IMGCTL_BASE_URL', ({ user }) => `https://alice:${user.password}@host`),
  ],
  [
    'an invalid base URL with a password',
    2,
    withVariable('IMGCTL_BASE_URL', ({ user }) => `alice:${user.password}@host`),
  ],
  ['a token with a space', 2, withVariable('IMGCTL_TOKEN', ({ token }) => `${token} ${token}\n`)],
  [
    'settings truncated in a secret',
    2,
    withSettings(({ user }) => `{"profiles": {"default": {"password": "${user.password}`),
  ],
  ['settings that are only a secret', 2, withSettings(({ user }) => user.password)],
  [
    'settings with a secret of a wrong type',
    2,
    withSettings(({ token }) => `{"profiles": {"default": {"username": ["${token}"]}}}`),
  ],
  ['an unknown option', 2, typed(({ user }) => ['login', `--password=${user.password}`])],
  ['an unknown short option', 2, typed(({ user }) => ['login', `-p${user.password}`])],
  ['an excess argument', 2, typed(({ user }) => ['login', user.password])],
  ['a token in a URL', 2, typed(({ token }) => ['api', `https://${token}@images.example/v2`])],
  ['a token in a query', 5, typed(({ token }) => ['api', '/v2', '-f', `access_token=${token}`])],
  ['a token in a path', 5, typed(({ token }) => ['api', `/v2/${token}`])],
  ['a truncated token cache', 4, truncatedCache],
  ['a failing password command', 2, failingCommand],
  ['a refused password on standard input', 4, refusedInput],
  ['a defect during a login', 1, defect],
];

export const LEAKS = ROWS.map(([title, exitCode, prepare]) => ({ title, exitCode, prepare }));
