// Tar headers of every dialect, and pax and GNU extensions.

import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { BLOCK, packTar, type TarMember, withChecksum } from '../support/package-writer.ts';
import { codes, END, followedBy, member, readBytes, sample, withHeader } from './harness.ts';

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
  const size = sample()[0].content.length;

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
    [
      'with a size in base 256',
      'not-ustar?',
      (header) => header.fill(0, 124, 136).fill(0x80, 124, 125).writeUInt32BE(size, 132),
    ],
  ])('%s has the finding %s', async (_, expected, change) => {
    expect(codes(await readBytes(withHeader(change)))).toEqual([expected]);
  });

  it('with a wrong checksum has the finding not-a-tar', async () => {
    const archive = packTar(sample());
    archive.write('0', 110);
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
