// Builds build/imgctl_<version>_<architecture>.deb from a single executable for Linux.
// Usage: node tools/deb.mjs [target...]   (default: every target that is built)   Needs dpkg-deb and git.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { changelog, control, copyright } from './deb-texts.mjs';
import { writeSums } from './executables/archive.mjs';
import { TARGETS } from './executables/targets.mjs';
import { BUILD, MANIFEST, ROOT, sourceDate } from './release.mjs';
import { run } from './run.mjs';

/** The completion scripts, and where Debian's shells find them. */
const COMPLETIONS = {
  'imgctl.bash': 'usr/share/bash-completion/completions/imgctl',
  _imgctl: 'usr/share/zsh/vendor-completions/_imgctl',
  'imgctl.fish': 'usr/share/fish/vendor_completions.d/imgctl.fish',
};

const builtFor = (target) => join(BUILD, `imgctl-${target}`);
const named = process.argv.slice(2);
const built = Object.keys(TARGETS).filter(
  (target) => TARGETS[target].debian && existsSync(builtFor(target)),
);
const missing = named.filter((target) => !built.includes(target));
if (missing.length > 0 || built.length === 0) {
  const what = missing.length > 0 ? `no executable for ${missing.join(', ')}` : 'no executables';
  process.stderr.write(`${what} in build/\nhint: build them with: npm run executables\n`);
  process.exit(1);
}
for (const target of named.length > 0 ? named : built) {
  process.stdout.write(`${makePackage(builtFor(target), TARGETS[target].debian)}\n`);
}
writeSums();

function makePackage(built, architecture) {
  const root = join(BUILD, `deb-${architecture}`);
  rmSync(root, { recursive: true, force: true });
  put(root, 'usr/bin/imgctl', join(built, 'imgctl'), 0o755);
  for (const [from, to] of Object.entries(COMPLETIONS)) {
    put(root, to, join(ROOT, 'completions', from));
  }
  for (const page of readdirSync(join(ROOT, 'man'))) {
    const section = page.split('.').at(-1);
    const text = readFileSync(join(ROOT, 'man', page));
    write(root, `usr/share/man/man${section}/${page}.gz`, compress(text));
  }
  write(root, 'usr/share/doc/imgctl/copyright', copyright(built));
  write(root, 'usr/share/doc/imgctl/changelog.gz', compress(changelog()));
  put(root, 'usr/share/lintian/overrides/imgctl', join(ROOT, 'packaging/debian/lintian-overrides'));
  const files = filesBelow(root);
  const size = files.reduce((sum, file) => sum + statSync(join(root, file)).size, 0);
  write(root, 'DEBIAN/control', control(architecture, Math.ceil(size / 1024)));
  write(
    root,
    'DEBIAN/md5sums',
    files.map((file) => `${md5(join(root, file))}  ${file}\n`).join(''),
  );
  const file = join(BUILD, `imgctl_${MANIFEST.version}_${architecture}.deb`);
  run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, file], {
    // The output of xz depends on the number of threads.
    env: { ...process.env, SOURCE_DATE_EPOCH: sourceDate(), DPKG_DEB_THREADS_MAX: '1' },
  });
  rmSync(root, { recursive: true });
  return file;
}

function put(root, name, from, mode = 0o644) {
  copyFileSync(from, prepare(root, name));
  chmodSync(join(root, name), mode);
}

function write(root, name, content) {
  writeFileSync(prepare(root, name), content);
  chmodSync(join(root, name), 0o644);
}

/** Creates the folders of a file with mode 755, whatever the umask is, and returns its path. */
function prepare(root, name) {
  const folders = dirname(name).split('/');
  for (let depth = 0; depth <= folders.length; depth += 1) {
    const folder = join(root, ...folders.slice(0, depth));
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
  }
  return join(root, name);
}

/** Compresses like gzip -9n, without name and date. */
function compress(content) {
  return gzipSync(content, { level: 9 });
}

function md5(file) {
  return createHash('md5').update(readFileSync(file)).digest('hex');
}

function filesBelow(root) {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
