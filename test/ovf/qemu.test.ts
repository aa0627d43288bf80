// Disks that qemu-img makes, in packages (skipped without qemu-img, Debian's qemu-utils).

import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseSparseHeader } from '../../src/ovf/disks.ts';
import { temporaryDirectory } from '../support/io.ts';
import { codes, envelope, member, readFolder } from './harness.ts';

const hasQemu = spawnSync('qemu-img', ['--version']).status === 0;
const FORMAT = 'http://www.vmware.com/interfaces/specifications/vmdk.html#';
const MIB = 2 ** 20;

/** Each makes a file of that name; the data of some is in another file. */
const DISKS = [
  { options: 'subformat=streamOptimized', size: 20 * MIB, findings: [] },
  { options: 'subformat=streamOptimized,compat6', size: 20 * MIB, findings: [] },
  { options: 'subformat=streamOptimized', size: 5 * 1024 * MIB, findings: [] },
  { options: 'subformat=monolithicSparse', size: 20 * MIB, findings: [] },
  { options: 'subformat=monolithicSparse,zeroed_grain=on', size: 20 * MIB, findings: [] },
  { options: 'subformat=monolithicSparse,adapter_type=lsilogic', size: 33 * MIB, findings: [] },
  { options: 'subformat=monolithicFlat', size: 20 * MIB, findings: ['vmdk-split'] },
  { options: 'subformat=twoGbMaxExtentSparse', size: 20 * MIB, findings: ['vmdk-split'] },
  { options: 'subformat=twoGbMaxExtentFlat', size: 20 * MIB, findings: ['vmdk-split'] },
] as const;

function qemuImg(...argv: readonly string[]): string {
  return execFileSync('qemu-img', argv, { encoding: 'utf8' });
}

/** Converts a raw disk with some data and returns the path of the VMDK. */
function makeDisk(options: string, size: number): string {
  const folder = temporaryDirectory();
  const raw = path.join(folder, 'disk.raw');
  qemuImg('create', '-q', '-f', 'raw', raw, String(size));
  // Keeps the size of the file.
  writeFileSync(raw, randomBytes(MIB), { flag: 'r+' });
  const disk = path.join(folder, 'disk.vmdk');
  qemuImg('convert', '-f', 'raw', '-O', 'vmdk', '-o', options, raw, disk);
  return disk;
}

interface DiskInfo {
  readonly 'virtual-size': number;
  readonly 'cluster-size'?: number;
  readonly 'format-specific': { readonly data: { readonly 'create-type': string } };
}

function infoOf(disk: string): DiskInfo {
  return JSON.parse(qemuImg('info', '--output=json', disk));
}

/** Reads a package with the disk, which declares what qemu-img says about it. */
async function readWith(
  content: Buffer,
  { 'virtual-size': size, 'format-specific': { data } }: DiskInfo,
) {
  const summary = await readFolder([
    member(
      'vm.ovf',
      envelope(`<References><File ovf:id="f" ovf:href="disk.vmdk"/></References>
        <DiskSection><Info/><Disk ovf:diskId="d" ovf:fileRef="f" ovf:capacity="${size}"
        ovf:format="${FORMAT}${data['create-type']}"/></DiskSection>`),
    ),
    member('disk.vmdk', content),
  ]);
  return codes(summary).filter((code) => code !== 'no-manifest?');
}

describe.skipIf(!hasQemu)('a disk of qemu-img (skipped without qemu-img)', () => {
  it.each(DISKS)('with $options and $size bytes is judged and read right', async (disk) => {
    const file = makeDisk(disk.options, disk.size);
    const content = readFileSync(file);
    const info = infoOf(file);
    expect(await readWith(content, info)).toEqual(disk.findings);
    const header = parseSparseHeader(content);
    if (header === null) return;
    expect({
      size: header.capacity * 512,
      grain: header.grainSize * 512,
      type: header.createType,
      streamOptimized: header.streamOptimized,
    }).toEqual({
      size: info['virtual-size'],
      grain: info['cluster-size'],
      type: info['format-specific'].data['create-type'],
      streamOptimized: disk.options.includes('streamOptimized'),
    });
  });

  it.each([
    ['streamOptimized', 1],
    // qemu-img reads zeros after the end of the file.
    ['monolithicSparse', 0],
  ])(
    'in the subformat %s is found to be cut (exit code of qemu-img: %i)',
    async (subformat, exitCode) => {
      const file = makeDisk(`subformat=${subformat}`, 20 * MIB);
      const content = readFileSync(file);
      const info = infoOf(file);
      for (const share of [0.2, 0.5, 0.8, 0.95]) {
        const cut = content.subarray(0, Math.floor(content.length * share));
        writeFileSync(file, cut);
        const convert = ['convert', '-O', 'raw', file, `${file}.raw`];
        expect(spawnSync('qemu-img', convert).status, `cut at ${share}`).toBe(exitCode);
        expect(await readWith(cut, info), `cut at ${share}`).toEqual(['vmdk-truncated']);
      }
    },
  );
});
