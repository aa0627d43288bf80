// Keeps of dist/types only what the types of the library need: tsc writes a file for each module of it.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';

const TYPES = path.resolve(import.meta.dirname, '../dist/types');
const needed = new Set([path.join(TYPES, 'library/index.d.ts')]);
for (const file of needed) {
  for (const [, name] of readFileSync(file, 'utf8').matchAll(
    /(?:from |import\()['"](\.[^'"]+)\.ts['"]/g,
  ))
    needed.add(path.resolve(path.dirname(file), `${name}.d.ts`));
}
for (const entry of readdirSync(TYPES, { recursive: true, withFileTypes: true })) {
  const file = path.join(entry.parentPath, entry.name);
  if (entry.isFile() && !needed.has(file)) rmSync(file);
}
