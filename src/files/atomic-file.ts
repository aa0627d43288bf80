// Reads and writes files that hold settings and secrets: checks them when reading, replaces them as a whole.

import fs from 'node:fs';
import path from 'node:path';
import { parse as parseLossless } from 'lossless-json';
import { builtin, type System } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';
import { makeDirectory } from './paths.ts';

/** Throws unless the lock that the write needs is still held. */
export type ConfirmLock = () => void;

export type ReadResult =
  | { readonly state: 'absent' }
  | { readonly state: 'read'; readonly value: JsonObject }
  /** `reason` names the problem and its place, never the contents. */
  | { readonly state: 'broken'; readonly reason: string };

const MAX_FILE_SIZE = 4 * 2 ** 20;

// Windows has neither flag. Without O_NONBLOCK opening a named pipe never returns.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/**
 * Reads a JSON object. Tightens a file that others could read to 0600 and refuses a symbolic link.
 * @param owner the user id that the file must have, if given
 */
export function readJsonFile(file: string, owner?: number): ReadResult {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, READ_FLAGS);
  } catch (error) {
    if (isMissing(error)) return { state: 'absent' };
    const { code } = error as NodeJS.ErrnoException;
    return { state: 'broken', reason: code === 'ELOOP' ? 'it is a symbolic link' : `${code}` };
  }
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) return { state: 'broken', reason: 'it is not a regular file' };
    if (owner !== undefined && stat.uid !== owner) {
      return { state: 'broken', reason: 'it belongs to another user' };
    }
    if (stat.size > MAX_FILE_SIZE) return { state: 'broken', reason: 'it is too large' };
    if ((stat.mode & 0o077) !== 0) tighten(descriptor);
    return parse(fs.readFileSync(descriptor, 'utf8'));
  } catch (error) {
    return { state: 'broken', reason: errorReason(error) };
  } finally {
    fs.closeSync(descriptor);
  }
}

/** True if the file, or a directory above it, does not exist. */
export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Returns the system's code, such as ENOSPC, or else the message. */
export function errorReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}

function tighten(descriptor: number): void {
  try {
    fs.fchmodSync(descriptor, 0o600);
  } catch {
    // On a read-only file system, or another user's file: reading it is still right.
  }
}

function parse(text: string): ReadResult {
  const json = text.replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return { state: 'read', value };
    return { state: 'broken', reason: 'it does not hold a JSON object' };
  } catch {
    const before = json.slice(0, errorPosition(json)).split('\n');
    const column = (before.at(-1) ?? '').length + 1;
    return { state: 'broken', reason: `not valid JSON at line ${before.length}, column ${column}` };
  }
}

/** V8 does not always say where the error is. */
function errorPosition(json: string): number {
  try {
    parseLossless(json, undefined, { onDuplicateKey: () => undefined });
  } catch (error) {
    const [, position] = /at position (\d+)$/.exec((error as Error).message) ?? [];
    if (position !== undefined) return Number(position);
  }
  return json.length;
}

export interface WriteOptions {
  /** Throws if the lock is lost; called right before the rename, as the flush before it may take long. */
  readonly confirm?: ConfirmLock | undefined;
  /** Creates the staging file, mode 0600, with the text. */
  readonly create?: (staging: string, text: string) => void | Promise<void>;
  readonly rename?: (from: string, to: string) => void;
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

export function writeJsonFile(
  file: string,
  value: JsonObject,
  system: System,
  options?: WriteOptions,
): Promise<void> {
  return replaceFile(file, `${JSON.stringify(value, undefined, '\t')}\n`, system, options);
}

/**
 * Replaces a file, mode 0600, in a directory of mode 0700. The old file stays whole until the new one
 * is on the disk and was read back.
 * @throws the file system's error; no staging file stays then
 */
export async function replaceFile(
  file: string,
  text: string,
  system: System,
  { create = createFile, ...options }: WriteOptions = {},
): Promise<void> {
  const directory = path.dirname(file);
  makeDirectory(directory);
  const unique = builtin('node:crypto').randomUUID();
  const staging = path.join(directory, `.${path.basename(file)}.${unique}.new`);
  try {
    await create(staging, text);
    flushAndVerify(staging, text);
    await renameWithRetry(staging, file, system.platform, options);
  } finally {
    removeLeftovers(file, staging);
  }
}

function createFile(file: string, text: string): void {
  fs.writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}

function flushAndVerify(file: string, text: string): void {
  const descriptor = fs.openSync(file, 'r+');
  try {
    fs.fsyncSync(descriptor);
    if (fs.readFileSync(descriptor, 'utf8') !== text)
      throw new Error('it was written only in part');
  } finally {
    fs.closeSync(descriptor);
  }
}

const MAX_RENAME_WAIT = 512;
const BUSY = ['EPERM', 'EACCES', 'EBUSY'];

/** On Windows a virus scanner or another reader blocks a rename for a moment: retries for a second. */
async function renameWithRetry(
  from: string,
  to: string,
  platform: NodeJS.Platform,
  {
    confirm = () => {},
    rename = fs.renameSync,
    sleep = builtin('node:timers/promises').setTimeout,
  }: WriteOptions,
): Promise<void> {
  for (let delay = 8; ; delay *= 2) {
    confirm();
    try {
      return rename(from, to);
    } catch (error) {
      const isBusy = platform === 'win32' && BUSY.includes(errorReason(error));
      if (!isBusy || delay > MAX_RENAME_WAIT) throw error;
    }
    await sleep(delay);
  }
}

/** True for staging files, and for those that conf makes from their names. */
function isStagingName(name: string): boolean {
  return /^\..*\.new/.test(name);
}

/** Milliseconds. The writer of an older staging file was killed. */
const MAX_WRITE_TIME = 60_000;

/** Removes those of this write and of killed writers. The file tells the time of its disk. */
function removeLeftovers(file: string, staging: string): void {
  const directory = path.dirname(file);
  const timeOf = (name: string) => fs.lstatSync(name, { throwIfNoEntry: false })?.mtimeMs;
  try {
    const now = timeOf(staging) ?? timeOf(file) ?? 0;
    for (const name of fs.readdirSync(directory)) {
      if (!name.startsWith(`.${path.basename(file)}.`) || !isStagingName(name)) continue;
      const leftover = path.join(directory, name);
      const isOld = fs.lstatSync(leftover).mtimeMs < now - MAX_WRITE_TIME;
      if (isOld || leftover.startsWith(staging)) fs.rmSync(leftover);
    }
  } catch {
    // Another process was first, or the directory is read-only.
  }
}
