// No secret shows: every command, failures that send a secret back, pushes and a token store, traced.

import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandDeclaration } from '../../src/cli/command-types.ts';
import { COMMANDS as ALL } from '../../src/commands/index.ts';
import { FAILURES } from '../commands/failures.ts';
import { serve } from '../support/emulator.ts';
import { filesBelow, filesHolding, tokensOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { fakeHelper } from '../support/keychain.ts';
import { type ProgramOptions, runProgram, startProgram, withHook } from '../support/program.ts';
import { NO_REDIS, STORE_PASSWORD, startRedis } from '../support/redis.ts';
import { errorResponse, scriptedServer, tokenResponse } from '../support/scripted-server.ts';
import { tunnelTo } from '../support/sockets.ts';
import { SECRETS, storageUser, writeOva } from '../support/uploads.ts';
import { account, freshHome } from '../support/users.ts';

/** Without the padding, which may differ. */
const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');

type Secrets = ReturnType<typeof newSecrets>;

const accountOf = ({ name, password }: Secrets['user'], baseUrl: string) =>
  account(baseUrl, name, password);

/** `proxy` is its user name and password, `forms` has every secret in clear text and in base64. */
function newSecrets() {
  const canary = (kind: string) => `${kind}${randomBytes(15).toString('hex')}`;
  const [password, token, other] = [canary('pass'), canary('toke'), canary('prox')];
  const proxy = `peter:${other}`;
  const pairs = [`alice:${password}`, `${token}:`, proxy].map(base64);
  const user = { name: 'alice', password };
  const ofPush = Object.values(SECRETS).flatMap((text) => [text, base64(`demo:${text}`)]);
  const ofStore = [KEY, STORE_PASSWORD, base64(STORE_PASSWORD)];
  const forms = [password, token, other, ...pairs, ...ofPush, ...ofStore];
  return { user, token, proxy, forms };
}

/** Returns a password command that records its environment and its parent's command line, beside the searched folders. */
function recordingCommand(password: string) {
  const folder = temporaryDirectory();
  const [script, seen, secret] = ['ask.sh', 'seen', 'password'].map((name) => `${folder}/${name}`);
  const record = 'cat /proc/self/environ /proc/$$/cmdline /proc/$PPID/cmdline';
  writeFileSync(`${secret}`, `${password}\n`);
  writeFileSync(`${script}`, `${record} >>${seen}\ncat ${secret}\n`);
  return {
    command: `sh ${script}`,
    seen: () => (existsSync(`${seen}`) ? readFileSync(`${seen}`, 'utf8') : ''),
  };
}

/** Returns the command lines of a process and its children, and the environments of the children. */
function peek(pid: number | undefined, child = false): string {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  try {
    const children = read(`task/${pid}/children`).split(' ').filter(Boolean).map(Number);
    const own = read('cmdline') + (child ? read('environ') : '');
    return own + children.map((below) => peek(below, true)).join('');
  } catch {
    // The process has ended, or the system has no /proc.
    return '';
  }
}

type Run = Awaited<ReturnType<typeof watchedRun>>;

/** Runs the program until it exits, and adds what /proc showed of it. */
async function watchedRun(argv: readonly string[], options: ProgramOptions) {
  const running = startProgram(argv, options);
  const views = new Set<string>();
  const timer = setInterval(() => views.add(peek(running.child.pid)), 5);
  const result = await running.ended;
  clearInterval(timer);
  return { ...result, processes: [...views].join('') };
}

/** Adds a folder for temporary files below the home. */
function withTemporaryFolder<Env extends { readonly HOME: string }>(env: Env) {
  const TMPDIR = path.join(env.HOME, 'tmp');
  for (const folder of [TMPDIR, path.join(env.HOME, '.cache')])
    mkdirSync(folder, { recursive: true });
  return { ...env, TMPDIR };
}

/** Writes a folder for IMGCTL_CONFIG_DIR with this config.json. */
function settingsIn(home: string, text: string): string {
  const folder = path.join(home, 'settings');
  mkdirSync(folder);
  writeFileSync(path.join(folder, 'config.json'), text);
  return folder;
}

const isTokenFile = (file: string) => /\/tokens\/_token\.[^/]*\.json$/.test(file);

/** Returns the cached access tokens below a folder, each in clear text and in base64. */
function tokensBelow(folder: string): string[] {
  return filesBelow(folder)
    .filter(isTokenFile)
    .flatMap((file) => /"token":\s*"([^"]{16,})"/.exec(readFileSync(file, 'utf8'))?.[1] ?? [])
    .flatMap((token) => [token, base64(`${token}:`)]);
}

/** Returns the streams, with the text before a secret, and the files that contain one of the texts. */
function placesOf(texts: readonly string[], run: Run, ...folders: string[]): string[] {
  const streams = (['stdout', 'stderr', 'processes'] as const).flatMap((name) => {
    const at = Math.max(...texts.map((text) => run[name].indexOf(text)));
    return at < 0 ? [] : [`${name}: ${run[name].slice(Math.max(0, at - 80), at)}<<SECRET>>`];
  });
  const files = folders.flatMap((folder) => filesHolding(folder, texts));
  return [...streams, ...files.filter((file) => !isTokenFile(file))];
}

interface Prepared extends ProgramOptions {
  readonly argv: readonly string[];
  /** What a password command saw. */
  readonly seen?: () => string;
}

type Row = readonly [
  title: string,
  exitCode: number | undefined,
  prepare: (secrets: Secrets) => Prepared | Promise<Prepared>,
];

const KEY = base64('canary of a key: 32 bytes, never');
const LIST = 'images list --retries 0';

/** A user with a token and a password: what differs, with PASSWORD, TOKEN and PROXY for secrets. */
const GIVEN = [
  ['a SOCKS proxy', 2, 'HTTPS_PROXY', 'socks5://PROXY@p'],
  ['an invalid proxy URL', 2, 'HTTPS_PROXY', 'PROXY@p:port'],
  ['a base URL with a password', 2, 'IMGCTL_BASE_URL', 'https://alice:PASSWORD@host'],
  ['an invalid base URL with a password', 2, 'IMGCTL_BASE_URL', 'alice:PASSWORD@host'],
  ['a token with a space', 2, 'IMGCTL_TOKEN', 'TOKEN TOKEN\n'],
  ['settings that end in a secret', 2, 'settings', '{"profiles": {"a": {"username": "PASSWORD'],
  ['settings that are only a secret', 2, 'settings', 'PASSWORD'],
  ['a list for a user name', 2, 'settings', '{"profiles": {"default": {"username": ["TOKEN"]}}}'],
  ['an unknown option', 2, 'line', 'login --password=PASSWORD'],
  ['an unknown short option', 2, 'line', 'login -pPASSWORD'],
  ['an excess argument', 2, 'line', 'login PASSWORD'],
  ['a token in a URL', 2, 'line', 'api https://TOKEN@images.example/v2'],
  ['a token in a query', 3, 'line', 'api /v2 -f access_token=TOKEN --retries 0'],
  ['a token in a path', 3, 'line', 'api /v2/TOKEN --retries 0'],
] as const;

const given =
  (what: string, text: string) =>
  ({ user, token, proxy }: Secrets): Prepared => {
    const changed = text.replaceAll(/PASSWORD|TOKEN|PROXY/g, (name) => {
      return { PASSWORD: user.password, TOKEN: token, PROXY: proxy }[name] ?? '';
    });
    const env = { ...accountOf(user, 'https://images.invalid'), IMGCTL_TOKEN: token };
    const argv = (what === 'line' ? changed : LIST).split(' ');
    if (what === 'line') return { argv, env };
    const isFile = what === 'settings';
    const own = isFile ? { IMGCTL_CONFIG_DIR: settingsIn(env.HOME, changed) } : { [what]: changed };
    return { argv, env: { ...env, ...own } };
  };

/** A user of a service that sends the token back in the errors, the warnings and the status of a sync. */
async function syncWithToken({ user, token }: Secrets): Promise<Prepared> {
  const message = { errors: [token], warnings: [token] };
  const { baseUrl } = await scriptedServer(({ method }) =>
    method === 'POST'
      ? tokenResponse(token)
      : { json: { data: { id: 1, status: token, message } } },
  );
  const line = 'sync-status 1 --wait --wait-timeout 1ms';
  return { env: accountOf(user, baseUrl), argv: line.split(' ') };
}

const throughProxy =
  (response?: string) =>
  async (secrets: Secrets): Promise<Prepared> => {
    const { baseUrl } = await tunnelTo(response);
    return given('HTTPS_PROXY', baseUrl.replace('//', '//PROXY@'))(secrets);
  };

async function truncatedCache({ user, token }: Secrets): Promise<Prepared> {
  const { baseUrl } = await scriptedServer(() => tokenResponse(token));
  const { IMGCTL_PASSWORD: stdin, ...env } = accountOf(user, baseUrl);
  await runProgram(['login', '--password-stdin'], { env, stdin });
  const tokens = tokensOf(env.HOME);
  const [name = ''] = readdirSync(tokens).filter((entry) => entry.startsWith('_token.'));
  truncateSync(path.join(tokens, name), 130);
  return { env, argv: LIST.split(' ') };
}

function failingCommand({ user }: Secrets): Prepared {
  const { IMGCTL_PASSWORD: _password, ...env } = account('http://127.0.0.1:9', user.name);
  const IMGCTL_PASSWORD_COMMAND = `${recordingCommand(user.password).command}; exit 1`;
  return { env: { ...env, IMGCTL_PASSWORD_COMMAND }, argv: LIST.split(' ') };
}

async function refusedInput({ user }: Secrets): Promise<Prepared> {
  // A refusal is stored, for the processes that wait to send the same password.
  const refusal = errorResponse(403, `No access with ${user.password}.`);
  const { baseUrl } = await scriptedServer(() => refusal);
  const { IMGCTL_PASSWORD: stdin, ...env } = accountOf(user, baseUrl);
  return { env, argv: ['login', '--password-stdin'], stdin: `${stdin}\n` };
}

function defect({ user }: Secrets): Prepared {
  const env = accountOf(user, 'http://127.0.0.1:9');
  // Every login calls this, and nothing expects it to fail.
  return { env: withHook(env, 'URL.canParse = () => broken();'), argv: ['login'] };
}

/** Pushes to a storage with this fault, by a user with a password command for each server. */
const push = (kind: 'dav' | 's3', fault?: string) => async (): Promise<Prepared> => {
  const path = kind === 's3' ? '/s3/*' : '/upload/*';
  const { settings, env } = await storageUser(kind, fault ? [`PUT ${path}=${fault}`] : []);
  const service = recordingCommand(SECRETS.service);
  const storage = recordingCommand(SECRETS.storage);
  const session = recordingCommand(SECRETS.session);
  const setting = kind === 's3' ? 'upload-secret-command' : 'upload-password-command';
  const commands = {
    'password-command': service.command,
    [setting]: storage.command,
    'upload-session-token-command': session.command,
  };
  const config = JSON.stringify({ profiles: { default: { ...settings, ...commands } } });
  const { IMGCTL_BASE_URL, IMGCTL_USERNAME } = env;
  const home = freshHome();
  const IMGCTL_CONFIG_DIR = settingsIn(home.HOME, config);
  const argv = ['push', writeOva(home.HOME, 'web', 2_000_000), '--retries', '0'];
  return {
    argv: [...argv, '--poll-interval', '500ms'],
    env: { ...home, IMGCTL_BASE_URL, IMGCTL_USERNAME, IMGCTL_CONFIG_DIR },
    seen: () => service.seen() + storage.seen() + session.seen(),
  };
};

/** Pushes to S3 with this fault, by a user whose keys are in AWS_ variables. */
const pushWithAws = (fault?: string) => async (): Promise<Prepared> => {
  const { settings, env, storage } = await storageUser('s3', fault ? [`PUT /s3/*=${fault}`] : []);
  const { IMGCTL_BASE_URL, IMGCTL_USERNAME, IMGCTL_PASSWORD } = env;
  const home = freshHome();
  return {
    argv: ['push', writeOva(home.HOME, 'web'), '--no-sync', '--retries', '0', '--debug'],
    env: {
      ...{ ...home, IMGCTL_BASE_URL, IMGCTL_USERNAME, IMGCTL_PASSWORD },
      IMGCTL_UPLOAD_URL: settings['upload-url'],
      AWS_ACCESS_KEY_ID: 'AKIA',
      AWS_SECRET_ACCESS_KEY: SECRETS.storage,
      AWS_SESSION_TOKEN: SECRETS.session,
      AWS_ENDPOINT_URL_S3: storage.baseUrl,
    },
  };
};

/** A user with a token store and a credential helper, after a login. */
const withStore =
  (event: 'is in use' | 'refuses the password' | 'is stopped') =>
  async ({ user }: Secrets): Promise<Prepared> => {
    const redis = await startRedis();
    const emulator = await serve({ users: [user] });
    const helper = fakeHelper();
    const { command, seen } = recordingCommand(STORE_PASSWORD);
    const { IMGCTL_PASSWORD: stdin, ...plain } = accountOf(user, emulator.baseUrl);
    const IMGCTL_TOKEN_STORE_KEY_FILE = path.join(temporaryDirectory(), 'key');
    writeFileSync(IMGCTL_TOKEN_STORE_KEY_FILE, KEY);
    const settings = { 'credential-helper': 'fake', 'token-store-password-command': command };
    const config = JSON.stringify({ profiles: { default: settings } });
    const env = {
      ...{ ...plain, PATH: helper.PATH, IMGCTL_CONFIG_DIR: settingsIn(plain.HOME, config) },
      ...{ IMGCTL_TOKEN_STORE: redis.url, IMGCTL_TOKEN_STORE_KEY_FILE },
    };
    const login = ['login', '--store-password', '--password-stdin', '--debug'];
    expect((await runProgram(login, { env, stdin })).exitCode).toBe(0);
    const stored = redis.cli('get', redis.cli('keys', '*token'));
    emulator.expireTokens();
    if (event === 'is stopped') await redis.stop();
    if (event === 'refuses the password') redis.cli('acl', 'setuser', 'imgctl', 'resetpass');
    // The helper reads the record that it stores.
    const helped = () => helper.calls().map((call) => call.replace(/^\{.*\}$/m, ''));
    return { argv: LIST.split(' '), env, seen: () => [seen(), stored, ...helped()].join() };
  };

const STORE: readonly Row[] = (['is in use', 'refuses the password', 'is stopped'] as const).map(
  (event) => [`a token store ${event}`, 0, withStore(event)],
);

const FAILING: readonly Row[] = [
  ...FAILURES.map(([title, exitCode, , prepare]): Row => {
    return [title, exitCode, ({ user }) => prepare(user)];
  }),
  ...GIVEN.map(([title, exitCode, what, text]): Row => [title, exitCode, given(what, text)]),
  ['the token in a sync', 7, syncWithToken],
  ['a proxy that answers 407', 3, throughProxy('HTTP/1.1 407 Authentication Required\r\n\r\n')],
  ['a proxy that hangs up', 3, throughProxy()],
  ['a proxy that speaks SSH', 3, throughProxy('SSH-2.0-none\r\n')],
  ['a truncated token cache', 4, truncatedCache],
  ['a failing password command', 2, failingCommand],
  ['a refused password on standard input', 4, refusedInput],
  ['a defect during a login', 1, defect],
  ['a push to WebDAV', 0, push('dav')],
  ['a push to WebDAV that is redirected', 1, push('dav', '307')],
  ['a push to WebDAV that is refused', 4, push('dav', '401')],
  ['a push to WebDAV that loses its connection', 3, push('dav', 'drop:1000')],
  ['a push to S3', 0, push('s3')],
  ['a push to S3 with AWS_ variables', 0, pushWithAws()],
  ['a push to S3 with AWS_ variables that is refused', 4, pushWithAws('401')],
  ['a push to S3 that is redirected', 1, push('s3', '307')],
  ['a push to S3 that is refused', 4, push('s3', '401')],
  ['a push to S3 that loses its connection', 3, push('s3', 'drop:1000')],
];

/** Commands with arguments; any other gets `x` for each required one. */
const LINES = `images get 1001 no-such-image, whoami --check, api /v2/image -i, sync-status 1, completion bash,
config get base-url, config set timeout 20s, config unset timeout, profile use default, profile delete default`;

/** Returns the command lines below that do something and end. */
function commandsBelow(command: CommandDeclaration, parents = ''): string[] {
  const { name, subcommands, hidden, arguments: declared = [] } = command;
  const words = `${parents} ${name}`.trim();
  if (hidden || words === 'emulator') return [];
  const required = declared.filter((argument) => argument.required).map(() => ' x');
  const line = LINES.split(/,\s/).find((each) => each.startsWith(`${words} `));
  if (!subcommands) return [line ?? words + required.join('')];
  return subcommands.flatMap((next) => commandsBelow(next, words));
}

/** A user with a password command and a proxy that has a password. */
async function prepareCommand(line: string, { user, proxy }: Secrets): Promise<Prepared> {
  const { baseUrl } = await serve({ users: [user], syncDelay: 1 });
  const { command, seen } = recordingCommand(user.password);
  const { IMGCTL_PASSWORD: _password, ...env } = account(baseUrl, user.name);
  // Loopback is reached directly, but doctor shows the proxy, and child processes inherit it.
  const own = { IMGCTL_PASSWORD_COMMAND: command, HTTPS_PROXY: `http://${proxy}@proxy.invalid:1` };
  return { argv: line.split(' '), env: { ...env, ...own }, seen };
}

const COMMANDS = ALL.flatMap((command) => commandsBelow(command)).map((line): Row => {
  return [`imgctl ${line}`, undefined, (secrets) => prepareCommand(line, secrets)];
});

// With --debug all is shown that is shown without it, and more; JSON has all that a table has.
describe.each([
  [' --debug', FAILING],
  [' --debug --json', FAILING],
  [' --debug -o json', COMMANDS],
] as const)('imgctl%s shows no secret after', (options, rows) => {
  const expectNoSecret = async (...[title, expected, prepare]: Row) => {
    const secrets = newSecrets();
    const { argv, seen = () => '', ...prepared } = await prepare(secrets);
    const { HOME = '', HTTPS_PROXY = '' } = prepared.env;
    const env = withTemporaryFolder({ ...prepared.env, HOME });
    const all = [...argv, ...options.split(' ').filter(Boolean)];
    const ended = await watchedRun(all, { ...prepared, env });
    if (expected !== undefined) expect(ended.exitCode).toBe(expected);
    const texts = [...secrets.forms, ...tokensBelow(HOME)];
    // The command line may hold what the user wrote there.
    const isTyped = texts.some((text) => argv.join(' ').includes(text));
    const processes = isTyped ? '' : ended.processes + seen();
    const stdout = title === 'imgctl token' ? '' : ended.stdout;
    const run = { ...ended, stdout, processes: processes.replaceAll(HTTPS_PROXY || 'none', '') };
    // The settings file may hold what the user wrote there.
    const places = placesOf(texts, run, HOME).filter((each) => !/\/settings\/config/.test(each));
    expect(places).toEqual([]);
    if (title.startsWith('imgctl images list')) expect(tokensBelow(HOME)).toHaveLength(2);
  };

  it.each(rows)('%s', expectNoSecret);
  it.skipIf(NO_REDIS).each(STORE)(`%s${NO_REDIS}`, expectNoSecret);
});
