// Files of the package that are no code.

import fs from 'node:fs';
import path from 'node:path';
import { getAsset, isSea } from 'node:sea';

/**
 * The text of a file by its path in the package; the single executable holds it as an asset.
 * Both src/commands and dist/chunks lie two folders deep.
 * @throws the file system's error
 */
export function readPackageFile(name: string): string {
  if (isSea()) return getAsset(name, 'utf8');
  return fs.readFileSync(path.join(import.meta.dirname, '../..', name), 'utf8');
}
