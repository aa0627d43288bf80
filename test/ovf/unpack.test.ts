// What no digest proves is unpacked: gzip and stream-optimised disks, whole and damaged, beside gzip and qemu-img.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { unpackCheck } from '../../src/ovf/unpack.ts';
import { parseSparseHeader } from '../../src/ovf/vmdk-header.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { temporaryDirectory } from '../support/io.ts';
import { missing, skipped } from '../support/requirements.ts';
import { bytesOf } from '../support/uploads.ts';
import {
  changed,
  type DiskOptions,
  directoryFirst,
  packageOf,
  readFolder,
  sample,
} from './harness.ts';

const MIB = 2 ** 20;
const disk = Buffer.from(sample()[2].content);

async function read(content: Uint8Array, options?: DiskOptions) {
  const { findings, ...summary } = await readFolder(packageOf(content, options));
  return { ...summary, findings: findings.filter(({ severity }) => severity === 'error') };
}

/** Returns what is wrong with the disk, or nothing. */
async function problemOf(content: Uint8Array, options?: DiskOptions): Promise<string | undefined> {
  const { findings } = await read(content, options);
  return findings[0] && `${findings[0].code}: ${findings[0].message}`;
}

/** VMware's marker of its progress, at sector 128 of the disk. */
const PROGRESS = Buffer.alloc(512);
PROGRESS.set([4, 0, 0, 0, 128], 12);

/** The first sectors of the sample's disk: 20 for header and descriptor, then its first grain. */
const GRAIN = Number(disk.readBigUInt64LE(64)) * 512;
const TABLE = disk.readUInt32LE(Number(disk.readBigUInt64LE(disk.length - 1024 + 56)) * 512) * 512;

/** The first grain, with all its sectors. */
const FIRST_GRAIN = disk.subarray(
  GRAIN,
  GRAIN + 512 * Math.ceil((12 + disk.readUInt32LE(GRAIN + 8)) / 512),
);
/** A valid disk, whose first grain comes 200 times more. */
const REPEATED = Buffer.concat([directoryFirst(), ...Array(200).fill(FIRST_GRAIN)]);
const PROPERTY = `\${size}`;
/** The head of a grain of 2,000 bytes. */
const LARGE_GRAIN = Buffer.alloc(2_048);
LARGE_GRAIN.writeUInt32LE(2_000, 8);
const IN_FRONT = directoryFirst();
const LARGE = Buffer.concat([IN_FRONT.subarray(0, GRAIN), LARGE_GRAIN.subarray(0, 512)]);
/** A whole grain of two sectors. */
const TWO_SECTORS = Buffer.alloc(1_024);
const packedGrain = deflateSync(Buffer.concat([bytesOf(600, 'grain')], 2 ** 16));
TWO_SECTORS.writeUInt32LE(packedGrain.length, 8);
TWO_SECTORS.set(packedGrain, 12);
/** In header and footer; the grain tables say it too. */
const withoutOverhead = changed((b) => {
  for (const at of [64, b.length - 1024 + 64]) b.writeBigUInt64LE(0n, at);
});

const emptyWithoutOverhead = directoryFirst((b) => {
  b.writeBigUInt64LE(0n, 64);
  b.fill(0, 31 * 512, 35 * 512);
});

describe('a file without a digest', () => {
  const raw = Buffer.alloc(3 * MIB, 'a line of a disk\n');
  const RAW = { name: 'd.img.gz', gzip: true, format: 'raw' };
  const packed = gzipSync(raw);
  const twice = Buffer.concat([gzipSync(raw.subarray(0, MIB)), gzipSync(raw.subarray(MIB))]);
  const then = (...more: Buffer[]) => Buffer.concat([packed, ...more]);
  const zeros = Buffer.alloc(200_000);
  const flipped = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 0x10;
    return copy;
  };

  const early = flipped(gzipSync(bytesOf(300_000, 'disk'), { level: 1 }), 20);

  // What zlib says depends on the version of zlib that packed it.
  const DAMAGED = /^unpack-failed: damaged gzip: (incorrect|invalid) /;

  it.each<[string, string | RegExp | undefined, Buffer, DiskOptions]>([
    ['of gzip', undefined, packed, RAW],
    ['of several gzip members', undefined, twice, RAW],
    ['of gzip and zeros', undefined, then(zeros), RAW],
    ['that is empty in gzip', 'unpack-failed: unpacks to no bytes', gzipSync(''), RAW],
    ['that is empty', 'size-mismatch: a disk of 0 bytes', Buffer.of(), { ...RAW, gzip: false }],
    [
      'of gzip that is not declared',
      'unpack-failed: damaged gzip: unexpected end of file',
      packed.subarray(0, -4),
      { ...RAW, gzip: false },
    ],
    [
      'of half a gzip',
      'unpack-failed: damaged gzip: unexpected end of file',
      packed.subarray(0, -4000),
      RAW,
    ],
    ['with a flipped bit in gzip', DAMAGED, flipped(packed, 2000), RAW],
    ['with such a bit long before its end', DAMAGED, early, RAW],
    [
      'with a wrong checksum in gzip',
      'unpack-failed: damaged gzip: incorrect data check',
      flipped(packed, packed.length - 8),
      RAW,
    ],
    [
      'with a damaged second member',
      'unpack-failed: damaged gzip: incorrect header check',
      flipped(twice, gzipSync(raw.subarray(0, MIB)).length),
      RAW,
    ],
    [
      'with text after gzip',
      'unpack-failed: damaged gzip: incorrect header check',
      then(Buffer.from('text')),
      RAW,
    ],
    [
      'with text after gzip and zeros',
      'unpack-failed: damaged gzip: more data after its end',
      then(zeros, Buffer.from('text')),
      RAW,
    ],
    [
      'above its capacity in gzip',
      'unpack-failed: unpacks to more than 5242880 bytes',
      gzipSync(Buffer.alloc(6 * MIB)),
      { ...RAW, capacity: Math.ceil(MIB / 1.01) },
    ],
    [
      'far above its capacity in VHDX and gzip',
      'unpack-failed: unpacks to more than 69206016 bytes',
      gzipSync(Buffer.concat([Buffer.from('vhdxfile'), Buffer.alloc(66 * MIB)]), { level: 1 }),
      { ...RAW, capacity: MIB },
    ],
    ['of a disk in gzip', undefined, gzipSync(disk), { gzip: true }],
    [
      'of half a disk in gzip',
      'unpack-failed: does not end with a footer and the end of the stream',
      gzipSync(disk.subarray(0, GRAIN + 400)),
      { gzip: true },
    ],
    [
      'of half a disk in gzip, which only its name tells',
      'unpack-failed: does not end with a footer and the end of the stream',
      gzipSync(disk.subarray(0, GRAIN + 400)),
      { gzip: true, name: 'd.vmdk.gz', format: '' },
    ],
    [
      'of a damaged grain in gzip',
      'unpack-failed: damaged grain at sector 128: invalid distance too far back',
      gzipSync(flipped(disk, GRAIN + 100)),
      { gzip: true },
    ],
    ['of a stream-optimised disk', undefined, disk, {}],
    [
      'with a damaged grain',
      'unpack-failed: damaged grain at sector 128: invalid distance too far back',
      flipped(disk, GRAIN + 100),
      {},
    ],
    [
      'with a grain that is too large',
      'unpack-failed: damaged grain at sector 128: unpacks to more than 65536 bytes',
      changed((b) => {
        const grain = deflateSync(Buffer.alloc(2 ** 16 + 1));
        b.writeUInt32LE(grain.length, GRAIN + 8);
        b.set(grain, GRAIN + 12);
      }),
      {},
    ],
    [
      'with marks of progress',
      undefined,
      Buffer.concat([disk.subarray(0, -1536), PROGRESS, PROGRESS, disk.subarray(-1536)]),
      {},
    ],
    [
      'of a disk in gzip with another footer',
      'unpack-failed: its footer differs from its header',
      gzipSync(changed((b) => b.writeUInt32LE(2048, b.length - 1012))),
      { gzip: true },
    ],
    [
      'with a grain elsewhere',
      'unpack-failed: invalid grain at sector 128: 169 bytes for sector 77 of 8192',
      changed((b) => b.writeUInt32LE(77, GRAIN)),
      {},
    ],
    [
      'with a grain beyond its end',
      'unpack-failed: invalid grain at sector 128: 169 bytes for sector 1048576 of 8192',
      changed((b) => b.writeUInt32LE(2 ** 20, GRAIN)),
      {},
    ],
    [
      'with a grain that moved',
      'unpack-failed: its grain tables do not fit its grains',
      changed((b) => b.writeUInt32LE(128, GRAIN)),
      {},
    ],
    [
      'with an endless grain',
      'unpack-failed: invalid grain at sector 128: 1073741824 bytes for sector 0 of 8192',
      changed((b) => b.writeUInt32LE(2 ** 30, GRAIN + 8)),
      {},
    ],
    [
      'with an unknown marker',
      'unpack-failed: unknown marker at sector 130',
      changed((b) => b.writeUInt32LE(7, TABLE - 500)),
      {},
    ],
    [
      'with a lost grain',
      'unpack-failed: its grain tables do not fit its grains',
      changed((b) => b.fill(0, TABLE, TABLE + 4)),
      {},
    ],
    [
      'without the footer marker',
      'unpack-failed: invalid grain at sector 138: 196609 bytes for sector 14332806219 of 8192',
      changed((b) => b.fill(0, disk.length - 1536, disk.length - 1024)),
      {},
    ],
    ['whose header does not say where its grains begin', undefined, withoutOverhead, {}],
    ['of zeros, whose header does not say it either', undefined, emptyWithoutOverhead, {}],
    ['of gzip and such a disk', undefined, gzipSync(withoutOverhead), { gzip: true }],
    [
      'with a marker of another length',
      'unpack-failed: unknown marker at sector 130',
      changed((b) => b.writeUInt32LE(9, TABLE - 512)),
      {},
    ],
    [
      'with a grain that is too small',
      'unpack-failed: damaged grain at sector 128: unpacks to 100 bytes',
      changed((b) => {
        const grain = deflateSync(Buffer.alloc(100));
        b.writeUInt32LE(grain.length, GRAIN + 8);
        b.set(grain, GRAIN + 12);
      }),
      {},
    ],
    [
      'of a disk in gzip that repeats a grain',
      'unpack-failed: unpacks to more than 4194305 bytes',
      gzipSync(Buffer.concat([disk.subarray(0, GRAIN), ...Array(65).fill(FIRST_GRAIN)])),
      { gzip: true, capacity: 1 },
    ],
    [
      'that repeats a grain, whose capacity is set by a property',
      'unpack-failed: unpacks to more than 8430551 bytes',
      REPEATED,
      { capacity: PROPERTY },
    ],
    [
      'of a disk in gzip that repeats a grain, whose capacity is set by a property',
      'unpack-failed: unpacks to more than 8430551 bytes',
      gzipSync(REPEATED),
      { gzip: true, capacity: PROPERTY },
    ],
    [
      'of a disk in gzip with a grain behind its footer',
      'unpack-failed: does not end with a footer and the end of the stream',
      gzipSync(Buffer.concat([disk.subarray(0, -512), FIRST_GRAIN, Buffer.alloc(512)])),
      { gzip: true },
    ],
    [
      'of a disk in gzip without the end of the stream',
      'unpack-failed: does not end with a footer and the end of the stream',
      gzipSync(disk.subarray(0, -512)),
      { gzip: true },
    ],
    [
      'of a disk in gzip that ends inside a grain',
      'unpack-failed: ends inside the grain at sector 128',
      gzipSync(Buffer.concat([disk.subarray(0, GRAIN), LARGE_GRAIN.subarray(0, 1_200)])),
      { gzip: true },
    ],
    [
      'of a disk in gzip, its directory in front, with a grain of two sectors',
      undefined,
      gzipSync(Buffer.concat([IN_FRONT.subarray(0, GRAIN), TWO_SECTORS])),
      { gzip: true },
    ],
    // Without a footer, only these tell that the end is missing.
    ...[
      ['before its grains', IN_FRONT.subarray(0, 5_120), 'ends before its grains'],
      ['in a grain', LARGE, 'ends inside the grain at sector 128'],
      ['after a marker', IN_FRONT.subarray(0, TABLE), 'ends after the marker at sector 130'],
    ].map(([where, bytes = '', reason]): [string, string, Buffer, DiskOptions] => [
      `of a disk in gzip, its directory in front, that ends ${where}`,
      `unpack-failed: ${reason}`,
      gzipSync(bytes),
      { gzip: true },
    ]),
    [
      'of another compression',
      'vmdk-header: unknown compression 2',
      changed((b) => b.writeUInt16LE(2, 77)),
      {},
    ],
  ])('%s: %s', async (_, expected, content, options) => {
    const problem = await problemOf(content, options);
    expect(problem).toEqual(
      expected instanceof RegExp ? expect.stringMatching(expected) : expected,
    );
  });

  it('is unpacked or only read, and is neither if it has a digest', async () => {
    const iso = { name: 'cd.iso', format: 'iso' };
    expect(await read(disk)).toMatchObject({ unpacked: ['d.vmdk'], onlyRead: [] });
    expect(await read(raw, iso)).toMatchObject({ unpacked: [], onlyRead: ['cd.iso'] });
    expect(await readFolder(sample())).toMatchObject({ unpacked: [], onlyRead: [] });
  });

  it('in chunks is only read, also in gzip and beside the whole file', async () => {
    const [descriptor, whole] = packageOf(packed, RAW);
    const { name } = whole;
    const half = Math.ceil(packed.length / 2);
    const size = `ovf:size="${packed.length}" ovf:chunkSize="${half}" ovf:compression`;
    const chunks = [packed.subarray(0, half), packed.subarray(half)].map((content, index) => ({
      name: `${name}.00000000${index}`,
      content,
    }));
    const again = `<File ovf:id="again" ovf:href="${name}" ${size}="gzip"/></References>`;
    const xml = `${descriptor.content}`.replace('</References>', again);
    const members = [{ name: descriptor.name, content: Buffer.from(xml) }, whole, ...chunks];
    const { findings, unpacked, onlyRead } = await readFolder(members);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect({ unpacked, onlyRead }).toEqual({
      unpacked: [name],
      onlyRead: chunks.map((chunk) => chunk.name),
    });
  });

  it('of a VMDK in two chunks is only read', async () => {
    const [descriptor, { name }] = packageOf(disk);
    const half = Math.ceil(disk.length / 2);
    const reference = `ovf:href="${name}" ovf:size="${disk.length}" ovf:chunkSize="${half}"`;
    const xml = `${descriptor.content}`.replace(`ovf:href="${name}"`, reference);
    const chunks = [disk.subarray(0, half), disk.subarray(half)].map((content, index) => ({
      name: `${name}.00000000${index}`,
      content,
    }));
    const members = [{ name: descriptor.name, content: Buffer.from(xml) }, ...chunks];
    const { findings, onlyRead } = await readFolder(members);
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(onlyRead).toEqual(chunks.map((chunk) => chunk.name));
  });

  it('is unpacked until the signal is aborted', async () => {
    const file = join(temporaryDirectory(), 'vm.ovf');
    const [descriptor, bomb] = packageOf(gzipSync(Buffer.alloc(64 * MIB)), {
      ...RAW,
      capacity: 2 ** 40,
    });
    writeFileSync(file, descriptor.content);
    writeFileSync(join(file, '..', bomb.name), bomb.content);
    const abort = new AbortController();
    const onProgress = () => abort.abort('enough');
    await expect(readPackage(file, { signal: abort.signal, onProgress })).rejects.toBe('enough');
  });
});

it('a stream-optimised disk with large grains is unpacked in linear time', async () => {
  const grainSize = 2 ** 15;
  const grain = deflateSync(Buffer.alloc(grainSize * 512, 'x'), { level: 0 });
  const marker = Buffer.alloc(12);
  marker.writeUInt32LE(grain.length, 8);
  const sectors = Math.ceil((12 + grain.length) / 512);
  const bytes = Buffer.concat([marker, grain], (sectors + 1) * 512);
  const head = directoryFirst((header) =>
    [12, 20].map((at) => header.writeUInt32LE(grainSize, at)),
  );
  const header = parseSparseHeader(head);
  if (header === null) throw new Error('no header');
  const grains = { header, head, start: 0, sum: null };
  const packed = { kind: 'grains', grains, maxBytes: Infinity } as const;
  const file = { name: 'd', path: 'd', offset: 0, size: bytes.length, complete: true };
  const check = unpackCheck(file, packed).start();
  const seconds = await cpuSeconds(async () => {
    await check.update(bytes);
    expect(await check.end()).toBe(null);
  });
  expect(seconds).toBeLessThan(0.5);
});

const QEMU = missing('qemu-img');

it.skipIf(QEMU).each([
  [2 * MIB, 2 * MIB],
  [2 * MIB - 30 * 1024, 2 * MIB - 30 * 1024],
  [40 * MIB, 40],
])(
  `a disk of %d bytes that qemu-img wrote is valid if the descriptor declares %d${skipped(QEMU)}`,
  async (size, capacity) => {
    const folder = temporaryDirectory();
    const [raw, vmdk] = [join(folder, 'raw'), join(folder, 'd.vmdk')];
    writeFileSync(raw, Buffer.alloc(size, 'abc').fill(0, MIB, MIB + 300_000));
    const options = ['-f', 'raw', '-O', 'vmdk', '-o', 'subformat=streamOptimized'];
    execFileSync('qemu-img', ['convert', ...options, raw, vmdk]);
    const summary = await read(readFileSync(vmdk), { capacity });
    expect(summary).toMatchObject({ findings: [], unpacked: ['d.vmdk'] });
  },
);
