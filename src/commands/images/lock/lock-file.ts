// Reads and changes the lock file, and compares one locked image with the catalogue.

import path from 'node:path';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { suggest } from '../../../choices.ts';
import { option, type Parsed } from '../../../cli/command.ts';
import { type Suggest, suggestWords } from '../../../cli/suggestions.ts';
import { Settings } from '../../../config/settings.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError, tryOr } from '../../../errors.ts';
import { type Facts, hint, type Invocation, imgctl } from '../../../facts.ts';
import { expandHome } from '../../../files/paths.ts';
import { changeUserFile, readTextFile } from '../../../files/user-file.ts';
import { escapeInJson } from '../../../output/text.ts';
import { formatTimestamp } from '../../../query/timestamp.ts';
import { quoted } from '../../../words.ts';
import {
  formatLockFile,
  type LockedImage,
  type LockFile,
  type Locks,
  lockState,
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
  /** A snapshot. */
  readonly from?: string;
  /** The lock that the command names first. */
  readonly name?: string | undefined;
};

/** Others may be resolving images meanwhile. */
const MUTEX_PATIENCE = 60_000;

/**
 * Replaces the locks by those that `change` returns; one process at a time.
 * @param baseUrl of the service that `change` reads; undefined if it reads none
 * @param mayCreate false if a missing file is an error
 * @throws ImgctlError config, failed, locked, and whatever `change` throws
 */
export async function changeLocks(
  context: Context,
  options: LockFileOptions,
  { baseUrl, mayCreate = false }: { baseUrl?: string; mayCreate?: boolean },
  change: (locks: Locks) => Promise<Locks>,
): Promise<void> {
  const { file, what } = locate(context, options);
  await changeUserFile(file, what, MUTEX_PATIENCE, context.io, async () => {
    const initial = mayCreate ? { locks: new Map(), baseUrl, content: {} } : undefined;
    const read = await readLockFile(context, options, initial);
    // A file without locks can be used for any service: it has no ids.
    const old = read.locks.size === 0 ? { ...read, baseUrl: read.baseUrl ?? baseUrl } : read;
    if (baseUrl !== undefined) requireService(context, options, old, baseUrl);
    const locks = await change(old.locks);
    return locks === old.locks ? undefined : escapeInJson(formatLockFile({ ...old, locks }));
  });
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

/** Returns the image that is locked with this name. @throws ImgctlError not-found: it is gone; lock-broken: it was replaced */
export async function readLockedImage(
  context: Context,
  catalogue: Catalogue,
  options: LockFileOptions,
  name: string,
) {
  const locks = await readLocks(context, { ...options, name }, catalogue.baseUrl);
  const locked = requireLock(options, locks, name);
  const image = await catalogue.getImage(locked.id);
  const update = hint`lock the newest one instead: ${lockCommand(options, 'update', name)}`;
  if (image === undefined) {
    const message = `${name} is gone: image ${locked.id} does not exist`;
    throw new ImgctlError('not-found', message, { facts: update });
  }
  const state = lockState(locked, image);
  if (state === 'replaced') {
    const style = context.settings.get('time') ?? 'local';
    const isNamed = (image.name ?? null) === locked.name;
    const how = isNamed
      ? `was updated on ${formatTimestamp(`${image.updated_on}`, style, context.io.now())}`
      : `is now ${image.name ?? 'without a name'}`;
    const message = `${name} was replaced: image ${locked.id} ${how}`;
    throw new ImgctlError('lock-broken', message, { facts: update });
  }
  if (state === 'moved') {
    context.console.warn(`${name} was moved from ${locked.path} to ${image.path}`, update);
  }
  return image;
}

function locate({ io }: Context, { file }: LockFileOptions) {
  return { file: path.resolve(io.cwd, file), what: `the lock file ${file}` };
}

/** @param baseUrl of the service that is compared. @throws ImgctlError config: the file is of another one */
export async function readLocks(
  context: Context,
  options: LockFileOptions,
  baseUrl?: string,
): Promise<Locks> {
  const read = await readLockFile(context, options);
  if (baseUrl !== undefined) requireService(context, options, read, baseUrl);
  return read.locks;
}

/** An id means something in one service only. @throws ImgctlError config */
function requireService(
  context: Context,
  options: LockFileOptions,
  { baseUrl }: LockFile,
  wanted: string,
): void {
  if (baseUrl === wanted) return;
  const { what } = locate(context, options);
  const line = `"base_url": ${JSON.stringify(wanted)}`;
  if (baseUrl === undefined) {
    const facts = `if its images are from ${wanted}, add the line: ${line},`;
    throw new ImgctlError('config', `${what} does not name its service`, { facts });
  }
  const profile = profileOf(context.settings, baseUrl);
  // An option or a variable comes before the address of any profile.
  const isStored = context.settings.find('base-url').layer === 'profile';
  const other = profile && `use ${isStored ? `--profile ${profile}` : `--base-url ${baseUrl}`}`;
  const fixes = [
    options.from === undefined ? other : `use a snapshot of ${baseUrl}`,
    'for another lock file, use --file FILE',
    `if both addresses are one service, write into the file: ${line}`,
  ].flatMap((each) => each ?? []);
  const message = `${what} belongs to ${baseUrl}, not to ${wanted}`;
  throw new ImgctlError('config', message, { facts: fixes.join('; ') });
}

/** Returns the name of a profile of this service, of the same user if there is one. */
function profileOf({ config, profile }: Settings, baseUrl: string): string | undefined {
  const accountOf = (name: string) => tryOr(() => new Settings(config, name).account, undefined);
  const username = accountOf(profile)?.username;
  const names = [...config.profiles.keys()].filter((name) => accountOf(name)?.baseUrl === baseUrl);
  return names.find((name) => accountOf(name)?.username === username) ?? names[0];
}

/** @throws ImgctlError config: unreadable, or missing without `initial` */
async function readLockFile(
  context: Context,
  options: LockFileOptions,
  initial?: LockFile,
): Promise<LockFile> {
  const { file, what } = locate(context, options);
  const invalid = (problem: string, fix: string | Facts = 'restore it, for example with git') =>
    new ImgctlError('config', `${what} ${problem}`, { facts: fix });
  const text = await readTextFile(file, what, context.io);
  if (text === undefined) {
    if (initial) return initial;
    const command = lockCommand(options, 'add', options.name ?? 'NAME', 'TEXT');
    throw invalid('does not exist', hint`create it with: ${command}`);
  }
  return parseLockFile(text, invalid);
}
