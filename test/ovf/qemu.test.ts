// Disks that qemu-img makes, whole and cut (skipped without qemu-img, Debian's qemu-utils).

import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parseSparseHeader } from '../../src/ovf/disks.ts';
import { temporaryDirectory } from '../support/io.ts';
import { codes, envelope, member, readFolder } from './harness.ts';

const hasQemu = spawnSync('qemu-img', ['--version']).status === 0;
const FORMAT = 'http://www.vmware.com/interfaces/specifications/vmdk.html#';
const MIB = 2 ** 20;
const qemuImg = (...argv: readonly string[]) =>
  execFileSync('qemu-img', argv, { encoding: 'utf8' });

it.skipIf(!hasQemu).each([
  ['streamOptimized', 20, []],
  ['streamOptimized,compat6', 20, []],
  ['streamOptimized', 5 * 1024, []],
  ['monolithicSparse', 20, []],
  ['monolithicSparse,zeroed_grain=on', 20, []],
  ['monolithicSparse,adapter_type=lsilogic', 33, []],
  ['monolithicFlat', 20, ['vmdk-split']],
  ['twoGbMaxExtentSparse', 20, ['vmdk-split']],
])(
  'a disk of qemu-img in the subformat %s with %i MiB is read right',
  async (subformat, mib, expected) => {
    const folder = temporaryDirectory();
    const [raw, file] = [path.join(folder, 'disk.raw'), path.join(folder, 'disk.vmdk')];
    qemuImg('create', '-q', '-f', 'raw', raw, String(mib * MIB));
    // Keeps the size of the file.
    writeFileSync(raw, randomBytes(MIB), { flag: 'r+' });
    qemuImg('convert', '-f', 'raw', '-O', 'vmdk', '-o', `subformat=${subformat}`, raw, file);
    const info = JSON.parse(qemuImg('info', '--output=json', file));
    const type = info['format-specific'].data['create-type'];
    const content = readFileSync(file);
    const xml = envelope(`<References><File ovf:id="f" ovf:href="disk.vmdk"/></References>
    <DiskSection><Info/><Disk ovf:diskId="d" ovf:fileRef="f" ovf:capacity="${info['virtual-size']}"
    ovf:format="${FORMAT}${type}"/></DiskSection>`);
    const check = async (disk: Buffer) =>
      codes(await readFolder([member('vm.ovf', xml), member('disk.vmdk', disk)])).filter(
        (code) => code !== 'no-manifest?',
      );
    expect(await check(content)).toEqual(expected);
    const header = parseSparseHeader(content);
    if (header === null) return;
    expect([header.capacity * 512, header.grainSize * 512, header.createType]).toEqual([
      ...[info['virtual-size'], info['cluster-size'], type],
    ]);
    if (mib !== 20 || subformat.includes(',')) return;
    for (const share of [0.2, 0.5, 0.95]) {
      const cut = content.subarray(0, Math.floor(content.length * share));
      expect(await check(cut), `cut at ${share}`).toEqual(['vmdk-truncated']);
    }
  },
);
