// A storage that is a folder, such as a mounted share: write, flush, compare, rename.

import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import fs, { type FileHandle, lstat, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFileChunks } from '../chunks.ts';
import {
  errorCode,
  errorReason,
  ImgctlError,
  isDefect,
  isMissing,
  permissionAdvice,
} from '../errors.ts';
import type { Clock } from '../io.ts';
import { isDeadPart, isHidden, isPart, partName, removeAll } from './part-names.ts';
import type { Limit } from './rate.ts';
import type { OnBytes, Published, Storage, StoredFile } from './storage.ts';
import {
  arrivedWrong,
  conflict,
  fileTooLarge,
  nameTooLong,
  notAFile,
  storageFull,
} from './storage-errors.ts';
import { fingerprintOf, isSettled, SETTLED, type UploadSource } from './upload-file.ts';

interface Folder {
  readonly root: string;
  readonly address: string;
  readonly clock: Clock;
  readonly limit: Limit;
  readonly fail: (cause: unknown) => never;
}

/** A part that was written and read back. */
interface Part {
  readonly path: string;
  readonly digest: string;
  readonly stats: BigIntStats;
}

export function folderStorage(root: string, clock: Clock, limit: Limit): Storage {
  const address = `folder ${root}`;
  const fail = (cause: unknown): never => {
    if (isDefect(cause)) throw cause;
    throw folderError(root, address, cause);
  };
  const removeFile = (name: string) => rm(path.join(root, name), { force: true }).catch(fail);
  const folder: Folder = { root, address, clock, limit, fail };
  return {
    address,
    async check() {
      if ((await stat(root).catch(fail)).isDirectory()) return;
      const message = `${root} is not a folder`;
      throw new ImgctlError('not-found', message, { facts: 'use the path of a folder' });
    },
    async list() {
      const entries = await readdir(root, { withFileTypes: true }).catch(fail);
      const files = entries.filter((entry) => !entry.isDirectory() && !isHidden(entry.name));
      return files.map(({ name }) => name);
    },
    async look(name) {
      const target = path.join(root, name);
      // A link to nothing is there, too: with the size of its text.
      const stats = (await findFile(folder, target)) ?? (await findLink(target));
      return stats && storedFileOf(stats, clock.now(), SETTLED);
    },
    async compareContent(name, file, stored) {
      const target = path.join(root, name);
      const digest = await digestOf(folder, readFileChunks(target)).catch(async (error) => {
        // A link to nothing, whose text is as long as the file.
        if (isMissing(error) && (await findLink(target))) return undefined;
        return fail(error);
      });
      const isSame = digest === (await digestOf(folder, file.read()));
      return isSame ? { state: 'same', stored } : { state: 'different' };
    },
    put: (name, file, onProgress) => writePart(folder, name, file, onProgress),
    remove: removeFile,
    async removeDeadParts() {
      const dead: string[] = [];
      for (const name of (await readdir(root).catch(fail)).filter(isPart)) {
        const stats = await stat(path.join(root, name)).catch(() => undefined);
        const age = stats ? clock.now() - stats.mtimeMs : 0;
        if (isDeadPart(name, age, clock.system)) dead.push(name);
      }
      await removeAll(dead, removeFile);
    },
    async close() {},
  };
}

async function writePart(folder: Folder, name: string, file: UploadSource, onBytes: OnBytes) {
  const { root, fail, clock } = folder;
  const partPath = path.join(root, partName(name, clock.system));
  const discard = () => rm(partPath, { force: true });
  const handle = await open(partPath, 'wx').catch(fail);
  try {
    const part = { path: partPath, ...(await writeAll(folder, handle, file, onBytes)) };
    const written = await digestOf(folder, readFileChunks(partPath)).catch((error: unknown) => {
      if (isMissing(error)) throw arrivedWrong(name, 'its part is gone');
      throw error;
    });
    if (written !== part.digest) throw arrivedWrong(name, 'its digest is wrong');
    const publish = (replace: boolean) => publishPart(folder, part, name, replace).catch(fail);
    return { publish, discard };
  } catch (error) {
    await discard().catch(() => {});
    return fail(error);
  }
}

/** Writes and closes a part. Returns what was written. */
async function writeAll({ limit }: Folder, to: FileHandle, file: UploadSource, onBytes: OnBytes) {
  const hash = createHash('sha256');
  let position = 0;
  try {
    onBytes(position);
    for await (const bytes of limit(file.readAll())) {
      hash.update(bytes);
      await to.writeFile(bytes);
      position += bytes.length;
      onBytes(position);
    }
    await to.sync();
    return { digest: hash.digest('hex'), stats: await to.stat({ bigint: true }) };
  } finally {
    // Some shares report only now that they are full.
    await to.close();
  }
}

async function publishPart(
  folder: Folder,
  part: Part,
  name: string,
  replace: boolean,
): Promise<Published> {
  const target = path.join(folder.root, name);
  if (!(await findPart(folder, part, part.path))) {
    const error = arrivedWrong(name, 'its temporary file is gone or was changed');
    return { kind: 'refused', error };
  }
  if (replace) await rename(part.path, target);
  else if (!(await renameToNew(part.path, target)))
    return { kind: 'conflict', error: conflict(name, folder.address) };
  await flushFolder(folder.root);
  const stored = await findPart(folder, part, target);
  if (!stored) throw arrivedWrong(name, 'another file replaced it');
  return { kind: 'visible', stored: storedFileOf(stored, folder.clock.now(), 0) };
}

function storedFileOf(stats: BigIntStats, now: number, age: number): StoredFile {
  const size = Number(stats.size);
  const fingerprint = fingerprintOf(stats);
  return { fingerprint, isSettled: isSettled(stats, now, age), size, tag: '' };
}

/** Returns the file if it is the part; by its content, if the file system renumbers files. */
async function findPart(folder: Folder, { digest, stats }: Part, at: string) {
  const file = await findFile(folder, at);
  if (!file) return undefined;
  const { dev, ino, mtimeNs } = file;
  if (dev === stats.dev && ino === stats.ino && mtimeNs === stats.mtimeNs) return file;
  return (await digestOf(folder, readFileChunks(at))) === digest ? file : undefined;
}

async function findFile({ address, fail }: Folder, at: string) {
  const name = path.basename(at);
  const stats = await stat(at, { bigint: true }).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw errorCode(error) === 'ENAMETOOLONG' ? nameTooLong(name, address) : fail(error);
  });
  if (stats && !stats.isFile()) throw notAFile(name, address);
  return stats;
}

async function digestOf({ clock }: Folder, chunks: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) {
    clock.signal.throwIfAborted();
    hash.update(chunk);
  }
  return hash.digest('hex');
}

/** Renames without overwriting, as a hard link does in one step. False if the name is taken. */
async function renameToNew(from: string, to: string): Promise<boolean> {
  try {
    await fs.link(from, to);
  } catch (error) {
    // File systems without hard links fail in many ways.
    if (errorCode(error) === 'EEXIST' || (await findLink(to))) return false;
    await rename(from, to);
    return true;
  }
  await rm(from);
  return true;
}

/** Returns what has the name, which may be a link. */
function findLink(at: string): Promise<BigIntStats | undefined> {
  return lstat(at, { bigint: true }).catch(() => undefined);
}

/** Makes the new name survive a power failure, if folders can be flushed. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

function folderError(root: string, address: string, cause: unknown): ImgctlError {
  if (cause instanceof ImgctlError) return cause;
  const reason = errorReason(cause);
  if (['ENOSPC', 'EDQUOT'].includes(errorCode(cause)))
    return storageFull(address, reason, { cause });
  if (errorCode(cause) === 'EFBIG') return fileTooLarge(address, reason, { cause });
  if (isMissing(cause)) {
    const message = `folder ${root} does not exist`;
    const advice = 'check its path, and that it is mounted';
    return new ImgctlError('not-found', message, { facts: advice, cause });
  }
  const isForbidden = ['EACCES', 'EPERM', 'EROFS'].includes(errorCode(cause));
  const code = isForbidden ? 'not-permitted' : 'failed';
  const message = `cannot upload to ${root}: ${reason}`;
  return new ImgctlError(code, message, { facts: permissionAdvice(cause, root), cause });
}
