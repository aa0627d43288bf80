// The structure of the tar archive: each kind of damage has its own finding.

import { describe, expect, it } from 'vitest';
import { BLOCK } from '../../src/ovf/tar-header.ts';
import { packTar, withChecksum } from '../../src/ovf/tar-writer.ts';
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

describe('a sound archive', () => {
  it('has no findings', async () => {
    const summary = await readMembers(sample());
    expect(summary.findings).toEqual([]);
    expect(summary.kind).toBe('ova');
    expect(summary.files.map(({ name, role }) => [name, role])).toEqual([
      ['vm.ovf', 'descriptor'],
      ['vm.mf', 'manifest'],
      ['vm-disk1.vmdk', 'referenced'],
    ]);
  });

  it.each([
    ['zeros up to 10 KiB at the end', Buffer.concat([endless(), Buffer.alloc(10_240)])],
    ['more zeros than are read at once', Buffer.concat([endless(), Buffer.alloc(200_000)])],
    ['NUL as the type of a plain file', withHeader((header) => header.fill(0, 156, 157))],
    ['a size without NUL behind it', withHeader((header) => header.write(' ', 135))],
  ])('may have %s', async (_, archive) => {
    expect(codes(await readBytes(archive))).toEqual([]);
  });

  it('may have a checksum of signed bytes', async () => {
    const archive = withHeader((header) => header.write('ÿ', 265, 'latin1'));
    const unsigned = Number.parseInt(archive.toString('latin1', 148, 154), 8);
    archive.write((unsigned - 256).toString(8).padStart(6, '0'), 148);
    expect(codes(await readBytes(archive))).toEqual([]);
  });

  it('may have long names in two fields', async () => {
    const archive = followedBy(member('x.txt', 'x'));
    const header = archive.subarray(-3 * BLOCK - BLOCK, -3 * BLOCK);
    header.write('folder', 345);
    withChecksum(header);
    const { files } = await readBytes(archive);
    expect(files.at(-1)).toEqual({ name: 'folder/x.txt', size: 1, role: 'other' });
  });

  it('is told by its content where the name does not tell', async () => {
    expect((await readBytes(packTar(sample()), 'upload')).kind).toBe('ova');
    expect((await readBytes(sample()[0].content, 'upload')).kind).toBe('ovf');
  });
});

describe('a damaged archive', () => {
  const zip = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(1000, 7)]);
  const gzip = Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(1000, 7)]);

  it.each([
    ['is empty', Buffer.alloc(0), ['not-a-tar']],
    ['is text', Buffer.alloc(2000, 'text '), ['not-a-tar']],
    ['is nothing but zeros', Buffer.alloc(4096), ['no-descriptor']],
    ['is shorter than a header', endless().subarray(0, 300), ['truncated-header', 'no-descriptor']],
    ['lacks its end', endless(), ['no-end-of-archive']],
    ['lacks half of its end', packTar(sample()).subarray(0, -BLOCK), ['short-end-of-archive']],
    ['ends in a header', Buffer.concat([endless(), Buffer.alloc(100)]), ['truncated-header']],
    ['ends in a member', endless().subarray(0, -1), ['truncated-member']],
    ['ends in its descriptor', endless().subarray(0, 2000), ['truncated-member', 'no-manifest']],
    [
      'ends in padding',
      followedBy(member('x', 'x')).subarray(0, -END - 9),
      ['no-end-of-archive', 'unreferenced-file'],
    ],
    ['goes on with junk', Buffer.concat([endless(), Buffer.alloc(BLOCK, 'x')]), ['bad-header']],
    ['has more after its end', Buffer.concat([packTar(sample()), endless()]), ['trailing-data']],
  ])('%s', async (_, archive, expected) => {
    expect(codes(await readBytes(archive))).toEqual(expected);
  });

  it.each([
    [/gzip/, gzip],
    [/zip archive/, zip],
    [/VMDK/, sample()[2].content],
    [/XML/, sample()[0].content],
    [/empty/, Buffer.alloc(0)],
  ])('says what it is instead: %s', async (message, bytes) => {
    const { findings } = await readBytes(bytes);
    expect(findings.map(({ code }) => code)).toEqual(['not-a-tar']);
    expect(findings[0]?.message).toMatch(message);
  });

  it('has the place of what follows its end', async () => {
    const archive = packTar(sample());
    const { findings } = await readBytes(Buffer.concat([archive, Buffer.from('\0\0junk')]));
    expect(findings).toEqual([
      {
        code: 'trailing-data',
        severity: 'error',
        message: '4 bytes after the end of the archive',
        place: `test.ova, byte ${archive.length + 2}`,
      },
    ]);
  });

  it('is found out when cut at any of 50 offsets before its end', async () => {
    const archive = packTar(sample());
    const end = archive.length - END;
    const kinds = ['not-a-tar', 'truncated-header', 'truncated-member', 'no-end-of-archive'];
    for (let step = 0; step < 50; step += 1) {
      const cut = Math.round((step * end) / 49);
      const found = codes(await readBytes(archive.subarray(0, cut)));
      expect(
        found.filter((code) => kinds.includes(code)),
        `cut at ${cut}`,
      ).toHaveLength(1);
    }
  });

  it('is not read further than any package goes', async () => {
    const members = Array.from({ length: 10_001 }, (_, index) => member(`${index}`, ''));
    expect(codes(await readMembers(members))).toContain('too-many-members');
  });

  it('has its many findings counted instead of listed', async () => {
    const extra = Array.from({ length: 500 }, (_, index) => member(`${index}.txt`, ''));
    const { findings } = await readBytes(followedBy(...extra));
    expect(findings).toHaveLength(51);
    expect(findings.at(-1)?.message).toBe('and 450 more of this kind');
  });
});

describe('a member', () => {
  it.each([
    ['/etc/passwd', ['unsafe-name']],
    ['../x.txt', ['unsafe-name']],
    ['a/../../x.txt', ['unsafe-name']],
    ['a\\x.txt', ['unsafe-name']],
    ['C:x.txt', ['unsafe-name']],
    ['', ['unsafe-name']],
    ['folder/', ['directory-member']],
    ['./x.txt', ['dot-slash-name', 'unreferenced-file']],
    ['..x.txt', ['unreferenced-file']],
    ['vm.ovf', ['duplicate-member']],
    ['second.ovf', ['several-descriptors', 'unreferenced-file']],
  ])('called %j', async (name, expected) => {
    expect(codes(await readBytes(followedBy(member(name, ''))))).toEqual(expected);
  });

  it.each([
    ['1', 'link-member'],
    ['2', 'link-member'],
    ['3', 'special-member'],
    ['4', 'special-member'],
    ['5', 'directory-member'],
    ['6', 'special-member'],
    ['S', 'special-member'],
  ])('of type %s', async (type, expected) => {
    const archive = followedBy({ ...member('odd', ''), type }, member('x.txt', ''));
    expect(codes(await readBytes(archive))).toEqual([expected, 'unreferenced-file']);
  });

  it('with a line break in its name stays on one line', async () => {
    const { findings } = await readBytes(followedBy(member('a\nb', '')));
    expect(findings[0]?.place).toBe('a\\u000ab');
  });
});
