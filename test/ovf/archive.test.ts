// The tar archive: its dialects, and a finding for each kind of damage.

import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { BLOCK, packTar, type TarMember, withChecksum } from '../support/package-writer.ts';
import { rows } from '../support/rows.ts';
import {
  codes,
  END,
  endless,
  followedBy,
  member,
  readBytes,
  readMembers,
  sample,
  withHeader,
} from './harness.ts';

function withSignedChecksum(): Buffer {
  const archive = withHeader((header) => header.write('ÿ', 265, 'latin1'));
  const unsigned = Number.parseInt(archive.toString('latin1', 148, 154), 8);
  archive.write((unsigned - 256).toString(8).padStart(6, '0'), 148);
  return archive;
}

describe('a sound archive', () => {
  it.each([
    ['zeros up to 10 KiB at the end', Buffer.concat([endless(), Buffer.alloc(10_240)])],
    ['more zeros at the end than one read', Buffer.concat([endless(), Buffer.alloc(200_000)])],
    ['NUL as the type of a regular file', withHeader((header) => header.fill(0, 156, 157))],
    ['a checksum of signed bytes', withSignedChecksum()],
    ['a size without NUL behind it', withHeader((header) => header.write(' ', 135))],
  ])('may have %s', async (_, archive) => {
    expect(codes(await readBytes(archive))).toEqual([]);
  });

  it('may split a long name into prefix and name', async () => {
    const archive = followedBy(member('x.txt', 'x'));
    const header = archive.subarray(-4 * BLOCK, -3 * BLOCK);
    header.write('folder', 345);
    withChecksum(header);
    const { files } = await readBytes(archive);
    expect(files.at(-1)).toEqual({ name: 'folder/x.txt', size: 1, role: 'other' });
  });

  it('is recognized by its content if its extension does not tell', async () => {
    expect((await readBytes(packTar(sample()), 'upload')).kind).toBe('ova');
    expect((await readBytes(sample()[0].content, 'upload')).kind).toBe('ovf');
  });
});

describe('a damaged archive', () => {
  const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(1000, 7)]);
  const gzip = Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(1000, 7)]);
  const inPadding = followedBy(member('x', 'x')).subarray(0, -END - 9);

  it.each([
    ['is text', ['not-a-tar'], Buffer.alloc(2000, 'text ')],
    ['has only zeros', ['no-descriptor'], Buffer.alloc(4096)],
    ['is shorter than a header', ['truncated-header', 'no-descriptor'], endless().subarray(0, 300)],
    ['lacks its end', ['no-end-of-archive'], endless()],
    ['lacks half of its end', ['short-end-of-archive?'], packTar(sample()).subarray(0, -BLOCK)],
    ['ends in a header', ['truncated-header'], Buffer.concat([endless(), Buffer.alloc(100)])],
    ['ends in a member', ['truncated-member'], endless().subarray(0, -1)],
    ['ends in its descriptor', ['truncated-member', 'no-manifest?'], endless().subarray(0, 2000)],
    ['ends in padding', ['no-end-of-archive', 'unreferenced-file?'], inPadding],
    ['goes on with junk', ['bad-header'], Buffer.concat([endless(), Buffer.alloc(BLOCK, 'x')])],
    ['has more after its end', ['trailing-data'], Buffer.concat([packTar(sample()), endless()])],
  ])('that %s has the findings %j', async (_, expected, archive) => {
    expect(codes(await readBytes(archive))).toEqual(expected);
  });

  it.each([
    [/gzip/, gzip],
    [/zip archive/, zip],
    [/VMDK/, sample()[2].content],
    [/XML/, sample()[0].content],
    [/empty/, Buffer.alloc(0)],
  ])('is reported as another format: %s', async (message, bytes) => {
    const { findings } = await readBytes(bytes);
    expect(findings).toMatchObject([
      { code: 'not-a-tar', message: expect.stringMatching(message) },
    ]);
  });

  it('is found when cut at any of 50 offsets', async () => {
    const archive = packTar(sample());
    const kinds = ['not-a-tar', 'truncated-header', 'truncated-member', 'no-end-of-archive'];
    for (let step = 0; step < 50; step += 1) {
      const cut = Math.round((step * (archive.length - END)) / 49);
      const found = codes(await readBytes(archive.subarray(0, cut)));
      const matching = found.filter((code) => kinds.includes(code));
      expect(matching, `cut at ${cut}`).toHaveLength(1);
    }
  });

  it('is read for at most 10,000 headers', async () => {
    const members = Array.from({ length: 10_001 }, (_, index) => member(`${index}`));
    expect(codes(await readMembers(members))).toContain('too-many-members');
  });

  it('lists at most 50 findings of one kind and counts the rest', async () => {
    const extra = Array.from({ length: 500 }, (_, index) => member(`${index}.txt`));
    const { findings } = await readBytes(followedBy(...extra));
    expect([findings.length, findings[50]?.message]).toEqual([51, 'and 450 more of this kind']);
  });
});

describe('a member', () => {
  it.each([
    ...rows(['unsafe-name'], '/etc/passwd', '../x.txt', 'a/../../x.txt', 'a\\x.txt', 'C:x.txt', ''),
    ...rows(['directory-member?'], 'folder/'),
    ...rows(['dot-slash-name?', 'unreferenced-file?'], './x.txt'),
    ...rows(['unreferenced-file?'], '..x.txt'),
    ...rows(['duplicate-member'], 'vm.ovf'),
    ...rows(['several-descriptors', 'unreferenced-file?'], 'second.ovf'),
  ])('named %j has the findings %j', async (name, expected) => {
    expect(codes(await readBytes(followedBy(member(name))))).toEqual(expected);
  });

  it.each([
    ...rows('link-member', '1', '2'),
    ...rows('special-member', '3', '4', '6', 'S'),
    ...rows('directory-member?', '5'),
  ])('of type %s has the finding %s', async (type, expected) => {
    const archive = followedBy({ ...member('odd'), type }, member('x.txt'));
    expect(codes(await readBytes(archive))).toEqual([expected, 'unreferenced-file?']);
  });
});

/** A pax record with its own length in front. */
function paxRecord(keyAndValue: string): string {
  const rest = ` ${keyAndValue}\n`;
  const length = rest.length + String(rest.length + 2).length;
  return `${length}${rest}`;
}

function extension(type: string, content: string): TarMember {
  return { ...member('extension', content), type };
}

describe('a tar header', () => {
  it.each<[string, string, (header: Buffer) => unknown]>([
    ['from before ustar', 'not-ustar?', (header) => header.fill(0, 257, 265)],
    ['of GNU tar', 'not-ustar?', (header) => header.write('ustar  \0', 257)],
    ['with a size in words', 'not-a-tar', (header) => header.write('12x', 124)],
    ['with a negative size', 'not-a-tar', (header) => header.fill(255, 124, 136)],
    [
      'with a size over 2^53',
      'not-a-tar',
      (header) => header.fill(255, 125, 136).fill(128, 124, 125),
    ],
  ])('%s has the finding %s', async (_, expected, change) => {
    expect(codes(await readBytes(withHeader(change)))).toEqual([expected]);
  });

  it('with a wrong checksum has the finding not-a-tar', async () => {
    const archive = packTar(sample());
    archive.write('VM', 0);
    expect(codes(await readBytes(archive))).toEqual(['not-a-tar']);
  });

  it('may have a size over 8 GiB', async () => {
    const size = 9 * 1024 ** 3;
    const archive = followedBy(member('big.bin'));
    const header = archive.subarray(-END - BLOCK, -END);
    header.fill(0, 124, 136).fill(0x80, 124, 125).writeBigUInt64BE(BigInt(size), 128);
    withChecksum(header);
    const path = join(temporaryDirectory(), 'big.ova');
    const file = openSync(path, 'w');
    writeSync(file, archive.subarray(0, -END));
    ftruncateSync(file, archive.length + size);
    closeSync(file);
    const summary = await readPackage(path);
    expect(codes(summary)).toEqual(['not-ustar?', 'unreferenced-file?']);
    expect(summary.files.at(-1)).toEqual({ name: 'big.bin', size, role: 'other' });
  });
});

describe('an extended header', () => {
  it.each([
    ['a pax name', 'x', paxRecord('path=long.txt'), 'long.txt'],
    ['a pax size', 'x', paxRecord('size=1'), 'a'],
    ['an unknown pax record', 'x', paxRecord('mtime=1.5'), 'a'],
    ['a pax name for all members', 'g', paxRecord('path=all'), 'a'],
    ['a GNU name', 'L', 'long.txt\0', 'long.txt'],
  ])('with %s (type %s) is read', async (_, type, content, name) => {
    const summary = await readBytes(followedBy(extension(type, content), member('a', 'x')));
    const dialect = type === 'L' ? [] : ['pax-header?'];
    expect(codes(summary)).toEqual([...dialect, 'unreferenced-file?']);
    expect(summary.files.at(-1)).toEqual({ name, size: 1, role: 'other' });
  });

  it.each([
    ['without a length', 'path=x\n'],
    ['with a length beyond its end', '99 path=x\n'],
    ['without a newline', '8 path=x'],
    ['without a value', '7 path\n'],
    ['with an invalid size', paxRecord('size=-1')],
    ['over 32 KiB', paxRecord(`path=${'x'.repeat(40_000)}`)],
  ])('%s ends the reading with bad-header', async (_, content) => {
    const archive = followedBy(extension('x', content), member('a', 'x'));
    expect(codes(await readBytes(archive))).toEqual(['pax-header?', 'bad-header']);
  });
});
