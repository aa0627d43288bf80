// A file on this machine that marks a storage as unsynced: files became visible, and no sync succeeded since.

import fs from 'node:fs';
import { attempt, errorReason, ImgctlError, isMissing } from '../../../errors.ts';
import { readOwnFile, replaceFile } from '../../../files/atomic-file.ts';
import { builtin } from '../../../io.ts';

export interface UnsyncedMark {
  /** Returns its random text, which no other mark has; undefined if there is none. */
  read(): string | undefined;
  /** Writes it before a file becomes visible, once in a push. */
  write(): Promise<void>;
  /** Removes the mark that was read, unless another push has written one since. */
  remove(known: string | undefined): void;
}

/**
 * @param file undefined if there is no place for it
 * @param isRequired a later decision depends on it: without a place for it, throws
 * @param onError receives why it cannot be written
 */
export function unsyncedMark(
  file: string | undefined,
  isRequired: boolean,
  onError: (message: string) => void,
): UnsyncedMark {
  const hint = 'omit --sync-if-sent, or set IMGCTL_CONFIG_DIR to a writable directory';
  if (file === undefined && isRequired) {
    const message = '--sync-if-sent cannot remember what is not synced: no home directory';
    throw new ImgctlError('config', message, { hint });
  }
  let own: string | undefined;
  const read = () => {
    if (file === undefined) return undefined;
    const { value, error } = attempt(() => readOwnFile(file));
    // A mark that cannot be read counts as one.
    return error ? error.message : value;
  };
  return {
    read,
    async write() {
      if (file === undefined || own !== undefined) return;
      own = `${builtin('node:crypto').randomUUID()}\n`;
      await replaceFile(file, own).catch((cause: unknown) => {
        const message = `cannot write ${file}: ${errorReason(cause)}`;
        if (isRequired) throw new ImgctlError('failed', message, { hint, cause });
        // Without a home, no later push could read it either.
        if (!isMissing(cause)) onError(message);
      });
    },
    remove(known) {
      if (file !== undefined && known !== undefined && read() === known)
        attempt(() => fs.rmSync(file, { force: true }));
    },
  };
}
