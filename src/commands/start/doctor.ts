// imgctl doctor: checks what a login, a listing and a push need, and says how to fix it.

import fs from 'node:fs';
import path from 'node:path';
import { version } from '../../../package.json';
import { isToken, type Send } from '../../api/auth.ts';
import { clockSkew, readJson, serviceMessage, statusError } from '../../api/responses.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../cli/command.ts';
import { terms } from '../../cli/declarations.ts';
import { readCertificates, requireBaseUrl } from '../../config/addresses.ts';
import { checkTrust, configFilePath } from '../../config/config-file.ts';
import {
  isSettingKey,
  SETTING_KEYS,
  STORED_PASSWORD,
  VARIABLES,
} from '../../config/definitions.ts';
import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import {
  asImgctlError,
  attempt,
  type ErrorCode,
  errorReason,
  hasCode,
  ImgctlError,
  tryOr,
} from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { findPaths, SET_HOME } from '../../files/paths.ts';
import { column, namesOf } from '../../output/view.ts';
import { formatTimestamp } from '../../query/timestamp.ts';
import { unattendedPassword } from '../../secrets/passwords.ts';
import { givenToken, openSharedStore, tokenOfEnvironment } from '../../session/session.ts';
import {
  type CachedToken,
  noValidToken,
  SharedStoreError,
  tokenFolder,
  tokenState,
} from '../../session/token-cache.ts';
import { nearest } from '../../spelling.ts';
import type { Storage } from '../../upload/storage.ts';
import { counted, describeDuration, shellQuote, utcTime } from '../../words.ts';
import { openUploadStorage } from '../upload-storage.ts';

const UTC_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

const COLUMNS = [
  column('check', 'string', 'what was checked', { isId: true }),
  column('state', 'string', 'ok, warning, failed or not checked'),
  column('finding', 'string', 'what was found', {
    text: (finding, now) =>
      `${finding}`.replace(UTC_TIME, (time) => formatTimestamp(time, 'local', now)),
  }),
  column('hint', 'string or null', 'command or setting that fixes it'),
];

const OPTIONS = [
  option('--login', 'request a token, which checks the password'),
  option('--check-password', 'read the password, but send it nowhere'),
  option('--upload', 'try an upload to the storage with a small file'),
] as const;

const UPLOAD =
  'if upload-url is set, runs the command of its password or secret key, sends the password (S3: a signature) to the storage, and lists the folder; with --upload, also uploads, compares and removes a small file';

export const doctor = command({
  name: 'doctor',
  otherNames: ['ping', 'health'],
  summary: 'check settings, network, login and upload storage',
  description: [
    'Requests no token, and sends no password to the service, unless --login is given. Shows a hint for each problem.',
  ],
  details: [
    'Checks:',
    terms(
      ['program', 'shows the versions of imgctl and Node'],
      ['files', 'checks who owns, can read and can write settings and tokens'],
      ['configuration', 'parses every setting and variable'],
      ['token store', 'if set, reads the shared store and writes a value that expires after 1 s'],
      ['connection', 'sends one GET /v2, with the token if it is valid'],
      ['clock', 'compares the clock with the date of the response'],
      ['token', 'shows its expiry, and whether the service accepts it; with --login, requests one'],
      ['password', 'names its source; with --check-password, reads it'],
      ['storage', UPLOAD],
    ),
    'Exits with the code of the first failed check: 2 configuration, 3 network, 4 token, 5 storage not found, 6 rate limit, 1 service. With -q, prints only the names of checks that warn or fail.',
  ],
  examples: [
    'imgctl doctor',
    'imgctl doctor --profile staging --timeout 5s',
    'imgctl doctor --upload',
    "imgctl doctor --json | jq -r '.[] | select(.hint) | .hint'",
  ],
  seeAlso: ['whoami', 'config list', 'help exit-codes'],
  options: OPTIONS,
  fields: COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

interface CheckRow {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly finding: string;
  readonly hint: string | null;
  /** Decides the exit code of a failure. */
  readonly code?: ErrorCode;
}

/** What a check found: a text if all is well, an error if it failed. */
type Result = string | ImgctlError | Found;

interface Found extends Omit<CheckRow, 'check' | 'hint'> {
  readonly hint?: string | Facts | undefined;
}

function warning(finding: string, hint: string | Facts): Result {
  return { state: 'warning', finding, hint };
}

function notChecked(finding: string, hint?: string | Facts): Result {
  return { state: 'not checked', finding, hint };
}

async function run(context: Context, options: Parsed<typeof OPTIONS>): Promise<void> {
  const rows: CheckRow[] = [];
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
        const { message, facts, code } = result;
        const hint = facts ? context.hintOf(facts) : null;
        rows.push({ check: name, state: 'failed', finding: message, hint, code });
      } else {
        const { hint } = result;
        rows.push({ check: name, ...result, hint: hint ? context.hintOf(hint) : null });
      }
    }
  };

  const progress = context.console.startProgress({ lines: false });
  progress.update('checking');
  await check('program', () => `imgctl ${version}, ${context.io.system.runtime}`);
  await check('files', () => fileResults(context));
  // No other check of files fails: the settings are not trusted, and what needs them is left out.
  const isTrusted = rows.every(({ state }) => state !== 'failed');
  if (isTrusted) await check('configuration', () => configurationResults(context));
  const settings = tryOr(() => context.settings, undefined);
  if (settings !== undefined) {
    // First, as reading the shared store also fills the cache that the checks below use.
    await check('token store', () => storeResult(context, settings));
    const account = tryOr(() => settings.account, undefined);
    const login = options.login ? await logIn(context) : undefined;
    const cached = account && context.cachedToken(account);
    const { response, result } = await probe(context, cached).catch((error: unknown) => {
      return { response: undefined, result: asImgctlError(error) };
    });
    await check('connection', () => result);
    await check('clock', () => (response ? clockResult(response) : UNCONNECTED));
    await check('token', () =>
      response ? (login ?? tokenResult(context, cached, response)) : UNCONNECTED,
    );
    await check('password', () => passwordResult(context, options, login === undefined));
    await check('storage', () => storageResult(context, options.upload));
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

const UNCONNECTED = notChecked('connection failed');

const SET_CONFIG_DIR = 'set IMGCTL_CONFIG_DIR to a writable directory';

function fileResults({ io }: Context): Result[] {
  const { config, state } = findPaths(io);
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning(finding, SET_HOME)];
  }
  const stat = tryOr(() => fs.statSync(configFilePath(config)), undefined);
  if (stat) checkTrust(config, stat, io);
  const results: Result[] = [];
  const modes = [
    [config, 0o022, 'go-w', 'writable by'],
    [tokenFolder(config), 0o077, 'go-rwx', 'accessible to'],
    [configFilePath(config), 0o077, 'go-rwx', 'accessible to'],
  ] as const;
  for (const [file, bits, change, access] of modes) {
    const mode = tryOr(() => fs.statSync(file).mode, 0);
    if (io.system.platform === 'win32' || (mode & bits) === 0) continue;
    const hint = `chmod ${change} ${shellQuote(file)}`;
    results.push(warning(`${file} is ${access} other users`, hint));
  }
  const folders = [config, tokenFolder(config), state ?? config].map(nearestExisting);
  for (const folder of new Set(folders)) {
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

function configurationResults({ settings, io }: Context): Result[] {
  const { config, profile } = settings;
  const results: Result[] = [];
  if (settings.isUnknown) {
    results.push(
      warning(`unknown profile ${profile}`, hint`list the profiles: ${imgctl('profile', 'list')}`),
    );
  }
  for (const key of SETTING_KEYS) {
    const { error } = attempt(() => settings.get(key));
    if (!error) continue;
    const set = hint`${imgctl('config', 'set', key, 'VALUE')} (${error.facts ?? 'see its help'})`;
    const isStored = settings.find(key).layer === 'profile';
    results.push(isStored ? error.with({ hint: set }) : error);
  }
  for (const key of ['ca-file', 'upload-ca-file'] as const) {
    const { error } = attempt(() => readCertificates(settings, io, key));
    if (error) results.push(error);
  }
  for (const key of Object.keys(config.profiles.get(profile) ?? {})) {
    if (isSettingKey(key) || key === STORED_PASSWORD) continue;
    const remove = hint`remove it with: ${imgctl('config', 'unset', key)}`;
    results.push(warning(`unknown setting ${key}`, remove));
  }
  const suffix = (name: string) => name.replace('IMGCTL_', '');
  for (const [name, value] of Object.entries(io.env)) {
    if (!name.startsWith('IMGCTL_') || !value || VARIABLES.includes(name)) continue;
    // Kubernetes sets such for a service of this name.
    const meant = nearest(suffix(name), VARIABLES.map(suffix));
    const see = hint`see: ${imgctl('help', 'environment')}`;
    const fix = meant ? `did you mean IMGCTL_${meant}?` : see;
    results.push(warning(`the variable ${name} means nothing`, fix));
  }
  if (results.length > 0) return results;
  const set = SETTING_KEYS.filter((key) => settings.find(key).layer !== 'default');
  return [`profile ${profile}: ${counted(set.length, 'setting')}, all valid`];
}

type ServiceResponse = Awaited<ReturnType<Send>>;

const REFUSED = { kind: 'token-refused' } as const;

/** Sends one GET /v2, with the token if it is valid, without renewal or retry. @throws ImgctlError */
async function probe(context: Context, cached: CachedToken | undefined) {
  const own = tokenState(cached, context.io.now()) === 'valid' ? cached?.token : undefined;
  const given = givenToken(context.io) ?? own;
  const token = given && isToken(given) ? given : undefined;
  const tokens = {
    current: async () => token,
    renew: async () => undefined,
    isNew: () => false,
    refused: REFUSED,
  };
  // Settings that this request does not need may be invalid.
  const unneeded = { concurrency: '1', username: '-', 'auth-scheme': token ? undefined : 'bearer' };
  const settings = context.settings.with({ retries: '0', ...unneeded });
  const { client, baseUrl, route } = await context.openSession(settings, tokens);
  const response = await client.send({
    method: 'GET',
    path: '/v2',
    anyStatus: true,
    asReceived: false,
  });
  const { proxy, variable, bypassReason } = route;
  const through = proxy ? `, through the proxy ${proxy.url.origin} from ${variable}` : '';
  const bypassed = bypassReason ? `; ${variable} is bypassed: ${bypassReason}` : '';
  const request = `GET ${baseUrl}/v2${token ? '' : ' without a token'}`;
  const finding = `${request} returned ${response.status}${through}${bypassed}`;
  return { response, result: connectionResult(context, response, finding) };
}

function connectionResult(context: Context, response: ServiceResponse, finding: string): Result {
  const { error } = attempt(() => readJson(response));
  if (error && !(isRefusal(response) && error.code !== 'bad-answer')) {
    // A 404 for /v2 means that this is another service; not-found would mean a missing image.
    throw error.code === 'not-found' ? error.with({ code: 'failed' }) : error;
  }
  if (error && serviceMessage(response.body) === undefined) {
    const hint = `check that the base URL is correct: ${response.endpoint.show}`;
    return warning(`${finding}, but not in the format of the service`, hint);
  }
  const settings = context.settings.with({ 'allow-http': 'false' });
  if (tryOr(() => requireBaseUrl(settings), undefined)) return finding;
  const secure = imgctl('config', 'set', 'base-url', `https://${response.url.host}`);
  const risk = 'plain http sends the password and the token unencrypted';
  return warning(`${finding}; ${risk}`, hint`${secure}`);
}

function isRefusal({ status }: ServiceResponse): boolean {
  return status === 401 || status === 403;
}

const MAX_CLOCK_SKEW = 5 * 60_000;

function clockResult(response: ServiceResponse): Result {
  const skew = clockSkew(response);
  if (skew === undefined) return notChecked('the service sent no valid date');
  if (Math.abs(skew) <= MAX_CLOCK_SKEW) return 'agrees with the service';
  const finding = `${describeDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} the service`;
  return warning(finding, 'set the clock of this machine, on Linux: sudo timedatectl set-ntp true');
}

/** Requests a token, since a valid one says nothing about the password. Returns why the login failed. */
async function logIn(context: Context): Promise<ImgctlError | undefined> {
  const { settings, io } = context;
  try {
    const { client, tokens } = await context.openSession(settings.with({ retries: '0' }));
    const password = tokens && unattendedPassword(settings, io);
    if (password) await tokens.login(await password.read(), password.refused);
    else await client.serviceRoot();
    return undefined;
  } catch (error) {
    return asImgctlError(error);
  }
}

function tokenResult(
  { io, settings }: Context,
  cached: CachedToken | undefined,
  response: ServiceResponse,
): Result {
  const fixed = givenToken(io);
  const password = fixed || !settings.account.username || unattendedPassword(settings, io);
  const next =
    typeof password === 'object' &&
    `the next command logs in with the password from ${password.origin}`;
  const state = tokenState(cached, io.now());
  if (!fixed && state !== 'valid') {
    if (!next) return noValidToken(state);
    const finding = `${state === 'none' ? 'no token yet' : state}; ${next}`;
    return notChecked(finding, hint`check it with: ${imgctl('doctor', '--login')}`);
  }
  const facts = fixed ? tokenOfEnvironment(fixed).refused : REFUSED;
  if (!isRefusal(response)) {
    const origin = fixed ? 'from IMGCTL_TOKEN' : `valid until ${utcTime(cached?.expiresAt ?? 0)}`;
    return `${origin}, accepted by the service`;
  }
  const refusal = statusError(response);
  if (refusal.code === 'not-permitted') return refusal;
  if (next) return warning(`${refusal.message}; ${next}`, facts);
  return refusal.with({ code: 'token-refused', facts });
}

/** Names the source of the password, and reads it if that is asked for; nothing if there is none, or the login failed. */
async function passwordResult(
  { io, settings, console }: Context,
  options: Parsed<typeof OPTIONS>,
  isAccepted: boolean,
): Promise<Result | Result[]> {
  const source = givenToken(io) ? undefined : unattendedPassword(settings, io);
  if (source === undefined) return [];
  const { origin } = source;
  if (options.login && isAccepted) return `${origin}, accepted by the service`;
  const check = hint`check it with: ${imgctl('doctor', '--check-password')}`;
  if (!options.checkPassword) return options.login ? [] : notChecked(origin, check);
  console.redaction.add(await source.read(), settings.account.username);
  return `${origin} gives a password`;
}

/** Checks the shared store, and takes its token over, as the next command would; nothing for `file`. */
async function storeResult(context: Context, settings: Settings): Promise<Result | Result[]> {
  const address = tryOr(() => settings.text('token-store'), 'file') ?? 'file';
  const store =
    address === 'file' ? undefined : await openSharedStore(context.sessionOptions(settings));
  if (store === undefined) return [];
  try {
    await store.inspect();
    await store.read();
    const seal = store.isSealed ? 'tokens are encrypted' : 'tokens are not encrypted';
    return `${address}: reachable, ${seal}`;
  } catch (error) {
    if (!(error instanceof SharedStoreError)) throw error;
    const see = imgctl('help', 'fleet');
    const check = hint`check its address, password, permissions and ca-file; see: ${see}`;
    return warning(`cannot use ${address}: ${error.message}`, error.facts ?? check);
  } finally {
    await store.close();
  }
}

/** Checks the upload storage with its credentials, and by an upload if that is asked for; nothing if none is set. */
async function storageResult(context: Context, mayUpload = false): Promise<Result | Result[]> {
  const { settings } = context;
  if (settings.find('upload-url').text === undefined) {
    const set = hint`run: ${imgctl('config', 'set', 'upload-url', 'URL')}`;
    return mayUpload ? new ImgctlError('config', 'no upload storage is set', { hint: set }) : [];
  }
  let storage: Storage | undefined;
  try {
    ({ storage } = await openUploadStorage(context));
    if (!mayUpload) return `${storage.address}: reachable, credentials accepted`;
    const { tryUpload } = await import('../../upload/trial.ts');
    await tryUpload(storage);
    return `${storage.address}: a file was uploaded, renamed, compared and removed`;
  } catch (error) {
    // What is not stored, push asks for.
    if (mayUpload || !hasCode(error, 'not-logged-in')) throw error;
    return notChecked(error.message, error.facts);
  } finally {
    await storage?.close();
  }
}

/** Cells of a terminal that has room for a table. */
const MIN_WIDTH = 40;

async function print(context: Context, results: readonly CheckRow[]): Promise<void> {
  const { redaction } = context.console;
  // A narrow terminal shows records, with the hint of each.
  const isNarrow = (context.terminal.width ?? MIN_WIDTH) < MIN_WIDTH;
  const shown = ['check', 'state', 'finding', ...(isNarrow ? ['hint'] : [])];
  const layout = { shown, cells: namesOf(COLUMNS), isTolerant: true, wrap: true };
  const view = context.view(COLUMNS, {}, layout);
  const rows = results
    .filter(({ state }) => !context.quiet || state === 'failed' || state === 'warning')
    .flatMap(({ check, state, finding, hint }) => {
      const text = hint && redaction.apply(hint);
      const row = { check, state, finding: redaction.apply(finding), hint: text };
      // A column for hints would start far to the right of most findings.
      if (!view.isTable || text === null || isNarrow) return [row];
      return [row, { check: '', state: '', finding: `hint: ${text}` }];
    });
  await view.printList(rows);
}
