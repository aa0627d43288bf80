// No secret shows: every command, failures that send a secret back, push, the MCP server and a token store, traced.

import { mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandDeclaration } from '../../src/cli/declarations.ts';
import { ROOT } from '../../src/commands/index.ts';
import { type Tool, toolsFor } from '../../src/mcp/tools.ts';
import { FAILURES } from '../commands/failures.ts';
import { account, type CliOptions, freshHome, issue, runBuilt } from '../support/cli.ts';
import { fakeHelper } from '../support/credential-helper.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, STORE_PASSWORD, startRedis } from '../support/redis.ts';
import {
  errorResponse,
  type ScriptedRequest,
  type ScriptedResponse,
  scriptedServer,
} from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';
import { SECRETS, storageUser, writeOva } from '../support/uploads.ts';
import {
  base64,
  newSecrets,
  placesOf,
  recordingCommand,
  type Secrets,
  tokensBelow,
  watchedRun,
  withTemporaryFolder,
} from './canaries.ts';
import { tokensOf } from './home.ts';

interface Prepared extends CliOptions {
  readonly argv: readonly string[];
  /** What a password command saw. */
  readonly seen?: () => string;
}

type Prepare = (secrets: Secrets) => Prepared | Promise<Prepared>;

type Row = readonly [title: string, exitCode: number | undefined, prepare: Prepare];

/** Arguments of commands; any other command gets `x` for each required one. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  'images get': '1001 no-such-image',
  whoami: '--check',
  api: '/v2/image -i',
  'sync-status': '1',
  'config get': 'base-url',
  'config set': 'timeout 20s',
  'config unset': 'timeout',
  'profile use': 'default',
  'profile delete': 'default',
  completion: 'bash',
};

/** Returns the words of the commands below that do something and end, with arguments. */
function commandsBelow(command: CommandDeclaration, words = ''): string[] {
  const { subcommands, hidden, arguments: given = [] } = command;
  if (hidden || words === 'emulator') return [];
  const required = given.filter((argument) => argument.required).map(() => 'x');
  if (!subcommands) return [`${words} ${ARGUMENTS[words] ?? required.join(' ')}`.trim()];
  return subcommands.flatMap((next) => commandsBelow(next, `${words} ${next.name}`.trim()));
}

/** A user with a password command and a proxy that has a password. */
const runs =
  (command: string): Prepare =>
  async ({ user, proxy }) => {
    const { baseUrl } = await serve({ users: [user], syncDelay: 1 });
    const recorder = recordingCommand(user.password);
    const { IMGCTL_PASSWORD: _password, ...env } = account(baseUrl, user.name);
    // Loopback is reached directly, but doctor shows the proxy, and child processes inherit it.
    const HTTPS_PROXY = `http://${proxy.name}:${proxy.password}@proxy.invalid:3128`;
    return {
      argv: command.split(' '),
      env: { ...env, IMGCTL_PASSWORD_COMMAND: recorder.command, HTTPS_PROXY },
      seen: recorder.seen,
    };
  };

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

const LEAKS: readonly Row[] = [
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

const FAILING: readonly Row[] = [
  ...FAILURES.map(([title, exitCode, , prepare]): Row => {
    return [title, exitCode, ({ user }) => prepare(user)];
  }),
  ...LEAKS,
];
const COMMANDS = commandsBelow(ROOT).map(
  (command): Row => [`imgctl ${command}`, undefined, runs(command)],
);

describe.each([
  ['', FAILING],
  [' --debug', [...COMMANDS, ...FAILING]],
  [' --debug --json', FAILING],
  [' --debug -o json', COMMANDS],
] as const)('imgctl%s shows no secret after', (options, rows) => {
  it.each<Row>(rows)('%s', async (title, expected, prepare) => {
    const secrets = newSecrets();
    const { argv, seen = () => '', ...prepared } = await prepare(secrets);
    const { HOME = '', HTTPS_PROXY = 'none' } = prepared.env;
    const env = withTemporaryFolder({ ...prepared.env, HOME });
    const ended = await watchedRun([...argv, ...options.split(' ').filter(Boolean)], {
      ...prepared,
      env,
    });
    if (expected !== undefined) expect(ended.exitCode).toBe(expected);
    const texts = [...secrets.forms, ...tokensBelow(HOME)];
    // The command line may hold what the user wrote there.
    const isTyped = texts.some((text) => argv.join(' ').includes(text));
    const processes = isTyped ? '' : ended.processes + seen();
    const stdout = title === 'imgctl token' ? '' : ended.stdout;
    const run = { ...ended, stdout, processes: processes.replaceAll(HTTPS_PROXY, '') };
    const places = placesOf(texts, run, [HOME]);
    // The settings file may hold what the user wrote there.
    expect(places.filter((place) => !place.endsWith('/settings/config.json'))).toEqual([]);
    if (title.startsWith('imgctl images list')) expect(tokensBelow(HOME)).toHaveLength(2);
  });
});

/** Returns valid arguments of an MCP tool, and the same with a text wherever it may stand. */
function argumentsOfTool({ input: { shape } }: Tool, text: string): object[] {
  const pick = (values: object) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name in shape));
  return [
    pick({ text: ['ubuntu'], images: ['1001'], file: 'missing.ova' }),
    pick({ text: [text], images: [text], file: text, id: text }),
  ];
}

it('the MCP server shows no secret in the answer of any tool', async () => {
  const secrets = newSecrets();
  const { user } = secrets;
  const { baseUrl } = await serve({ users: [user], syncDelay: 1 });
  const env = withTemporaryFolder(account(baseUrl, user.name, user.password));
  const clientInfo = { name: 'test', version: '1' };
  const start = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  // A user may have pasted the password.
  const calls = toolsFor(true).flatMap((tool) =>
    argumentsOfTool(tool, user.password).map((given) => ({ name: tool.name, arguments: given })),
  );
  const messages = [
    { id: 1, method: 'initialize', params: start },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    ...calls.map((params, index) => ({ id: 3 + index, method: 'tools/call', params })),
  ];
  const lines = messages.map((each) => JSON.stringify({ jsonrpc: '2.0', ...each }));
  const stdin = `${lines.join('\n')}\n`;
  const ended = await watchedRun(['mcp', '--allow-sync', '--debug'], { env, stdin });
  expect(ended.stdout.trim().split('\n')).toHaveLength(messages.length - 1);
  expect(ended.stdout).toContain('***');
  const tokens = tokensBelow(env.HOME);
  expect(tokens).toHaveLength(2);
  expect(placesOf([...secrets.forms, ...tokens], ended, [env.HOME])).toEqual([]);
});

describe.each([
  ['dav', '/upload/*', 'upload-password-command'],
  ['s3', '/s3/*', 'upload-secret-command'],
] as const)(
  'push --debug to %s shows each secret to its own server only',
  (kind, target, setting) => {
    it.each([
      ['succeeds', [], 0],
      ['is redirected', [`PUT ${target}=307`], 1],
      ['is refused', [`PUT ${target}=401`], 4],
      ['loses its connection', [`PUT ${target}=drop:1000`], 3],
    ])('if it %s', async (_title, faults, exitCode) => {
      const user = await storageUser(kind, faults);
      const service = recordingCommand(SECRETS.service);
      const storage = recordingCommand(SECRETS.storage);
      const home = withTemporaryFolder(freshHome());
      const IMGCTL_CONFIG_DIR = path.join(home.HOME, 'settings');
      mkdirSync(IMGCTL_CONFIG_DIR);
      const commands = { 'password-command': service.command, [setting]: storage.command };
      const config = JSON.stringify({ profiles: { default: { ...user.settings, ...commands } } });
      writeFileSync(path.join(IMGCTL_CONFIG_DIR, 'config.json'), config);
      const { IMGCTL_BASE_URL, IMGCTL_USERNAME } = user.env;
      const env = { ...home, IMGCTL_CONFIG_DIR, IMGCTL_BASE_URL, IMGCTL_USERNAME };
      const argv = ['push', writeOva(user.work, 'web', 2_000_000), '--debug', '--retries', '0'];
      const ended = await watchedRun([...argv, '--poll-interval', '5ms'], { env });
      expect(ended).toMatchObject({ exitCode });
      const pairOf = (secret: string) => base64(`demo:${secret}`);
      const own = {
        service: [SECRETS.service, pairOf(SECRETS.service), ...tokensBelow(home.HOME)],
        storage: [SECRETS.storage, pairOf(SECRETS.storage)],
      };
      const run = { ...ended, processes: ended.processes + service.seen() + storage.seen() };
      const all = [...own.service, ...own.storage];
      expect(placesOf(all, run, [home.HOME, user.work])).toEqual([]);
      const sent = {
        service: JSON.stringify(user.seen.service),
        storage: JSON.stringify(user.seen.storage),
      };
      expect(own.service.filter((text) => sent.storage.includes(text))).toEqual([]);
      expect(own.storage.filter((text) => sent.service.includes(text))).toEqual([]);
      expect(sent.service).toContain(pairOf(SECRETS.service));
      // S3 signs with its secret, which never leaves this machine.
      expect(sent.storage.includes(pairOf(SECRETS.storage))).toBe(kind === 'dav');
    });
  },
);

const KEY = base64('canary of a key: 32 bytes, never');
const LOGIN = 'login --store-password --password-stdin';
const LIST_ONE = 'images list --limit 1';
const BY_VARIABLE = { IMGCTL_TOKEN_STORE_KEY: KEY, IMGCTL_TOKEN_STORE_PASSWORD: STORE_PASSWORD };

interface Step {
  readonly command: string;
  readonly exitCode?: number;
  /** Variables that hold secrets, and are for no other process. */
  readonly variables?: (secrets: Secrets) => Readonly<Record<string, string>>;
  /** What happens to the store before. */
  readonly store?: 'refuses the password' | 'is stopped';
}

const STEPS: readonly Step[] = [
  ...[LOGIN, 'whoami --check', LIST_ONE, 'doctor', 'profile list'].map((command) => ({ command })),
  { command: `${LIST_ONE} -o json` },
  { command: 'doctor', variables: ({ token }) => ({ IMGCTL_TOKEN: token }), exitCode: 4 },
  { command: 'logout --all', variables: ({ token }) => ({ IMGCTL_TOKEN: token }) },
  { command: LIST_ONE, exitCode: 4 },
  { command: LOGIN, variables: () => BY_VARIABLE },
  { command: LIST_ONE, variables: () => BY_VARIABLE },
  { command: LIST_ONE, store: 'refuses the password' },
  { command: LIST_ONE, variables: () => BY_VARIABLE, store: 'refuses the password' },
  { command: LIST_ONE, store: 'is stopped' },
  { command: 'doctor', variables: () => BY_VARIABLE, store: 'is stopped' },
];

it.skipIf(NO_REDIS)(
  `a token store and a credential helper show no secret${REDIS_REASON}`,
  async () => {
    const redis = await startRedis();
    const secrets = newSecrets();
    const { user } = secrets;
    const emulator = await serve({ users: [user], tokenLimit: 1_000 });
    const helper = fakeHelper();
    const recorder = recordingCommand(STORE_PASSWORD);
    const { IMGCTL_PASSWORD: _password, ...plain } = account(emulator.baseUrl, user.name);
    const env = {
      ...withTemporaryFolder(plain),
      PATH: helper.PATH,
      IMGCTL_TOKEN_STORE: redis.url,
      IMGCTL_TOKEN_STORE_KEY_FILE: path.join(temporaryDirectory(), 'key'),
    };
    writeFileSync(env.IMGCTL_TOKEN_STORE_KEY_FILE, KEY);
    const folder = path.join(env.HOME, '.config/imgctl');
    mkdirSync(folder, { recursive: true });
    const settings = {
      'credential-helper': 'fake',
      'token-store-password-command': recorder.command,
    };
    const config = JSON.stringify({ profiles: { default: settings } });
    writeFileSync(path.join(folder, 'config.json'), config);
    const tokens = new Set<string>();
    for (const [step, { command, exitCode = 0, variables, store }] of STEPS.entries()) {
      emulator.expireTokens();
      if (store === 'is stopped') await redis.stop();
      else if (store) redis.cli('acl', 'setuser', 'imgctl', 'resetpass');
      const stdin = command === LOGIN ? `${user.password}\n` : undefined;
      const own = { ...env, ...variables?.(secrets) };
      const ended = await watchedRun([...command.split(' '), '--debug'], { env: own, stdin });
      const told = store ? (ended.stdout + ended.stderr).includes('token store') : undefined;
      expect({ step, exitCode: ended.exitCode, told }).toEqual({
        step,
        exitCode,
        told: store && true,
      });
      for (const token of tokensBelow(env.HOME)) tokens.add(token);
      const texts = [...secrets.forms, STORE_PASSWORD, base64(STORE_PASSWORD), KEY, ...tokens];
      // The helper reads the record that it stores.
      const helped = helper.calls().map((call) => call.replace(/^\{.*\}$/m, ''));
      const stored = store ? '' : redis.cli('get', redis.cli('keys', '*token'));
      // A new child is a copy of imgctl, with its variables, until it runs its program.
      const seen = variables ? '' : ended.processes;
      const processes = [seen, recorder.seen(), ...helped, stored].join();
      expect({ step, places: placesOf(texts, { ...ended, processes }, [env.HOME]) }).toEqual({
        step,
        places: [],
      });
    }
    expect(tokens.size).toBeGreaterThan(2);
    expect(helper.calls().length).toBeGreaterThan(4);
    expect(recorder.seen()).toContain('PATH=');
  },
);
