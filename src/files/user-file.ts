// Reads text files that users own, and changes them, one process at a time.

import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { untilAborted } from '../abort.ts';
import {
  asImgctlError,
  errorCode,
  errorReason,
  ImgctlError,
  isDefect,
  isMissing,
  permissionAdvice,
  tryOr,
} from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import type { Io } from '../io.ts';
import { decodeUtf8 } from '../json.ts';
import { type AssertHeld, replaceFile } from './atomic-file.ts';
import { type Mutex, MutexLostError, withMutex } from './mutex.ts';

/** Bytes, the same as of a list: `--from /dev/zero` must not fill the memory. */
const MAX_SIZE = 256 * 2 ** 20;

/**
 * Reads a whole file as text.
 * @param what how messages name it: `the snapshot catalogue.json`
 * @param gzip given if the file may be compressed
 * @returns undefined if the file does not exist
 * @throws ImgctlError config: it is unreadable, too large or not UTF-8
 */
export async function readTextFile(
  file: string,
  what: string,
  { signal }: Pick<Io, 'signal'>,
  gzip?: { readonly factsIfDamaged: Facts },
): Promise<string | undefined> {
  let facts = gzip?.factsIfDamaged;
  try {
    const bytes = await untilAborted(readBytes(file, signal), signal);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    if (!isGzip) return decodeUtf8(bytes);
    if (gzip) return decodeUtf8(await untilAborted(unpack(bytes), signal));
    facts = advice('decompress it first, for example with: gzip -d');
    throw new Error('it is compressed');
  } catch (cause) {
    signal.throwIfAborted();
    if (isMissing(cause)) return undefined;
    const message = `cannot read ${what}: ${errorReason(cause)}`;
    const advised = permissionAdvice(cause, file) ?? folderAdvice(cause);
    throw new ImgctlError('config', message, { cause, facts: advised ?? facts });
  }
}

const REGULAR_FILE = 'use the name of a regular file';

function folderAdvice(cause: unknown): Facts | undefined {
  return errorCode(cause) === 'EISDIR' ? advice(REGULAR_FILE) : undefined;
}

const TOO_LARGE = `it is larger than ${MAX_SIZE / 2 ** 20} MiB`;

async function unpack(bytes: Buffer): Promise<Buffer> {
  const { gunzip } = await import('node:zlib');
  const unpacked = promisify(gunzip)(bytes, { maxOutputLength: MAX_SIZE });
  return unpacked.catch((cause: unknown) => {
    const isTooLarge = errorCode(cause) === 'ERR_BUFFER_TOO_LARGE';
    throw new Error(isTooLarge ? `${TOO_LARGE} unpacked` : 'its gzip data is damaged', { cause });
  });
}

async function readBytes(file: string, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  if ((await fs.promises.stat(file)).size > MAX_SIZE) throw new Error(TOO_LARGE);
  let size = 0;
  for await (const chunk of fs.createReadStream(file, { signal, highWaterMark: 2 ** 20 })) {
    size += chunk.length;
    // A device says that it has no bytes.
    if (size > MAX_SIZE) throw new Error(TOO_LARGE);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns the path without symbolic links, also of a file that does not exist yet. */
export function followLinks(file: string, maxLinks = 40): string {
  try {
    if (maxLinks === 0 || fs.existsSync(file)) return fs.realpathSync(file);
    const real = path.join(fs.realpathSync(path.dirname(file)), path.basename(file));
    const stat = fs.lstatSync(real, { throwIfNoEntry: false });
    if (!stat?.isSymbolicLink()) return real;
    return followLinks(path.resolve(path.dirname(real), fs.readlinkSync(real)), maxLinks - 1);
  } catch {
    // No folder either, or the links lead in a circle: reading and writing report it.
    return file;
  }
}

/**
 * Returns what is known of a file that is to be replaced; undefined if there is none yet.
 * @throws ImgctlError failed: it is no regular file, it or its folder is read-only, or there is no
 * folder
 */
export function requireReplaceable(file: string, what: string): fs.Stats | undefined {
  try {
    // Without followLinks: the link /dev/stdout leads to a pipe that has no path.
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) {
      const message = `cannot write ${what}: it is not a regular file`;
      throw new ImgctlError('failed', message, { facts: REGULAR_FILE });
    }
    // replaceFile would create the folder, and replace a read-only file.
    const target = followLinks(file);
    for (const each of [path.dirname(target), ...(stat ? [target] : [])]) {
      fs.accessSync(each, fs.constants.W_OK);
    }
    return stat;
  } catch (error) {
    throw cannotWrite(what, error);
  }
}

/**
 * Replaces a file atomically. It keeps its mode and its owner; a symbolic link to it stays.
 * @throws ImgctlError failed
 */
export async function replaceUserFile(
  file: string,
  text: string | Buffer,
  what: string,
  assertHeld?: AssertHeld,
): Promise<void> {
  const stat = requireReplaceable(file, what);
  const mode = stat === undefined ? 0o666 : stat.mode & 0o777;
  try {
    await replaceFile(followLinks(file), text, {
      assertHeld,
      keepsOwner: true,
      create: (staging) => {
        fs.writeFileSync(staging, text, { mode, flag: 'wx' });
        // The umask does not apply to a file that keeps its mode.
        if (stat) fs.chmodSync(staging, mode);
      },
    });
  } catch (error) {
    throw cannotWrite(what, error);
  }
}

export function cannotWrite(what: string, error: unknown): ImgctlError {
  if (error instanceof ImgctlError || isDefect(error)) return asImgctlError(error);
  return new ImgctlError('failed', `cannot write ${what}: ${errorReason(error)}`, {
    facts: isMissing(error)
      ? 'create its folder first'
      : 'check its folder, its permissions and the free space',
    cause: error,
  });
}

/** Of one change: editors and git replace a file without the mutex. */
const MAX_ATTEMPTS = 10;

class FileChangedError extends ImgctlError {}

/** Returns the bytes as text; undefined if it is missing, too large or no regular file. */
function contentOf(file: string): string | undefined {
  return tryOr(() => {
    const stat = fs.statSync(file);
    const isReadable = stat.isFile() && stat.size <= MAX_SIZE;
    return isReadable ? fs.readFileSync(file, 'latin1') : undefined;
  }, undefined);
}

/**
 * Replaces a file by the text that `change` returns, if there is one; one process at a time.
 * @param holdMutexOf takes the mutex of the file to which all links lead
 * @param change reads the file. It is called again if another program has replaced the file, or
 * taken over the mutex
 * @throws ImgctlError failed, locked, and whatever `change` throws
 */
export async function changeUserFile(
  file: string,
  what: string,
  holdMutexOf: (target: string) => Promise<Mutex>,
  change: () => Promise<string | undefined>,
): Promise<void> {
  const target = followLinks(file);
  const hold = async () => {
    // The mutex would create the folder.
    fs.accessSync(path.dirname(target));
    return holdMutexOf(target);
  };
  const changeOnce = async (assertHeld: AssertHeld) => {
    const before = contentOf(target);
    const text = await change();
    if (text === undefined) return;
    await replaceUserFile(target, text, what, () => {
      assertHeld();
      if (contentOf(target) === before) return;
      const message = `another program changed ${what}`;
      throw new FileChangedError('failed', message, { facts: 'run the command again' });
    });
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      const mutex = hold().catch((error: unknown) => Promise.reject(cannotWrite(what, error)));
      return await withMutex(mutex, changeOnce);
    } catch (error) {
      const mayRetry = error instanceof FileChangedError || error instanceof MutexLostError;
      if (!mayRetry || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
