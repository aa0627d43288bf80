// Checks the upload storage: its settings, its credentials, and that it can be reached.

import type { Context } from '../../context.ts';
import { asImgctlError, valueOr } from '../../errors.ts';
import { openUploadStorage } from '../storage.ts';
import { type Finding, failed, ok } from './finding.ts';

/** Returns nothing if no storage is set. */
export async function checkStorage(context: Context): Promise<Finding[]> {
  const isUnset = valueOr(() => context.settings.find('upload-url').value === undefined, true);
  if (isUnset) return [];
  const progress = context.console.startProgress({ lines: false });
  progress.update('connecting to the storage');
  try {
    const storage = await openUploadStorage(context);
    await storage.check().finally(storage.close);
    return [ok('storage', `${storage.address}: reachable, credentials accepted`)];
  } catch (error) {
    context.io.signal.throwIfAborted();
    return [failed('storage', asImgctlError(error))];
  } finally {
    await progress.stop();
  }
}
