// References: which files a package must have, and of what size.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { TarMember } from '../support/package-writer.ts';
import { codes, envelope, member, readFolder, readMembers, withManifest } from './harness.ts';

/** Returns the codes of a package with these files, which are the same as an archive and in a folder. */
async function check(references: string, files: readonly TarMember[]): Promise<string[]> {
  const xml = envelope(`<References>${references}</References>`);
  const members = withManifest([member('vm.ovf', xml), ...files]);
  const found = codes(await readMembers(members));
  expect(codes(await readFolder(members))).toEqual(found);
  return found;
}

function reference(href: string, more = '', id = href): string {
  return `<File ovf:id="${id}" ovf:href="${href}" ${more}/>`;
}

const ONE = member('a.txt', 'twelve bytes');

describe('a reference', () => {
  const twice = reference('a.txt') + reference('a.txt', '', 'b');
  const sameId = reference('a.txt') + reference('b', '', 'a.txt');

  it.each([
    ['to a file', [], reference('a.txt'), [ONE]],
    ['to a file of another size', ['size-mismatch'], reference('a.txt', 'ovf:size="13"'), [ONE]],
    ['to an empty file', [], reference('a.txt', 'ovf:size="0"'), [member('a.txt')]],
    ['to a missing file', ['missing-file'], reference('a.txt'), []],
    ['to a name with escapes', [], reference('a%20b'), [member('a b')]],
    ['to ./ and a name', [], reference('./a.txt'), [ONE]],
    ['to a sub-folder', [], reference('sub/a.txt'), [member('sub/a.txt')]],
    ['to another machine', ['remote-reference?'], reference('https://example.com/a'), []],
    ['to an absolute name', ['unsafe-name'], reference('/etc/passwd'), []],
    ['to the parent folder', ['unsafe-name'], reference('../a.txt'), []],
    ['to the parent folder, with escapes', ['unsafe-name'], reference('..%2fa.txt'), []],
    ['that is repeated', ['duplicate-reference'], twice, [ONE]],
    ['with a repeated identifier', ['duplicate-id'], sameId, [ONE, member('b')]],
  ])('%s has the findings %j', async (_, expected, references, files) => {
    expect(await check(references, files)).toEqual(expected);
  });
});

describe('a file declared as compressed', () => {
  it.each([
    ['gzip, and is', [], 'gzip', member('a.txt', gzipSync('text'))],
    ['identity', [], 'identity', ONE],
    ['gzip, but is not', ['not-gzip'], 'gzip', ONE],
    ['bzip2', ['unknown-compression?'], 'bzip2', ONE],
  ])('with %s has the findings %j', async (_, expected, compression, file) => {
    const compressed = reference('a.txt', `ovf:compression="${compression}"`);
    expect(await check(compressed, [file])).toEqual(expected);
  });
});

describe('a file in chunks', () => {
  const [first, second, third] = ['four', 'four', 'end'].map((text, index) =>
    member(`a.00000000${index}`, text),
  ) as [TarMember, TarMember, TarMember];
  const all = [first, second, third];
  const sized = reference('a', 'ovf:chunkSize="4" ovf:size="11"');
  const unsized = reference('a', 'ovf:chunkSize="4"');
  const endless = reference('a', 'ovf:chunkSize="1" ovf:size="999999999999"');

  it.each([
    ['that are complete', [], sized, all],
    ['that end with a full chunk, of unknown size', [], unsized, [first, second]],
    ['without any', ['missing-file'], unsized, []],
    ['with a short one', ['size-mismatch'], sized, [first, member(second.name, 'x'), third]],
    ['with a long last one', ['size-mismatch'], sized, [first, second, member(third.name, 'long')]],
    ['with an empty one', ['size-mismatch'], sized, [first, member(second.name), third]],
    ['without any of very many', ['missing-file'], endless, []],
  ])('%s has the findings %j', async (_, expected, references, files) => {
    expect(await check(references, files)).toEqual(expected);
  });
});
