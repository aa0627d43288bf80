// Compares `imgctl validate` of a 2 GiB OVA with `openssl dgst -sha256` of the same file, in turn.
// Usage: node bench/validate.mjs [program [argument...]]   (default: bin/imgctl.js validate)
// Needs Linux, openssl, tar and 5 GB in the temporary folder. The warm-up run caches the file.

import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, nodeProgram } from './measure.mjs';

const MIB = 1024 * 1024;
const DISK_MIB = 2048;
const RUNS = 7;
const NAMESPACE = 'http://schemas.dmtf.org/ovf/envelope/1';

const given = process.argv.slice(2);
const program = given.length > 0 ? given : ['bin/imgctl.js', 'validate'];
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
try {
  const file = makePackage();
  const contestants = {
    openssl: ['openssl', 'dgst', '-sha256', file],
    imgctl: nodeProgram(...program, file),
  };
  const seconds = { openssl: [], imgctl: [] };
  const memory = [];
  for (let run = 0; run <= RUNS; run += 1) {
    for (const [name, command] of Object.entries(contestants)) {
      const { elapsed, stderr } = measure(command);
      // The first run is a warm-up.
      if (run > 0) seconds[name].push(elapsed);
      if (name === 'imgctl') memory.push(JSON.parse(stderr.trim().split('\n').at(-1)).peak);
    }
  }
  const [openssl, imgctl] = [median(seconds.openssl), median(seconds.imgctl)];
  process.stdout.write(
    [
      `openssl dgst -sha256  ${openssl.toFixed(3)} s, median of ${RUNS}`,
      `imgctl validate       ${imgctl.toFixed(3)} s, median of ${RUNS}`,
      `ratio                 ${(imgctl / openssl).toFixed(2)} (at most 1.15)`,
      `peak memory           ${Math.max(...memory).toFixed(0)} MiB (at most 95, which is 100 MB)`,
      '',
    ].join('\n'),
  );
} finally {
  rmSync(folder, { recursive: true });
}

/** Creates an OVA with a SHA-256 manifest and one large file, and returns its path. */
function makePackage() {
  const block = randomBytes(16 * MIB);
  const hash = createHash('sha256');
  const disk = openSync(join(folder, 'disk.img'), 'w');
  for (let written = 0; written < DISK_MIB; written += 16) {
    writeSync(disk, block);
    hash.update(block);
  }
  closeSync(disk);
  const descriptor = `<Envelope xmlns="${NAMESPACE}" xmlns:ovf="${NAMESPACE}"><References><File ovf:id="f" ovf:href="disk.img" ovf:size="${DISK_MIB * MIB}"/></References><VirtualSystem ovf:id="vm"/></Envelope>`;
  const descriptorDigest = createHash('sha256').update(descriptor).digest('hex');
  const manifest = `SHA256(vm.ovf)= ${descriptorDigest}\nSHA256(disk.img)= ${hash.digest('hex')}\n`;
  writeFileSync(join(folder, 'vm.ovf'), descriptor);
  writeFileSync(join(folder, 'vm.mf'), manifest);
  measure(['tar', '--format=ustar', '-cf', 'vm.ova', 'vm.ovf', 'vm.mf', 'disk.img'], folder);
  rmSync(join(folder, 'disk.img'));
  return join(folder, 'vm.ova');
}

/** Runs a command and returns its wall time in seconds and its stderr. */
function measure([command, ...args], cwd = process.cwd()) {
  const start = process.hrtime.bigint();
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  const elapsed = Number(process.hrtime.bigint() - start) / 1e9;
  if (status !== 0) throw error ?? new Error(`${command} ended with ${status}: ${stderr}`);
  return { elapsed, stderr };
}
