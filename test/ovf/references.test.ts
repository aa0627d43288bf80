// References: which files a package has to have, and of what size.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { packTar, type TarMember } from '../../src/ovf/tar-writer.ts';
import { temporaryDirectory } from '../support/io.ts';
import { codes, envelope, member, readBytes, readFolder, withManifest } from './harness.ts';

/** The codes of a package with these File elements and files, which are the same as an archive and in a folder. */
async function check(references: string, files: readonly TarMember[]): Promise<string[]> {
  const xml = envelope(`<References>${references}</References>`);
  const members = withManifest([member('vm.ovf', xml), ...files]);
  const found = codes(await readBytes(packTar(members)));
  expect(codes(await readFolder(members))).toEqual(found);
  return found;
}

function reference(href: string, more = '', id = href): string {
  return `<File ovf:id="${id}" ovf:href="${href}" ${more}/>`;
}

const ONE = member('a.txt', 'twelve bytes');

describe('a reference', () => {
  it.each([
    ['to a file', reference('a.txt'), [ONE], []],
    ['to a file of its size', reference('a.txt', 'ovf:size="12"'), [ONE], []],
    ['to a file of another size', reference('a.txt', 'ovf:size="13"'), [ONE], ['size-mismatch']],
    ['to an empty file', reference('a.txt', 'ovf:size="0"'), [member('a.txt', '')], []],
    ['to no file', reference('a.txt'), [], ['missing-file']],
    ['to a name with escapes', reference('a%20b'), [member('a b', '')], []],
    ['to a name with a percent sign', reference('100%'), [member('100%', '')], []],
    ['to ./ and a name', reference('./a.txt'), [ONE], []],
    ['to a folder below', reference('sub/a.txt'), [member('sub/a.txt', '')], []],
    ['to another machine', reference('https://example.com/a'), [], ['remote-reference']],
    ['to an absolute name', reference('/etc/passwd'), [], ['unsafe-name']],
    ['to the folder above', reference('../a.txt'), [], ['unsafe-name']],
    ['to the folder above, with escapes', reference('..%2fa.txt'), [], ['unsafe-name']],
    ['to a backslash', reference('..\\a.txt'), [], ['unsafe-name']],
    ['twice', reference('a.txt') + reference('a.txt', '', 'b'), [ONE], ['duplicate-reference']],
    [
      'with an identifier twice',
      reference('a.txt') + reference('b', '', 'a.txt'),
      [ONE, member('b', '')],
      ['duplicate-id'],
    ],
  ])('%s', async (_, references, files, expected) => {
    expect(await check(references, files)).toEqual(expected);
  });

  it('to a folder instead of a file', async () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'a.txt'));
    writeFileSync(
      join(folder, 'vm.ovf'),
      envelope(`<References>${reference('a.txt')}</References>`),
    );
    const summary = await readPackage(join(folder, 'vm.ovf'));
    expect(codes(summary)).toEqual(['missing-file', 'no-manifest']);
  });
});

describe('a compressed file', () => {
  const zipped = member('a.txt', gzipSync('text'));
  it.each([
    ['with gzip', 'gzip', zipped, []],
    ['with nothing', 'identity', ONE, []],
    ['with nothing, declared as gzip', 'gzip', ONE, ['not-gzip']],
    ['with something else', 'bzip2', ONE, ['unknown-compression']],
  ])('%s', async (_, compression, file, expected) => {
    expect(await check(reference('a.txt', `ovf:compression="${compression}"`), [file])).toEqual(
      expected,
    );
  });
});

describe('a file in parts', () => {
  const parts = ['four', 'four', 'end'].map((text, index) => member(`a.00000000${index}`, text));
  const [first, second, third] = parts as [TarMember, TarMember, TarMember];
  const whole = reference('a', 'ovf:chunkSize="4" ovf:size="11"');
  const unsized = reference('a', 'ovf:chunkSize="4"');

  it.each([
    ['is whole', whole, parts, []],
    ['is whole, of unknown size', unsized, parts, []],
    ['ends with a full part, of unknown size', unsized, [first, second], []],
    ['lacks a part', whole, [first, second], ['missing-file']],
    ['lacks all parts', unsized, [], ['missing-file']],
    ['has a short part', whole, [first, member(second.name, 'x'), third], ['size-mismatch']],
    ['has a long last part', whole, [first, second, member(third.name, 'long')], ['size-mismatch']],
    ['has an empty part', whole, [first, member(second.name, ''), third], ['size-mismatch']],
    [
      'would have very many parts',
      reference('a', 'ovf:chunkSize="1" ovf:size="999999999999"'),
      [],
      ['missing-file'],
    ],
  ])('%s', async (_, references, files, expected) => {
    expect(await check(references, files)).toEqual(expected);
  });
});
