// Reads text files that users own, and changes them, one process at a time.

import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { untilAborted } from '../abort.ts';
import {
  errorCode,
  errorReason,
  ImgctlError,
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
 * @param what how messages name it: `the snapshot catalogue.json`
 * @param packed facts of a damaged file that may be compressed; undefined if it may not
 * @returns undefined if the file does not exist
 * @throws ImgctlError config: it is unreadable, too large or not UTF-8
 */
export async function readTextFile(
  file: string,
  what: string,
  { signal }: Pick<Io, 'signal'>,
  packed?: Facts,
): Promise<string | undefined> {
  let facts = packed;
  try {
    const bytes = await untilAborted(readBytes(file, signal), signal);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    if (isGzip && packed) return decodeUtf8(await untilAborted(unpack(bytes), signal));
    if (isGzip) facts = advice('decompress it first, for example with: gzip -d');
    return decodeUtf8(bytes);
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
 * @throws ImgctlError failed: it is no regular file, or its folder does not exist or is read-only
 */
export function requireReplaceable(file: string, what: string): fs.Stats | undefined {
  try {
    // Not of the target: the link /dev/stdout names a pipe that no path leads to.
    const stat = fs.statSync(file, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) {
      const message = `cannot write ${what}: it is not a regular file`;
      throw new ImgctlError('failed', message, { facts: REGULAR_FILE });
    }
    // replaceFile would create the folder.
    fs.accessSync(path.dirname(followLinks(file)), fs.constants.W_OK);
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
  if (error instanceof ImgctlError) return error;
  return new ImgctlError('failed', `cannot write ${what}: ${errorReason(error)}`, {
    facts: isMissing(error)
      ? 'create its folder first'
      : 'check its folder, its permissions and the free space',
    cause: error,
  });
}

/** Editors and git replace a file without a mutex. */
const MAX_CHANGES = 10;

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
 * @param hold takes the mutex of a file; `target` is where all links lead
 * @param change reads the file. It is called again if another program has replaced the file, or
 * taken over the mutex
 * @throws ImgctlError failed, locked, and whatever `change` throws
 */
export async function changeUserFile(
  file: string,
  what: string,
  hold: (target: string) => Promise<Mutex>,
  change: () => Promise<string | undefined>,
): Promise<void> {
  try {
    const target = followLinks(file);
    // The mutex would create the folder.
    fs.accessSync(path.dirname(target));
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
    for (let count = 1; ; count += 1) {
      try {
        return await withMutex(hold(target), changeOnce);
      } catch (error) {
        const mayRetry = error instanceof FileChangedError || error instanceof MutexLostError;
        if (!mayRetry || count === MAX_CHANGES) throw error;
      }
    }
  } catch (error) {
    throw cannotWrite(what, error);
  }
}
