// The sample package of the program: valid for imgctl itself, for tar and for qemu-img.

import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sampleOva } from '../../src/emulator/sample-ova.ts';
import { readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { sampleDisk } from '../support/package-writer.ts';

const MIB = 1024 * 1024;
const hasQemu = spawnSync('qemu-img', ['--version']).status === 0;
const hasTar = spawnSync('tar', ['--version']).status === 0;

function writeSample(): string {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, 'sample.ova'), sampleOva());
  return folder;
}

it('the sample has no findings, one system and one disk', async () => {
  const summary = await readPackage(join(writeSample(), 'sample.ova'));
  expect(summary.findings).toEqual([]);
  expect(summary).toMatchObject({
    kind: 'ova',
    ovfVersion: '1.x',
    systems: [
      {
        id: 'sample',
        name: 'sample',
        hardwareFamilies: ['vmx-07'],
        hardware: { cpus: 1, memory: 512 * MIB, disks: ['vmdisk1'], networks: ['VM Network'] },
      },
    ],
    disks: [{ id: 'vmdisk1', capacity: 4 * MIB, file: 'sample-disk1.vmdk' }],
    networks: [{ name: 'VM Network', description: 'The only network' }],
    manifest: { algorithm: 'SHA256' },
    certificate: null,
  });
});

it.skipIf(!hasTar || !hasQemu)(
  'tar unpacks the sample, and qemu-img reads its disk (skipped without tar or qemu-img)',
  () => {
    const cwd = writeSample();
    execFileSync('tar', ['-xf', 'sample.ova'], { cwd });
    expect(readdirSync(cwd).sort()).toEqual([
      'sample-disk1.vmdk',
      'sample.mf',
      'sample.ova',
      'sample.ovf',
    ]);
    execFileSync('qemu-img', ['convert', '-O', 'raw', 'sample-disk1.vmdk', 'disk.raw'], { cwd });
    expect(readFileSync(join(cwd, 'disk.raw')).equals(sampleDisk())).toBe(true);
  },
);
