// Files of the package that are no code.

import fs from 'node:fs';
import path from 'node:path';

/**
 * The text of a file by its path in the package. Both src/commands and dist/chunks lie two folders deep.
 * @throws the file system's error
 */
export function readPackageFile(name: string): string {
  return fs.readFileSync(path.join(import.meta.dirname, '../..', name), 'utf8');
}
