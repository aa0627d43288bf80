// The tar archive: its dialects, and a finding for each kind of damage.

import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkPackage, readPackage } from '../../src/ovf/package.ts';
import { certificateFile, selfSigned } from '../support/certificate.ts';
import { temporaryDirectory } from '../support/io.ts';
import { BLOCK, packTar, type TarMember, withChecksum } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';
import { rows } from '../support/rows.ts';
import { codes, expectFindings, member, readBytes, readMembers, sample } from './harness.ts';

/** Bytes of the blocks that end an archive. */
const END = 2 * BLOCK;
const WHOLE = packTar(sample());
const ENDLESS = WHOLE.subarray(0, -END);

/** The sample with its first header changed, and a valid checksum. */
function withHeader(change: (header: Buffer) => unknown): Buffer {
  const archive = packTar(sample());
  change(archive.subarray(0, BLOCK));
  withChecksum(archive.subarray(0, BLOCK));
  return archive;
}

const followedBy = (...members: TarMember[]) => packTar([...sample(), ...members]);
const then = (bytes: Buffer) => Buffer.concat([ENDLESS, bytes]);

/** A pax record with its own length in front. */
const pax = (keyAndValue: string) => {
  const rest = ` ${keyAndValue}\n`;
  return `${rest.length + String(rest.length + 2).length}${rest}`;
};

describe('an archive', () => {
  const inPadding = followedBy(member('x', 'x')).subarray(0, -END - 9);
  const inManifest = packTar(sample().slice(0, 2)).subarray(0, -END - 400);
  const inExtension = packTar([{ ...member('x', 'x'.repeat(100)), type: 'x' }]).subarray(0, 600);
  const AT_END = `test.ova, byte ${ENDLESS.length}`;
  const large = (header: Buffer) => header.fill(255, 125, 136).fill(128, 124, 125);

  it.each([
    ['with zeros up to 10 KiB', [], then(Buffer.alloc(10_240))],
    ['with more zeros than one read', [], then(Buffer.alloc(200_000))],
    ['with the type of a contiguous file', [], withHeader((header) => header.write('7', 156))],
    ['with NUL as the type of a file', [], withHeader((header) => header.fill(0, 156, 157))],
    ['with a size without NUL behind it', [], withHeader((header) => header.write(' ', 135))],
    ['from before ustar', ['not-ustar?'], withHeader((header) => header.fill(0, 257, 265))],
    ['of GNU tar', ['not-ustar?'], withHeader((header) => header.write('ustar  \0', 257))],
    ['with a size in words', ['not-a-tar'], withHeader((header) => header.write('12x', 124))],
    ['with a negative size', ['not-a-tar'], withHeader((header) => header.fill(255, 124, 136))],
    ['with a size over 2^53', ['not-a-tar'], withHeader(large)],
    ['with a wrong checksum', ['not-a-tar'], Buffer.concat([Buffer.from('VM'), WHOLE.subarray(2)])],
    ['of text', ['not-a-tar'], Buffer.alloc(2000, 'text ')],
    ['of zeros', ['no-descriptor'], Buffer.alloc(4096)],
    ['of 300 bytes', ['not-a-tar'], ENDLESS.subarray(0, 300)],
    [
      'without an end',
      [`no-end-of-archive ${AT_END}: the two zero blocks at the end are missing`],
      ENDLESS,
    ],
    [
      'with half of its end',
      [`short-end-of-archive? ${AT_END}: only one zero block at the end`],
      WHOLE.subarray(0, -BLOCK),
    ],
    [
      'that ends in a header',
      [`truncated-header ${AT_END}: the archive ends inside a header`],
      then(Buffer.alloc(100)),
    ],
    [
      'that ends in a member',
      ['truncated-member vm-disk1.vmdk: the archive ends after 71679 of 71680 bytes'],
      ENDLESS.subarray(0, -1),
    ],
    [
      'cut in its descriptor',
      ['truncated-member vm.ovf: the archive ends after 1488 of 3130 bytes', 'no-manifest?'],
      ENDLESS.subarray(0, 2000),
    ],
    [
      'cut in its manifest',
      ['truncated-member vm.mf: the archive ends after 112 of 169 bytes', 'missing-file'],
      inManifest,
    ],
    [
      'that ends in padding',
      [
        'no-end-of-archive test.ova, byte 78336: the two zero blocks at the end are missing',
        'unreferenced-file?',
      ],
      inPadding,
    ],
    [
      'cut in an extended header',
      ['pax-header?', 'truncated-member x: the archive ends after 88 of 100 bytes'],
      then(inExtension),
    ],
    [
      'that goes on with junk',
      [`bad-header ${AT_END}: damaged header; the rest of the archive is unreadable`],
      then(Buffer.alloc(BLOCK, 'x')),
    ],
    ['with 1 MiB of zeros after its end', [], then(Buffer.alloc(END + 2 ** 20))],
    [
      'with more after its end',
      ['trailing-data test.ova, byte 78336: 77312 bytes after the end of the archive'],
      Buffer.concat([WHOLE, ENDLESS]),
    ],
  ])('%s has the findings %j', async (_, expected, archive) => {
    expectFindings(await readBytes(archive), expected);
  });

  it('with more than 1 MiB after its end says how much', async () => {
    const { findings } = await readBytes(Buffer.concat([WHOLE, Buffer.alloc(2 ** 20 + 1)]));
    const message = '1048577 bytes after the end of the archive';
    expect(findings).toMatchObject([{ code: 'trailing-data', message }]);
  });

  it.each([
    [
      'compressed with gzip; decompress it first',
      Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(1000, 7)]),
    ],
    [
      'a zip archive, not a tar archive',
      Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(1000, 7)]),
    ],
    ['a VMDK disk, not a tar archive', sample()[2].content],
    ['XML, not a tar archive; the name of a descriptor must end in .ovf', sample()[0].content],
    ['the file is empty', Buffer.alloc(0)],
  ])('of another format says so: %s', async (message, bytes) => {
    const { findings } = await readBytes(bytes);
    expect(findings).toMatchObject([{ code: 'not-a-tar', message }]);
  });

  it('has one finding when cut at any of 50 offsets', async () => {
    const kinds = ['not-a-tar', 'truncated-header', 'truncated-member', 'no-end-of-archive'];
    for (let step = 0; step < 50; step += 1) {
      const cut = Math.round((step * ENDLESS.length) / 49);
      const found = codes(await readBytes(WHOLE.subarray(0, cut)));
      const matching = found.filter((code) => kinds.includes(code));
      expect(matching, `cut at ${cut}`).toHaveLength(1);
    }
  });

  it('is read for at most 10,000 headers, and lists at most 50 findings of one kind', async () => {
    const extra = Array.from({ length: 10_001 }, (_, index) => member(`${index}.txt`));
    expect(codes(await readMembers(extra))).toContain('too-many-members');
    const { findings } = await readBytes(followedBy(...extra.slice(0, 500)));
    expect(findings).toHaveLength(51);
    expect(findings[50]?.message).toBe('and 450 more of this kind');
  });

  it('may be in a folder, with the files beside it, and have files of macOS in front', async () => {
    const [descriptor, manifest, disk] = sample();
    const certificate = certificateFile('vm.mf', manifest.content, selfSigned('localhost'));
    const files = [descriptor, manifest, member('vm.cert', certificate), disk];
    const inFolder = files.map((each) => ({ ...each, name: `vm/${each.name}` }));
    const copies = [descriptor, manifest].map(({ name }) => member(`vm/._${name}`, 'Mac OS X'));
    const { findings, manifest: read, disks } = await readMembers([...copies, ...inFolder]);
    const message = 'ignored; pack with COPYFILE_DISABLE=1';
    const found = { code: 'macos-file', severity: 'warning', message };
    expect(findings).toEqual([
      { ...found, place: 'vm/._vm.ovf' },
      { ...found, place: 'vm/._vm.mf' },
    ]);
    expect(read?.entries).toHaveLength(2);
    expect(disks[0]?.file).toBe('vm-disk1.vmdk');
  });

  unixOnly('devices are of Unix')('that is no regular file is not read', async () => {
    expect(codes(await readPackage('/dev/null'))).toEqual(['not-a-file']);
  });

  it('is not read once the signal is aborted', async () => {
    const signal = AbortSignal.abort('enough');
    await expect(readPackage('/dev/null', { signal })).rejects.toBe('enough');
  });

  it.each(['vm.ovf', 'VM.OVF', '.ovf'])('that is named %s says so', async (name) => {
    const { findings } = await readBytes(WHOLE, name);
    const message = 'is an archive: rename it to .ova';
    expect(findings).toMatchObject([{ code: 'archive-named-ovf', severity: 'error', message }]);
  });

  const asPax = (key: string) => [{ ...member('x', pax(`${key}=1`)), type: 'x' }, member('a', 'x')];

  it.each([
    ['a: sparse; pack it', 'special-member', [{ ...member('a'), type: 'S' }]],
    ['1: sparse; pack it', 'special-member', asPax('GNU.sparse.name')],
    [': pax extended header; use --format=ustar, or gnu', 'pax-header', asPax('mtime')],
  ])('says how to pack it: %s', async (text, code, members) => {
    const { findings } = await readBytes(followedBy(...members));
    const found = findings.find((each) => each.code === code);
    expect(`${found?.place}: ${found?.message}`).toContain(text);
  });

  it('is recognized by its content if its extension does not tell', async () => {
    expect((await readBytes(WHOLE, 'upload')).kind).toBe('ova');
    expect((await readBytes(sample()[0].content, 'upload')).kind).toBe('ovf');
  });
});

describe('a member', () => {
  const FILE = 'unreferenced-file?';

  it.each([
    ...rows(['unsafe-name'], '/etc/passwd', '../x.txt', 'a/../../x.txt', 'a\\x.txt', 'C:x.txt', ''),
    ...rows(
      ['directory-member? folder/: a directory; a package may contain only files'],
      'folder/',
    ),
    ...rows(['dot-slash-name? ./x.txt: read as x.txt', FILE], './x.txt'),
    ...rows([FILE], '..x.txt', 'x'.repeat(100)),
    ...rows(['duplicate-member vm.ovf: another member has the same name'], 'vm.ovf'),
    ...rows(
      [
        'several-descriptors second.ovf: the package already has vm.ovf',
        'unreferenced-file? second.ovf: not referenced by the descriptor',
      ],
      'second.ovf',
    ),
  ])('named %j has the findings %j', async (name, expected) => {
    expectFindings(await readBytes(followedBy(member(name))), expected);
  });

  it.each([
    ...rows('link-member odd: a link, not a regular file', '1', '2'),
    ...rows('special-member', '3', '4', '6', 'S'),
    ...rows('directory-member? odd: a directory; a package may contain only files', '5'),
  ])('of type %s has the finding %s', async (type, expected) => {
    const odd = { ...member('odd'), type };
    expectFindings(await readBytes(followedBy(odd, member('x.txt'))), [expected, FILE]);
    // A size in front is that of the file that a link leads to.
    if (type === '1' || type === 'S') return;
    const size = { ...member('extension', pax('size=5')), type: 'x' };
    const withSize = await readBytes(followedBy(size, odd, member('x.txt')));
    expectFindings(withSize, ['pax-header?', expected, FILE]);
  });

  it.each([
    ['a pax name', 'x', pax('path=long.txt'), 'long.txt'],
    ['a pax size', 'x', pax('size=1'), 'a'],
    ['an unknown pax record', 'x', pax('mtime=1.5'), 'a'],
    ['a pax name for all members', 'g', pax('path=all'), 'a'],
    ['a GNU name', 'L', 'long.txt\0', 'long.txt'],
    ['a GNU name of a link', 'K', 'long.txt\0', 'a'],
    ['32 KiB of pax', 'x', pax(`comment=${'x'.repeat(32_753)}`), 'a'],
  ])('with %s (type %s) is read', async (_, type, content, name) => {
    const extension = { ...member('extension', content), type };
    const summary = await readBytes(followedBy(extension, member('a', 'x')));
    expect(codes(summary)).toEqual([...('LK'.includes(type) ? [] : ['pax-header?']), FILE]);
    expect(summary.files.at(-1)).toEqual({ name, size: 1, role: 'other' });
  });

  it.each([
    ['without a length', 'path=x\n'],
    ['with a length beyond its end', '99 path=x\n'],
    ['without a newline', '8 path=x'],
    ['without a value', '7 path\n'],
    ['with an invalid size', pax('size=-1')],
    ['over 32 KiB', pax(`comment=${'x'.repeat(32_754)}`)],
  ])('behind an extended header %s is not read', async (_, content) => {
    const extension = { ...member('extension', content), type: 'x' };
    const archive = followedBy(extension, member('a', 'x'));
    const invalid = `bad-header test.ova, byte ${ENDLESS.length}: invalid extended header`;
    expectFindings(await readBytes(archive), ['pax-header?', invalid]);
  });

  it('may have a name split into prefix and name', async () => {
    // As long as they can be, with a checksum of six digits.
    const [prefix, name] = ['y'.repeat(155), 'z'.repeat(100)];
    const archive = followedBy(member(name, 'x'));
    const header = archive.subarray(-4 * BLOCK, -3 * BLOCK);
    header.write(prefix, 345);
    withChecksum(header);
    const { files } = await readBytes(archive);
    expect(files.at(-1)).toEqual({ name: `${prefix}/${name}`, size: 1, role: 'other' });
  });

  it.each(['', ' '])('may have an empty file whose size is blank: %j', async (blank) => {
    const archive = followedBy(member('empty.txt'));
    const header = archive.subarray(-END - BLOCK, -END);
    header.fill(blank || 0, 124, 136);
    withChecksum(header);
    const { files } = await readBytes(archive);
    expect(files.at(-1)).toEqual({ name: 'empty.txt', size: 0, role: 'other' });
  });

  it('may have a size over 8 GiB', async () => {
    const size = 9 * 1024 ** 3;
    const archive = followedBy(member('big.bin'));
    const header = archive.subarray(-END - BLOCK, -END);
    header.fill(0, 124, 136).fill(0x80, 124, 125).writeBigUInt64BE(BigInt(size), 128);
    withChecksum(header);
    const path = join(temporaryDirectory(), 'big.ova');
    writeFileSync(path, archive.subarray(0, -END));
    truncateSync(path, archive.length + size);
    const { summary } = await checkPackage(path, {});
    expect(codes(summary)).toEqual(['not-ustar?', FILE]);
    expect(summary.files.at(-1)).toEqual({ name: 'big.bin', size, role: 'other' });
  });
});
