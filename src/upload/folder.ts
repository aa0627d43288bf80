// A storage that is a folder, such as a mounted share: write, flush, verify, rename.

import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { errorReason, isMissing } from '../files/atomic-file.ts';
import type { Source } from './source.ts';
import {
  arrivedWrong,
  conflict,
  isHidden,
  type PutOptions,
  partName,
  type Storage,
  type StoredFile,
  storageFull,
  type UploadState,
} from './storage.ts';

const { O_RDWR, O_RDONLY, O_CREAT, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];
/** Errors of a file system without hard links. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL'];
const PIECE = 1024 * 1024;

export function openFolder(folder: string, signal: AbortSignal): Storage {
  const address = `folder ${folder}`;
  const fail = (cause: unknown): never => {
    if (cause instanceof ImgctlError) throw cause;
    throw folderError(folder, address, cause);
  };
  const at = (name: string) => path.join(folder, name);

  const statOf = async (name: string): Promise<StoredFile | undefined> => {
    const stats = await stat(at(name)).catch((error) =>
      isMissing(error) ? undefined : fail(error),
    );
    if (!stats) return undefined;
    if (!stats.isFile()) throw conflict(name, address);
    return storedFile(stats);
  };

  /** Returns true if the file has the digest of the source. */
  const compare = async (handle: FileHandle, source: Source): Promise<boolean> => {
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE);
    for (let position = 0; ; ) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(piece, 0, PIECE, position);
      if (bytesRead === 0) break;
      hash.update(piece.subarray(0, bytesRead));
      position += bytesRead;
    }
    return hash.digest('hex') === (await source.digests()).at(-1);
  };

  const write = async (handle: FileHandle, start: number, { source, onProgress }: PutOptions) => {
    let position = start;
    onProgress(position);
    for await (const bytes of source.read(start)) {
      signal.throwIfAborted();
      for (let written = 0; written < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, written, undefined, position + written);
        written += bytesWritten;
      }
      position += bytes.length;
      onProgress(position);
    }
    await handle.truncate(position);
    await handle.sync();
  };

  return {
    address,
    wantsDigest: true,
    async check() {
      const stats = await stat(folder).catch(fail);
      if (stats.isDirectory()) return;
      throw new ImgctlError('not-found', `${folder} is not a folder`, { hint: SHOW });
    },
    async list() {
      const names = (await readdir(folder).catch(fail)).filter((name) => !isHidden(name));
      const files = new Map<string, StoredFile>();
      for (const name of names.sort()) {
        const file = await statOf(name).catch(() => undefined);
        if (file) files.set(name, file);
      }
      return files;
    },
    stat: statOf,
    async holds(name, { size }, source) {
      if (size !== source.size) return false;
      const handle = await open(at(name), O_RDONLY | O_NONBLOCK).catch(fail);
      return compare(handle, source)
        .catch(fail)
        .finally(() => handle.close());
    },
    async put(name, options) {
      const part = at(partName(name));
      const state: UploadState = { part: partName(name) };
      await options.save(state);
      // The digest shows below whether what is there can be continued.
      const handle = await open(part, O_RDWR | O_CREAT | O_NOFOLLOW, 0o666).catch(fail);
      try {
        const { size } = await handle.stat();
        const start = options.state && size <= options.source.size ? size : 0;
        await write(handle, start, options);
        let isWhole = await compare(handle, options.source);
        if (!isWhole && start > 0) {
          await write(handle, 0, options);
          isWhole = await compare(handle, options.source);
        }
        if (isWhole) return { state, stored: storedFile(await handle.stat()) };
        throw arrivedWrong(name, 'its digest is wrong');
      } catch (error) {
        return fail(error);
      } finally {
        await handle.close();
      }
    },
    async finish(name, _state, replace) {
      const part = at(partName(name));
      try {
        if (replace) await rename(part, at(name));
        else if (!(await renameToNew(part, at(name)))) throw conflict(name, address);
        await flushFolder(folder);
      } catch (error) {
        return fail(error);
      }
      return (await statOf(name)) ?? fail(new Error('it disappeared'));
    },
    remove: (name) => rm(at(partName(name)), { force: true }).catch(fail),
    async close() {},
  };
}

function storedFile({ size, ino, mtimeMs }: Stats): StoredFile {
  return { size, tag: `${ino}:${mtimeMs}` };
}

/** Renames without overwriting, which a hard link does in one step. Returns false if the name is taken. */
async function renameToNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (error) {
    const reason = errorReason(error);
    if (reason === 'EEXIST') return false;
    if (!NO_LINKS.includes(reason)) throw error;
    const taken = await stat(to).then(
      () => true,
      () => false,
    );
    if (!taken) await rename(from, to);
    return !taken;
  }
  await rm(from);
  return true;
}

/** Makes the new name survive a power failure, if folders can be flushed. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, O_RDONLY).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

const SHOW = 'check the folder: imgctl config get upload-url';

function folderError(folder: string, address: string, cause: unknown): ImgctlError {
  const reason = errorReason(cause);
  if (FULL.includes(reason)) return storageFull(address, reason, cause);
  if (FORBIDDEN.includes(reason)) {
    const message = `no permission to write to ${folder} (${reason})`;
    return new ImgctlError('not-permitted', message, {
      hint: `check its permissions: ls -ld ${folder}`,
      cause,
    });
  }
  if (isMissing(cause)) {
    const hint = `is it mounted? ${SHOW}`;
    return new ImgctlError('not-found', `folder ${folder} does not exist`, { hint, cause });
  }
  return new ImgctlError('failed', `cannot upload to ${folder}: ${reason}`, { cause });
}
