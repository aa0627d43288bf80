// Builds a single executable for this platform: the Node that runs this script, with the bundle inside.
// Usage: node tools/executable.mjs   (with Node 24 or later, after npm run build)
// Writes build/imgctl-<platform>-<architecture>/ and an archive of it.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { platform, arch, execPath, versions } = process;
const ROOT = fileURLToPath(import.meta.resolve('../'));
const NAME = `imgctl-${platform}-${arch}`;
const FOLDER = join(ROOT, 'build', NAME);
const EXECUTABLE = join(FOLDER, platform === 'win32' ? 'imgctl.exe' : 'imgctl');
/** Marks in the executable by which Node finds the injected data. */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

if (Number.parseInt(versions.node, 10) < 24) throw new Error('run it with Node 24 or later');
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
copyFileSync(execPath, EXECUTABLE);
chmodSync(EXECUTABLE, 0o755);
// Symbols are 18 of 126 MB.
if (platform === 'linux') run('strip', EXECUTABLE);
if (platform === 'darwin') run('codesign', '--remove-signature', EXECUTABLE);
const segment = platform === 'darwin' ? ['--macho-segment-name', 'NODE_SEA'] : [];
const blob = makeBlob();
const injection = [EXECUTABLE, RESOURCE, blob, '--sentinel-fuse', FUSE, ...segment];
// Node 24 cannot inject by itself: node --build-sea exists since Node 25.5.
run('npx', '--yes', 'postject@1.0.0-alpha.6', ...injection);
if (platform === 'darwin') run('codesign', '--sign', '-', EXECUTABLE);
rmSync(dirname(blob), { recursive: true });
for (const name of ['LICENSE', 'THIRD-PARTY-LICENSES.txt', 'README.md', 'CHANGELOG.md']) {
  copyFileSync(join(ROOT, name), join(FOLDER, name));
}
copyFileSync(nodeLicence(), join(FOLDER, 'NODE-LICENSE.txt'));
cpSync(join(ROOT, 'completions'), join(FOLDER, 'completions'), { recursive: true });
copyFileSync(join(ROOT, 'dist/man/imgctl.1'), join(FOLDER, 'imgctl.1'));
// A tar that takes D: for a host needs names without a path.
process.chdir(join(ROOT, 'build'));
run('tar', '-czf', `${NAME}.tar.gz`, NAME);
process.stdout.write(`${FOLDER}.tar.gz\n`);

/** Returns the file with the script and its assets, in a folder of its own. */
function makeBlob() {
  const work = join(ROOT, 'build', 'work');
  mkdirSync(work, { recursive: true });
  const [main, output, config] = ['main.cjs', 'blob', 'config.json'].map((name) =>
    join(work, name),
  );
  writeFileSync(main, script());
  const completions = readdirSync(join(ROOT, 'completions')).map((name) => `completions/${name}`);
  const settings = {
    main,
    output,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS could load foreign code next to passwords and tokens.
    execArgvExtension: 'none',
    useCodeCache: true,
    assets: Object.fromEntries(completions.map((name) => [name, join(ROOT, name)])),
  };
  writeFileSync(config, JSON.stringify(settings));
  run(execPath, '--experimental-sea-config', config);
  return output;
}

/** Returns the text of one script with every chunk of dist/, each of which runs when it is first required. */
function script() {
  const chunks = readdirSync(join(ROOT, 'dist/chunks')).map((name) => `chunks/${name}`);
  const modules = ['main.cjs', ...chunks].map((file) => {
    const code = readFileSync(join(ROOT, 'dist', file), 'utf8');
    return `'${file}': function (module, exports, require, __dirname) {${code}\n},\n`;
  });
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return `(${start})({\n${modules.join('')}}, '${version}', require);\n`;
}

/** Becomes part of the script, so it uses nothing else of this file. `__dirname` is undefined in the chunks. */
function start(chunks, version, requireBuiltIn) {
  const { posix } = requireBuiltIn('node:path');
  const loaded = new Map();
  const load = (file) => {
    const known = loaded.get(file);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(file, module);
    const require = (name) =>
      name.startsWith('.') ? load(posix.join(posix.dirname(file), name)) : requireBuiltIn(name);
    chunks[file](module, module.exports, require, undefined);
    return module.exports;
  };
  if (process.argv.length === 3 && process.argv[2] === '--version') {
    requireBuiltIn('node:fs').writeSync(1, `${version}\n`);
  } else {
    load('main.cjs').main(process);
  }
}

/** Returns the licence that comes with this Node, in an archive or as the npm package `node`. */
function nodeLicence() {
  const ownPackage = join('../node_modules', `node-${platform}-${arch}`);
  const folders = ['..', '.', ownPackage].map((folder) => join(dirname(execPath), folder));
  const file = folders.map((folder) => join(folder, 'LICENSE')).find((name) => existsSync(name));
  if (!file) throw new Error(`no LICENSE of Node near ${execPath}`);
  return file;
}

function run(program, ...args) {
  // npx is a script on Windows, which needs a shell.
  const shell = platform === 'win32' && program === 'npx';
  const { status, error } = spawnSync(program, args, {
    shell,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with ${status}`);
}
