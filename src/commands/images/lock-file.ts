// Reads and changes the lock file, and compares one locked image with the catalogue.

import path from 'node:path';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import {
  formatLockFile,
  type LockedImage,
  type Locks,
  lockState,
  parseLockFile,
} from '../../catalogue/locks.ts';
import { option } from '../../cli/command.ts';
import type { Parsed } from '../../cli/declarations.ts';
import { anyText } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { DEFAULT_LOCK_FILE } from '../../files/paths.ts';
import { changeUserFile, readTextFile } from '../../files/user-file.ts';
import { escapeInJson } from '../../output/text.ts';
import { formatTimestamp } from '../../query/timestamp.ts';
import { quoted, suggest } from '../../suggest.ts';
import { shellQuote } from '../../words.ts';

export const LOCK_FILE_OPTION = option('--file <file>', 'lock file', {
  default: DEFAULT_LOCK_FILE,
  value: anyText({ from: 'files' }),
});

export type LockFileOptions = Parsed<readonly [typeof LOCK_FILE_OPTION]>;

/** Others may be resolving images meanwhile. */
const MUTEX_PATIENCE = 60_000;

/**
 * Replaces the locks by those that `change` returns; one process at a time.
 * @param initial the locks if there is no file; else that is an error
 * @throws ImgctlError config, failed, locked, and whatever `change` throws
 */
export async function changeLocks(
  context: Context,
  options: LockFileOptions,
  initial: Locks | undefined,
  change: (locks: Locks) => Promise<Locks>,
): Promise<void> {
  const { file, what } = lockFile(context, options);
  await changeUserFile(file, what, MUTEX_PATIENCE, context.io, async () => {
    const { locks, content } = await readLockFile(context, options, initial);
    const changed = await change(locks);
    return changed === locks ? undefined : escapeInJson(formatLockFile(changed, content));
  });
}

/** Returns a command for hints, for the same file. */
export function lockCommand({ file }: LockFileOptions, ...words: string[]): string {
  const flag = file === DEFAULT_LOCK_FILE ? '' : ` --file ${shellQuote(file)}`;
  return `imgctl images lock ${words.map(shellQuote).join(' ')}${flag}`;
}

/** @throws ImgctlError not-found */
export function requireLock(options: LockFileOptions, locks: Locks, name: string): LockedImage {
  const locked = locks.get(name);
  if (locked !== undefined) return locked;
  throw new ImgctlError('not-found', `no image is locked as ${quoted(name)}`, {
    hint: suggest(name, [...locks.keys()], lockCommand(options, 'list')),
  });
}

/** Returns the image that is locked with this name. @throws ImgctlError not-found: it is gone; lock-broken: it was replaced */
export async function readLockedImage(
  context: Context,
  catalogue: Catalogue,
  options: LockFileOptions,
  name: string,
) {
  const locked = requireLock(options, await readLocks(context, options), name);
  const image = await catalogue.getImage(locked.id);
  const hint = `lock the newest one instead: ${lockCommand(options, 'update', name)}`;
  if (image === undefined) {
    const message = `${name} is gone: image ${locked.id} does not exist`;
    throw new ImgctlError('not-found', message, { hint });
  }
  const state = lockState(locked, image);
  if (state === 'replaced') {
    const style = context.settings.get('time') ?? 'local';
    const time = formatTimestamp(`${image.updated_on}`, style, context.io.now());
    const message = `${name} was replaced: image ${locked.id} was updated on ${time}`;
    throw new ImgctlError('lock-broken', message, { hint });
  }
  if (state === 'moved') {
    const isMoved = image.path !== locked.path;
    const [old, now] = isMoved ? [locked.path, image.path] : [locked.name, image.name];
    const verb = isMoved ? 'moved' : 'renamed';
    context.console.warn(`${name} was ${verb} from ${old} to ${now}`, hint);
  }
  return image;
}

/** Returns the path of the lock file, and its name for messages. */
function lockFile({ io }: Context, { file }: LockFileOptions) {
  return { file: path.resolve(io.cwd, file), what: `the lock file ${file}` };
}

export async function readLocks(context: Context, options: LockFileOptions): Promise<Locks> {
  return (await readLockFile(context, options)).locks;
}

/** @throws ImgctlError config: unreadable, or missing without `initial` */
async function readLockFile(context: Context, options: LockFileOptions, initial?: Locks) {
  const { file, what } = lockFile(context, options);
  const invalid = (problem: string, hint = 'restore it, for example with git') =>
    new ImgctlError('config', `${what} ${problem}`, { hint });
  const text = await readTextFile(file, what, context.io);
  if (text === undefined) {
    if (initial) return { locks: initial, content: {} };
    const command = lockCommand(options, 'add', 'NAME', 'TEXT');
    throw invalid('does not exist', `create it with: ${command}`);
  }
  return parseLockFile(text, invalid);
}
