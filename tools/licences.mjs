// A rolldown plugin that writes THIRD-PARTY-LICENSES.txt, the licences of all packages in the bundle.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Licences of packages that do not publish theirs, as `<name>.txt`. */
const MISSING = fileURLToPath(import.meta.resolve('./licences/'));
const RULE = `\n${'-'.repeat(80)}\n\n`;

export function writeLicences() {
  return {
    name: 'write-licences',
    writeBundle({ dir }, bundle) {
      const opening = 'imgctl contains code of these packages, under these licences.\n';
      const sections = bundledPackages(Object.values(bundle)).map(section);
      const file = join(dir, '..', 'THIRD-PARTY-LICENSES.txt');
      writeFileSync(file, [opening, ...sections].join(RULE));
    },
  };
}

/** Returns the folders of the packages with code in the chunks, sorted. */
function bundledPackages(chunks) {
  const folders = new Set();
  for (const chunk of chunks) {
    for (const [id, { renderedLength }] of Object.entries(chunk.modules ?? {})) {
      // Modules that an alias leaves out start with a zero byte.
      const [folder] = /^[^\0].*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(id) ?? [];
      if (folder && renderedLength > 0) folders.add(folder);
    }
  }
  return [...folders].sort();
}

function section(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const own = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  const text = readFileSync(own ? join(folder, own) : join(MISSING, `${name}.txt`), 'utf8');
  return `${name} ${version} (${license})\n\n${text.replaceAll('\r\n', '\n').trim()}\n`;
}
