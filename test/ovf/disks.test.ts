// VMDK files: what is read from them, and whether they match the descriptor.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { parseVmdk } from '../../src/ovf/vmdk.ts';
import { codes, member, readMembers, sample, withManifest } from './harness.ts';

const [descriptor, , disk] = sample();

/** Checks the sample with another disk, and with a replacement in its descriptor. */
async function check(
  content: Uint8Array,
  pattern: string | RegExp = '',
  replacement = '',
): Promise<string[]> {
  const xml = `${descriptor.content}`
    .replace(/ovf:size="\d+"/, `ovf:size="${content.length}"`)
    .replace(pattern, replacement);
  const members = [member(descriptor.name, xml), member(disk.name, content)];
  return codes(await readMembers(withManifest(members)));
}

/** The sample's disk with changed bytes. */
function changed(change: (bytes: Buffer) => unknown): Buffer {
  const bytes = Buffer.from(disk.content);
  change(bytes);
  return bytes;
}

describe('parseVmdk', () => {
  it('reads the header of a stream-optimised disk', () => {
    expect(parseVmdk(Buffer.from(disk.content))).toEqual({
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
    ['COWD', 'server-sparse'],
    ['# Disk DescriptorFile\nversion=1', 'text'],
    ['QFI\u00fb', null],
  ])('reads %j as %j', (text, expected) => {
    expect(parseVmdk(Buffer.from(text, 'latin1'))).toEqual(expected);
  });
});

describe('a disk', () => {
  const cut = (end: number) => Buffer.from(disk.content).subarray(0, end);
  const nameOtherType = (bytes: Buffer) =>
    bytes.write('"monolithicSpars"', bytes.indexOf('"streamOptimized"'));
  const uncompressed = changed((bytes) => bytes.writeUInt32LE(1, 8));

  it.each([
    ['as packed', [], cut(disk.content.length)],
    ['of zeros', ['vmdk-magic'], Buffer.alloc(2048)],
    ['of no bytes', ['vmdk-magic'], Buffer.alloc(0)],
    ['that ends in its header', ['vmdk-magic'], cut(100)],
    ['that is only a descriptor', ['vmdk-split'], Buffer.from('# Disk DescriptorFile\n')],
    ['of a server', ['vmdk-type'], Buffer.from('COWD')],
    ['sent in text mode', ['vmdk-header'], changed((bytes) => bytes.write('\r\n', 73))],
    ['of version 9', ['vmdk-header'], changed((bytes) => bytes.writeUInt32LE(9, 4))],
    ['without capacity', ['vmdk-header'], changed((bytes) => bytes.fill(0, 12, 20))],
    ['with a huge capacity', ['vmdk-header'], changed((bytes) => bytes.fill(255, 12, 20))],
    ['with odd grains', ['vmdk-header'], changed((bytes) => bytes.writeUInt32LE(100, 20))],
    [
      'with another capacity',
      ['capacity-mismatch?'],
      changed((bytes) => bytes.writeUInt32LE(4096, 12)),
    ],
    ['that ends early', ['vmdk-truncated'], cut(-512)],
    ['that ends after its header', ['vmdk-truncated'], cut(512)],
    [
      'with its directory beyond its end',
      ['vmdk-truncated'],
      changed((bytes) => bytes.writeBigUInt64LE(500n, 56)),
    ],
    ['with its directory inside', [], changed((bytes) => bytes.writeBigUInt64LE(130n, 56))],
    ['without compression', ['vmdk-type', 'vmdk-create-type?'], uncompressed],
    ['of another createType', ['vmdk-create-type?'], changed(nameOtherType)],
    ['without a createType', [], changed((bytes) => bytes.fill(' ', 512, 1024))],
    ['with its descriptor beyond its end', [], changed((bytes) => bytes.fill(255, 28, 44))],
  ])('%s has the findings %j', async (_, expected, content) => {
    expect(await check(content)).toEqual(expected);
  });

  it.each([
    ['with any sparse type', ['vmdk-create-type?'], '#streamOptimized', '#sparse'],
    ['without a type', ['vmdk-create-type?'], /ovf:format="[^"]*"/, ''],
    ['with another format', [], /ovf:format="[^"]*"/, 'ovf:format="vhd"'],
  ])('declared %s need not be compressed (findings %j)', async (_, expected, from, to) => {
    expect(await check(uncompressed, from, to)).toEqual(expected);
  });

  it.each([
    ['a whole disk', [], gzipSync(disk.content)],
    ['zeros', ['vmdk-magic'], gzipSync(Buffer.alloc(5000))],
    ['junk', ['vmdk-magic'], Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100)])],
    ['a bomb', ['vmdk-magic'], gzipSync(Buffer.alloc(50_000_000))],
  ])('in gzip with %s has the findings %j', async (_, expected, content) => {
    expect(await check(content, 'ovf:size', 'ovf:compression="gzip" ovf:size')).toEqual(expected);
  });
});
