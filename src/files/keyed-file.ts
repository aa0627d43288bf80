// Names of files that belong to a profile, a service, a user: readable at the front, told apart by a digest.

import { createHash } from 'node:crypto';
import path from 'node:path';

/** `<directory>/<name>.<digest of the key>.json` */
export function keyedFile(directory: string, name: string, key: readonly string[]): string {
  const digest = createHash('sha256').update(key.join('\0')).digest('hex').slice(0, 16);
  return path.join(directory, `${name}.${digest}.json`);
}
