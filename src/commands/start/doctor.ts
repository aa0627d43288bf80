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
  SECRETS,
  SETTING_KEYS,
  STORED_PASSWORD,
  VARIABLES,
} from '../../config/definitions.ts';
import { findPaths } from '../../config/paths.ts';
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
import { type Facts, hint, imgctl, setting } from '../../facts.ts';
import { expandHome } from '../../files/paths.ts';
import { column, namesOf } from '../../output/columns.ts';
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
  column('state', 'string', 'ok, warning, failed or not checked', { isState: true }),
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

interface Diagnosis {
  readonly context: Context;
  readonly options: Parsed<typeof OPTIONS>;
  /** Set by the check of the connection, for those after it. */
  cached?: CachedToken | undefined;
  response?: ServiceResponse;
  /** Why the login failed that was asked for. */
  loginError?: ImgctlError | undefined;
}

type Results = Result | Result[];

/** Each check in its order, with what `--help` says of it. An error that it throws is its result; [] leaves it out. */
const CHECKS: readonly (readonly [
  name: string,
  help: string,
  find: (diagnosis: Diagnosis) => Results | Promise<Results>,
])[] = [
  [
    'program',
    'shows the versions of imgctl and Node',
    ({ context }) => `imgctl ${version}, ${context.io.system.runtime}`,
  ],
  [
    'files',
    'checks who can change settings or read passwords, and whether tokens can be stored',
    fileResults,
  ],
  ['configuration', 'parses every setting and variable', configurationResults],
  // Before those below: reading the shared store also fills the cache that they use.
  [
    'token store',
    'if set, reads the shared store and writes a value that expires after 1 s',
    storeResult,
  ],
  ['connection', 'sends one GET /v2, with the token if it is valid', connect],
  ['clock', 'compares the clock with the date of the response', clockResult],
  [
    'token',
    'shows its expiry, and whether the service accepts it; with --login, requests one',
    tokenResult,
  ],
  ['password', 'names its source; with --check-password, reads it', passwordResult],
  [
    'storage',
    'if upload-url is set, runs the command of its password or secret key, sends the password (S3: a signature), and lists the folder; with --upload, also uploads, compares and removes a small file',
    storageResult,
  ],
];

export const doctor = command({
  name: 'doctor',
  otherNames: ['ping', 'health'],
  summary: 'check settings, network, login and upload storage',
  description: [
    'Requests no token, and sends no password to the service, unless --login is given. Shows a hint for each problem.',
  ],
  details: [
    'Checks:',
    terms(...CHECKS.map(([name, help]) => [name, help] as const)),
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

async function run(context: Context, options: Parsed<typeof OPTIONS>) {
  const rows: CheckRow[] = [];
  const diagnosis: Diagnosis = { context, options };
  const progress = context.console.startProgress({ lines: false });
  progress.update('checking');
  for (const [check, , find] of CHECKS) {
    const results = await Promise.resolve(diagnosis)
      .then(find)
      .catch((error: unknown) => asImgctlError(error));
    context.io.signal.throwIfAborted();
    for (const result of [results].flat()) rows.push({ check, ...described(context, result) });
    const isFailed = rows.some(({ state }) => state === 'failed');
    // The other checks need settings that can be read and trusted.
    if (isFailed && tryOr(() => context.settings, undefined) === undefined) break;
  }
  await progress.stop();

  const result = shown(context, rows);
  const failures = rows.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return result;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  // A terminal has just shown the hint of each check.
  const isShown = context.io.stdout.isTTY && context.safeFormat === 'table' && !context.quiet;
  const fail = () => {
    throw new ImgctlError(first.code ?? 'failed', `failed checks: ${names}`, {
      hint: isShown ? undefined : (first.hint ?? undefined),
    });
  };
  return { ...result, afterwards: fail };
}

function described(context: Context, result: Result): Omit<CheckRow, 'check'> {
  if (typeof result === 'string') return { state: 'ok', finding: result, hint: null };
  const hintOf = (hint: string | Facts | undefined) => (hint ? context.hintOf(hint) : null);
  if (!(result instanceof ImgctlError)) return { ...result, hint: hintOf(result.hint) };
  const { message, facts, code } = result;
  return { state: 'failed', finding: message, hint: hintOf(facts), code };
}

const UNCONNECTED = notChecked('connection failed');

const SET_CONFIG_DIR = 'set IMGCTL_CONFIG_DIR to a writable directory';

function fileResults({ context }: Diagnosis): Result[] {
  const { io } = context;
  const { config, state } = findPaths(io);
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning(finding, { kind: 'no-home' })];
  }
  const stat = tryOr(() => fs.statSync(configFilePath(config)), undefined);
  if (stat) checkTrust(config, stat, io);
  const results: Result[] = [];
  const tokens = tokenFolder(config);
  const warnOfMode = (file: string, bits: number, change: string, access: string) => {
    const stat = tryOr(() => fs.statSync(file), undefined);
    if (io.system.platform === 'win32' || ((stat?.mode ?? 0) & bits) === 0) return;
    results.push(warning(`${file} is ${access}`, `chmod ${change} ${shellQuote(file)}`));
  };
  warnOfMode(config, 0o022, 'go-w', 'writable by other users');
  // Runs tighten their own folder of tokens, but not the target of a link.
  const isLink = tryOr(() => fs.lstatSync(tokens).isSymbolicLink(), false);
  if (isLink) warnOfMode(tokens, 0o077, 'go-rwx', 'accessible to other users');
  for (const file of ownSecretFiles(context))
    warnOfMode(file, 0o004, 'o-r', 'readable by every user');
  const folders = [config, tokens, state ?? config].map(nearestExisting);
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

/** Returns the files of passwords and secrets that belong to the user, who can change their mode. */
function ownSecretFiles(context: Context): Set<string> {
  const { io } = context;
  const names = Object.values(SECRETS).map(([name]) => `${name}_FILE`);
  const stored = tryOr(() => context.settings.text('password-file'), undefined);
  const named = [['password-file', stored], ...names.map((name) => [name, io.env[name]])] as const;
  const files = named.flatMap(([name = '', file]) => {
    const found = file && tryOr(() => path.resolve(io.cwd, expandHome(file, name, io.env)), '');
    const stat = found ? tryOr(() => fs.statSync(found), undefined) : undefined;
    return found && stat?.isFile() && stat.uid === io.system.uid ? [found] : [];
  });
  return new Set(files);
}

function nearestExisting(directory: string): string {
  const parent = path.dirname(directory);
  return fs.existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}

function configurationResults({ context: { settings, io } }: Diagnosis): Result[] {
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
async function connect(diagnosis: Diagnosis): Promise<Result> {
  const { context, options } = diagnosis;
  const account = tryOr(() => context.settings.account, undefined);
  if (options.login) diagnosis.loginError = await logIn(context);
  const cached = account && context.cachedToken(account);
  diagnosis.cached = cached;
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
  const result = connectionResult(context, response, finding);
  diagnosis.response = response;
  return result;
}

function connectionResult(context: Context, response: ServiceResponse, finding: string): Result {
  const { error } = attempt(() => readJson(response));
  if (error && !(isRefusal(response) && error.code !== 'bad-answer')) {
    // A 404 for /v2 means that this is another service; not-found would mean a missing image.
    throw error.code === 'not-found' ? error.with({ code: 'failed' }) : error;
  }
  if (error && serviceMessage(response.body) === undefined) {
    const check = { kind: 'check-address', of: 'service' } as const;
    return warning(`${finding}, but not in the format of the service`, check);
  }
  const settings = context.settings.with({ 'allow-http': 'false' });
  if (tryOr(() => requireBaseUrl(settings), undefined)) return finding;
  const secure = setting('set', 'base-url', `https://${response.url.host}`);
  const risk = 'plain http sends the password and the token unencrypted';
  return warning(`${finding}; ${risk}`, secure);
}

function isRefusal({ status }: ServiceResponse): boolean {
  return status === 401 || status === 403;
}

const MAX_CLOCK_SKEW = 5 * 60_000;

function clockResult({ response }: Diagnosis): Result {
  if (!response) return UNCONNECTED;
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

function tokenResult({ context, cached, response, loginError }: Diagnosis): Result {
  if (!response) return UNCONNECTED;
  if (loginError) return loginError;
  const { io, settings } = context;
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
async function passwordResult({ context, options, loginError }: Diagnosis): Promise<Results> {
  const { io, settings, console } = context;
  const source = givenToken(io) ? undefined : unattendedPassword(settings, io);
  if (source === undefined) return [];
  const { origin } = source;
  if (options.login && !loginError) return `${origin}, accepted by the service`;
  const check = hint`check it with: ${imgctl('doctor', '--check-password')}`;
  if (!options.checkPassword) return options.login ? [] : notChecked(origin, check);
  console.redaction.add(await source.read(), settings.account.username);
  return `${origin} gives a password`;
}

/** Checks the shared store, and takes its token over, as the next command would; nothing for `file`. */
async function storeResult({ context }: Diagnosis): Promise<Results> {
  const { settings } = context;
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
async function storageResult({ context, options }: Diagnosis): Promise<Results> {
  const mayUpload = options.upload;
  const { settings } = context;
  if (settings.find('upload-url').text === undefined) {
    const set = hint`run: ${imgctl('config', 'set', 'upload-url', 'URL')}`;
    return mayUpload ? new ImgctlError('config', 'no upload storage is set', { hint: set }) : [];
  }
  let storage: Storage | undefined;
  try {
    ({ storage } = await openUploadStorage(context));
    const isFolder = settings.get('upload-url')?.kind === 'file';
    const reached = isFolder ? 'found' : 'reachable, credentials accepted';
    if (!mayUpload) return `${storage.address}: ${reached}`;
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

function shown(context: Context, results: readonly CheckRow[]) {
  const { redaction } = context.console;
  // A narrow terminal shows records, with the hint of each.
  const isNarrow = (context.terminal.width ?? MIN_WIDTH) < MIN_WIDTH;
  const columns = ['check', 'state', 'finding', ...(isNarrow ? ['hint'] : [])];
  const options = { shown: columns, cells: namesOf(COLUMNS), wrap: true };
  // The format may be what is wrong.
  const output = context.output(COLUMNS, options, context.safeFormat);
  const rows = results
    .filter(({ state }) => !context.quiet || state === 'failed' || state === 'warning')
    .flatMap(({ check, state, finding, hint }) => {
      const text = hint && redaction.apply(hint);
      const row = { check, state, finding: redaction.apply(finding), hint: text };
      // A column for hints would start far to the right of most findings.
      if (!output.isTable || text === null || isNarrow) return [row];
      return [row, { check: '', state: '', finding: `hint: ${text}` }];
    });
  return { output, rows };
}
