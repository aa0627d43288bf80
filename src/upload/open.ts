// Opens the storage of a target; loads only what that kind of storage needs.

import type { Storage, StorageOptions, Target } from './storage.ts';

/** @throws ImgctlError config: an invalid proxy */
export async function openStorage(target: Target, options: StorageOptions): Promise<Storage> {
  if (target.kind === 'dav') return (await import('./dav.ts')).openDav(target, options);
  if (target.kind === 's3') return (await import('./s3.ts')).openS3(target, options);
  return (await import('./folder.ts')).openFolder(target.path, options.clock.signal);
}
