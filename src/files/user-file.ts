// Reads and replaces files that the user names: snapshots, states and lock files.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { builtin, type Io, type System } from '../io.ts';
import { type ConfirmLock, errorReason, isMissing, replaceFile } from './atomic-file.ts';

/**
 * Returns the text of a file, or undefined if it does not exist.
 * @param what how messages name it: `the snapshot catalogue.json`
 * @throws ImgctlError config: it is unreadable
 */
export async function readTextFile(
  file: string,
  what: string,
  { signal }: Pick<Io, 'signal'>,
): Promise<string | undefined> {
  const { readFile } = builtin('node:fs/promises');
  try {
    return (await readFile(file, { signal })).toString('utf8').replace(/^\ufeff/, '');
  } catch (error) {
    signal.throwIfAborted();
    if (isMissing(error)) return undefined;
    throw new ImgctlError('config', `cannot read ${what}: ${errorReason(error)}`, { cause: error });
  }
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
    // Its folder does not exist either, or the links lead in a circle: reading and writing report it.
    return file;
  }
}

/** Replaces a file atomically. It keeps its mode; a symbolic link to it stays. @throws ImgctlError failed */
export async function replaceUserFile(
  file: string,
  text: string,
  what: string,
  system: System,
  confirm?: ConfirmLock,
): Promise<void> {
  try {
    const target = followLinks(file);
    const stat = fs.statSync(target, { throwIfNoEntry: false });
    if (stat && !stat.isFile()) throw new Error('it is not a regular file');
    // replaceFile would create it.
    fs.accessSync(path.dirname(target));
    const mode = stat === undefined ? 0o666 : stat.mode & 0o777;
    await replaceFile(target, text, system, {
      confirm,
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
    hint: isMissing(error)
      ? 'create its folder first'
      : 'check its folder, its permissions and the free space',
    cause: error,
  });
}
