// VMDK files: whether each is what the descriptor says.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/ovf/package.ts';
import { parseVmdk } from '../../src/ovf/vmdk.ts';
import { member, readMembers, sample, withManifest } from './harness.ts';

const [descriptor, , disk] = sample();

/** The findings of the sample with another disk, and with something replaced in its descriptor. */
async function check(
  content: Uint8Array,
  replace: [string | RegExp, string] = ['', ''],
): Promise<readonly Finding[]> {
  const xml = `${descriptor.content}`
    .replace(/ovf:size="\d+"/, `ovf:size="${content.length}"`)
    .replace(...replace);
  const members = [member(descriptor.name, xml), member(disk.name, content)];
  return (await readMembers(withManifest(members))).findings;
}

/** The sample's disk with something done to its bytes. */
function changed(change: (bytes: Buffer) => unknown): Buffer {
  const bytes = Buffer.from(disk.content);
  change(bytes);
  return bytes;
}

describe('parseVmdk', () => {
  it('reads the header of a stream-optimised disk', () => {
    expect(parseVmdk(Buffer.from(disk.content))).toEqual({
      form: 'sparse',
      version: 3,
      capacity: 8192,
      grainSize: 128,
      streamOptimized: true,
      grainDirectory: null,
      newlinesIntact: true,
      createType: 'streamOptimized',
    });
  });

  it.each([
    ['', null],
    ['KDMV', null],
    ['COWD', { form: 'server-sparse' }],
    ['# Disk DescriptorFile\nversion=1', { form: 'text' }],
    ['QFI\u00fb', null],
  ])('of %j', (text, expected) => {
    expect(parseVmdk(Buffer.from(text, 'latin1'))).toEqual(expected);
  });
});

describe('a disk', () => {
  it.each([
    ['that is sound', changed(() => undefined), []],
    ['of zeros', Buffer.alloc(2048), ['vmdk-magic']],
    ['of nothing', Buffer.alloc(0), ['vmdk-magic']],
    ['that ends in its header', changed(() => undefined).subarray(0, 100), ['vmdk-magic']],
    ['that is only a descriptor', Buffer.from('# Disk DescriptorFile\n'), ['vmdk-split']],
    ['of a server', Buffer.from('COWD'), ['vmdk-type']],
    ['that was sent as text', changed((bytes) => bytes.write('\r\n', 73)), ['vmdk-header']],
    ['of version 9', changed((bytes) => bytes.writeUInt32LE(9, 4)), ['vmdk-header']],
    ['of no capacity', changed((bytes) => bytes.fill(0, 12, 20)), ['vmdk-header']],
    ['of a huge capacity', changed((bytes) => bytes.fill(255, 12, 20)), ['vmdk-header']],
    ['of odd grains', changed((bytes) => bytes.writeUInt32LE(100, 20)), ['vmdk-header']],
    [
      'of another capacity',
      changed((bytes) => bytes.writeUInt32LE(4096, 12)),
      ['capacity-mismatch'],
    ],
    ['that ends early', changed(() => undefined).subarray(0, -512), ['vmdk-truncated']],
    ['that ends after its header', changed(() => undefined).subarray(0, 512), ['vmdk-truncated']],
    [
      'with its directory behind its end',
      changed((bytes) => bytes.writeBigUInt64LE(500n, 56)),
      ['vmdk-truncated'],
    ],
    ['with its directory inside', changed((bytes) => bytes.writeBigUInt64LE(130n, 56)), []],
    [
      'that is not compressed',
      changed((bytes) => bytes.writeUInt32LE(1, 8)),
      ['vmdk-type', 'vmdk-create-type'],
    ],
    [
      'that says another type',
      changed((bytes) => bytes.write('"monolithicSpars"', bytes.indexOf('"streamOptimized"'))),
      ['vmdk-create-type'],
    ],
    ['that says no type', changed((bytes) => bytes.fill(' ', 512, 1024)), []],
    ['with a descriptor far off', changed((bytes) => bytes.fill(255, 28, 44)), []],
  ])('%s', async (_, content, expected) => {
    expect((await check(content)).map(({ code }) => code)).toEqual(expected);
  });

  it.each([
    ['declared as any sparse type', ['#streamOptimized', '#sparse'], ['vmdk-create-type']],
    ['without a declared type', [/ovf:format="[^"]*"/, ''], ['vmdk-create-type']],
    ['declared as something else', [/ovf:format="[^"]*"/, 'ovf:format="vhd"'], []],
  ] as const)('%s need not be compressed', async (_, replace, expected) => {
    const found = await check(
      changed((bytes) => bytes.writeUInt32LE(1, 8)),
      [...replace],
    );
    expect(found.map(({ code }) => code)).toEqual(expected);
  });

  it.each([
    ['whole', gzipSync(disk.content), []],
    ['of zeros', gzipSync(Buffer.alloc(5000)), ['vmdk-magic']],
    ['broken', Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100)]), ['vmdk-magic']],
    ['a bomb', gzipSync(Buffer.alloc(50_000_000)), ['vmdk-magic']],
  ])('compressed with gzip and %s', async (_, content, expected) => {
    const found = await check(content, ['ovf:size', 'ovf:compression="gzip" ovf:size']);
    expect(found.map(({ code }) => code)).toEqual(expected);
  });
});
