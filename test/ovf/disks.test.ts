// VMDK files: what is read from them, and whether they match the descriptor.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  changed,
  codes,
  directoryFirst,
  expectFindings,
  member,
  readMembers,
  sample,
  withManifest,
} from './harness.ts';

const [descriptor, , disk] = sample();

/** Reads the sample with another disk, and with a replacement in its descriptor. */
function readWith(content: Uint8Array, pattern: string | RegExp = '', replacement = '') {
  const xml = `${descriptor.content}`
    .replace(/ovf:size="\d+"/, `ovf:size="${content.length}"`)
    .replace(pattern, replacement);
  const members = [member(descriptor.name, xml), member(disk.name, content)];
  return readMembers(withManifest(members));
}

const check = async (...changes: Parameters<typeof readWith>) => codes(await readWith(...changes));

/** The sample's disk with a changed footer. */
const changedFooter = (change: (footer: Buffer) => unknown) =>
  changed((bytes) => change(bytes.subarray(-1024, -512)));

/** The sample's disk with a changed descriptor. */
const described = (pattern: string | RegExp, replacement: string) =>
  changed((bytes) => {
    const text = bytes.toString('latin1', 512, 1024).replace(pattern, replacement);
    bytes.write(text.padEnd(512, ' '), 512, 512, 'latin1');
  });

describe('a disk', () => {
  const cut = (end: number) => Buffer.from(disk.content).subarray(0, end);
  const nameOtherType = (bytes: Buffer) =>
    bytes.write('"monolithicSpars"', bytes.indexOf('"streamOptimized"'));
  /** Compressed grains, declared as others, with room for whole ones. */
  const uncompressed = (change: (bytes: Buffer) => unknown = () => {}) => {
    const bytes = directoryFirst((sparse) => sparse.writeUInt32LE(1, 8));
    change(bytes);
    return Buffer.concat([bytes, Buffer.alloc(128 * 512)]);
  };

  /** 60 tables in a file that has room for fewer. */
  const overlap = (bytes: Buffer) => {
    bytes.writeUInt32LE(60 * 512 * 128, 12);
    for (let entry = 0; entry < 60; entry += 1) bytes.writeUInt32LE(31, 40 * 512 + entry * 4);
    bytes.writeBigUInt64LE(40n, 56);
  };
  const inFront = directoryFirst();
  const describedLast = Buffer.concat([
    ...[inFront, Buffer.alloc(-inFront.length & 511), inFront.subarray(512, 1024)],
  ]);
  describedLast.writeBigUInt64LE(BigInt(describedLast.length / 512 - 1), 28);
  describedLast.writeBigUInt64LE(1n, 36);
  const far = gzipSync(changed((bytes) => bytes.fill(255, 28, 36)));
  const GZIP = 'ovf:compression="gzip" ovf:size';

  const NO_VMDK = 'vmdk-magic vm-disk1.vmdk: neither a sparse header nor a VMDK descriptor';
  const HEADER = {
    footer: ['vmdk-header vm-disk1.vmdk: its footer differs from its header'],
    identifiers: [
      'vmdk-header vm-disk1.vmdk: no valid CID and parentCID in its embedded descriptor',
    ],
    directory: ['vmdk-header vm-disk1.vmdk: no grain directory'],
  };
  const NOT_COMPRESSED =
    'vmdk-create-type? vm-disk1.vmdk: createType is streamOptimized, but its grains are not compressed';
  const UNCOMPRESSED = [
    'vmdk-type vm-disk1.vmdk: declared as streamOptimized, but its grains are not compressed',
    NOT_COMPRESSED,
  ];
  const CUT = {
    descriptor: ['vmdk-truncated vm-disk1.vmdk: ends before the end of its embedded descriptor'],
    footer: ['vmdk-truncated vm-disk1.vmdk: does not end with a footer'],
    directory: ['vmdk-truncated vm-disk1.vmdk: ends before its grain directory'],
  };

  it.each<[string, string[], Buffer, from?: string | RegExp, to?: string]>([
    ['as packed', [], cut(disk.content.length)],
    ['of zeros', [NO_VMDK], Buffer.alloc(2048)],
    [
      'of zeros, and a word for its format',
      [NO_VMDK],
      Buffer.alloc(2048),
      /ovf:format="[^"]*"/,
      'ovf:format="streamOptimized"',
    ],
    [
      'of zeros, and a URL in capitals for its format',
      [NO_VMDK],
      Buffer.alloc(2048),
      /ovf:format="[^"]*"/,
      'ovf:format="HTTP://EXAMPLE/VMDK"',
    ],
    [
      'that ends in its header',
      ['vmdk-truncated vm-disk1.vmdk: ends before the end of its header'],
      cut(100),
    ],
    [
      'that is only a descriptor',
      ['vmdk-split vm-disk1.vmdk: only a descriptor; the data is in other files'],
      Buffer.from('# Disk DescriptorFile\n'),
    ],
    [
      'that is one in small letters',
      ['vmdk-split vm-disk1.vmdk: only a descriptor; the data is in other files'],
      Buffer.from('#disk descriptorfile\n'),
    ],
    [
      'of a server',
      ['vmdk-type vm-disk1.vmdk: an ESX server extent, not allowed in a package'],
      Buffer.from('COWD'),
    ],
    [
      'sent in text mode',
      ['vmdk-header vm-disk1.vmdk: corrupted by a transfer in text mode'],
      changed((bytes) => bytes.write('\r\n', 73)),
    ],
    [
      'of version 9',
      ['vmdk-header vm-disk1.vmdk: unknown version 9'],
      changed((b) => b.writeUInt32LE(9, 4)),
    ],
    [
      'of version 0',
      ['vmdk-header vm-disk1.vmdk: unknown version 0'],
      changed((b) => b.writeUInt32LE(0, 4)),
    ],
    [
      'without capacity',
      ['vmdk-header vm-disk1.vmdk: invalid capacity of 0 sectors'],
      changed((b) => b.fill(0, 12, 20)),
    ],
    [
      'with a vast capacity',
      ['vmdk-header vm-disk1.vmdk: invalid capacity of 72340172838076670 sectors'],
      changed((b) => b.fill(1, 12, 20)),
    ],
    [
      'with odd grains',
      ['vmdk-header vm-disk1.vmdk: invalid grain size of 100 sectors'],
      changed((b) => b.writeUInt32LE(100, 20)),
    ],
    [
      'with small grains',
      ['vmdk-header vm-disk1.vmdk: invalid grain size of 4 sectors'],
      changed((b) => b.writeUInt32LE(4, 20)),
    ],
    [
      'with large grains',
      ['vmdk-header vm-disk1.vmdk: compressed grains of 65536 sectors, more than 32768'],
      changed((b) => b.writeUInt32LE(2 ** 16, 20)),
    ],
    [
      'with another capacity',
      [
        'capacity-mismatch? vm-disk1.vmdk: capacity is 2097152 bytes, the descriptor declares 4194304',
      ],
      directoryFirst((b) => b.writeUInt32LE(4096, 12)),
    ],
    ['with a footer of another version', HEADER.footer, changedFooter((b) => b.fill(1, 4, 5))],
    ['with a footer of another overhead', HEADER.footer, changedFooter((b) => b.fill(9, 64, 65))],
    ['with a footer of larger tables', HEADER.footer, changedFooter((b) => b.fill(9, 45, 46))],
    ['with a footer of no compression', HEADER.footer, changedFooter((b) => b.fill(0, 77, 79))],
    ['with a footer of directory 0', HEADER.directory, changedFooter((b) => b.fill(0, 56, 64))],
    ['with a footer of no directory', CUT.footer, changedFooter((b) => b.fill(255, 56, 64))],
    ['with a footer that names another copy', [], changedFooter((b) => b.fill(2, 48, 49))],
    ['with a footer of an unclean shutdown', [], changedFooter((b) => b.fill(1, 72, 73))],
    ['that ends early', CUT.footer, cut(-512)],
    ['with a far directory', CUT.directory, changed((b) => b.writeBigUInt64LE(500n, 56))],
    ['without a directory', HEADER.directory, changed((bytes) => bytes.writeBigUInt64LE(0n, 56))],
    [
      'with small tables',
      ['vmdk-header vm-disk1.vmdk: invalid grain table of 511 entries'],
      changed((bytes) => bytes.writeUInt32LE(511, 44)),
    ],
    [
      'with large tables',
      ['vmdk-header vm-disk1.vmdk: invalid grain table of 513 entries'],
      changed((bytes) => bytes.writeUInt32LE(513, 44)),
    ],
    ['without compression', UNCOMPRESSED, uncompressed()],
    ['without markers', UNCOMPRESSED, uncompressed((b) => b.writeUInt32LE(0x1_0001, 8))],
    ['with markers only', UNCOMPRESSED, uncompressed((b) => b.writeUInt32LE(0x2_0001, 8))],
    ['with an odd CID', HEADER.identifiers, changed((b) => b.write('~', b.indexOf('\nCID=') + 5))],
    ['without a parentCID', HEADER.identifiers, described(/^parentCID=.*\n/m, '')],
    ['with indented identifiers', [], described(/^(?=(parent)?CID=)/gm, '  ')],
    ['with junk as its descriptor', HEADER.identifiers, changed((b) => b.fill('x', 512, 1024))],
    ['with a descriptor that ends early', HEADER.identifiers, changed((b) => b.fill(0, 513, 514))],
    [
      'without a descriptor',
      ['vmdk-header vm-disk1.vmdk: no embedded descriptor'],
      directoryFirst((b) => b.fill(0, 28, 44)),
    ],
    [
      'of another createType',
      [
        'vmdk-create-type? vm-disk1.vmdk: createType is monolithicSpars, but its grains are compressed',
      ],
      changed(nameOtherType),
    ],
    ['of another createType in a comment', [], described(/^(?=createType=)/m, '#createType="x"\n')],
    [
      'of another createType, indented',
      ['vmdk-create-type? vm-disk1.vmdk: createType is x, but its grains are compressed'],
      described(/^createType=.*/m, '\t createType = "x"'),
    ],
    ['without a createType', [], described(/^createType=.*\n/m, '')],
    ['with a far descriptor', CUT.descriptor, changed((bytes) => bytes.fill(255, 28, 36))],
    ['with an endless descriptor', CUT.descriptor, changed((b) => b.fill(255, 36, 44))],
    ['that ends in its descriptor', CUT.descriptor, cut(20 * 512)],
    ['with its directory in front', [], directoryFirst()],
    ['with its descriptor at its end', [], describedLast],
    ['with an empty directory', [], directoryFirst((bytes) => bytes.writeUInt32LE(0, 30 * 512))],
    ['with grains of zeros', [], directoryFirst((bytes) => bytes.fill(0, 31 * 512, 35 * 512))],
    [
      'with a far table',
      ['vmdk-truncated vm-disk1.vmdk: ends before its grain table at sector 1000'],
      directoryFirst((b) => b.writeUInt32LE(1000, 15_360)),
    ],
    [
      'with a far grain',
      ['vmdk-truncated vm-disk1.vmdk: ends before the end of its grain at sector 1000'],
      directoryFirst((b) => b.writeUInt32LE(1000, 15_880)),
    ],
    [
      'with tables in one place',
      [
        'capacity-mismatch? vm-disk1.vmdk: capacity is 2013265920 bytes, the descriptor declares 4194304',
        'vmdk-header vm-disk1.vmdk: the grain tables overlap',
      ],
      directoryFirst(overlap),
    ],
    ['of any sparse type', [NOT_COMPRESSED], uncompressed(), '#streamOptimized', '#sparse'],
    [
      'of no type',
      ['disk-without-format? vm.ovf:8: disk vmdisk1: no format', NOT_COMPRESSED],
      uncompressed(),
      /ovf:format="[^"]*"/,
    ],
    ['of another format', [], uncompressed(), /ovf:format="[^"]*"/, 'ovf:format="vhd"'],
    ['in gzip', [], gzipSync(disk.content), 'ovf:size', GZIP],
    [
      'in gzip that is not declared',
      ['vmdk-magic vm-disk1.vmdk: gzip data: unpack it, or declare ovf:compression'],
      gzipSync(disk.content),
    ],
    ['in gzip with a far descriptor', CUT.descriptor, far, 'ovf:size', GZIP],
    ['in gzip with junk', [NO_VMDK], Buffer.from('1f8b0000000000', 'hex'), 'ovf:size', GZIP],
    ['in gzip with a bomb', [NO_VMDK], gzipSync(Buffer.alloc(50_000_000)), 'ovf:size', GZIP],
  ])('%s has the findings %j', async (_, expected, ...change) => {
    expectFindings(await readWith(...change), expected);
  });

  it('with its directory in front has the finding vmdk-truncated, wherever it is cut', async () => {
    const content = directoryFirst();
    const lastGrain = content.readUInt32LE(31 * 512 + 63 * 4) * 512;
    const end = lastGrain + 12 + content.readUInt32LE(lastGrain + 8);
    for (const size of [22 * 512, 40 * 512, lastGrain, end - 1, end]) {
      const found = await check(content.subarray(0, size));
      expect({ size, found }).toEqual({ size, found: size === end ? [] : ['vmdk-truncated'] });
    }
  });

  it('without compression has the finding vmdk-truncated if its last grain is not whole', async () => {
    const inPlainFormat = (content: Buffer) => check(content, /ovf:format="[^"]*"/);
    const whole = uncompressed();
    const lastGrain = whole.readUInt32LE(31 * 512 + 63 * 4) * 512;
    const end = lastGrain + 128 * 512;
    const found = ['disk-without-format?', 'vmdk-create-type?'];
    expect(await inPlainFormat(whole.subarray(0, end))).toEqual(found);
    for (const size of [end - 1, lastGrain + 1, lastGrain - 1]) {
      expect(await inPlainFormat(whole.subarray(0, size))).toEqual([...found, 'vmdk-truncated']);
    }
    // The last grain of a disk may be a part of one. Entries behind it mean nothing.
    const shorter = uncompressed((bytes) => {
      bytes.writeUInt32LE(8192 - 120, 12);
      bytes.writeUInt32LE(lastGrain / 512 + 1, 31 * 512 + 511 * 4);
    });
    const part = lastGrain + 8 * 512;
    found.push('capacity-mismatch?');
    expect(await inPlainFormat(shorter.subarray(0, part))).toEqual(found);
    expect(await inPlainFormat(shorter.subarray(0, part - 1))).toContain('vmdk-truncated');
  });
});
