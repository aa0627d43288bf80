// Reads and changes the lock file, which belongs to one service.

import path from 'node:path';
import { suggest } from '../../../choices.ts';
import { option, type Parsed } from '../../../cli/declare.ts';
import { type Suggest, suggestWords } from '../../../cli/suggestions.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { hint, type Invocation, imgctl } from '../../../facts.ts';
import { announceWait, holdMutex } from '../../../files/mutex.ts';
import { expandHome } from '../../../files/paths.ts';
import { changeUserFile, readTextFile } from '../../../files/user-file.ts';
import type { Output } from '../../../output/output.ts';
import { escapeInJson } from '../../../output/text.ts';
import { quoted } from '../../../words.ts';
import { snapshotOptions } from '../invocation.ts';
import type { CatalogueOptions } from '../options.ts';
import {
  formatLockFile,
  type LockedImage,
  type LockFile,
  type Locks,
  parseLockFile,
} from './lock-format.ts';
import { otherServiceError } from './other-service.ts';

export const DEFAULT_LOCK_FILE = 'images.lock.json';

export const LOCK_FILE_OPTION = option('--file <file>', 'lock file', {
  default: DEFAULT_LOCK_FILE,
  from: 'files',
});

export const suggestLocks: Suggest = async ({ context, values }) => {
  const file = expandHome(values.get('--file') ?? DEFAULT_LOCK_FILE, '--file', context.io.env);
  return suggestWords([...(await readLocks(context, { file })).keys()]);
};

/** Of commands that also read the catalogue, or a snapshot instead. */
export type LockFileOptions = Parsed<readonly [typeof LOCK_FILE_OPTION]> &
  Pick<CatalogueOptions, 'from' | 'maxAge'>;

const NO_LOCKS: Locks = new Map();

/** Milliseconds: several runs may each read a large catalogue first. */
const MUTEX_PATIENCE = 600_000;

interface Access {
  /** The service whose images the command reads; undefined if it reads none. */
  readonly baseUrl?: string | undefined;
  /** True if the file may be missing. */
  readonly mayCreate?: boolean;
}

/**
 * Replaces the locks by those that `change` returns; one process at a time. If they are the same,
 * the file stays.
 * @param change called again if another program changes the file meanwhile
 * @returns the locks of the last call
 * @throws ImgctlError config, failed, locked, and whatever `change` throws
 */
export async function changeLocks(
  context: Context,
  options: LockFileOptions,
  access: Access,
  change: (locks: Locks) => Promise<Locks>,
): Promise<{ readonly before: Locks; readonly after: Locks }> {
  const { console, io } = context;
  const file = path.resolve(io.cwd, options.file);
  const label = labelOf(options);
  const hold = (target: string) =>
    announceWait(holdMutex(target, MUTEX_PATIENCE, io), () =>
      console.stalled('waiting for another imgctl that changes the lock file'),
    );
  let changed = { before: NO_LOCKS, after: NO_LOCKS };
  await changeUserFile(file, label, hold, async () => {
    const old = await readLockFile(context, options, access);
    changed = { before: old.locks, after: await change(old.locks) };
    const text = formatLockFile({ ...old, locks: changed.after });
    return text === formatLockFile(old) ? undefined : escapeInJson(text);
  });
  return changed;
}

/** @throws ImgctlError config: it is missing or damaged, or of another service */
export async function readLocks(
  context: Context,
  options: LockFileOptions,
  baseUrl?: string,
): Promise<Locks> {
  return (await readLockFile(context, options, { baseUrl })).locks;
}

async function readLockFile(
  context: Context,
  options: LockFileOptions,
  { baseUrl, mayCreate = false }: Access,
): Promise<LockFile> {
  const label = labelOf(options);
  const text = await readTextFile(path.resolve(context.io.cwd, options.file), label, context.io);
  if (text === undefined && !mayCreate) {
    const create = lockCommand(options, 'add', 'NAME', 'TEXT');
    const facts = hint`create it with: ${create}`;
    throw new ImgctlError('config', `${label} does not exist`, { facts });
  }
  const invalid = (problem: string, advice = 'restore it, for example with git') =>
    new ImgctlError('config', `${label} ${problem}`, { facts: advice });
  const empty = { locks: NO_LOCKS, baseUrl: undefined, content: {} };
  const file = text === undefined ? empty : parseLockFile(text, invalid);
  // An id means something in one service only. A file without locks has no ids.
  if (baseUrl === undefined || baseUrl === file.baseUrl) return file;
  if (file.baseUrl === undefined && file.locks.size === 0) return { ...file, baseUrl };
  throw otherServiceError(context, { label, from: options.from }, file.baseUrl, baseUrl);
}

/** Returns a command for hints, for the same file. */
export function lockCommand(options: LockFileOptions, ...words: string[]): Invocation {
  const { file } = options;
  const place = file === DEFAULT_LOCK_FILE ? [] : ['--file', file];
  return imgctl('images', 'lock', ...words, ...place, ...snapshotOptions(options));
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

/** Notes on stderr that there are no locks, unless the output is for scripts. */
export function noteIfNone({ console }: Context, { isTableFormat }: Output, locks: Locks): void {
  if (locks.size === 0 && isTableFormat) console.note('no images are locked');
}

/** Returns what messages call the file. */
function labelOf({ file }: LockFileOptions): string {
  return `the lock file ${file}`;
}
