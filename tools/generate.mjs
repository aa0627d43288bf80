// Writes the man pages, docs/cli.md and the list of pages in package.json from the command table.
// Usage: node tools/generate.mjs [--check]   (--check writes nothing and fails if a file is stale)

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { manPages } from './reference/man.mjs';
import { commandReference } from './reference/markdown.mjs';
import { readManual } from './reference/pages.mjs';

const ROOT = fileURLToPath(import.meta.resolve('../'));
const manifest = JSON.parse(read('package.json'));

const manual = await readManual(ROOT);
const pages = manPages(manual, manifest.version);
// npm installs only man pages that package.json lists; it ignores directories.man.
const man = [...pages.keys()].sort();
const files = new Map([
  ...pages,
  ['docs/cli.md', commandReference(manual)],
  ['package.json', `${JSON.stringify({ ...manifest, man }, null, 2)}\n`],
]);
mkdirSync(join(ROOT, 'man'), { recursive: true });
const present = readdirSync(join(ROOT, 'man')).map((name) => `man/${name}`);
const left = present.filter((name) => !files.has(name));
const stale = [...files].filter(([name, text]) => read(name) !== text);
if (process.argv.includes('--check')) {
  const names = [...stale.map(([name]) => name), ...left];
  if (names.length > 0) {
    process.stderr.write(`stale: ${names.join(', ')}\nrun: npm run generate\n`);
    process.exitCode = 1;
  }
} else {
  for (const [name, text] of stale) writeFileSync(join(ROOT, name), text);
  for (const name of left) rmSync(join(ROOT, name));
}

function read(name) {
  const file = join(ROOT, name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
