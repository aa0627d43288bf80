// Reads files of the package other than code.

import fs from 'node:fs';
import path from 'node:path';
import { getAsset, isSea } from 'node:sea';

/** Both src/commands and dist/chunks are two folders deep. */
export function readPackageFile(name: string): string {
  if (isSea()) return getAsset(name, 'utf8');
  return fs.readFileSync(path.join(import.meta.dirname, '../..', name), 'utf8');
}
