// imgctl doctor: checks what a login, a listing and a push need, and says how to fix it.

import fs from 'node:fs';
import path from 'node:path';
import { version } from '../../../../package.json';
import { MAX_TOKEN_LENGTH } from '../../../api/token-request.ts';
import { terms } from '../../../cli/command-types.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import { readCertificates } from '../../../config/addresses.ts';
import { checkTrust, configFilePath } from '../../../config/config-file.ts';
import {
  FORMER_URL,
  isSettingKey,
  SECRETS,
  SETTING_KEYS,
  STORED_PASSWORD,
  VARIABLES,
} from '../../../config/definitions.ts';
import { findPaths } from '../../../config/paths.ts';
import { controlCharacter } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import {
  asImgctlError,
  attempt,
  errorReason,
  hasCode,
  ImgctlError,
  tryOr,
} from '../../../errors.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';
import { writeJsonFile } from '../../../files/atomic-file.ts';
import { expandHome } from '../../../files/paths.ts';
import { column, namesOf } from '../../../output/columns.ts';
import { MIN_TABLE_WIDTH } from '../../../output/terminal.ts';
import { formatTimestamp } from '../../../query/time-format.ts';
import { openSharedStore } from '../../../session/session.ts';
import { tokenFolder } from '../../../session/token-files.ts';
import { SharedStoreError } from '../../../session/token-store.ts';
import { nearest } from '../../../spelling.ts';
import type { Storage } from '../../../upload/storage.ts';
import { counted, shellQuote } from '../../../words.ts';
import { openUploadStorage } from '../../upload-storage.ts';
import {
  type CheckResult,
  type CheckResults,
  type CheckRow,
  type Diagnosis,
  notChecked,
  warning,
} from './findings.ts';
import { clockResult, connect, passwordResult, tokenResult } from './service.ts';

const UTC_TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

const COLUMNS = [
  column('check', 'string', 'what was checked', { isId: true }),
  column('state', 'string', 'ok, warning, failed or not checked', { isState: true }),
  column('finding', 'string', 'what was found', {
    text: (finding, _, now) =>
      `${finding}`.replace(UTC_TIME, (time) => formatTimestamp(time, 'local', now)),
  }),
  column('hint', 'string or null', 'command or setting that fixes it'),
];

const OPTIONS = [
  option('--login', 'request a token, which checks the password'),
  option('--check-password', 'read the password, but send it nowhere'),
  option('--upload', 'try an upload to the storage with a small file'),
] as const;

/**
 * Each check in its order, with what `--help` says of it. An error that it throws is its result; []
 * leaves it out.
 */
const CHECKS: readonly (readonly [
  name: string,
  help: string,
  find: (diagnosis: Diagnosis) => CheckResults | Promise<CheckResults>,
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

async function run(context: Context, options: Parsed<typeof OPTIONS>) {
  const rows: CheckRow[] = [];
  const diagnosis: Diagnosis = { context, options };
  context.console.progress.start({ onlyIfRedrawn: true });
  context.console.progress.show('checking');
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
  context.console.progress.end();

  const result = shown(context, rows);
  const failures = rows.filter(({ state }) => state === 'failed');
  const [first] = failures;
  if (first === undefined) return result;
  const names = [...new Set(failures.map(({ check }) => check))].join(', ');
  // A terminal has just shown the hint of each check.
  const isShown = context.io.stdout.isTTY && context.safeFormat === 'table' && !context.quiet;
  const fail = () => {
    throw new ImgctlError(first.code ?? 'failed', `failed checks: ${names}`, {
      facts: isShown ? undefined : (first.hint ?? undefined),
    });
  };
  return { ...result, afterwards: fail };
}

function described(context: Context, result: CheckResult): Omit<CheckRow, 'check'> {
  if (typeof result === 'string') return { state: 'ok', finding: result, hint: null };
  const hintOf = (hint: string | Facts | undefined) => (hint ? context.hintOf(hint) : null);
  if (!(result instanceof ImgctlError)) return { ...result, hint: hintOf(result.hint) };
  const { message, facts, code } = result;
  return { state: 'failed', finding: message, hint: hintOf(facts), code };
}

async function fileResults({ context }: Diagnosis): Promise<CheckResult[]> {
  const { io } = context;
  const { config, state } = findPaths(io);
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning(finding, { kind: 'no-home' })];
  }
  const stat = tryOr(() => fs.statSync(configFilePath(config)), undefined);
  if (stat) checkTrust(config, stat, io);
  const results: CheckResult[] = [];
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
    // A disk may be full although permissions allow writing.
    // The nearest folder may be the user's home: a file of another program must not have this name.
    const trial = path.join(folder, '.imgctl-doctor.test');
    try {
      await writeJsonFile(trial, { token: 'x'.repeat(MAX_TOKEN_LENGTH) });
      fs.rmSync(trial, { force: true });
    } catch (error) {
      const finding = `cannot write to ${folder}: ${errorReason(error)}`;
      results.push(warning(finding, { kind: 'not-writable' }));
    }
  }
  if (results.length > 0) return results;
  return [
    fs.existsSync(config) ? `${config}: permissions are correct` : `${config} does not exist yet`,
  ];
}

/**
 * Returns the files of passwords and secrets that belong to the user, who can change their mode.
 */
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

function configurationResults({ context: { settings, io } }: Diagnosis): CheckResult[] {
  const { config, profile } = settings;
  const results: CheckResult[] = [];
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
    results.push(isStored ? error.with({ facts: set }) : error);
  }
  for (const key of ['ca-file', 'upload-ca-file'] as const) {
    const { error } = attempt(() => readCertificates(settings, io, key));
    if (error) results.push(error);
  }
  for (const key of Object.keys(config.profiles.get(profile) ?? {})) {
    if (isSettingKey(key) || [STORED_PASSWORD, FORMER_URL].includes(key)) continue;
    const remove = hint`remove it with: ${imgctl('config', 'unset', key)}`;
    // No one can type such a key as it is shown.
    const fix = controlCharacter(key) === undefined ? remove : 'remove it from config.json';
    results.push(warning(`unknown setting ${key}`, fix));
  }
  const suffix = (name: string) => name.replace('IMGCTL_', '');
  for (const [name, value] of Object.entries(io.env)) {
    if (!name.startsWith('IMGCTL_') || !value || VARIABLES.includes(name)) continue;
    // Kubernetes sets such for a service of this name.
    const meant = nearest(suffix(name), VARIABLES.map(suffix));
    const see = hint`see: ${imgctl('help', 'environment')}`;
    const fix = meant ? `did you mean IMGCTL_${meant}?` : see;
    results.push(warning(`unknown variable ${name}`, fix));
  }
  if (results.length > 0) return results;
  const set = SETTING_KEYS.filter((key) => settings.find(key).layer !== 'default');
  return [`profile ${profile}: ${counted(set.length, 'setting')}, all valid`];
}

/**
 * Checks the shared store, and takes its token over, as the next command would; nothing for `file`.
 */
async function storeResult({ context }: Diagnosis): Promise<CheckResults> {
  const { settings } = context;
  const address = tryOr(() => settings.text('token-store'), 'file') ?? 'file';
  const store =
    address === 'file' ? undefined : await openSharedStore(context.sessionOptions(settings));
  if (store === undefined) return [];
  try {
    await store.testWrite();
    await store.read();
    const seal = store.account.isSealed ? 'tokens are encrypted' : 'tokens are not encrypted';
    return `${address}: reachable, ${seal}`;
  } catch (error) {
    if (!(error instanceof SharedStoreError)) throw error;
    const see = imgctl('help', 'fleet');
    const check = hint`check its address, password, permissions and ca-file; see: ${see}`;
    return warning(`cannot use ${address}: ${error.message}`, error.facts ?? check);
  } finally {
    await store.account.close();
  }
}

/**
 * Checks the upload storage with its credentials, and by an upload if that is asked for; nothing if
 * none is set.
 */
async function storageResult({ context, options }: Diagnosis): Promise<CheckResults> {
  const mayUpload = options.upload;
  const { settings } = context;
  if (settings.find('upload-url').text === undefined) {
    const set = hint`run: ${imgctl('config', 'set', 'upload-url', 'URL')}`;
    return mayUpload ? new ImgctlError('config', 'no upload storage is set', { facts: set }) : [];
  }
  let storage: Storage | undefined;
  try {
    ({ storage } = await openUploadStorage(context));
    const { address } = storage;
    const isFolder = settings.get('upload-url')?.kind === 'file';
    const reached = isFolder ? 'found' : 'reachable, credentials accepted';
    if (!mayUpload) return `${address}: ${reached}`;
    const { tryUpload } = await import('../../../upload/trial.ts');
    await tryUpload(storage, (name) =>
      context.console.warn(`${name} may still be in ${address}`, 'remove it'),
    );
    return `${address}: a file was uploaded, renamed, compared and removed`;
  } catch (error) {
    // What is not stored, push asks for.
    if (mayUpload || !hasCode(error, 'not-logged-in')) throw error;
    return notChecked(error.message, error.facts);
  } finally {
    await storage?.close();
  }
}

function shown(context: Context, results: readonly CheckRow[]) {
  const { redaction } = context.console;
  // A narrow terminal shows records, with the hint of each.
  const isNarrow = (context.terminal.width ?? MIN_TABLE_WIDTH) < MIN_TABLE_WIDTH;
  const columns = ['check', 'state', 'finding', ...(isNarrow ? ['hint'] : [])];
  const options = { shown: columns, lineColumns: namesOf(COLUMNS), hasSentences: true };
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
