// Disks that need another disk: deltas and differencing disks, unless the package has it; beside qemu-img.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { missing, skipped } from '../support/requirements.ts';
import { changed, envelope, member, packageOf, readFolder, sample } from './harness.ts';

/** The sample's disk, whose descriptor has this text instead of its CID and parentCID. */
const identified = (text: string) =>
  changed((bytes) => {
    const written = bytes
      .toString('latin1', 512, 1024)
      .replace(/^CID=[\s\S]*?parentCID=.*$/m, text);
    bytes.write(written.padEnd(512, ' '), 512, 512, 'latin1');
  });

/** The disk whose embedded descriptor lies at its end. */
function describedAtEnd(disk: Buffer): Buffer {
  const bytes = Buffer.concat([disk, Buffer.alloc(-disk.length & 511), disk.subarray(512, 1024)]);
  for (const header of [0, disk.length - 1024]) {
    bytes.writeBigUInt64LE(BigInt(bytes.length / 512 - 1), header + 28);
    bytes.writeBigUInt64LE(1n, header + 36);
  }
  return bytes;
}

/** A file of zeros with these bytes at these places. */
function file(size: number, parts: Readonly<Record<number, string | readonly number[]>>): Buffer {
  const bytes = Buffer.alloc(size);
  for (const [at, part] of Object.entries(parts))
    bytes.set(typeof part === 'string' ? Buffer.from(part, 'latin1') : part, Number(at));
  return bytes;
}

const METADATA = Buffer.from('06a27c8b90479a4bb8fe575f050f886e', 'hex');
const PARAMETERS = Buffer.from('3767a1ca36fa434db3b633f0aa44e76b', 'hex');
const vhdx = (flags: number) =>
  file(2 ** 20, {
    0: 'vhdxfile',
    [192 * 1024]: 'regi',
    [192 * 1024 + 48]: [...METADATA, 0, 0, 8],
    [512 * 1024]: 'metadata',
    [512 * 1024 + 64]: [...PARAMETERS, 0, 0, 1],
    [576 * 1024 + 4]: [flags],
  });
const vhd = (type: number) => file(2048, { 1536: 'conectix', 1596: [0, 0, 0, type] });
const qcow2 = (version: number, more: Record<number, readonly number[] | string>) =>
  file(1024, { 0: 'QFI\u00fb', 4: [0, 0, 0, version], ...more });
const BACKED = { 8: [0, 0, 0, 0, 0, 0, 2, 0], 16: [0, 0, 0, 8], 512: 'base.raw' };
const backed = qcow2(3, BACKED);
const vdi = (type: number, more: Record<number, readonly number[]> = {}) =>
  file(512, { 64: [0x7f, 0x10, 0xda, 0xbe], 76: [type], ...more });
const qed = (features: number) =>
  file(1024, { 0: 'QED\0', 16: [features], 56: [0, 2], 60: [8], 512: 'base.raw' });
const whole = Buffer.from(sample()[2].content);
const delta = identified('CID=1a2b3c4d\nparentCID=5E6F7081');
const hinted = identified('CID=1\nparentCID=ffffffff\nparentFileNameHint="base.vmdk"');
const BACKING = 'another disk: its backing file is base.raw';

describe('a disk', () => {
  it.each<[string, string | null, Buffer, gzip?: boolean]>([
    ['that is whole', null, whole],
    ['of VMDK', 'another disk: parentCID is 5e6f7081', delta],
    ['of VMDK in gzip', 'another disk: parentCID is 5e6f7081', gzipSync(delta), true],
    [
      'of VMDK with a descriptor at its end',
      'another disk: parentCID is 5e6f7081',
      describedAtEnd(delta),
    ],
    ['of VMDK with zeros', 'another disk: parentCID is 00000000', identified('CID=1\nparentCID=0')],
    ['of VMDK with no parent', null, identified('CID=1\nparentCID=0xFFFFFFFF')],
    ['of VMDK with the name of a parent', 'another disk: parentFileNameHint is base.vmdk', hinted],
    ['of qcow2', null, qcow2(3, {})],
    ['of qcow2 with a backing file', BACKING, qcow2(3, BACKED)],
    ['of qcow2 with a backing file, in gzip', BACKING, gzipSync(qcow2(2, BACKED)), true],
    ['of qcow2 with an external data file', 'an external data file', qcow2(3, { 79: [4] })],
    ['of the older qcow2', null, qcow2(2, { 79: [4] })],
    ['of QED', null, qed(0)],
    ['of QED with a backing file', BACKING, qed(1)],
    ['of QED that needs a check', null, qed(2)],
    ['of fewer bytes than a footer', null, Buffer.from('raw')],
    ['of VHD', null, vhd(3)],
    ['of a differencing VHD', 'another disk: it is a differencing VHD', vhd(4)],
    [
      'of a differencing VHD in gzip',
      'another disk: it is a differencing VHD',
      gzipSync(vhd(4).subarray(1536)),
      true,
    ],
    ['of VHDX', null, vhdx(1)],
    ['of a differencing VHDX', 'another disk: it is a differencing VHDX', vhdx(3)],
    ['of VHDX without tables', null, vhdx(3).fill(0, 192 * 1024, 512 * 1024)],
    ['of VHDX without parameters', null, vhdx(3).fill(0, 512 * 1024, 576 * 1024)],
    [
      'of VHDX with tables beyond its end',
      null,
      vhdx(3).fill(255, 192 * 1024 + 64, 192 * 1024 + 72),
    ],
    ['of VDI', null, vdi(1)],
    ['of VDI with other identifiers', null, vdi(1, { 423: [7], 440: [7] })],
    ['of a differencing VDI', 'another disk: it is a differencing VDI', vdi(4)],
    ['of a linked VDI', 'another disk: it is a differencing VDI', vdi(1, { 424: [7] })],
    [
      'of a linked VDI, by its last byte',
      'another disk: it is a differencing VDI',
      vdi(1, { 439: [7] }),
    ],
  ])('%s says what it needs: %s', async (_what, expected, content, gzip = false) => {
    const isVmdk = !gzip && content.toString('latin1', 0, 4) === 'KDMV';
    const format = isVmdk || _what.includes('VMDK') ? {} : { format: 'other' };
    const { findings } = await readFolder(packageOf(content, { gzip, ...format }));
    const found = findings.filter(({ code }) => code === 'needs-other-disk');
    expect(found.map(({ place, message }) => `${place}: ${message}`)).toEqual(
      expected === null
        ? []
        : [`d.vmdk: needs ${expected}; no parentRef names a disk of this package`],
    );
  });

  const base = identified('CID=5e6f7081\nparentCID=ffffffff');
  const turned = identified('parentCID=ffffffff\nCID=5e6f7081');
  const zeros = identified('CID=1\nparentCID=0');
  const other = identified('CID=5e6f7082\nparentCID=ffffffff');
  const REF = 'ovf:parentRef="b"';
  const NO_PARENT = 'no parentRef names a disk of this package';
  it.each<[string, string | null, Buffer, Buffer | null, string]>([
    ['with its parent', null, delta, base, REF],
    ['with its parent in a hint', null, hinted, base, REF],
    ['with its parent, whose parentCID is first', null, delta, turned, REF],
    ['with another parent and zeros', 'the CID of its parent b is 5e6f7081', zeros, base, REF],
    ['with another parent', 'the CID of its parent b is 5e6f7082', delta, other, REF],
    [
      'with a parent that is missing',
      'its parent b has no file that can be read',
      delta,
      null,
      REF,
    ],
    ['with its parent, but no parentRef', NO_PARENT, delta, base, ''],
    [
      'with itself as its parent',
      'its parentRef names its own file',
      delta,
      base,
      'ovf:parentRef="d"',
    ],
    ['with an unknown parent', NO_PARENT, delta, base, 'ovf:parentRef="x"'],
    ['of qcow2 with its parent', null, qcow2(3, BACKED), base, REF],
    [
      'of qcow2 with a delta as its parent, and the other way round',
      'its chain of parents does not end in a complete disk of this package',
      backed,
      backed,
      REF,
    ],
  ])('%s has the right finding', async (_what, expected, content, parent, attribute) => {
    const disk = (id: string, more: string) =>
      `<Disk ovf:diskId="${id}" ovf:fileRef="${id}" ovf:capacity="4194304" ovf:format="x" ${more}/>`;
    const file = (id: string) => `<File ovf:id="${id}" ovf:href="${id}.img"/>`;
    const disks = `<DiskSection><Info/>${disk('d', attribute)}${disk('b', 'ovf:parentRef="d"')}</DiskSection>`;
    const xml = envelope(`<References>${file('d')}${file('b')}</References>${disks}`);
    const parents = parent ? [member('b.img', parent)] : [];
    const { findings } = await readFolder([
      member('vm.ovf', xml),
      member('d.img', content),
      ...parents,
    ]);
    const found = findings.filter(({ code }) => code === 'needs-other-disk');
    const problems = new Set(found.map(({ message }) => message.split('; ')[1]));
    expect([...problems]).toEqual(expected ? [expected] : []);
  });
});

it.each([
  ['a file that is no disk, and has a backing file', 'd.img', backed, []],
  ['a VMDK that no disk has, and is a delta', 'd.vmdk', delta, ['needs-other-disk']],
  ['a VMDK in gzip with a name in capitals', 'D.VMDK.GZ', gzipSync(delta), ['vmdk-magic']],
  ['notes about a VMDK', 'd.vmdk.txt', Buffer.from('x'), []],
])('%s has the right findings', async (_what, name, content, expected) => {
  const references = `<References><File ovf:id="f" ovf:href="${name}"/></References>`;
  const files = [member('vm.ovf', envelope(references)), member(name, content)];
  const { findings } = await readFolder(files);
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors.map(({ code }) => code)).toEqual(expected);
});

const QEMU = missing('qemu-img');

describe(`a disk that qemu-img made${skipped(QEMU)}`, () => {
  it.skipIf(QEMU).each(['vmdk', 'qcow2', 'qcow', 'qed', 'vpc', 'vhdx', 'vdi'])(
    'needs no other disk if it is whole, and else its backing file: %s',
    async (format) => {
      const cwd = temporaryDirectory();
      const create = (...words: string[]) =>
        execFileSync('qemu-img', ['create', '-q', '-f', ...words], { cwd, stdio: 'pipe' });
      const findingsOf = async (name: string) => {
        const content = readFileSync(join(cwd, name));
        const { findings } = await readFolder(packageOf(content, { format: 'x' }));
        return findings.filter(({ code }) => code === 'needs-other-disk');
      };
      create(format, 'whole', '4M');
      expect(await findingsOf('whole')).toEqual([]);
      if (!['vmdk', 'qcow2', 'qcow', 'qed'].includes(format)) return;
      create(format, '-b', 'whole', '-F', format, 'delta');
      expect(await findingsOf('delta')).toHaveLength(1);
    },
  );
});
