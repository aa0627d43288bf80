// imgctl doctor: checks what a login, a listing and a push need, and says how to fix it.

import fs from 'node:fs';
import path from 'node:path';
import { authorizationHeader, isToken, requestHeaders, tokenSecrets } from '../api/auth.ts';
import { readJson, serviceMessage, statusError, utcTime } from '../api/responses.ts';
import { type CommandSpec, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { asImgctlError, type ErrorCode, ImgctlError, valueOr, valueOrError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import type { HttpResponse } from '../http/message.ts';
import { httpDate } from '../http/retry.ts';
import { baseUrlText, isLoopback, resolveUrl } from '../http/url.ts';
import { counted, shellQuote } from '../output/messages.ts';
import { loadStyle } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { formatTimestamp } from '../query/timestamp.ts';
import {
  readCertificates,
  requireBaseUrl,
  tokenOfEnvironment,
  unattendedPassword,
} from '../session/session.ts';
import { isSettingKey, SETTING_KEYS, STORED_PASSWORD } from '../session/setting-table.ts';
import { configFilePath, type Settings } from '../session/settings.ts';
import { type CachedToken, StoreError, tokenFolder } from '../session/token-cache.ts';
import { readColumns } from './images-shared.ts';
import { noValidToken, openCache, openSharedStore, tokenState } from './token-state.ts';
import { openUploadStorage } from './upload-storage.ts';

const UPLOAD =
  'if upload-url is set, runs upload-password-command or upload-secret-command, sends the password (S3: a signature) to the storage, and lists the folder';

export const doctor: CommandSpec = {
  name: 'doctor',
  summary: 'check settings, network, login and upload storage',
  description: [
    'Checks, with a hint for each problem:',
    {
      terms: [
        ['program', 'shows the versions of imgctl and Node'],
        ['files', 'checks who can read settings and tokens, and whether they can be written'],
        ['configuration', 'parses every setting and variable'],
        ['token store', 'if set, reads the shared store and writes a value that expires after 1 s'],
        ['connection', 'sends one GET /v2, with the token if it is valid'],
        ['clock', 'compares the clock with the date of the response'],
        ['token', 'shows its expiry, and whether the service accepts it'],
        ['storage', UPLOAD],
      ],
    },
    'doctor requests no token. It does not run password-command, and sends no password to the service.',
    'Exits with the code of the first failed check: 2 configuration, 3 network, 4 token, 5 storage not found, 6 rate limit, 1 service. With -q, prints only the names of checks that warn or fail.',
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

async function run(context: Context): Promise<void> {
  const rows: Row[] = [];
  /** An error that a check throws is its result. */
  const check = async (
    name: string,
    find: () => Result | Result[] | Promise<Result | Result[]>,
  ) => {
    const results = await Promise.resolve()
      .then(find)
      .catch((error: unknown) => asImgctlError(error));
    context.io.signal.throwIfAborted();
    for (const result of [results].flat()) {
      if (typeof result === 'string') {
        rows.push({ check: name, state: 'ok', finding: result, hint: null });
      } else if (result instanceof ImgctlError) {
        const { message, hint = null, code } = result;
        rows.push({ check: name, state: 'failed', finding: message, hint, code });
      } else rows.push({ check: name, ...result });
    }
  };

  const progress = context.console.startProgress({ lines: false });
  progress.update('checking');
  await check('program', () => `imgctl ${context.version}, ${context.io.system.runtime}`);
  await check('files', () => fileResults(context));
  await check('configuration', () => configurationResults(context));
  const settings = valueOr(() => context.settings, undefined);
  if (settings !== undefined) {
    // The store passes its token to the cache, as it does for the next command.
    await check('token store', () => storeResult(context, settings));
    const account = valueOr(() => settings.account, undefined);
    const cached = account && openCache(context, account).read();
    const { response, result } = await probe(context, cached).catch((error: unknown) => {
      return { response: undefined, result: asImgctlError(error) };
    });
    await check('connection', () => result);
    await check('clock', () => (response ? clockResult(response) : UNCONNECTED));
    await check('token', () => (response ? tokenResult(context, cached, response) : UNCONNECTED));
    await check('storage', () => storageResult(context));
  }
  await progress.stop();

  await print(context, rows);
  const failures = rows.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  // A terminal has just shown the hint of each check.
  const isShown = context.io.stdout.isTTY && context.safeFormat === 'table' && !context.quiet;
  throw new ImgctlError(first.code ?? 'failed', `failed checks: ${names}`, {
    hint: isShown ? undefined : (first.hint ?? undefined),
  });
}

const UNCONNECTED = { state: 'not checked', finding: 'connection failed', hint: null } as const;

const SET_CONFIG_DIR = 'set IMGCTL_CONFIG_DIR to a writable directory';

function fileResults({ paths: { config, state }, io: { system } }: Context): Result[] {
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning(finding, SET_CONFIG_DIR)];
  }
  const results: Result[] = [];
  const modes = [
    [config, 0o022, 'go-w', 'writable by'],
    [tokenFolder(config), 0o077, 'go-rwx', 'accessible to'],
    [configFilePath(config), 0o077, 'go-rwx', 'accessible to'],
  ] as const;
  for (const [file, bits, change, access] of modes) {
    const mode = valueOr(() => fs.statSync(file).mode, 0);
    if (system.platform === 'win32' || (mode & bits) === 0) continue;
    results.push(
      warning(`${file} is ${access} other users`, `chmod ${change} ${shellQuote(file)}`),
    );
  }
  for (const folder of new Set([config, state ?? config].map(nearestExisting))) {
    try {
      fs.accessSync(`${folder}/.`, fs.constants.W_OK | fs.constants.X_OK);
    } catch (error) {
      results.push(warning(`cannot write to ${folder}: ${errorReason(error)}`, SET_CONFIG_DIR));
    }
  }
  if (results.length > 0) return results;
  return [
    fs.existsSync(config) ? `${config}: permissions are correct` : `${config} does not exist yet`,
  ];
}

function nearestExisting(directory: string): string {
  const parent = path.dirname(directory);
  return fs.existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}

function configurationResults({ settings, config, paths }: Context): Result[] {
  const { profile, profileFlag } = settings;
  const file = paths.config === undefined ? 'config.json' : configFilePath(paths.config);
  const results: Result[] = [];
  if (config.profiles.size > 0 && !config.profiles.has(profile)) {
    results.push(warning(`unknown profile ${profile}`, 'list the profiles: imgctl profile list'));
  }
  for (const key of SETTING_KEYS) {
    const result = valueOrError(() => {
      const value = settings.text(key);
      if (value !== undefined && key.startsWith('columns.')) readColumns(value, `setting ${key}`);
    });
    if (!('error' in result)) continue;
    const { error } = result;
    const command = `imgctl config set ${key} VALUE${profileFlag} (${error.hint})`;
    const isStored = settings.find(key).source === 'profile';
    results.push(isStored ? error.with({ hint: command }) : error);
  }
  for (const key of Object.keys(config.profiles.get(profile) ?? {})) {
    if (isSettingKey(key) || key === STORED_PASSWORD) continue;
    results.push(warning(`unknown setting ${key}`, `remove it from ${shellQuote(file)}`));
  }
  if (results.length > 0) return results;
  const set = SETTING_KEYS.filter((key) => settings.find(key).source !== 'default');
  return [`profile ${profile}: ${counted(set.length, 'setting')}, all valid`];
}

/** Sends one GET /v2, with the token if it is valid, without renewal or retry. */
async function probe(context: Context, cached: CachedToken | undefined) {
  const { MAX_BYTES, SERVICE } = await import('../api/client.ts');
  const { chooseProxy, proxySecrets } = await import('../http/proxies.ts');
  const { createTransport } = await import('../http/transport.ts');
  const { console, io, settings } = context;
  const baseUrl = requireBaseUrl(settings);
  const { proxy, variable, bypassReason } = chooseProxy(baseUrl, io.env);
  const ca = readCertificates(settings, io);
  const own = tokenState(cached, io.now()) === 'valid' ? cached?.token : undefined;
  const given = io.env.IMGCTL_TOKEN || own;
  const token = given && isToken(given) ? given : undefined;
  for (const secret of token ? tokenSecrets(token) : []) console.redaction.add(secret);
  for (const secret of proxy ? proxySecrets(proxy) : []) console.redaction.add(secret);
  const transport = createTransport({
    origin: baseUrl.origin,
    endpoint: SERVICE,
    connections: 1,
    maxBytes: MAX_BYTES,
    ca,
    proxy,
    now: io.now,
    onEvent: context.onEvent,
  });
  const credentials = token && authorizationHeader(settings.get('auth-scheme'), token);
  const response = await transport
    .send({
      method: 'GET',
      url: resolveUrl(baseUrl, '/v2'),
      headers: requestHeaders(context.userAgent, credentials),
      timeout: settings.get('timeout'),
      signal: io.signal,
    })
    .finally(transport.close);
  const { protocol, host } = proxy?.url ?? {};
  const through = proxy ? `, through the proxy ${protocol}//${host} from ${variable}` : '';
  const bypassed = variable && !proxy ? `; ${variable} is bypassed: ${bypassReason}` : '';
  const request = `GET ${baseUrlText(baseUrl)}/v2${token ? '' : ' without a token'}`;
  const finding = `${request} returned ${response.status}${through}${bypassed}`;
  return { response, result: connectionResult(settings, baseUrl, response, finding) };
}

/** @throws ImgctlError: this is not the service */
function connectionResult(
  settings: Settings,
  baseUrl: URL,
  response: HttpResponse,
  finding: string,
): Result {
  if (!isRefusal(response)) {
    const result = valueOrError(() => readJson(response));
    // A 404 for /v2 means that this is another service; not-found would mean a missing image.
    if ('error' in result) {
      const { error } = result;
      throw error.code === 'not-found' ? error.with({ code: 'failed' }) : error;
    }
  } else if (serviceMessage(response.body) === undefined) {
    const hint = 'check that the base URL is correct: imgctl config list';
    return warning(`${finding}, but not in the format of the service`, hint);
  }
  if (baseUrl.protocol === 'https:' || isLoopback(baseUrl.hostname)) return finding;
  return warning(
    `${finding}; plain http sends the password and the token unencrypted`,
    `imgctl config set base-url https://${baseUrl.host}${settings.profileFlag}`,
  );
}

function isRefusal({ status }: HttpResponse): boolean {
  return status === 401 || status === 403;
}

const MAX_CLOCK_SKEW = 5 * 60_000;

function clockResult({ headers, receivedAt }: HttpResponse): Result {
  const date = httpDate(headers.date ?? '');
  if (date === undefined) {
    return { state: 'not checked', finding: 'the service sent no valid date', hint: null };
  }
  const skew = receivedAt - date;
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return 'agrees with the service';
  return warning(
    `${describeDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the service`,
    'set the clock of this machine, on Linux: sudo timedatectl set-ntp true',
  );
}

/** Judges the token by the response of the service. */
function tokenResult(
  { io, settings }: Context,
  cached: CachedToken | undefined,
  response: HttpResponse,
): Result {
  const fixed = io.env.IMGCTL_TOKEN;
  const { account } = settings;
  const password = fixed || !account.username || unattendedPassword(settings, io, account);
  const next =
    typeof password === 'object' &&
    `the next command logs in with the password from ${password.origin}`;
  const state = tokenState(cached, io.now());
  if (!fixed && state !== 'valid') {
    if (!next) return noValidToken(state, settings);
    return `${state === 'none' ? 'no token yet' : state}; ${next}`;
  }
  const hint = fixed ? tokenOfEnvironment(fixed).hint : `log in again: ${settings.loginCommand}`;
  if (!isRefusal(response)) {
    const origin = fixed ? 'from IMGCTL_TOKEN' : `valid until ${utcTime(cached?.expiresAt ?? 0)}`;
    return `${origin}, accepted by the service`;
  }
  const refusal = statusError(response);
  if (refusal.code === 'not-permitted') return refusal;
  if (next) return warning(`${refusal.message}; ${next}`, hint);
  return refusal.with({ code: 'token-refused', hint });
}

/** Checks the shared store, and takes its token over, as the next command would; nothing for `file`. */
async function storeResult(context: Context, settings: Settings): Promise<Result | Result[]> {
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
    const hint = 'check its address, password, permissions and ca-file; see: imgctl help fleet';
    return warning(`cannot use ${address}: ${error.message}`, error.hint ?? hint);
  } finally {
    await store.close();
  }
}

/** Checks the upload storage with its credentials; nothing if none is set. */
async function storageResult(context: Context): Promise<Result | Result[]> {
  if (context.settings.find('upload-url').text === undefined) return [];
  const storage = await openUploadStorage(context);
  await storage.close();
  return `${storage.address}: reachable, credentials accepted`;
}

const UTC_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

async function print(context: Context, results: readonly Row[]): Promise<void> {
  const { quiet, io, console, safeFormat: format } = context;
  const clean = (text: string) => {
    const shown = console.redaction.apply(text);
    if (format !== 'table') return shown;
    return shown.replace(UTC_TIME, (time) => formatTimestamp(time, 'local', io.now()));
  };
  const rows = results
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

/** The colour of each state, and its mark, also in an ASCII locale. */
const MARKS = {
  ok: ['good', '✓', 'ok'],
  warning: ['waiting', '!', '! '],
  failed: ['bad', '✗', 'x '],
  'not checked': ['faint', '-', '- '],
} as const;

/** Returns a line per check with a mark for its state. Hints have lines of their own, to be copied. */
async function screenOf({ terminal }: Context, rows: readonly Row[]): Promise<string> {
  const style = await loadStyle(terminal);
  const width = Math.max(...rows.map(({ check }) => check.length));
  const lines = rows.flatMap(({ check, state, finding, hint }) => {
    const [color, sign, ascii] = MARKS[state];
    const shown = terminal.unicode ? sign : ascii;
    const margin = ' '.repeat(shown.length + width + 3);
    return [
      `${style[color](shown)} ${check.padEnd(width)}  ${printable(finding)}`,
      ...(hint === null ? [] : [`${margin}${style.hint('hint:')} ${printable(hint)}`]),
    ];
  });
  return `${lines.join('\n')}\n`;
}
