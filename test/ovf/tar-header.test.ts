// Headers of the tar archive, of every dialect, and those that tell more about the next member.

import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { BLOCK } from '../../src/ovf/tar-header.ts';
import { packTar, type TarMember, withChecksum } from '../../src/ovf/tar-writer.ts';
import { temporaryDirectory } from '../support/io.ts';
import { codes, END, followedBy, member, readBytes, sample, withHeader } from './harness.ts';

/** A record of a pax header, with its own length in front. */
function paxRecord(keyAndValue: string): string {
  const rest = ` ${keyAndValue}\n`;
  const length = rest.length + String(rest.length + 2).length;
  return `${length}${rest}`;
}

function extension(type: string, content: string): TarMember {
  return { ...member('extension', content), type };
}

describe('a header', () => {
  it.each([
    ['of the time before ustar', withHeader((header) => header.fill(0, 257, 265)), ['not-ustar']],
    ['of GNU tar', withHeader((header) => header.write('ustar  \0', 257)), ['not-ustar']],
    [
      'with a size that is no number',
      withHeader((header) => header.write('12x', 124)),
      ['not-a-tar'],
    ],
    ['with a negative size', withHeader((header) => header.fill(255, 124, 136)), ['not-a-tar']],
    [
      'with a size over 2^53',
      withHeader((header) => header.fill(255, 125, 136).fill(128, 124, 125)),
      ['not-a-tar'],
    ],
  ])('%s', async (_, archive, expected) => {
    expect(codes(await readBytes(archive))).toEqual(expected);
  });

  it('with a wrong checksum', async () => {
    const archive = packTar(sample());
    archive.write('0', 110);
    archive.write('VM', 0);
    expect(codes(await readBytes(archive))).toEqual(['not-a-tar']);
  });

  it('with a size in base 256', async () => {
    const size = sample()[0].content.length;
    const archive = withHeader((header) => {
      header.fill(0, 124, 136).fill(0x80, 124, 125).writeUInt32BE(size, 132);
    });
    expect(codes(await readBytes(archive))).toEqual(['not-ustar']);
  });

  it('of a file over 8 GiB', async () => {
    const size = 9 * 1024 ** 3;
    const archive = followedBy(member('big.bin', ''));
    const header = archive.subarray(-END - BLOCK, -END);
    header.fill(0, 124, 136).fill(0x80, 124, 125).writeBigUInt64BE(BigInt(size), 128);
    withChecksum(header);
    const path = join(temporaryDirectory(), 'big.ova');
    const file = openSync(path, 'w');
    writeSync(file, archive.subarray(0, -END));
    ftruncateSync(file, archive.length + size);
    closeSync(file);
    const summary = await readPackage(path);
    expect(codes(summary)).toEqual(['not-ustar', 'unreferenced-file']);
    expect(summary.files.at(-1)).toEqual({ name: 'big.bin', size, role: 'other' });
  });
});

describe('an extended header', () => {
  it.each([
    [
      'with pax names',
      [extension('x', paxRecord('path=long.txt')), member('short', 'x')],
      'long.txt',
    ],
    ['with pax sizes', [extension('x', paxRecord('size=1')), member('a', 'x')], 'a'],
    ['with unknown records', [extension('x', paxRecord('mtime=1.5')), member('a', 'x')], 'a'],
    ['for all members', [extension('g', paxRecord('path=all')), member('a', 'x')], 'a'],
    ['with GNU names', [extension('L', 'long.txt\0'), member('short', 'x')], 'long.txt'],
  ])('%s is read', async (_, members, name) => {
    const summary = await readBytes(followedBy(...members));
    const dialect = members[0]?.type === 'L' ? [] : ['pax-header'];
    expect(codes(summary)).toEqual([...dialect, 'unreferenced-file']);
    expect(summary.files.at(-1)).toEqual({ name, size: 1, role: 'other' });
  });

  it.each([
    ['without length', 'path=x\n'],
    ['with a length beyond its end', '99 path=x\n'],
    ['without a line end', '8 path=x'],
    ['without a value', '7 path\n'],
    ['with a size that is no number', paxRecord('size=-1')],
    ['that is too long', paxRecord(`path=${'x'.repeat(40_000)}`)],
  ])('%s ends the reading', async (_, content) => {
    const archive = followedBy(extension('x', content), member('a', 'x'));
    expect(codes(await readBytes(archive))).toEqual(['pax-header', 'bad-header']);
  });
});
