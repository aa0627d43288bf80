// A storage that is a folder, such as a mounted share: write, flush, compare, rename.

import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import fs, { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFileChunks } from '../chunks.ts';
import { errorCode, errorReason, ImgctlError, isMissing, permissionAdvice } from '../errors.ts';
import type { Clock } from '../io.ts';
import type { Limit } from './rate.ts';
import {
  arrivedWrong,
  conflict,
  isDeadPart,
  isHidden,
  nameTooLong,
  notAFile,
  type OnBytes,
  partName,
  type Storage,
  type StoredState,
  storageFull,
} from './storage.ts';
import { settledStateOf, stateOf, type UploadSource } from './upload-file.ts';

const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];

interface Folder {
  readonly root: string;
  readonly address: string;
  readonly clock: Clock;
  readonly limit: Limit;
  readonly fail: (cause: unknown) => never;
}

interface Part {
  readonly path: string;
  readonly digest: string;
  readonly stats: BigIntStats;
}

async function put(folder: Folder, name: string, file: UploadSource, onProgress: OnBytes) {
  const { root, fail, clock } = folder;
  const partPath = path.join(root, partName(name, clock.system));
  const discard = () => rm(partPath, { force: true }).catch(fail);
  const handle = await open(partPath, 'wx').catch(fail);
  try {
    const digest = await write(folder, handle, file, onProgress);
    const part = { path: partPath, digest, stats: await handle.stat({ bigint: true }) };
    const written = await digestOf(folder, readFileChunks(partPath)).catch((error: unknown) => {
      if (isMissing(error)) throw arrivedWrong(name, 'its part is gone');
      throw error;
    });
    if (written !== part.digest) throw arrivedWrong(name, 'its digest is wrong');
    const publishPart = (replace: boolean) => publish(folder, part, name, replace).catch(fail);
    return { publish: publishPart, discard };
  } catch (error) {
    await discard().catch(() => {});
    return fail(error);
  } finally {
    await handle.close();
  }
}

/** Returns the digest of what was written. */
async function write({ limit }: Folder, handle: FileHandle, file: UploadSource, onBytes: OnBytes) {
  const hash = createHash('sha256');
  let position = 0;
  onBytes(position);
  for await (const bytes of limit(file.readAll())) {
    hash.update(bytes);
    await handle.writeFile(bytes);
    position += bytes.length;
    onBytes(position);
  }
  await handle.sync();
  return hash.digest('hex');
}

async function publish(folder: Folder, part: Part, name: string, replace: boolean) {
  const target = path.join(folder.root, name);
  const written = await findWritten(folder, part, part.path);
  if (!written) throw arrivedWrong(name, 'its part is gone or was changed');
  if (replace) await rename(part.path, target);
  else if (!(await renameToNew(part.path, target))) throw conflict(name, folder.address);
  await flushFolder(folder.root);
  const stored = await findWritten(folder, part, target);
  if (!stored) throw arrivedWrong(name, 'another file replaced it');
  return storedState(stored, folder.clock.now(), 0);
}

function storedState(stats: BigIntStats, now: number, age?: number): StoredState {
  return { text: stateOf(stats), isProof: settledStateOf(stats, now, age) !== undefined };
}

/** Returns a file if it is the part, or has its content if the file system renumbers files. */
async function findWritten(folder: Folder, { digest, stats }: Part, file: string) {
  const stored = await findStored(folder, file);
  if (stored?.size !== stats.size) return undefined;
  const { dev, ino, mtimeNs } = stored;
  const isPart = dev === stats.dev && ino === stats.ino && mtimeNs === stats.mtimeNs;
  const hasContent = isPart || (await digestOf(folder, readFileChunks(file))) === digest;
  return hasContent ? stored : undefined;
}

async function findStored({ address, fail }: Folder, file: string) {
  const name = path.basename(file);
  const stats = await stat(file, { bigint: true }).catch((error: unknown) => {
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

/** Renames without overwriting, which a hard link does in one step. Returns false if the name is taken. */
async function renameToNew(from: string, to: string): Promise<boolean> {
  try {
    await fs.link(from, to);
  } catch (error) {
    // File systems without hard links fail in many ways.
    const isTaken = () => stat(to).then(Boolean, () => false);
    if (errorCode(error) === 'EEXIST' || (await isTaken())) return false;
    await rename(from, to);
    return true;
  }
  await rm(from);
  return true;
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
  if (FULL.includes(errorCode(cause))) return storageFull(address, reason, cause);
  if (isMissing(cause)) {
    const facts = 'check its path, and that it is mounted';
    return new ImgctlError('not-found', `folder ${root} does not exist`, { facts, cause });
  }
  const code = FORBIDDEN.includes(errorCode(cause)) ? 'not-permitted' : 'failed';
  const facts = permissionAdvice(cause, root);
  return new ImgctlError(code, `cannot upload to ${root}: ${reason}`, { facts, cause });
}

export function folderStorage(root: string, clock: Clock, limit: Limit): Storage {
  const address = `folder ${root}`;
  const fail = (cause: unknown): never => {
    throw folderError(root, address, cause);
  };
  const folder: Folder = { root, address, clock, limit, fail };
  return {
    address,
    keepsParts: false,
    async check() {
      if ((await stat(root).catch(fail)).isDirectory()) return;
      const message = `${root} is not a folder`;
      throw new ImgctlError('not-found', message, { facts: 'use the path of a folder' });
    },
    async list() {
      const entries = await readdir(root, { withFileTypes: true }).catch(fail);
      const files = entries.filter((entry) => !entry.isDirectory() && !isHidden(entry.name));
      return files.map(({ name }) => name).sort();
    },
    async compare(name, file, proved) {
      const target = path.join(root, name);
      const stored = await findStored(folder, target);
      if (!stored) return { state: 'absent' };
      if (Number(stored.size) !== file.size) return { state: 'different' };
      const state = storedState(stored, clock.now());
      if (state.text === proved) return { state: 'same', stored: { ...state, isProof: true } };
      const digest = await digestOf(folder, readFileChunks(target)).catch(fail);
      if (digest !== (await digestOf(folder, file.read()))) return { state: 'different' };
      return { state: 'same', stored: state };
    },
    async look(name) {
      const stored = await findStored(folder, path.join(root, name));
      return stored && stateOf(stored);
    },
    put: (name, file, onProgress) => put(folder, name, file, onProgress),
    remove: (name) => rm(path.join(root, name), { force: true }).catch(fail),
    async removeDeadParts() {
      for (const name of await readdir(root).catch(fail)) {
        const file = path.join(root, name);
        const stats = name.startsWith('.imgctl-') ? await stat(file).catch(() => null) : null;
        if (stats && isDeadPart(name, clock.now() - stats.mtimeMs, clock.system))
          await rm(file, { force: true }).catch(fail);
      }
    },
    async close() {},
  };
}
