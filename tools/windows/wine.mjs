// Wine in a folder: a minimal Debian with Wine, made by mmdebstrap and entered with chroot.

import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../release.mjs';
import { hasProgram, run } from '../run.mjs';

/** The folder of the Debian system; IMGCTL_WINE reuses another one. */
const SYSTEM = process.env.IMGCTL_WINE ?? join(ROOT, 'build/wine');
/** The folder that Windows programs see as Z:\home. */
export const WORK = join(SYSTEM, 'home');

const ENVIRONMENT = {
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/home',
  LANG: 'C.UTF-8',
  WINEPREFIX: '/home/prefix',
  WINEDEBUG: '-all',
  XDG_RUNTIME_DIR: '/tmp',
};

/** Wine needs /proc and /dev; these mounts end with the process. */
const ENTER =
  'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" sh -c \'cd /home && exec "$@"\' - "$@"';

/** Returns why Wine cannot run here, or undefined. */
export function obstacle() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it needs Linux on x64';
  if (process.getuid() !== 0) return 'it needs root, for chroot';
  const missing = ['mmdebstrap', 'unshare'].find((name) => !hasProgram(name));
  return missing === undefined ? undefined : `${missing} is not installed`;
}

/** Makes the system and Wine's own files, unless an earlier run did. */
export function prepare() {
  if (!existsSync(join(SYSTEM, 'usr/bin/wine-stable'))) {
    rmSync(SYSTEM, { recursive: true, force: true });
    run('mmdebstrap', ['--variant=minbase', '--include=wine64,wine', 'trixie', SYSTEM]);
  }
  mkdirSync(WORK, { recursive: true });
  if (existsSync(join(WORK, 'prefix/system.reg'))) return;
  // Wine writes its registry when its server ends.
  runInside('sh', '-c', 'wine wineboot -i; wineserver -w');
}

/** Ends everything that runs inside. */
export function stop() {
  runInside('wineserver', '-k');
}

function runInside(...argv) {
  spawnSync('unshare', enter(argv), { env: ENVIRONMENT, stdio: 'ignore', timeout: 300_000 });
}

function enter(argv) {
  return ['--mount', 'sh', '-c', ENTER, SYSTEM, ...argv];
}

let outputs = 0;

/**
 * Starts a program inside. Its streams are files, as Windows programs cannot use pipes of Unix; without `input`
 * the standard input is a pipe, for a program that passes it on to a pseudo-terminal.
 * @returns `ended` resolves with code, stdout and stderr; the code is null after the time limit
 */
export function start(argv, { env = {}, input, seconds = 120 } = {}) {
  outputs += 1;
  const files = ['out', 'err', 'in'].map((kind) => join(WORK, `${process.pid}-${outputs}.${kind}`));
  writeFileSync(files[2], input ?? '');
  const [out, err, from] = files.map((file, index) => openSync(file, index === 2 ? 'r' : 'w'));
  const child = spawn('unshare', enter(argv), {
    env: { ...ENVIRONMENT, ...env },
    stdio: [input === undefined ? 'pipe' : input === '' ? 'ignore' : from, out, err],
  });
  for (const descriptor of [out, err, from]) closeSync(descriptor);
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
  const read = (file) => readFileSync(file, 'utf8').replaceAll('\r\n', '\n');
  const ended = new Promise((resolve) => {
    child.once('exit', (code) => {
      clearTimeout(timer);
      const [stdout, stderr] = files.map(read);
      for (const file of files) rmSync(file);
      resolve({ code, stdout, stderr });
    });
  });
  return { stdin: child.stdin, ended, output: () => read(files[0]) };
}
