// imgctl doctor: checks everything that a login, a listing and a push need, and says how to fix it.

import fs from 'node:fs';
import path from 'node:path';
import { authorizationHeader, isToken, requestHeaders, tokenSecrets } from '../api/auth.ts';
import { readJson, serviceMessage, statusError, utcTime } from '../api/responses.ts';
import { termsOf } from '../cli/declarations.ts';
import { type CommandSpec, SERVICE_CODES } from '../cli/spec.ts';
import { PAGES } from '../cli/topics.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { asImgctlError, type ErrorCode, ImgctlError, valueOr, valueOrError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import type { HttpResponse } from '../http/message.ts';
import { httpDate } from '../http/retry.ts';
import { baseUrlText, isLoopback, resolveUrl } from '../http/url.ts';
import { counted, shellQuote } from '../output/messages.ts';
import { loadStyle, mark } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { nearest } from '../query/suggest.ts';
import { formatTimestamp } from '../query/timestamp.ts';
import { unreadableFile } from '../session/secrets.ts';
import {
  readCertificates,
  requireBaseUrl,
  tokenOfEnvironment,
  unattendedPassword,
} from '../session/session.ts';
import { isSettingKey, SETTING_KEYS, STORED_PASSWORD } from '../session/setting-table.ts';
import { configFilePath } from '../session/settings.ts';
import {
  type Account,
  type CachedToken,
  StoreError,
  TokenCache,
  tokenFolder,
} from '../session/token-cache.ts';
import { readColumns } from './images-shared.ts';
import { noValidToken, openSharedStore, tokenState } from './token-state.ts';
import { openUploadStorage } from './upload-storage.ts';

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'check configuration, network and login',
  description: [
    'Checks the program, files and their modes, the settings file, settings, environment, the connection to the service, the clock, the token, the shared token store, the source of the password, the limit of token requests and the upload storage. The result of a check is ok, warning, failed, or not checked because another check failed. Each problem comes with a hint.',
    'Sends one GET /v2, with the token if it is valid, and waits at most as long as --timeout. Does not request a token, send a password to the service or run its password command. Reads the token store, and writes a value that expires after 1 s. If upload-url is set, runs upload-password-command or upload-secret-command, logs in to the storage and lists it.',
    'Exits with 0 if no check failed, otherwise with the code of the first failure: 2 configuration, 3 network, 4 token, 6 rate limit, 1 service. With -q, prints only the names of checks with a warning or failure.',
  ],
  examples: [
    'imgctl doctor',
    'imgctl doctor --profile staging --timeout 5s',
    "imgctl doctor --json | jq -r '.[] | select(.hint) | .hint'",
  ],
  seeAlso: ['whoami', 'config list', 'help exit-codes'],
  fields: [
    ['check', 'string', 'what was checked'],
    ['state', 'string', 'ok, warning, failed or not checked'],
    ['finding', 'string', 'what was found'],
    ['hint', 'string or null', 'command or setting that fixes it'],
  ],
  exitCodes: SERVICE_CODES,
  run,
};

interface Row {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly finding: string;
  /** The command or setting that fixes a warning or failure. */
  readonly hint: string | null;
  /** Decides the exit code of a failure. */
  readonly code?: ErrorCode;
}

/** What a check found: a text if all is well, an error if it failed. */
type Result = string | ImgctlError | Omit<Row, 'check'>;

function warning(finding: string, hint: string): Result {
  return { state: 'warning', finding, hint };
}

function notChecked(finding: string): Result {
  return { state: 'not checked', finding, hint: null };
}

async function run(context: Context): Promise<void> {
  const { io } = context;
  const rows: Row[] = [];
  /** An error that a check throws is its result. */
  const check = async (
    name: string,
    find: () => Result | Result[] | Promise<Result | Result[]>,
  ) => {
    const results = await Promise.resolve()
      .then(find)
      .catch((error: unknown) => asImgctlError(error));
    io.signal.throwIfAborted();
    for (const result of [results].flat()) {
      if (typeof result === 'string') {
        rows.push({ check: name, state: 'ok', finding: result, hint: null });
      } else if (result instanceof ImgctlError) {
        const { message, hint = null, code } = result;
        rows.push({ check: name, state: 'failed', finding: message, hint, code });
      } else rows.push({ check: name, ...result });
    }
  };

  await check('program', () => `imgctl ${context.version}, ${io.system.runtime}`);
  await check('files', () => fileResults(context));
  await check('configuration', () => configurationResult(context));
  const isConfigBroken = 'error' in valueOrError(() => context.config);
  if (isConfigBroken) context.ignoreConfigFile();
  const hasProfile = 'value' in valueOrError(() => context.profileName);
  await check('settings', () =>
    hasProfile ? settingResults(context) : notChecked('configuration failed'),
  );
  await check('environment', () => environmentResults(context));
  if (hasProfile) {
    const { settings } = context;
    const url = valueOr(() => requireBaseUrl(settings), undefined);
    const account = {
      profile: settings.profile,
      baseUrl: url === undefined ? '' : baseUrlText(url),
      username: valueOr(() => settings.get('username'), undefined) ?? '',
    };
    // The store passes its token to the cache, as it does for the next command.
    if (url !== undefined) await check('token store', () => storeResult(context));
    const cacheWarnings: Result[] = [];
    const cache = new TokenCache(context.paths.config, account, io.system, (message, hint) =>
      cacheWarnings.push(warning(message, hint ?? settings.loginCommand)),
    );
    const cached = cache.read();
    const responses: HttpResponse[] = [];
    await check('connection', async () => {
      // The unreadable file may hold a base URL, so a login would not help.
      const mayBeInFile = isConfigBroken && settings.find('base-url').text === undefined;
      if (mayBeInFile) return notChecked('configuration failed');
      const baseUrl = requireBaseUrl(settings);
      const response = await sendProbe(context, baseUrl, cached);
      responses.push(response);
      return connectionResult(context, baseUrl, response);
    });
    const [response] = responses;
    const withUrl = (find: () => Result) => () =>
      url === undefined ? notChecked('no base URL') : find();
    const clock = () => (response ? clockResult(response) : notChecked('connection failed'));
    await check('clock', withUrl(clock));
    const token = () => tokenResult(context, account, cached, response);
    await check('token', withUrl(token));
    await check('token', () => cacheWarnings);
    await check('password', () => passwordResult(context, account));
    const limit = () => limitResult(cache, io.now());
    await check('token requests', withUrl(limit));
    await check('storage', () => storageResult(context));
  }

  await print(context, rows);
  const failures = rows.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  throw new ImgctlError(first.code ?? 'failed', `failed checks: ${names}`, {
    hint: first.hint ?? undefined,
  });
}

const SET_CONFIG_DIR = 'set IMGCTL_CONFIG_DIR to a writable directory';

/** Checks modes. Must run before a token is read, because that tightens the mode of its file. */
function fileResults({ paths: { config, state }, io: { system } }: Context): Result[] {
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning(finding, SET_CONFIG_DIR)];
  }
  // They may be links, whose targets count.
  const existing = (file: string) => (fs.existsSync(file) ? [fs.realpathSync(file)] : []);
  const folder = existing(config);
  const tokens = existing(tokenFolder(config));
  const tokenFiles = tokens
    .flatMap((parent) => fs.readdirSync(parent, { withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const modes: readonly (readonly [what: string, bits: number, mode: number, string[]])[] = [
    ['writable by other users', 0o022, 700, folder],
    ['accessible to other users', 0o077, 700, tokens],
    ['readable by other users', 0o077, 600, [...existing(configFilePath(config)), ...tokenFiles]],
  ];
  const results: Result[] = [];
  for (const [what, bits, mode, files] of modes) {
    const open = files.filter(
      (file) => system.platform !== 'win32' && (fs.statSync(file).mode & bits) !== 0,
    );
    if (open.length === 0) continue;
    const hint = `chmod ${mode} ${open.map(shellQuote).join(' ')}`;
    results.push(warning(`${what}: ${open.join(', ')}`, hint));
  }
  for (const written of new Set([config, state ?? config].map(nearestExisting))) {
    const problem = writeProblem(written);
    if (problem === undefined) continue;
    results.push(warning(`cannot write to ${written}: ${problem}`, SET_CONFIG_DIR));
  }
  if (results.length > 0) return results;
  return [
    folder.length === 0 ? `the first login creates ${config}` : `${config}: modes are correct`,
  ];
}

function nearestExisting(directory: string): string {
  const parent = path.dirname(directory);
  return fs.existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}

function writeProblem(directory: string): string | undefined {
  if (!fs.statSync(directory).isDirectory()) return 'not a directory';
  try {
    fs.accessSync(directory, fs.constants.W_OK | fs.constants.X_OK);
    return undefined;
  } catch (error) {
    return errorReason(error);
  }
}

function configurationResult({ paths, config, profileName: profile }: Context): Result {
  const known = [...config.profiles.keys()];
  if (known.length > 0 && !known.includes(profile)) {
    const meant = nearest(profile, known);
    const login = `imgctl login --profile ${profile}`;
    const hint = meant === undefined ? login : `use --profile ${meant}, or run: ${login}`;
    return warning(`unknown profile ${profile}; profiles: ${known.join(', ')}`, hint);
  }
  if (paths.config === undefined) return notChecked('no home directory');
  const file = configFilePath(paths.config);
  if (!fs.existsSync(file)) return `${file} does not exist yet`;
  return `${file}: ${counted(known.length, 'profile')}; profile ${profile} is used`;
}

function settingResults({ settings, config, paths }: Context): Result[] {
  const results: Result[] = [];
  for (const key of SETTING_KEYS) {
    const result = valueOrError(() => {
      const value = settings.text(key);
      if (value !== undefined && key.startsWith('columns.')) readColumns(value, `setting ${key}`);
    });
    if (!('error' in result)) continue;
    const { error } = result;
    const command = `imgctl config set ${key} VALUE${settings.profileFlag} (${error.hint})`;
    const isStored = settings.find(key).source === 'profile';
    results.push(isStored ? error.with({ hint: command }) : error);
  }
  for (const key of Object.keys(config.profiles.get(settings.profile) ?? {})) {
    if (isSettingKey(key) || key === STORED_PASSWORD) continue;
    const file = shellQuote(configFilePath(paths.config ?? ''));
    const meant = nearest(key, SETTING_KEYS);
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
    results.push(warning(`unknown setting ${key}${guess}`, `remove it from ${file}`));
  }
  if (results.length > 0) return results;
  const set = SETTING_KEYS.filter((key) => settings.find(key).source !== 'default');
  return [`${set.length} set, all valid; see: imgctl config list`];
}

const PREFIX = 'IMGCTL_';

function environmentResults({ io: { env, cwd } }: Context): Result[] {
  const certificates = env.NODE_EXTRA_CA_CERTS;
  const ignored: readonly (readonly [problem: unknown, finding: string, hint: string])[] = [
    [
      env.NODE_TLS_REJECT_UNAUTHORIZED === '0',
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
      'unset NODE_TLS_REJECT_UNAUTHORIZED',
    ],
    [
      certificates && !fs.existsSync(path.resolve(cwd, certificates)),
      `NODE_EXTRA_CA_CERTS file does not exist: ${certificates}`,
      'unset NODE_EXTRA_CA_CERTS',
    ],
    [
      (env.ALL_PROXY || env.all_proxy) && !(env.HTTPS_PROXY || env.https_proxy),
      'ALL_PROXY is ignored',
      'set HTTPS_PROXY instead',
    ],
  ];
  const results = ignored
    .filter(([problem]) => problem)
    .map(([, finding, hint]) => warning(finding, hint));
  const known = termsOf(PAGES.environment)
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name]) => name.slice(PREFIX.length));
  for (const name of Object.keys(env)) {
    const suffix = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || known.includes(suffix)) continue;
    const key = suffix.toLowerCase().replaceAll('_', '-');
    const meant = nearest(suffix, known);
    const guess = meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`;
    results.push(
      isSettingKey(key)
        ? warning(`${name} is ignored: ${key} is only a setting`, `imgctl config set ${key} VALUE`)
        : warning(`${name} is ignored${guess}`, `unset ${name}`),
    );
  }
  return results.length > 0 ? results : ['no problems'];
}

const FALLBACK_TIMEOUT = 30_000;

/** Sends one GET /v2, with the token if it is valid, without renewal or retry. */
async function sendProbe(
  context: Context,
  baseUrl: URL,
  cached: CachedToken | undefined,
): Promise<HttpResponse> {
  const { MAX_BYTES, SERVICE } = await import('../api/client.ts');
  const { chooseProxy, proxySecrets } = await import('../http/proxies.ts');
  const { createTransport } = await import('../http/transport.ts');
  const { console, io, settings, userAgent, onEvent } = context;
  const { proxy } = chooseProxy(baseUrl, io.env);
  const ca = readCertificates(settings, io);
  const own = tokenState(cached, io.now()) === 'valid' ? cached?.token : undefined;
  const given = io.env.IMGCTL_TOKEN || own;
  const token = given && isToken(given) ? given : undefined;
  for (const secret of token ? tokenSecrets(token) : []) console.redaction.add(secret);
  for (const secret of proxy ? proxySecrets(proxy) : []) console.redaction.add(secret);
  const isBasic = valueOr(() => settings.get('auth-scheme'), '') === 'basic';
  const authorization = token && authorizationHeader(isBasic ? 'basic' : 'bearer', token);
  const transport = createTransport({
    origin: baseUrl.origin,
    endpoint: SERVICE,
    connections: 1,
    maxBytes: MAX_BYTES,
    ca,
    proxy,
    now: io.now,
    onEvent,
  });
  try {
    return await withProgress(context, `connecting to ${baseUrl.host}`, () =>
      transport.send({
        method: 'GET',
        url: resolveUrl(baseUrl, '/v2'),
        headers: requestHeaders(userAgent, authorization),
        timeout: valueOr(() => settings.get('timeout'), FALLBACK_TIMEOUT),
        signal: io.signal,
      }),
    );
  } finally {
    await transport.close();
  }
}

async function withProgress<Value>(
  { console }: Context,
  text: string,
  action: () => Promise<Value>,
): Promise<Value> {
  const progress = console.startProgress({ lines: false });
  progress.update(text);
  return action().finally(() => progress.stop());
}

async function connectionResult(
  { io, settings }: Context,
  baseUrl: URL,
  response: HttpResponse,
): Promise<Result> {
  const { chooseProxy } = await import('../http/proxies.ts');
  const { status, body } = response;
  const { proxy, variable, bypassReason } = chooseProxy(baseUrl, io.env);
  const { protocol, host } = proxy?.url ?? {};
  const through = proxy ? `, through the proxy ${protocol}//${host} from ${variable}` : '';
  const bypassed = variable && !proxy ? `; ${variable} is bypassed: ${bypassReason}` : '';
  const finding = `GET ${baseUrlText(baseUrl)}/v2 returned ${status}${through}${bypassed}`;
  const isRefusal = status === 401 || status === 403;
  if (isRefusal && serviceMessage(body) === undefined) {
    const hint = 'check that the base URL is correct: imgctl config list';
    return warning(`${finding}, but not in the format of the service`, hint);
  }
  const result = valueOrError(() => readJson(response));
  if ('error' in result && !isRefusal) {
    const { error } = result;
    // A 404 for /v2 means that this is another service; not-found would mean a missing image.
    return error.code === 'not-found' ? error.with({ code: 'failed' }) : error;
  }
  if (baseUrl.protocol === 'https:' || isLoopback(baseUrl.hostname)) return finding;
  return warning(
    `${finding}; plain http sends the password and the token unencrypted`,
    `imgctl config set base-url https://${baseUrl.host}${settings.profileFlag}`,
  );
}

const MAX_CLOCK_SKEW = 5 * 60_000;

function clockResult({ headers, receivedAt }: HttpResponse): Result {
  const date = httpDate(headers.date ?? '');
  if (date === undefined) return notChecked('the service sent no valid date');
  const skew = receivedAt - date;
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return 'agrees with the service';
  return warning(
    `${describeSkew(skew)} the service`,
    'set the clock of this machine, on Linux: sudo timedatectl set-ntp true',
  );
}

function describeSkew(milliseconds: number): string {
  const direction = milliseconds > 0 ? 'ahead of' : 'behind';
  return `${describeDuration(Math.abs(milliseconds))} ${direction}`;
}

/** Judges the token by the response of the service, if there is one. */
function tokenResult(
  { io, settings }: Context,
  account: Account,
  cached: CachedToken | undefined,
  response: HttpResponse | undefined,
): Result {
  const fixed = io.env.IMGCTL_TOKEN;
  const source = valueOr(() => unattendedPassword(settings, io, account), undefined);
  const canRenew = !fixed && account.username !== '' && source !== undefined;
  const next = `the next command requests one with the password from ${source?.origin}`;
  if (!fixed && (!cached || tokenState(cached, io.now()) !== 'valid')) {
    if (!canRenew) return noValidToken(cached ? 'expired' : 'none', settings);
    return `${cached ? `expired at ${utcTime(cached.expiresAt)}` : 'none yet'}; ${next}`;
  }
  const login = `log in again: ${settings.loginCommand}`;
  const hint = fixed ? tokenOfEnvironment(fixed).hint : login;
  if (response?.status === 401 || response?.status === 403) {
    const refusal = statusError(response);
    if (refusal.code === 'not-permitted') return refusal;
    if (canRenew) return warning(`${refusal.message}; ${next}`, hint);
    return refusal.with({ code: 'token-refused', hint });
  }
  const isAccepted = response && 'value' in valueOrError(() => readJson(response));
  const verdict = isAccepted ? ', accepted by the service' : '; not checked with the service';
  const isFixed = fixed || cached === undefined;
  return `${isFixed ? 'from IMGCTL_TOKEN' : `valid until ${utcTime(cached.expiresAt)}`}${verdict}`;
}

/** Checks where the password comes from, without reading it. */
function passwordResult(context: Context, account: Account): Result {
  const { io, settings } = context;
  const source = unattendedPassword(settings, io, account);
  if (source === undefined) return 'interactive only: imgctl cannot renew the token unattended';
  const { origin } = source;
  if (account.username === '') {
    const hint = `imgctl config set username NAME${settings.profileFlag}`;
    return warning(`from ${origin}, but no user name is set`, hint);
  }
  if (origin === 'IMGCTL_PASSWORD_FILE') {
    const file = path.resolve(io.cwd, io.env.IMGCTL_PASSWORD_FILE ?? '');
    try {
      fs.accessSync(file, fs.constants.R_OK);
    } catch (error) {
      return unreadableFile(file, origin, error);
    }
  }
  return `from ${origin}; not tested`;
}

function limitResult(cache: TokenCache, now: number): Result {
  const limit = cache.readLimit(now);
  if (limit === undefined) return 'no known limit';
  const until = utcTime(limit.resetsAt);
  if (limit.remaining > 0) return `${limit.remaining} left until ${until}`;
  return warning(`none left until ${until}`, `log in after ${until}`);
}

/** Checks the shared store, and takes its token over, as the next command would; nothing for `file`. */
async function storeResult(context: Context): Promise<Result | Result[]> {
  const { settings } = context;
  const address = valueOr(() => settings.text('token-store'), 'file') ?? 'file';
  const store = address === 'file' ? undefined : await openSharedStore(context, settings);
  if (store === undefined) return [];
  try {
    await store.inspect();
    await store.read();
    const seal = store.isSealed ? 'tokens are sealed' : 'tokens are not sealed';
    return `${address}: reachable, ${seal}`;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    const { message } = error;
    const hint = /SELF_SIGNED|UNABLE_TO/.test(message)
      ? `imgctl config set ca-file FILE${settings.profileFlag}`
      : 'check its address, password, permissions and certificate; see: imgctl help fleet';
    return warning(`cannot use ${address}: ${message}`, error.hint ?? hint);
  } finally {
    await store.close();
  }
}

/** Checks the upload storage with its credentials; nothing if none is set. */
async function storageResult(context: Context): Promise<Result | Result[]> {
  if (context.settings.find('upload-url').text === undefined) return [];
  return withProgress(context, 'connecting to the storage', async () => {
    const storage = await openUploadStorage(context);
    await storage.close();
    return `${storage.address}: reachable, credentials accepted`;
  });
}

const UTC_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

async function print(context: Context, findings: readonly Row[]): Promise<void> {
  const { quiet, io, console, safeFormat: format } = context;
  const clean = (text: string) => {
    const shown = console.redaction.apply(text);
    if (format !== 'table') return shown;
    return shown.replace(UTC_TIME, (time) => formatTimestamp(time, 'local', io.now()));
  };
  const rows = findings
    .filter(({ state }) => !quiet || state === 'failed' || state === 'warning')
    .map(({ check, state, finding, hint }) => {
      return { check, state, finding: clean(finding), hint: hint === null ? null : clean(hint) };
    });
  if (format !== 'table' || quiet) {
    const columns = ['check', 'state', 'finding', 'hint'];
    return context.printList(rows, columns, { format, idField: 'check', trunc: false });
  }
  if (io.stdout.isTTY) return console.print(await screenOf(context, rows));
  // A column for hints would start far to the right of most findings.
  const joined = rows.map(({ finding, hint, ...row }) => {
    return { ...row, finding: hint === null ? finding : `${finding} -> ${hint}` };
  });
  await context.printList(joined, ['check', 'state', 'finding'], { format, trunc: false });
}

const KINDS = { ok: 'good', warning: 'waiting', failed: 'bad', 'not checked': 'faint' } as const;

/** Returns a line per check with a mark for its state. Hints have lines of their own, to be copied. */
async function screenOf({ terminal }: Context, rows: readonly Row[]): Promise<string> {
  const style = await loadStyle(terminal);
  const width = Math.max(...rows.map(({ check }) => check.length));
  const lines = rows.flatMap(({ check, state, finding, hint }) => {
    const kind = KINDS[state];
    const sign = style[kind](mark(kind, terminal.unicode).padEnd(terminal.unicode ? 1 : 2));
    const margin = ' '.repeat(width + (terminal.unicode ? 4 : 5));
    return [
      `${sign} ${check.padEnd(width)}  ${printable(finding)}`,
      ...(hint === null ? [] : [`${margin}${style.hint('hint:')} ${printable(hint)}`]),
    ];
  });
  return `${lines.join('\n')}\n`;
}
