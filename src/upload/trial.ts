// Tries what push does with a small file, which is removed again.

import { randomBytes } from 'node:crypto';
import { ImgctlError } from '../errors.ts';
import { compareStored } from './plan.ts';
import type { Comparison, Storage, UnpublishedFile } from './storage.ts';
import type { UploadSource } from './upload-file.ts';

const CONTENT = Buffer.from('imgctl stored this file as a test, and removes it.\n');

async function* read(start = 0, end = CONTENT.length) {
  yield CONTENT.subarray(start, end);
}

const FILE: UploadSource = { size: CONTENT.length, read, readAll: () => read() };

/**
 * @param onLeft receives the name of the file if it could not be removed
 * @throws ImgctlError: what the storage refused, or does otherwise than push needs
 */
export async function tryUpload(storage: Storage, onLeft: (name: string) => void): Promise<void> {
  const { address } = storage;
  // The service syncs only packages.
  const name = `imgctl-test-${randomBytes(8).toString('hex')}.txt`;
  const ask = `ask the administrators of the storage, and remove ${name} from it`;
  let part: UnpublishedFile | undefined;
  let comparison: Comparison;
  try {
    part = await storage.put(name, FILE, () => {});
    const published = await part.publish(false);
    if (published.kind === 'refused') throw published.error;
    // After a conflict too: some storages say too little of a file to know it.
    comparison = await compareStored(storage, name, FILE);
  } catch (error) {
    await part?.discard(error).catch(() => {});
    // If the upload itself was refused, the storage has nothing of it.
    const isRefused = !part && error instanceof ImgctlError && error.status !== undefined;
    await storage.remove(name).catch(() => {
      if (!isRefused) onLeft(name);
    });
    throw error;
  }
  await storage.remove(name).catch((error) => {
    onLeft(name);
    throw error;
  });
  if (comparison.state !== 'same') {
    const note = comparison.state === 'different' && comparison.note;
    const message = `${address} returned a file that differs from the uploaded one`;
    throw new ImgctlError('failed', message, { facts: note ? `${note}; ${ask}` : ask });
  }
  if (await storage.look(name))
    throw new ImgctlError('failed', `${address} did not remove the file`, { facts: ask });
}
