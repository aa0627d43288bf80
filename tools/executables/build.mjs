// Builds single executables from dist/: a Node with the bundle inside, and an archive of it.
// Usage: node tools/executables/build.mjs [target...]   (default: all; runs on Linux x86-64; needs tar, gzip, zip)
// Writes build/imgctl-<target>/, an archive of each, and SHA256SUMS. SOURCE_DATE_EPOCH sets their dates.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fetchNode, fetchPackage } from '../fetch-package.mjs';
import { BUILD, ROOT } from '../release.mjs';
import { hasProgram, run } from '../run.mjs';
import { archive, writeSums } from './archive.mjs';
import { makeScript } from './script.mjs';
import { withoutSignature } from './signature.mjs';
import { NODE_VERSION, POSTJECT, TARGETS } from './targets.mjs';

/** The only target with compiled code: V8 accepts it only from the platform that made it. */
const OWN = 'linux-x64';
/** Marks in the executable by which Node finds the injected data. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const PAPERS = ['LICENSE', 'THIRD-PARTY-LICENSES.txt', 'README.md', 'CHANGELOG.md'];

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(TARGETS, name));
if (unknown.length > 0) throw new Error(`no such target: ${unknown.join(', ')}`);
if (`${process.platform}-${process.arch}` !== OWN) throw new Error(`builds on ${OWN} alone`);

const work = join(BUILD, 'work');
mkdirSync(work, { recursive: true });
const main = join(work, 'main.cjs');
writeFileSync(main, makeScript(ROOT));
for (const target of named.length > 0 ? named : Object.keys(TARGETS)) {
  const folder = await build(target);
  process.stdout.write(`${archive(folder, target)}\n`);
}
writeSums();
rmSync(work, { recursive: true });

/** Returns the folder with the executable, its pages and its licences. */
async function build(target) {
  const folder = join(BUILD, `imgctl-${target}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const windows = target.startsWith('win-');
  const executable = join(folder, windows ? 'imgctl.exe' : 'imgctl');
  copyFileSync(nodeFor(target), executable);
  chmodSync(executable, 0o755);
  if (windows) writeFileSync(executable, withoutSignature(readFileSync(executable)));
  else strip(executable, target);
  const { inject } = createRequire(import.meta.url)(postject());
  await inject(executable, RESOURCE, readFileSync(makeBlob(target)), { sentinelFuse: FUSE });
  for (const paper of PAPERS) copyFileSync(join(ROOT, paper), join(folder, paper));
  copyFileSync(join(dirname(nodeFor(OWN)), '../LICENSE'), join(folder, 'NODE-LICENSE.txt'));
  for (const name of ['completions', 'man']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  return folder;
}

function nodeFor(target) {
  return fetchNode(NODE_VERSION, { platform: target, integrity: TARGETS[target].integrity });
}

function postject() {
  const { name, version, integrity } = POSTJECT;
  return fetchPackage(name, version, { integrity });
}

/** Creates the file with script and assets, with a Node of the same version as the executable. */
function makeBlob(target) {
  const config = join(work, `${target}.json`);
  const output = join(work, `${target}.blob`);
  const completions = readdirSync(join(ROOT, 'completions')).map((name) => `completions/${name}`);
  const settings = {
    main,
    output,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS could load foreign code next to passwords and tokens.
    execArgvExtension: 'none',
    useCodeCache: target === OWN,
    assets: Object.fromEntries(completions.map((name) => [name, join(ROOT, name)])),
  };
  writeFileSync(config, JSON.stringify(settings));
  // V8 orders compiled code by a random seed; unlike other flags, this one does not invalidate it.
  run(nodeFor(OWN), ['--random-seed=1', '--experimental-sea-config', config]);
  return output;
}

/** Removes the symbols: 18 of 126 MB. */
function strip(executable, target) {
  // The usual strip supports only its own platform.
  const tool = ['llvm-strip', ...(target === OWN ? ['strip'] : [])].find(hasProgram);
  if (tool) run(tool, [executable]);
  else process.stderr.write(`${target} still has its symbols: llvm-strip is not installed\n`);
}
