// imgctl doctor: checks everything that a login, a listing and a push need, and says how to fix it.

import fs from 'node:fs';
import path from 'node:path';
import { authorizationHeader, isToken, requestHeaders, tokenSecrets } from '../api/auth.ts';
import { MAX_BYTES, SERVICE } from '../api/client.ts';
import { readJson, serviceMessage, statusError, utcTime } from '../api/responses.ts';
import type { Context } from '../context.ts';
import { termsOf } from '../declarations.ts';
import { describeDuration } from '../duration.ts';
import { asImgctlError, type ErrorCode, ImgctlError, valueOr, valueOrError } from '../errors.ts';
import { isMissing, isStagingName, MAX_WRITE_TIME } from '../files/atomic-file.ts';
import type { HttpResponse } from '../http/message.ts';
import { chooseProxy, proxySecrets } from '../http/proxies.ts';
import { httpDate } from '../http/retry.ts';
import { createTransport } from '../http/transport.ts';
import { baseUrlText, isLoopback, resolveUrl } from '../http/url.ts';
import { counted, shellQuote } from '../output/messages.ts';
import { loadStyle, mark } from '../output/terminal.ts';
import { printable } from '../output/text.ts';
import { isFormat } from '../output/writers.ts';
import { nearest } from '../query/suggest.ts';
import { formatTimestamp } from '../query/timestamp.ts';
import { helperProgram } from '../session/keychain.ts';
import { unreadableFile } from '../session/secrets.ts';
import {
  readCertificates,
  requireBaseUrl,
  tokenOfEnvironment,
  unattendedPassword,
} from '../session/session.ts';
import { isSettingKey, SETTING_KEYS, STORED_PASSWORD } from '../session/setting-table.ts';
import { configFilePath, type Settings } from '../session/settings.ts';
import { TokenCache, tokenFolder } from '../session/token-cache.ts';
import { type Account, type CachedToken, StoreError } from '../session/token-store.ts';
import { PAGES } from './help/pages.ts';
import { readColumns } from './listing.ts';
import { openUploadStorage } from './storage.ts';
import { noValidToken, openSharedStore, tokenState } from './token-state.ts';

/** The result of a check. */
interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly finding: string;
  /** The command or setting that fixes a warning or failure. */
  readonly hint: string | null;
  /** Decides the exit code of a failure. */
  readonly code?: ErrorCode;
}

function ok(check: string, finding: string): Finding {
  return { check, state: 'ok', finding, hint: null };
}

function warning(check: string, finding: string, hint: string): Finding {
  return { check, state: 'warning', finding, hint };
}

function notChecked(check: string, why: string): Finding {
  return { check, state: 'not checked', finding: why, hint: null };
}

function failed(check: string, { message, hint, code }: ImgctlError): Finding {
  return { check, state: 'failed', finding: message, hint: hint ?? null, code };
}

export async function run(context: Context): Promise<void> {
  const program = ok('program', `imgctl ${context.version}, ${context.io.system.runtime}`);
  const findings = [program, ...fileFindings(context)];
  const config = valueOrError(() => context.config);
  if ('error' in config) context.ignoreConfigFile();
  const profile = valueOrError(() => context.profileName);
  if ('error' in profile) {
    findings.push(failed('configuration', 'error' in config ? config.error : profile.error));
    findings.push(notChecked('settings', 'configuration failed'), ...environmentFindings(context));
  } else {
    const { settings } = context;
    findings.push(
      'error' in config ? failed('configuration', config.error) : configurationFinding(context),
      ...settingFindings(context, settings),
      ...environmentFindings(context),
      ...(await serviceFindings(context, settings, 'error' in config)),
      ...(await storageFindings(context)),
    );
  }
  await print(context, findings);
  const failures = findings.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  throw new ImgctlError(first.code ?? 'failed', `failed checks: ${names}`, {
    hint: first.hint ?? undefined,
  });
}

const SET_CONFIG_DIR = 'set IMGCTL_CONFIG_DIR to a writable directory';

/** Mode bits of everyone but the owner. */
const ANY_ACCESS = 0o077;
const WRITE_ACCESS = 0o022;

interface Entry {
  readonly file: string;
  readonly stat: fs.Stats;
}

/** Checks owners and modes. Must run before a token is read, because that tightens the mode of its file. */
function fileFindings({ paths: { config, state }, io }: Context): Finding[] {
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning('files', finding, SET_CONFIG_DIR)];
  }
  try {
    // Folders may be links, which are followed.
    const followed = (folder: string) =>
      fs.existsSync(folder) ? entryOf(fs.realpathSync(folder)) : [];
    const folder = followed(config);
    const tokens = followed(tokenFolder(config));
    const settings = entryOf(configFilePath(config));
    const files = tokens.flatMap(entriesIn).filter(({ stat }) => !stat.isDirectory());
    const isLink = ({ stat }: Entry) => stat.isSymbolicLink();
    const isLeftover = ({ file, stat }: Entry) =>
      isStagingName(path.basename(file)) && io.now() - stat.mtimeMs > MAX_WRITE_TIME;
    const isOpen = (bits: number) => (entry: Entry) =>
      io.system.platform !== 'win32' && !isLink(entry) && (entry.stat.mode & bits) !== 0;
    const { uid } = io.system;
    const isForeign = ({ stat }: Entry) => uid !== undefined && stat.uid !== uid;
    const problems: readonly (readonly [what: string, hint: string, found: readonly Entry[]])[] = [
      ['symbolic link, which is not followed', 'rm', files.filter(isLink)],
      [
        'left behind by a killed run',
        'rm',
        [...folder.flatMap(entriesIn), ...files].filter(isLeftover),
      ],
      ['writable by other users', 'chmod 700', folder.filter(isOpen(WRITE_ACCESS))],
      ['accessible to other users', 'chmod 700', tokens.filter(isOpen(ANY_ACCESS))],
      ['readable by other users', 'chmod 600', [...settings, ...files].filter(isOpen(ANY_ACCESS))],
      [
        'owned by another user',
        'sudo chown "$(id -un)"',
        [...folder, ...settings, ...tokens, ...files].filter(isForeign),
      ],
    ];
    const findings = problems
      .filter(([, , found]) => found.length > 0)
      .map(([what, hint, found]) => {
        const names = found.map(({ file }) => file);
        const words = names.map(shellQuote).join(' ');
        return warning('files', `${what}: ${names.join(', ')}`, `${hint} ${words}`);
      });
    const written = new Set([config, state ?? config].map(nearestExisting));
    findings.push(...[...written].flatMap(unwritable));
    if (findings.length > 0) return findings;
    if (folder.length === 0) return [ok('files', `the first login creates ${config}`)];
    return [ok('files', `${config}: owner and modes are correct`)];
  } catch (error) {
    const message = `cannot check the files: ${(error as Error).message}`;
    const hint = `check the owner and the modes: ls -la ${shellQuote(config)}`;
    return [failed('files', new ImgctlError('config', message, { hint }))];
  }
}

function entryOf(file: string): Entry[] {
  try {
    return [{ file, stat: fs.lstatSync(file) }];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function entriesIn({ file, stat }: Entry): Entry[] {
  if (!stat.isDirectory()) return [];
  return fs.readdirSync(file).flatMap((name) => entryOf(path.join(file, name)));
}

function nearestExisting(directory: string): string {
  const parent = path.dirname(directory);
  return fs.existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}

function unwritable(folder: string): Finding[] {
  const problem = valueOr(() => fs.statSync(folder).isDirectory(), true)
    ? accessProblem(folder, fs.constants.W_OK | fs.constants.X_OK)
    : 'not a directory';
  if (problem === undefined) return [];
  return [warning('files', `cannot write to ${folder}: ${problem}`, SET_CONFIG_DIR)];
}

/** Returns the code of the error; undefined if the file can be used in this way. */
function accessProblem(file: string, mode: number): string | undefined {
  try {
    fs.accessSync(file, mode);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

function configurationFinding({ paths, config, profileName: profile }: Context): Finding {
  const known = [...config.profiles.keys()];
  if (known.length > 0 && !known.includes(profile)) {
    const meant = nearest(profile, known);
    const finding = `unknown profile ${profile}; profiles: ${known.join(', ')}`;
    const login = `imgctl login --profile ${profile}`;
    const use = meant === undefined ? login : `use --profile ${meant}, or run: ${login}`;
    return warning('configuration', finding, use);
  }
  if (paths.config === undefined) return notChecked('configuration', 'no home directory');
  const file = configFilePath(paths.config);
  if (!fs.existsSync(file)) return ok('configuration', `${file} does not exist yet`);
  const profiles = counted(known.length, 'profile');
  return ok('configuration', `${file}: ${profiles}; profile ${profile} is used`);
}

function settingFindings(context: Context, settings: Settings): Finding[] {
  const findings: Finding[] = [];
  for (const key of SETTING_KEYS) {
    const result = valueOrError(() => {
      const value = settings.text(key);
      if (value !== undefined && key.startsWith('columns.')) readColumns(value, `setting ${key}`);
    });
    if (!('error' in result)) continue;
    const finding = failed('settings', result.error);
    const command = `imgctl config set ${key} VALUE${settings.profileFlag}`;
    const isStored = settings.find(key).source === 'profile';
    findings.push(isStored ? { ...finding, hint: `${command} (${finding.hint})` } : finding);
  }
  for (const key of Object.keys(context.config.profiles.get(settings.profile) ?? {})) {
    if (isSettingKey(key) || key === STORED_PASSWORD) continue;
    const meant = nearest(key, SETTING_KEYS);
    const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
    const file = shellQuote(configFilePath(context.paths.config ?? ''));
    findings.push(warning('settings', `unknown setting ${key}${guess}`, `remove it from ${file}`));
  }
  if (findings.length > 0) return findings;
  const set = SETTING_KEYS.filter((key) => settings.find(key).source !== 'default');
  return [ok('settings', `${set.length} set, all valid; see: imgctl config list`)];
}

const PREFIX = 'IMGCTL_';

function environmentFindings({ io: { env, cwd } }: Context): Finding[] {
  /** Every variable that imgctl reads, without the prefix. */
  const known = termsOf(PAGES.environment).flatMap(([name]) =>
    name.startsWith(PREFIX) ? name.slice(PREFIX.length) : [],
  );
  const findings: Finding[] = [];
  const warn = (finding: string, hint: string) =>
    findings.push(warning('environment', finding, hint));
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
      'unset NODE_TLS_REJECT_UNAUTHORIZED',
    );
  }
  const extra = env.NODE_EXTRA_CA_CERTS;
  if (extra && !fs.existsSync(path.resolve(cwd, extra))) {
    warn(`NODE_EXTRA_CA_CERTS file does not exist: ${extra}`, 'unset NODE_EXTRA_CA_CERTS');
  }
  if ((env.ALL_PROXY || env.all_proxy) && !(env.HTTPS_PROXY || env.https_proxy)) {
    warn('ALL_PROXY is ignored', 'set HTTPS_PROXY instead');
  }
  for (const name of Object.keys(env)) {
    const suffix = name.slice(PREFIX.length);
    if (!name.startsWith(PREFIX) || known.includes(suffix)) continue;
    const key = suffix.toLowerCase().replaceAll('_', '-');
    const meant = nearest(suffix, known);
    if (isSettingKey(key)) {
      warn(`${name} is ignored: ${key} is only a setting`, `imgctl config set ${key} VALUE`);
    } else {
      const guess = meant === undefined ? '' : `; did you mean ${PREFIX}${meant}?`;
      warn(`${name} is ignored${guess}`, `unset ${name}`);
    }
  }
  return findings.length > 0 ? findings : [ok('environment', 'no problems')];
}

/** Sends one GET /v2, with the token if it is valid, and judges connection, clock and token by the response. */
async function serviceFindings(
  context: Context,
  settings: Settings,
  isConfigBroken: boolean,
): Promise<Finding[]> {
  const { io, paths } = context;
  const username = valueOr(() => settings.get('username'), undefined) ?? '';
  const url = valueOrError(() => requireBaseUrl(settings));
  if ('error' in url) {
    // The unreadable file may hold a base URL, so a login would not help.
    const mayBeInFile =
      isConfigBroken && valueOr(() => settings.text('base-url'), '') === undefined;
    return [
      mayBeInFile
        ? notChecked('connection', 'configuration failed')
        : failed('connection', url.error),
      ...['clock', 'token', 'token requests'].map((check) => notChecked(check, 'no base URL')),
      passwordFinding(context, settings, { profile: settings.profile, baseUrl: '', username }),
    ];
  }
  const baseUrl = url.value;
  const account = { profile: settings.profile, baseUrl: baseUrlText(baseUrl), username };
  const cacheFindings: Finding[] = [];
  const cache = new TokenCache(paths.config, account, io.system, (message, hint) =>
    cacheFindings.push(warning('token', message, hint ?? settings.loginCommand)),
  );
  const store = await storeFindings(context, settings);
  const cached = cache.read();
  const fixed = io.env.IMGCTL_TOKEN;
  const own = tokenState(cached, io.now()) === 'valid' ? cached?.token : undefined;
  const token = fixed ? (isToken(fixed) ? fixed : undefined) : own;
  let response: HttpResponse | undefined;
  let connection: Finding;
  try {
    response = await sendProbe(context, settings, baseUrl, token);
    connection = connectionFinding(context, settings, baseUrl, response);
  } catch (error) {
    io.signal.throwIfAborted();
    connection = failed('connection', asImgctlError(error));
  }
  return [
    connection,
    response ? clockFinding(response) : notChecked('clock', 'connection failed'),
    tokenFinding(context, settings, account, cached, response),
    ...cacheFindings,
    ...store,
    passwordFinding(context, settings, account),
    limitFinding(cache, io.now()),
  ];
}

const FALLBACK_TIMEOUT = 30_000;

/** Sends GET /v2 without renewal or retry. @throws ImgctlError: the error of a network stage names it */
async function sendProbe(
  context: Context,
  settings: Settings,
  baseUrl: URL,
  token: string | undefined,
): Promise<HttpResponse> {
  const { console, io, userAgent, onEvent } = context;
  const { proxy } = chooseProxy(baseUrl, io.env);
  const ca = readCertificates(settings, io);
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
    onEvent,
  });
  const progress = console.startProgress({ lines: false });
  progress.update(`connecting to ${baseUrl.host}`);
  try {
    const isBasic = valueOr(() => settings.get('auth-scheme'), '') === 'basic';
    const authorization = token && authorizationHeader(isBasic ? 'basic' : 'bearer', token);
    return await transport.send({
      method: 'GET',
      url: resolveUrl(baseUrl, '/v2'),
      headers: requestHeaders(userAgent, authorization),
      timeout: valueOr(() => settings.get('timeout'), FALLBACK_TIMEOUT),
      signal: io.signal,
    });
  } finally {
    await progress.stop();
    await transport.close();
  }
}

function connectionFinding(
  { io }: Context,
  settings: Settings,
  baseUrl: URL,
  response: HttpResponse,
): Finding {
  const { status, body } = response;
  const { proxy, variable, bypassReason } = chooseProxy(baseUrl, io.env);
  const through = proxy ? `, through the proxy ${proxy.url.protocol}//${proxy.url.host}` : '';
  const bypassed = variable && !proxy ? `; ${variable} is bypassed: ${bypassReason}` : '';
  const from = proxy ? ` from ${variable}` : '';
  const finding = `GET ${baseUrlText(baseUrl)}/v2 returned ${status}${through}${from}${bypassed}`;
  const result = valueOrError(() => readJson(response));
  if ((status === 401 || status === 403) && serviceMessage(body) === undefined) {
    const hint = 'check that the base URL is correct: imgctl config list';
    return warning('connection', `${finding}, but not in the format of the service`, hint);
  }
  if ('error' in result && status !== 401 && status !== 403) {
    const refusal = failed('connection', result.error);
    // A 404 for /v2 means that this is another service; not-found would mean a missing image.
    return refusal.code === 'not-found' ? { ...refusal, code: 'failed' } : refusal;
  }
  if (baseUrl.protocol === 'https:' || isLoopback(baseUrl.hostname))
    return ok('connection', finding);
  return warning(
    'connection',
    `${finding}; plain http sends the password and the token unencrypted`,
    `imgctl config set base-url https://${baseUrl.host}${settings.profileFlag}`,
  );
}

const MAX_CLOCK_SKEW = 5 * 60_000;

function clockFinding({ headers, receivedAt }: HttpResponse): Finding {
  const date = httpDate(headers.date ?? '');
  if (date === undefined) return notChecked('clock', 'the service sent no valid date');
  const skew = receivedAt - date;
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return ok('clock', 'agrees with the service');
  const finding = `${describeDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the service`;
  const hint = 'set the clock of this machine, on Linux: sudo timedatectl set-ntp true';
  return warning('clock', finding, hint);
}

/** Judges the token by the response of the service, if there is one. */
function tokenFinding(
  { io }: Context,
  settings: Settings,
  account: Account,
  cached: CachedToken | undefined,
  response: HttpResponse | undefined,
): Finding {
  const fixed = io.env.IMGCTL_TOKEN;
  const source = valueOr(() => unattendedPassword(settings, io, account), undefined);
  const canRenew = !fixed && account.username !== '' && source !== undefined;
  const next = `the next command requests one with the password from ${source?.origin}`;
  const state = tokenState(cached, io.now());
  if (!fixed && (!cached || state !== 'valid')) {
    const what = cached ? `expired at ${utcTime(cached.expiresAt)}` : 'none yet';
    if (canRenew) return ok('token', `${what}; ${next}`);
    return failed('token', noValidToken(cached ? 'expired' : 'none', settings));
  }
  let what = cached ? `valid until ${utcTime(cached.expiresAt)}` : '';
  let hint = `log in again: ${settings.loginCommand}`;
  if (fixed) {
    const ofEnvironment = valueOrError(() => tokenOfEnvironment(fixed));
    if ('error' in ofEnvironment) return failed('token', ofEnvironment.error);
    what = 'from IMGCTL_TOKEN';
    hint = ofEnvironment.value.hint;
  }
  if (response?.status === 401 || response?.status === 403) {
    const refusal = failed('token', statusError(response));
    if (refusal.code === 'not-permitted') return refusal;
    if (canRenew) return warning('token', `${refusal.finding}; ${next}`, hint);
    return { ...refusal, code: 'token-refused', hint };
  }
  const isAccepted = response && 'value' in valueOrError(() => readJson(response));
  const verdict = isAccepted ? ', accepted by the service' : '; not checked with the service';
  return ok('token', `${what}${verdict}`);
}

/** Checks where the password comes from, without reading it. */
function passwordFinding(context: Context, settings: Settings, account: Account): Finding {
  const { io } = context;
  const source = valueOrError(() => unattendedPassword(settings, io, account));
  if ('error' in source) return failed('password', source.error);
  if (source.value === undefined) {
    return ok('password', 'interactive only: imgctl cannot renew the token unattended');
  }
  const { origin } = source.value;
  if (account.username === '') {
    const hint = `imgctl config set username NAME${settings.profileFlag}`;
    return warning('password', `from ${origin}, but no user name is set`, hint);
  }
  if (origin === 'IMGCTL_PASSWORD_FILE') {
    const file = path.resolve(io.cwd, io.env.IMGCTL_PASSWORD_FILE ?? '');
    try {
      fs.accessSync(file, fs.constants.R_OK);
      if (io.system.platform !== 'win32' && (fs.statSync(file).mode & 0o007) !== 0) {
        const finding = `readable by all users: ${file}`;
        return warning('password', finding, `chmod o= ${shellQuote(file)}`);
      }
    } catch (error) {
      return failed('password', unreadableFile(file, error));
    }
  }
  const helper = valueOr(() => settings.get('credential-helper'), undefined);
  if (helper !== undefined && !isInstalled(helperProgram(helper), context)) {
    const message = `the credential helper ${helperProgram(helper)} is not installed`;
    const hint = `install it, or run: imgctl config unset credential-helper${settings.profileFlag}`;
    return failed('password', new ImgctlError('config', message, { hint }));
  }
  return ok('password', `from ${origin}; not tested`);
}

function isInstalled(program: string, { io: { env, cwd, system } }: Context): boolean {
  const folders = /[\\/]/.test(program) ? [''] : (env.PATH ?? '').split(path.delimiter);
  const names = system.platform === 'win32' ? [program, `${program}.exe`] : [program];
  return folders
    .flatMap((folder) => names.map((name) => path.resolve(cwd, folder, name)))
    .some((file) => accessProblem(file, fs.constants.X_OK) === undefined);
}

function limitFinding(cache: TokenCache, now: number): Finding {
  const limit = cache.readLimit(now);
  if (limit === undefined) return ok('token requests', 'no known limit');
  const until = utcTime(limit.resetsAt);
  if (limit.remaining > 0) return ok('token requests', `${limit.remaining} left until ${until}`);
  return warning('token requests', `none left until ${until}`, `log in after ${until}`);
}

/** Tokens do not depend on the clocks, but a wrong clock breaks certificates and logs. */
const MAX_CLOCK_DIFFERENCE = 30_000;

/** Checks the shared store, and takes its token over, as the next command would; nothing for `file`. */
async function storeFindings(context: Context, settings: Settings): Promise<Finding[]> {
  const address = valueOr(() => settings.text('token-store'), 'file') ?? 'file';
  if (address === 'file') return [];
  let store: Awaited<ReturnType<typeof openSharedStore>>;
  try {
    store = await openSharedStore(context, settings);
    if (store === undefined) return [];
    const { milliseconds, ahead, isSealed } = await store.inspect();
    await store.read();
    const seal = isSealed ? 'tokens are sealed' : 'tokens are not sealed';
    const finding = `${address}: reachable in ${Math.round(milliseconds)} ms, ${seal}`;
    if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE)
      return [ok('token store', `${finding}, same time`)];
    const skew = `${describeDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead of' : 'behind'} the store`;
    return [warning('token store', `${finding}; this machine is ${skew}`, 'set the clock')];
  } catch (error) {
    if (error instanceof ImgctlError) return [failed('token store', error)];
    if (!(error instanceof StoreError)) throw error;
    const { message } = error;
    const hint = /SELF_SIGNED|UNABLE_TO/.test(message)
      ? `imgctl config set ca-file FILE${settings.profileFlag}`
      : 'check its address, password, permissions and certificate; see: imgctl help fleet';
    const finding = `cannot use ${address}: ${message}`;
    return [warning('token store', finding, error.hint ?? hint)];
  } finally {
    await store?.close();
  }
}

/** Checks the upload storage with its credentials; nothing if none is set. */
async function storageFindings(context: Context): Promise<Finding[]> {
  if (valueOr(() => context.settings.find('upload-url').text, undefined) === undefined) return [];
  const progress = context.console.startProgress({ lines: false });
  progress.update('connecting to the storage');
  try {
    const storage = await openUploadStorage(context);
    await storage.close();
    return [ok('storage', `${storage.address}: reachable, credentials accepted`)];
  } catch (error) {
    context.io.signal.throwIfAborted();
    return [failed('storage', asImgctlError(error))];
  } finally {
    await progress.stop();
  }
}

const UTC_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

async function print(context: Context, findings: readonly Finding[]): Promise<void> {
  const { quiet, options, io } = context;
  const { redaction } = context.console;
  const requested = options.json ? 'json' : (options.output ?? 'table');
  const format = valueOr(() => context.format, isFormat(requested) ? requested : 'table');
  const clean = (text: string) => {
    const shown = redaction.apply(text);
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
  if (io.stdout.isTTY) return context.console.print(await screenOf(context, rows));
  // A column for hints would start far to the right of most findings.
  const joined = rows.map(({ finding, hint, ...row }) => {
    return { ...row, finding: hint === null ? finding : `${finding} -> ${hint}` };
  });
  await context.printList(joined, ['check', 'state', 'finding'], { format, trunc: false });
}

const KINDS = { ok: 'good', warning: 'waiting', failed: 'bad', 'not checked': 'faint' } as const;

/** Returns a line per check with a mark for its state. Hints have lines of their own, to be copied. */
async function screenOf({ terminal }: Context, rows: readonly Finding[]): Promise<string> {
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
