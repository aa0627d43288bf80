// The control file, changelog and copyright of the Debian package.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MANIFEST, ROOT, sourceDate } from './release.mjs';

/** Returns the maintainer from the variables of Debian's own tools. */
function maintainer() {
  const { DEBFULLNAME = 'The imgctl authors', DEBEMAIL = 'imgctl@packages.invalid' } = process.env;
  return `${DEBFULLNAME} <${DEBEMAIL}>`;
}

/** Returns DEBIAN/control; the size is in KiB, the libraries are the ones that Node 24 needs. */
export function control(architecture, size) {
  const [synopsis, more] = MANIFEST.description.split(': ');
  return `Package: ${MANIFEST.name}
Version: ${MANIFEST.version}
Architecture: ${architecture}
Maintainer: ${maintainer()}
Installed-Size: ${size}
Depends: libc6 (>= 2.28), libgcc-s1 (>= 3.4), libstdc++6 (>= 5.2)
Section: net
Priority: optional
Description: ${synopsis}
 ${more.charAt(0).toUpperCase()}${more.slice(1)}.
 .
 It contains its own Node.js.
`;
}

/** Returns the changes of this version in Debian's format. @throws Error if there are none */
export function changelog() {
  const { name, version } = MANIFEST;
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(version));
  const changes = section?.split(/^- /m).slice(1) ?? [];
  if (changes.length === 0) throw new Error(`CHANGELOG.md has no changes for ${version}`);
  const items = changes.map((change) => `  * ${wrap(change).join('\n    ')}`);
  const date = new Date(sourceDate() * 1000).toUTCString().replace('GMT', '+0000');
  return `${name} (${version}) unstable; urgency=medium\n\n${items.join('\n')}\n\n -- ${maintainer()}  ${date}\n`;
}

/** Returns the text in lines of at most 72 characters. */
function wrap(text) {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .match(/.{1,72}(?= |$)/g)
    .map((line) => line.trim());
}

/** Returns the licences of all software in the executable. */
export function copyright(built) {
  const parts = [
    ['imgctl', 'LICENSE'],
    ['Packages bundled with imgctl', 'THIRD-PARTY-LICENSES.txt'],
    ['Node.js and the software that it contains', 'NODE-LICENSE.txt'],
  ];
  return parts
    .map(
      ([title, file]) =>
        `${title}\n${'='.repeat(title.length)}\n\n${readFileSync(join(built, file), 'utf8')}`,
    )
    .join('\n\n');
}
