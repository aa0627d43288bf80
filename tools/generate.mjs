// Writes docs/cli.md from the command table, and the man page dist/man/imgctl.1.
// Usage: node tools/generate.mjs [--check | --man]   (--check writes nothing and fails if docs/cli.md is stale;
// --man writes only the man page, as npm run build does)

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { manPageOf } from './reference/man.mjs';
import { readManual } from './reference/manual.mjs';
import { markdownOf } from './reference/markdown.mjs';

const absolute = (path) => fileURLToPath(import.meta.resolve(`../${path}`));
const DOCUMENT = absolute('docs/cli.md');
const [mode] = process.argv.slice(2);

const manual = await readManual();
const text = markdownOf(manual);
if (mode === '--check') {
  if (readFileSync(DOCUMENT, 'utf8') !== text) {
    process.stderr.write('stale: docs/cli.md\nrun: npm run generate\n');
    process.exitCode = 1;
  }
} else {
  const { version } = JSON.parse(readFileSync(absolute('package.json'), 'utf8'));
  mkdirSync(absolute('dist/man'), { recursive: true });
  writeFileSync(absolute('dist/man/imgctl.1'), manPageOf(manual, version));
  if (mode !== '--man') writeFileSync(DOCUMENT, text);
}
