// Builds single executables of the program that was built before: a Node with the bundle inside, and its archive.
// Usage: node tools/executables/build.mjs [target...]   (all of them; on Linux on x86-64, with tar, gzip, zip)
// Makes build/imgctl-<target>/, an archive of each, and SHA256SUMS. SOURCE_DATE_EPOCH dates what is in them.

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
import { BUNDLE, COMPILED, makeBundle, makeMain, makeTraining } from './scripts.mjs';
import { withoutSignature } from './signature.mjs';
import { NODE_VERSION, POSTJECT, TARGETS } from './targets.mjs';

/** Where the bundle can be compiled ahead: V8 takes it on the platform that made it alone. */
const OWN = 'linux-x64';
/** By which Node finds what was put into it. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const PAPERS = ['LICENSE', 'THIRD-PARTY-LICENSES.txt', 'README.md', 'CHANGELOG.md'];

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(TARGETS, name));
if (unknown.length > 0) throw new Error(`no such target: ${unknown.join(', ')}`);
if (`${process.platform}-${process.arch}` !== OWN) throw new Error(`builds on ${OWN} alone`);

const work = join(BUILD, 'work');
mkdirSync(work, { recursive: true });
const main = put('main.cjs', makeMain(ROOT));
const bundle = put(BUNDLE, makeBundle(ROOT));
const compiled = compile();
for (const target of named.length > 0 ? named : Object.keys(TARGETS)) {
  const folder = await build(target);
  process.stdout.write(`${archive(folder, target)}\n`);
}
writeSums();
rmSync(work, { recursive: true });

function put(name, text) {
  writeFileSync(join(work, name), text);
  return join(work, name);
}

/** What V8 compiles of the bundle for a listing until its connection is refused: each time the same. */
function compile() {
  const file = join(work, COMPILED);
  const training = put('training.cjs', makeTraining(ROOT, bundle, file));
  // V8 seeds what orders the compiled code at random; unlike other flags this one does not make it void.
  const words = ['--random-seed=1', training, 'images', 'list', '--json', '--retries', '0'];
  run(nodeFor(OWN), words, {
    env: { IMGCTL_BASE_URL: 'http://127.0.0.1:1', IMGCTL_TOKEN: 'none' },
  });
  return file;
}

/** The folder with the executable and its papers. */
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

/** The file that Node makes of script and assets; it has to be the same Node as the executable's. */
function makeBlob(target) {
  const config = join(work, `${target}.json`);
  const output = join(work, `${target}.blob`);
  const completions = readdirSync(join(ROOT, 'completions')).map((name) => `completions/${name}`);
  const settings = {
    main,
    output,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS is for the Nodes that a user runs: it could load foreign code beside passwords and tokens.
    execArgvExtension: 'none',
    assets: {
      [BUNDLE]: bundle,
      ...(target === OWN && { [COMPILED]: compiled }),
      ...Object.fromEntries(completions.map((name) => [name, join(ROOT, name)])),
    },
  };
  writeFileSync(config, JSON.stringify(settings));
  run(nodeFor(OWN), ['--experimental-sea-config', config]);
  return output;
}

/** Takes off the symbols, 18 of 126 MB. */
function strip(executable, target) {
  // The usual strip knows its own platform alone.
  const tool = ['llvm-strip', ...(target === OWN ? ['strip'] : [])].find(hasProgram);
  if (tool) run(tool, [executable]);
  else process.stderr.write(`${target} keeps its symbols: no llvm-strip here\n`);
}
