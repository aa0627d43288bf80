// The packages that the other tests write are ones that tar and qemu-img read.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { packTar, sampleDisk, streamOptimizedVmdk } from '../support/package-writer.ts';
import { sample } from './harness.ts';

const MIB = 1024 * 1024;
const hasQemu = spawnSync('qemu-img', ['--version']).status === 0;
const hasTar = spawnSync('tar', ['--version']).status === 0;

it.skipIf(!hasTar)('packTar writes what tar unpacks (skipped without tar)', () => {
  const folder = temporaryDirectory();
  const members = sample();
  writeFileSync(join(folder, 'vm.ova'), packTar(members));
  execFileSync('tar', ['-xf', 'vm.ova'], { cwd: folder });
  for (const { name, content } of members) {
    expect(readFileSync(join(folder, name)).equals(content)).toBe(true);
  }
});

/** Needs two tables: the first is empty, the second ends with a set byte. */
const large = Buffer.alloc(40 * MIB);
large.write('beyond the first table', 33 * MIB);
large[large.length - 1] = 1;
/** Content that deflate cannot shorten. */
const dense = Buffer.alloc(2 * MIB);
for (let index = 0, value = 1; index < dense.length; index += 1) {
  value = (value * 48_271) % 2_147_483_647;
  dense[index] = value;
}

it.skipIf(!hasQemu).each([
  ['the sample', sampleDisk()],
  ['zeros', Buffer.alloc(MIB)],
  ['more than one table', large],
  ['dense data', dense],
])('streamOptimizedVmdk writes what qemu-img reads: %s (skipped without qemu-img)', (_, disk) => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'disk.vmdk'), streamOptimizedVmdk(disk, 'disk.vmdk'));
  const qemu = (...args: string[]) =>
    execFileSync('qemu-img', args, { cwd: folder, encoding: 'utf8' });
  expect(qemu('check', 'disk.vmdk')).toContain('No errors');
  expect(JSON.parse(qemu('info', '--output=json', 'disk.vmdk'))).toMatchObject({
    format: 'vmdk',
    'virtual-size': disk.length,
    'format-specific': { data: { 'create-type': 'streamOptimized' } },
  });
  qemu('convert', '-O', 'raw', 'disk.vmdk', 'disk.raw');
  expect(readFileSync(join(folder, 'disk.raw')).equals(disk)).toBe(true);
});
