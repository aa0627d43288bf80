// Creates reproducible archives for download, and their checksums.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BUILD, MANIFEST, sourceDate } from '../release.mjs';
import { run } from '../run.mjs';

const SUMS = 'SHA256SUMS';

/** Packs a folder of build/ (.zip for Windows, else .tar.gz) and returns the path of the archive. */
export function archive(folder, target) {
  const windows = target.startsWith('win-');
  const file = join(BUILD, `imgctl-${MANIFEST.version}-${target}${windows ? '.zip' : '.tar.gz'}`);
  rmSync(file, { force: true });
  (windows ? zip : tar)(file, folder);
  return file;
}

function tar(file, folder) {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=go=rX,u=rwX'];
  const order = ['--format=ustar', '--sort=name', `--mtime=@${sourceDate()}`];
  const place = ['-I', 'gzip -9n', '-cf', file, '-C', dirname(folder), basename(folder)];
  run('tar', [...order, ...owner, ...place]);
}

function zip(file, folder) {
  const names = ['.', ...readdirSync(folder, { recursive: true })].sort();
  const date = Number(sourceDate());
  for (const name of names) utimesSync(join(folder, name), date, date);
  const entries = names.map((name) => join(basename(folder), name));
  // -X omits owner and extra times; zip writes local time.
  run('zip', ['-9', '-X', '-q', file, ...entries], {
    cwd: dirname(folder),
    env: { ...process.env, TZ: 'UTC' },
  });
}

/** Writes the checksums of all downloads in build/, as `sha256sum --check` reads them. */
export function writeSums() {
  const files = readdirSync(BUILD).filter((name) => /\.(tar\.gz|zip|deb|tgz)$/.test(name));
  const lines = files.sort().map((name) => {
    const hash = createHash('sha256').update(readFileSync(join(BUILD, name)));
    return `${hash.digest('hex')}  ${name}\n`;
  });
  writeFileSync(join(BUILD, SUMS), lines.join(''));
}
