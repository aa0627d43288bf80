// Reads and changes the lock file, which belongs to one service.

import path from 'node:path';
import { suggest } from '../../../choices.ts';
import { option, type Parsed } from '../../../cli/command.ts';
import { type Suggest, suggestWords } from '../../../cli/suggestions.ts';
import { Settings } from '../../../config/settings.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError, tryOr } from '../../../errors.ts';
import { hint, type Invocation, imgctl } from '../../../facts.ts';
import { expandHome } from '../../../files/paths.ts';
import { changeUserFile, readTextFile } from '../../../files/user-file.ts';
import { escapeInJson } from '../../../output/text.ts';
import { quoted } from '../../../words.ts';
import {
  formatLockFile,
  type LockedImage,
  type LockFile,
  type Locks,
  parseLockFile,
} from './lock-format.ts';

export const DEFAULT_LOCK_FILE = 'images.lock.json';

export const LOCK_FILE_OPTION = option('--file <file>', 'lock file', {
  default: DEFAULT_LOCK_FILE,
  from: 'files',
});

export const suggestLocks: Suggest = async ({ context, values }) => {
  const file = expandHome(values.get('--file') ?? DEFAULT_LOCK_FILE, '--file', context.io.env);
  return suggestWords([...(await readLocks(context, { file })).keys()]);
};

export type LockFileOptions = Parsed<readonly [typeof LOCK_FILE_OPTION]> & {
  /** The snapshot that is read instead of the service. */
  readonly from?: string;
};

/** Others may be resolving images meanwhile. */
const MUTEX_PATIENCE = 60_000;

/**
 * Replaces the locks by those that `change` returns; one process at a time. If they are the same, the file stays.
 * @param baseUrl of the service that `change` reads; undefined if it reads none
 * @param mayCreate false if a missing file is an error
 * @param change called again if another program changes the file meanwhile
 * @returns the locks of the last call
 * @throws ImgctlError config, failed, locked, and whatever `change` throws
 */
export async function changeLocks(
  context: Context,
  options: LockFileOptions,
  { baseUrl, mayCreate = false }: { baseUrl?: string; mayCreate?: boolean },
  change: (locks: Locks) => Promise<Locks>,
): Promise<{ readonly before: Locks; readonly after: Locks }> {
  const file = pathOf(context, options);
  const none: Locks = new Map();
  let changed = { before: none, after: none };
  await changeUserFile(file, labelOf(options), MUTEX_PATIENCE, context.io, async () => {
    const read = await findLockFile(context, options);
    if (read === undefined && !mayCreate) throw missingFile(options);
    const found = read ?? { locks: none, baseUrl, content: {} };
    // A file without locks can be used for any service: it has no ids.
    const old = found.locks.size === 0 ? { ...found, baseUrl: found.baseUrl ?? baseUrl } : found;
    if (baseUrl !== undefined) requireService(context, options, old, baseUrl);
    changed = { before: old.locks, after: await change(old.locks) };
    const text = formatLockFile({ ...old, locks: changed.after });
    return text === formatLockFile(old) ? undefined : escapeInJson(text);
  });
  return changed;
}

/** Returns a command for hints, for the same file. */
export function lockCommand({ file, from }: LockFileOptions, ...words: string[]): Invocation {
  const place = file === DEFAULT_LOCK_FILE ? [] : ['--file', file];
  const source = from === undefined ? [] : ['--from', from];
  return imgctl('images', 'lock', ...words, ...place, ...source);
}

export function requireLock(options: LockFileOptions, locks: Locks, name: string): LockedImage {
  const locked = locks.get(name);
  if (locked !== undefined) return locked;
  const facts = suggest(name, [...locks.keys()], lockCommand(options, 'list'));
  throw new ImgctlError('not-found', `no image is locked as ${quoted(name)}`, { facts });
}

/** Returns the locks of these names, or all. @throws ImgctlError not-found */
export function selectLocks(
  options: LockFileOptions,
  locks: Locks,
  names: readonly string[],
): Locks {
  if (names.length === 0) return locks;
  return new Map(names.map((name) => [name, requireLock(options, locks, name)]));
}

/** @param baseUrl of the service that is compared. @throws ImgctlError config: the file is missing or of another one */
export async function readLocks(
  context: Context,
  options: LockFileOptions,
  baseUrl?: string,
): Promise<Locks> {
  const read = await findLockFile(context, options);
  if (read === undefined) throw missingFile(options);
  if (baseUrl !== undefined) requireService(context, options, read, baseUrl);
  return read.locks;
}

/** Returns the lock file; undefined if it does not exist. @throws ImgctlError config: it cannot be read */
async function findLockFile(
  context: Context,
  options: LockFileOptions,
): Promise<LockFile | undefined> {
  const label = labelOf(options);
  const text = await readTextFile(pathOf(context, options), label, context.io);
  if (text === undefined) return undefined;
  return parseLockFile(text, (problem, advice = 'restore it, for example with git') => {
    return new ImgctlError('config', `${label} ${problem}`, { facts: advice });
  });
}

function missingFile(options: LockFileOptions): ImgctlError {
  const create = lockCommand(options, 'add', 'NAME', 'TEXT');
  return new ImgctlError('config', `${labelOf(options)} does not exist`, {
    facts: hint`create it with: ${create}`,
  });
}

function pathOf({ io }: Context, { file }: LockFileOptions): string {
  return path.resolve(io.cwd, file);
}

/** Returns what messages call the file. */
function labelOf({ file }: LockFileOptions): string {
  return `the lock file ${file}`;
}

/** An id means something in one service only. @throws ImgctlError config */
function requireService(
  context: Context,
  options: LockFileOptions,
  { baseUrl }: LockFile,
  wanted: string,
): void {
  if (baseUrl === wanted) return;
  const label = labelOf(options);
  const line = `"base_url": ${JSON.stringify(wanted)}`;
  if (baseUrl === undefined) {
    throw new ImgctlError('config', `${label} does not name its service`, {
      facts: `if its images are from ${wanted}, add the line: ${line},`,
    });
  }
  const fixes = [
    serviceAdvice(context, options, baseUrl),
    'for another lock file, use --file FILE',
    `if both addresses are one service, write into the file: ${line}`,
  ];
  throw new ImgctlError('config', `${label} belongs to ${baseUrl}, not to ${wanted}`, {
    facts: fixes.filter((fix) => fix !== undefined).join('; '),
  });
}

/** Returns how to read the service of the lock file instead; undefined if no profile is of that service. */
function serviceAdvice(
  { settings }: Context,
  { from }: LockFileOptions,
  baseUrl: string,
): string | undefined {
  if (from !== undefined) return `use a snapshot of ${baseUrl}`;
  const profile = profileOf(settings, baseUrl);
  if (profile === undefined) return undefined;
  // An option or a variable comes before the address of any profile.
  const isStored = settings.find('base-url').layer === 'profile';
  return isStored ? `use --profile ${profile}` : `use --base-url ${baseUrl}`;
}

/** Returns the name of a profile of this service, of the same user if there is one. */
function profileOf({ config, profile }: Settings, baseUrl: string): string | undefined {
  const accountOf = (name: string) => tryOr(() => new Settings(config, name).account, undefined);
  const username = accountOf(profile)?.username;
  const names = [...config.profiles.keys()].filter((name) => accountOf(name)?.baseUrl === baseUrl);
  return names.find((name) => accountOf(name)?.username === username) ?? names[0];
}
