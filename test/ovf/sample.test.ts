// The sample package: valid for imgctl itself, for tar and for qemu-img.

import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { sampleDisk, writeSampleOva } from '../../src/ovf/sample.ts';
import { packTar } from '../../src/ovf/tar.ts';
import { streamOptimizedVmdk } from '../../src/ovf/vmdk.ts';
import { temporaryDirectory } from '../support/io.ts';
import { member, sample } from './harness.ts';

const MIB = 1024 * 1024;
const GRAIN = 64 * 1024;
const hasQemu = spawnSync('qemu-img', ['--version']).status === 0;
const hasTar = spawnSync('tar', ['--version']).status === 0;

describe('writeSampleOva', () => {
  it('writes a package without findings', async () => {
    const file = join(temporaryDirectory(), 'hello.ova');
    await writeSampleOva(file, 'hello');
    const summary = await readPackage(file);
    expect(summary.findings).toEqual([]);
    expect(summary).toMatchObject({
      kind: 'ova',
      ovfVersion: '1.x',
      systems: [
        {
          id: 'hello',
          name: 'hello',
          hardwareFamilies: ['vmx-07'],
          hardware: { cpus: 1, memory: 512 * MIB, disks: ['vmdisk1'], networks: ['VM Network'] },
        },
      ],
      disks: [{ id: 'vmdisk1', capacity: 4 * MIB, file: 'hello-disk1.vmdk' }],
      networks: [{ name: 'VM Network', description: 'The only network' }],
      manifest: { algorithm: 'SHA256' },
      certificate: null,
    });
    expect(readFileSync(file).length).toBeLessThan(100_000);
  });

  it('writes the same bytes every time', async () => {
    const folder = temporaryDirectory();
    await writeSampleOva(join(folder, 'a.ova'));
    await writeSampleOva(join(folder, 'b.ova'));
    const [a, b] = ['a.ova', 'b.ova'].map((name) => readFileSync(join(folder, name)));
    expect(a?.equals(b ?? Buffer.alloc(0))).toBe(true);
  });

  const invalid = ['', '../x', 'a b', '<x>', '.hidden', 'x'.repeat(61)];
  it.each(invalid)('refuses the name %j', async (name) => {
    await expect(writeSampleOva('/nonexistent/x.ova', name)).rejects.toThrow(RangeError);
  });

  it.skipIf(!hasTar)('writes what tar unpacks (skipped without tar)', () => {
    const folder = temporaryDirectory();
    const members = sample();
    writeFileSync(join(folder, 'vm.ova'), packTar(members));
    execFileSync('tar', ['-xf', 'vm.ova'], { cwd: folder });
    for (const { name, content } of members) {
      expect(readFileSync(join(folder, name)).equals(content)).toBe(true);
    }
  });
});

describe('packTar', () => {
  it('refuses a name over 100 bytes', () => {
    expect(() => packTar([member('x'.repeat(101), '')])).toThrow(RangeError);
  });
});

describe('streamOptimizedVmdk', () => {
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
  ])('writes what qemu-img reads: %s (skipped without qemu-img)', (_, disk) => {
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

  it('writes the sector of each grain before it', () => {
    const disk = Buffer.alloc(MIB);
    disk[3 * GRAIN] = 1;
    disk[9 * GRAIN] = 1;
    const vmdk = streamOptimizedVmdk(disk, 'disk.vmdk');
    const starts: bigint[] = [];
    for (let at = GRAIN; vmdk.readUInt32LE(at + 8) > 0; ) {
      starts.push(vmdk.readBigUInt64LE(at));
      at += Math.ceil((12 + vmdk.readUInt32LE(at + 8)) / 512) * 512;
    }
    expect(starts).toEqual([3n * 128n, 9n * 128n]);
  });

  it.each([0, 512, 65_537])('refuses a disk of %s bytes', (size) => {
    expect(() => streamOptimizedVmdk(Buffer.alloc(size), 'disk.vmdk')).toThrow(RangeError);
  });
});
