// Compares `imgctl validate` of 2 GiB with openssl (a package with a manifest), and with gzip -t and qemu-img (without).
// Usage: node bench/validate.mjs [program...]   (default: bin/imgctl.js)
// Needs a build, Linux, openssl, tar, gzip and 10 GB in the temporary folder; qemu-img if it exists.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compare, makePackage, nodeProgram } from './measure.mjs';

const RUNS = 5;
const MEBIBYTES = 2048;
const programs = process.argv.length > 2 ? process.argv.slice(2) : ['bin/imgctl.js'];
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const inFolder = (name) => join(folder, name);

try {
  await report(
    'with a manifest',
    ['openssl', 'dgst', '-sha256', inFolder('bench.ova')],
    makeArchive(),
  );
  makeDisk();
  await report('gzip disk', ['gzip', '-t', inFolder('disk.gz')], makeGzip());
  if (spawnSync('qemu-img', ['--version']).status === 0) {
    const target = ['-n', '--target-image-opts', inFolder('disk.vmdk')];
    const tool = ['qemu-img', 'convert', ...target, `driver=null-co,size=${bytes()}`];
    await report('stream-optimised disk', tool, makeVmdk());
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Prints the seconds of the other tool and of each program, which take turns. */
async function report(title, tool, file) {
  const contestants = { [tool[0]]: { command: tool } };
  for (const program of programs) {
    contestants[program] = { command: nodeProgram(program, 'validate', file) };
  }
  const found = await compare(contestants, RUNS);
  const base = found[tool[0]].wall;
  process.stdout.write(`${title}, ${MEBIBYTES} MiB, median of ${RUNS}\n`);
  for (const [name, { wall, cpu, peak }] of Object.entries(found)) {
    const own = cpu ? `, ${cpu.toFixed(2)} s of CPU, ${peak.toFixed(0)} MiB of memory` : '';
    const ratio = (wall / base).toFixed(2);
    process.stdout.write(`  ${name.padEnd(24)} ${wall.toFixed(2)} s, ${ratio} times${own}\n`);
  }
}

function makeArchive() {
  makePackage(folder, MEBIBYTES);
  const members = ['bench.ovf', 'bench.mf', 'bench.iso'];
  run('tar', '--format=ustar', '-cf', inFolder('bench.ova'), '-C', folder, ...members);
  rmSync(inFolder('bench.iso'));
  return inFolder('bench.ova');
}

/** Writes a disk of which a quarter is zeros, and the rest can be packed to half its size. */
function makeDisk() {
  const disk = openSync(inFolder('disk'), 'w');
  for (let index = 0; index < MEBIBYTES; index += 1) {
    const half = randomBytes(2 ** 19).toString('hex');
    writeSync(disk, index % 4 === 0 ? Buffer.alloc(2 ** 20) : Buffer.from(half));
  }
  closeSync(disk);
}

function makeGzip() {
  run('gzip', '-1', '--keep', inFolder('disk'));
  return writeDescriptor('disk.gz', 'ovf:compression="gzip"', 'urn:raw');
}

function makeVmdk() {
  const options = ['-O', 'vmdk', '-o', 'subformat=streamOptimized'];
  run('qemu-img', 'convert', ...options, inFolder('disk'), inFolder('disk.vmdk'));
  const format = 'http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized';
  return writeDescriptor('disk.vmdk', '', format);
}

/** Writes an OVF of this disk, without a manifest. */
function writeDescriptor(name, attributes, format) {
  const namespace = 'http://schemas.dmtf.org/ovf/envelope/1';
  const file = inFolder(`${name}.ovf`);
  writeFileSync(
    file,
    `<Envelope xmlns="${namespace}" xmlns:ovf="${namespace}"><References><File ovf:id="f" ovf:href="${name}" ${attributes}/></References><DiskSection><Info/><Disk ovf:diskId="d" ovf:fileRef="f" ovf:capacity="${bytes()}" ovf:format="${format}"/></DiskSection><VirtualSystem ovf:id="vm"><Info/></VirtualSystem></Envelope>`,
  );
  return file;
}

function bytes() {
  return MEBIBYTES * 2 ** 20;
}

function run(program, ...args) {
  const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
}
