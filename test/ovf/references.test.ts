// References: which files a package must have, and of what size, the same in an archive and in a folder.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { isPackageName, similarTo } from '../../src/ovf/names.ts';
import { checkPackage, readPackage } from '../../src/ovf/package.ts';
import { cpuSeconds } from '../support/cpu.ts';
import { temporaryDirectory } from '../support/io.ts';
import type { TarMember } from '../support/package-writer.ts';
import { rows } from '../support/rows.ts';
import {
  codes,
  envelope,
  expectFindings,
  member,
  readFolder,
  readMembers,
  sample,
  withManifest,
} from './harness.ts';

const ref = (href: string, more = '', id = href) =>
  `<File ovf:id="${id}" ovf:href="${href}" ${more}/>`;
const packed = (format: string) => ref('a.txt', `ovf:compression="${format}"`);

const ONE = member('a.txt', 'twelve bytes');
const TWICE = ref('a.txt') + ref('a.txt', '', 'b');
const SAME_ID = ref('a.txt') + ref('b', '', 'a.txt');
const chunk = (index: number, text = 'four') => member(`a.00000000${index}`, text);
const [FIRST, SECOND, LAST] = [chunk(0), chunk(1), chunk(2, 'end')];
const SIZED = ref('a', 'ovf:chunkSize="4" ovf:size="11"');
const UNSIZED = ref('a', 'ovf:chunkSize="4"');
const ENDLESS = ref('a', 'ovf:chunkSize="1" ovf:size="999999999999"');

type Row = [what: string, findings: string[], references: string, files: TarMember[]];

it.each<Row>([
  ['to a file', [], ref('a.txt'), [ONE]],
  [
    'to a file of another size',
    ['size-mismatch a.txt: 12 bytes, the descriptor declares 13'],
    ref('a.txt', 'ovf:size="13"'),
    [ONE],
  ],
  ['to an empty file', [], ref('a.txt', 'ovf:size="0"'), [member('a.txt')]],
  ['to a missing file', ['missing-file a.txt: missing or unreadable'], ref('a.txt'), []],
  ['to a name with escapes', [], ref('a%20b'), [member('a b')]],
  ['to a name with a percent sign', [], ref('a%zz'), [member('a%zz')]],
  ['to ./ and a name', [], ref('./a.txt'), [ONE]],
  ['to ./ and a name with a colon', [], ref('./vm:1'), [member('vm:1')]],
  ['to a name with a blank and a colon', [], ref('my disk:1'), [member('my disk:1')]],
  ['to a sub-folder', [], ref('sub/a.txt'), [member('sub/a.txt')]],
  ['to another machine', ['remote-reference?'], ref('HTTPS://example.com/a'), []],
  ['to a sub-folder that looks like a URL', ['missing-file'], ref('a/http://b'), []],
  ...[
    ...[
      'file:///etc/passwd',
      'FILE:///etc/passwd',
      'file:a.txt',
      'ftp://example.com/a',
      'data:,a',
      'svn+ssh:a',
    ],
    ...['/etc/passwd', 'http:a', 'C:a.txt', '//example.com/a', '%66ile:a', 'f%69le:///etc/passwd'],
  ].map((href): Row => [`to ${href}`, ['unsafe-name'], ref(href), []]),
  ['to a name with a colon, with escapes', ['missing-file'], ref('disk%3A1'), []],
  [
    'to a file by two names',
    ['duplicate-reference %61.txt: another reference names the same file'],
    ref('a.txt') + ref('%61.txt'),
    [ONE],
  ],
  [
    'to chunks by two names',
    ['duplicate-reference'],
    SIZED + SIZED.replaceAll('"a"', '"%61"'),
    [FIRST, SECOND, LAST],
  ],
  ['to chunks of no bytes that are missing', ['missing-file'], SIZED.replace('11', '0'), []],
  ['that is repeated', ['duplicate-reference'], TWICE, [ONE]],
  [
    'with a repeated identifier',
    ['duplicate-id vm.ovf:1: another File has the identifier a.txt'],
    SAME_ID,
    [ONE, member('b')],
  ],
  ['to gzip', [], packed('gzip'), [member('a.txt', gzipSync('text'))]],
  ['to a file without compression', [], packed('identity'), [ONE]],
  ['to gzip that is none', ['not-gzip'], packed('gzip'), [ONE]],
  ['to bzip2', ['unknown-compression?'], packed('bzip2'), [ONE]],
  [
    'to one file below the size of a chunk',
    [],
    ref('a', 'ovf:chunkSize="20" ovf:size="4"'),
    [member('a', 'four')],
  ],
  ['to chunks', [], SIZED, [FIRST, SECOND, LAST]],
  ['to full chunks of unknown size', [], UNSIZED, [FIRST, SECOND]],
  [
    'to chunks that are missing',
    ['missing-file a.000000000: missing or unreadable chunk of a'],
    UNSIZED,
    [],
  ],
  [
    'to a short chunk',
    ['size-mismatch a.000000001: 1 byte, the descriptor declares 4'],
    SIZED,
    [FIRST, chunk(1, 'x'), LAST],
  ],
  [
    'to a long last chunk',
    ['size-mismatch a.000000002: 4 bytes, the descriptor declares 3'],
    SIZED,
    [FIRST, SECOND, chunk(2, 'long')],
  ],
  [
    'to an empty chunk',
    ['size-mismatch a.000000001: 0 bytes, the descriptor declares 4'],
    SIZED,
    [FIRST, chunk(1, ''), LAST],
  ],
  ['to very many chunks that are missing', ['missing-file'], ENDLESS, []],
])('a reference %s has the findings %j', async (_, expected, references, files) => {
  const descriptor = member('vm.ovf', envelope(`<References>${references}</References>`));
  const members = withManifest([descriptor, ...files]);
  expectFindings(await readMembers(members), expected);
  expectFindings(await readFolder(members), expected);
});

it.each([...rows(true, 'a.ova', 'a.b.OVF'), ...rows(false, 'a.ova.txt', 'a.ovax', 'aova', 'a.ov')])(
  'isPackageName of %s is %s',
  (name, expected) => {
    expect(isPackageName(name)).toBe(expected);
  },
);

it('a descriptor that references and lists itself is uploaded last, and each file once', async () => {
  const references = ref('vm.ovf', '', 'own') + ref('a', '', 'a');
  const descriptor = member('vm.ovf', envelope(`<References>${references}</References>`));
  const { file } = await readFolder(withManifest([descriptor, member('a')]));
  const { files } = await checkPackage(file, {});
  expect(files.map(({ name }) => name)).toEqual(['a', 'vm.mf', 'vm.ovf']);
});

const TO_PARENT = 'leads to the parent folder; put the file beside the descriptor';

it.each([
  ['the parent folder', '../a.txt', TO_PARENT],
  ['the parent folder, with escapes', './/%2e%2e/a.txt', TO_PARENT],
  ['a very long name', `${'./'.repeat(700_000)}a.txt`, 'longer than 65536 characters'],
])('a reference to %s says soon why it is refused', async (_what, href, message) => {
  const descriptor = member('vm.ovf', envelope(`<References>${ref(href, '', 'f')}</References>`));
  const seconds = await cpuSeconds(async () => {
    const { findings } = await readFolder(withManifest([descriptor]));
    expect(findings).toMatchObject([{ code: 'unsafe-name', message }]);
  });
  expect(seconds).toBeLessThan(2);
});

it.each([
  ['refuses a link out of its folder', 'elsewhere', ['outside-folder']],
  ['accepts a link that stays in its folder', 'vm/files', []],
])('readPackage %s', async (_what, place, expected) => {
  const base = temporaryDirectory();
  const folder = join(base, 'vm');
  mkdirSync(folder);
  for (const { name, content } of sample()) writeFileSync(join(folder, name), content);
  const target = join(base, place);
  mkdirSync(target);
  renameSync(join(folder, 'vm-disk1.vmdk'), join(target, 'disk'));
  symlinkSync(join(target, 'disk'), join(folder, 'vm-disk1.vmdk'));
  symlinkSync(folder, join(base, 'link'));
  expect(codes(await readPackage(join(folder, 'vm.ovf')))).toEqual(expected);
  expect(codes(await readPackage(join(base, 'link', 'vm.ovf')))).toEqual(expected);
});

const TAKEN = 'duplicate-reference a: another reference names the same file';
const OPEN: [string] = ['unknown-end a: no size, so chunks after a.000000001 may be missing'];

it.each<[string, string[], string, TarMember[]]>([
  ['unsized chunks, the last of them full', OPEN, UNSIZED, [FIRST, SECOND]],
  [
    'unsized chunks with a gap',
    [
      'missing-file a.000000001: missing or unreadable chunk of a',
      OPEN[0].replace('1 may', '0 may'),
    ],
    UNSIZED,
    [FIRST, LAST],
  ],
  ['unsized chunks, the last of them short', [], UNSIZED, [FIRST, SECOND, LAST]],
  ['unsized chunks, and another after a short one', [], UNSIZED, [FIRST, chunk(1, 'x'), chunk(3)]],
  [
    'an unsized file of one chunk, with escapes',
    [],
    ref('a%20b', 'ovf:chunkSize="4"'),
    [member('a b', 'four')],
  ],
  [
    'files, of which one is a folder,',
    ['missing-file sub: missing or unreadable'],
    ref('sub') + ref('sub/x'),
    [member('sub/x')],
  ],
  ['chunks of a known size', [], SIZED.replace('11', '8'), [FIRST, SECOND]],
  [
    'repeated chunks, of which none is read again,',
    ['size-mismatch a.000000001: 1 byte, the descriptor declares 4', TAKEN, TAKEN],
    ref('a.000000002') + SIZED + SIZED.replace('id="a"', 'id="b"'),
    [FIRST, chunk(1, 'x'), LAST],
  ],
])('without a manifest, %s have the findings %j', async (_, expected, references, files) => {
  const descriptor = member('vm.ovf', envelope(`<References>${references}</References>`));
  const { findings } = await readFolder([descriptor, ...files]);
  const found = findings.filter(({ code }) => !['no-manifest', 'no-hardware'].includes(code));
  expect(found.map(({ code, place, message }) => `${code} ${place}: ${message}`)).toEqual(expected);
});

it('a folder is looked at once for all spellings of missing files in it', async () => {
  const many = Array.from({ length: 600 }, (_, index) => index);
  const references = many.map((index) => ref(`sub/${'./'.repeat(index)}none`)).join('');
  const descriptor = member('vm.ovf', envelope(`<References>${references}</References>`));
  const files = many.map((index) => member(`sub/some name of a file ${index}`));
  const seconds = await cpuSeconds(async () => {
    expect(codes(await readFolder([descriptor, ...files]))).toContain('missing-file');
  });
  expect(seconds).toBeLessThan(1);
});

it('a name of very many combining marks is soon compared with others', async () => {
  const name = `a${'\u0301\u0316'.repeat(30_000)}`;
  expect(await cpuSeconds(() => similarTo([name])(name))).toBeLessThan(0.5);
});

const FORM = ', in another Unicode form';

it.each([
  ['disk-\u00e9', 'disk-e\u0301', '', FORM],
  ['disk-e\u0301', 'disk-\u00e9', 'vm/', FORM],
  ['disk-%C3%A9', 'disk-e\u0301', '', FORM],
  ['a disk ', 'a\u00a0disk', '', ', with other blanks'],
  ['sub/disk', 'sub/DISK', '', ''],
  ['sub/disk', 'sub/DISK', 'vm/', ''],
])(
  'a file that is named %j, but is %j, is said to differ (folder: %j)',
  async (written, actual, folder, form) => {
    /** Returns the messages for a file that the descriptor and the manifest give these names. */
    const messagesOf = async (href: string, listed: string, read: typeof readMembers) => {
      const xml = envelope(`<References>${ref(href)}</References>`);
      const [descriptor, manifest] = withManifest([member('vm.ovf', xml), member(listed)]);
      const files = [descriptor, manifest, member(actual)].filter((each) => each !== undefined);
      const inFolder = files.map((each) => ({ ...each, name: folder + each.name }));
      const { findings } = await read(inFolder);
      return findings.filter(({ code }) => code !== 'no-hardware').map(({ message }) => message);
    };
    const similar = `; the package has this name as ${actual}${form}`;
    const missing = `missing or unreadable${similar}`;
    const unlisted = `listed in the manifest, but missing${similar}`;
    const unreferenced = 'not referenced by the descriptor';
    const unlistedFile = 'not listed in the manifest';
    const name = decodeURIComponent(written);
    expect(await messagesOf(written, name, readMembers)).toEqual([missing, unreferenced, unlisted]);
    expect(await messagesOf(actual, name, readMembers)).toEqual([unlisted, unlistedFile]);
    if (folder === '')
      expect(await messagesOf(written, name, readFolder)).toEqual([missing, unlisted]);
  },
);
