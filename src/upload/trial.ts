// Tries what push does with a small file, which is removed again.

import { randomBytes } from 'node:crypto';
import { ImgctlError } from '../errors.ts';
import type { Storage, UnpublishedFile } from './storage.ts';
import type { UploadSource } from './upload-file.ts';

const CONTENT = Buffer.from('imgctl stored this file as a test, and removes it.\n');

/**
 * @param onLeft receives the name of the file if it could not be removed
 * @throws ImgctlError: what the storage refused, or does otherwise than push needs
 */
export async function tryUpload(storage: Storage, onLeft: (name: string) => void): Promise<void> {
  const { address } = storage;
  // The service syncs only packages.
  const name = `imgctl-test-${randomBytes(8).toString('hex')}.txt`;
  const ask = `ask the administrators of the storage, and remove ${name} from it`;
  const fail = (message: string, note?: string): never => {
    throw new ImgctlError('failed', message, { facts: note ? `${note}; ${ask}` : ask });
  };
  const file = sourceOf(CONTENT);
  const uploading = storage.put(name, file, () => {});
  const part = await uploading.catch(async (error: unknown) => {
    // No later run continues this upload. After a refusal, the storage has nothing of it.
    const isRefused = error instanceof ImgctlError && error.status !== undefined;
    await storage.remove(name).catch(() => isRefused || onLeft(name));
    throw error;
  });
  const comparison = await showAndCompare(storage, name, part, file).catch(async (error) => {
    await storage.remove(name).catch(() => onLeft(name));
    throw error;
  });
  await storage.remove(name).catch((error) => {
    onLeft(name);
    throw error;
  });
  const note = comparison.state === 'different' ? comparison.note : undefined;
  if (comparison.state !== 'same')
    fail(`${address} returned a file that differs from the uploaded one`, note);
  if ((await storage.compare(name, file)).state !== 'absent')
    fail(`${address} did not remove the file`);
}

async function showAndCompare(
  storage: Storage,
  name: string,
  part: UnpublishedFile,
  file: UploadSource,
) {
  try {
    const published = await part.publish(false);
    if (published.kind === 'refused') throw published.error;
    // After a conflict too: some storages say too little of a file to know it.
    return await storage.compare(name, file);
  } catch (error) {
    await part.discard(error).catch(() => {});
    throw error;
  }
}

function sourceOf(bytes: Buffer): UploadSource {
  async function* read(start = 0, end = bytes.length) {
    yield bytes.subarray(start, end);
  }
  return { size: bytes.length, read, readAll: () => read() };
}
