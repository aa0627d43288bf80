// Writes the Homebrew formula build/imgctl.rb and the npm package that it installs.
// Usage: node tools/formula.mjs [address]   (URL of the published package; default: the file in build/)

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILD, MANIFEST, ROOT } from './release.mjs';
import { run } from './run.mjs';

mkdirSync(BUILD, { recursive: true });
const packed = run('npm', ['pack', '--silent', '--pack-destination', BUILD], { cwd: ROOT });
const tarball = join(BUILD, packed.trim().split('\n').at(-1));
const values = {
  DESCRIPTION: MANIFEST.description.split(':')[0],
  URL: process.argv[2] ?? pathToFileURL(tarball).href,
  SHA256: createHash('sha256').update(readFileSync(tarball)).digest('hex'),
  LICENSE: MANIFEST.license,
};
const template = readFileSync(join(ROOT, 'packaging/homebrew/imgctl.rb'), 'utf8');
const formula = join(BUILD, 'imgctl.rb');
writeFileSync(
  formula,
  template.replace(/@([A-Z\d]+)@/g, (_, name) => values[name]),
);
process.stdout.write(`${formula}\n`);
