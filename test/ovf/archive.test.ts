// The structure of the tar archive: each kind of damage has its own finding.

import { describe, expect, it } from 'vitest';
import { BLOCK, packTar, withChecksum } from '../support/package-writer.ts';
import { rows } from '../support/rows.ts';
import {
  codes,
  END,
  endless,
  expectCutsFound,
  followedBy,
  member,
  readBytes,
  readMembers,
  sample,
  withHeader,
} from './harness.ts';

describe('a sound archive', () => {
  it('lists its files with their roles and has no findings', async () => {
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
    ['more zeros at the end than one read', Buffer.concat([endless(), Buffer.alloc(200_000)])],
    ['NUL as the type of a regular file', withHeader((header) => header.fill(0, 156, 157))],
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

  it('may split a long name into prefix and name', async () => {
    const archive = followedBy(member('x.txt', 'x'));
    const header = archive.subarray(-3 * BLOCK - BLOCK, -3 * BLOCK);
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

  it.each([
    ['junk', '4 bytes'],
    ['x', '1 byte'],
  ])('is reported with the place of the data after its end: %s', async (junk, size) => {
    const archive = packTar(sample());
    const { findings } = await readBytes(Buffer.concat([archive, Buffer.from(`\0\0${junk}`)]));
    expect(findings).toEqual([
      {
        code: 'trailing-data',
        severity: 'error',
        message: `${size} after the end of the archive`,
        place: `test.ova, byte ${archive.length + 2}`,
      },
    ]);
  });

  it('is found when cut at any of 50 offsets', () => expectCutsFound(packTar(sample())));

  it('is read for at most 10,000 headers', async () => {
    const members = Array.from({ length: 10_001 }, (_, index) => member(`${index}`));
    expect(codes(await readMembers(members))).toContain('too-many-members');
  });

  it('lists at most 50 findings of one kind and counts the rest', async () => {
    const extra = Array.from({ length: 500 }, (_, index) => member(`${index}.txt`));
    const { findings } = await readBytes(followedBy(...extra));
    expect(findings).toHaveLength(51);
    expect(findings.at(-1)?.message).toBe('and 450 more of this kind');
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

  it('with a line break in its name is reported on one line', async () => {
    const { findings } = await readBytes(followedBy(member('a\nb')));
    expect(findings[0]?.place).toBe('a\\u000ab');
  });
});
