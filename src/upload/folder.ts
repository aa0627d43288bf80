// A storage that is a folder, such as a mounted share: write, flush, compare, rename.

import { createHash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type ErrorCode, ImgctlError } from '../errors.ts';
import { errorReason, isMissing } from '../files/atomic-file.ts';
import type { Clock } from '../io.ts';
import {
  arrivedWrong,
  conflict,
  isDeadPart,
  isHidden,
  nameTooLong,
  partName,
  type Storage,
  storageFull,
} from './storage.ts';

const SHOW = 'check the folder: imgctl config get upload-url, or --to';
const FULL = ['ENOSPC', 'EDQUOT', 'EFBIG'];
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS'];
const PIECE = 1024 * 1024;

export function folderStorage(folder: string, { signal, system, now }: Clock): Storage {
  const address = `folder ${folder}`;
  const fail = (cause: unknown): never => {
    if (cause instanceof ImgctlError) throw cause;
    const reason = errorReason(cause);
    if (FULL.includes(reason)) throw storageFull(address, reason, cause);
    const failed = (code: ErrorCode, message: string, hint?: string) =>
      new ImgctlError(code, message, { hint, cause });
    if (FORBIDDEN.includes(reason)) {
      const message = `no permission for ${folder} (${reason})`;
      throw failed('not-permitted', message, `check its permissions: ls -ld ${folder}`);
    }
    if (isMissing(cause))
      throw failed('not-found', `folder ${folder} does not exist`, `is it mounted? ${SHOW}`);
    throw failed('failed', `cannot upload to ${folder}: ${reason}`);
  };
  const at = (name: string) => path.join(folder, name);

  const statOf = async (name: string): Promise<Stats | undefined> => {
    const stats = await stat(at(name)).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw errorReason(error) === 'ENAMETOOLONG' ? nameTooLong(name, address) : fail(error);
    });
    if (stats && !stats.isFile()) throw conflict(name, address);
    return stats;
  };

  const digestOf = async (chunks: AsyncIterable<Buffer>): Promise<string> => {
    const hash = createHash('sha256');
    for await (const chunk of chunks) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
    return hash.digest('hex');
  };
  const digestAt = (name: string) => digestOf(createReadStream(at(name), { highWaterMark: PIECE }));

  return {
    address,
    async check() {
      if ((await stat(folder).catch(fail)).isDirectory()) return;
      throw new ImgctlError('not-found', `${folder} is not a folder`, { hint: SHOW });
    },
    async list() {
      const entries = await readdir(folder, { withFileTypes: true }).catch(fail);
      const files = entries.filter((entry) => !entry.isDirectory() && !isHidden(entry.name));
      return files.map(({ name }) => name).sort();
    },
    async compare(name, source) {
      const stored = await statOf(name);
      if (!stored) return { state: 'absent' };
      if (stored.size !== source.size) return { state: 'different' };
      const isSame = (await digestAt(name).catch(fail)) === (await digestOf(source.read()));
      return { state: isSame ? 'same' : 'different' };
    },
    async put(name, source, onProgress) {
      const part = partName(name, system);
      const discard = () => rm(at(part), { force: true }).catch(fail);
      const handle = await open(at(part), 'wx').catch(fail);
      try {
        const hash = createHash('sha256');
        let position = 0;
        onProgress(position);
        for await (const bytes of source.readAll()) {
          hash.update(bytes);
          await handle.writeFile(bytes);
          position += bytes.length;
          onProgress(position);
        }
        await handle.sync();
        const digest = hash.digest('hex');
        const facts = await handle.stat();
        if ((await digestAt(part)) !== digest) throw arrivedWrong(name, 'its digest is wrong');
        /** True if it is the file that was written, or has its content if the file system renumbers files. */
        const isWritten = async (file: string) => {
          const stats = await statOf(file);
          if (stats?.size !== source.size) return false;
          const { dev, ino, mtimeMs } = stats;
          const isSame = dev === facts.dev && ino === facts.ino && mtimeMs === facts.mtimeMs;
          return isSame || (await digestAt(file)) === digest;
        };
        return {
          async finish(replace) {
            try {
              if (!(await isWritten(part))) throw arrivedWrong(name, 'its part was changed');
              if (replace) await rename(at(part), at(name));
              else if (!(await renameToNew(at(part), at(name)))) throw conflict(name, address);
              await flushFolder(folder);
              if (!(await isWritten(name))) throw arrivedWrong(name, 'another file replaced it');
            } catch (error) {
              fail(error);
            }
          },
          discard,
        };
      } catch (error) {
        await discard().catch(() => {});
        return fail(error);
      } finally {
        await handle.close();
      }
    },
    async sweep() {
      for (const name of await readdir(folder).catch(fail)) {
        const stats = name.startsWith('.imgctl-') ? await stat(at(name)).catch(() => null) : null;
        if (stats && isDeadPart(name, now() - stats.mtimeMs, system))
          await rm(at(name), { force: true }).catch(fail);
      }
    },
    async close() {},
  };
}

/** Renames without overwriting, which a hard link does in one step. Returns false if the name is taken. */
async function renameToNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
  } catch (error) {
    // File systems without hard links fail in many ways.
    const isTaken = () => stat(to).then(Boolean, () => false);
    if (errorReason(error) === 'EEXIST' || (await isTaken())) return false;
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
