// readPackage as its callers know it: errors, progress, ending early, and packages without members of their own.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FINDINGS } from '../../src/ovf/findings.ts';
import { readPackage } from '../../src/ovf/package.ts';
import { packTar, type TarMember } from '../../src/ovf/tar-writer.ts';
import { temporaryDirectory } from '../support/io.ts';
import { codes, member, readFolder, sample, withManifest } from './harness.ts';

const [descriptor, manifest, disk] = sample();

/** The path of an archive of these members. */
function archiveFile(members: readonly TarMember[]): string {
  const file = join(temporaryDirectory(), 'vm.ova');
  writeFileSync(file, packTar(members));
  return file;
}

describe('readPackage', () => {
  it.each(['missing.ova', 'missing.ovf'])('throws where there is no file: %s', async (name) => {
    const reading = readPackage(join(temporaryDirectory(), name));
    await expect(reading).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('finds a folder in place of a file', async () => {
    const file = join(temporaryDirectory(), 'vm.ova');
    mkdirSync(file);
    expect(codes(await readPackage(file))).toEqual(['not-a-file']);
  });

  it('takes a path however it is written', async () => {
    const folder = temporaryDirectory();
    for (const { name, content } of sample()) writeFileSync(join(folder, name), content);
    expect(codes(await readPackage(`${folder}/./vm.ovf`))).toEqual([]);
    expect(codes(await readPackage(relative(process.cwd(), join(folder, 'vm.ovf'))))).toEqual([]);
  });

  it('tells how far the digests are', async () => {
    const extra = member('extra.bin', Buffer.alloc(3_000_000, 'x'));
    const members = withManifest([descriptor, disk, extra]);
    const file = archiveFile(members);
    const steps: number[] = [];
    const total = descriptor.content.length + disk.content.length + 3_000_000;
    await readPackage(file, {
      onProgress(bytesDone, bytesTotal) {
        expect(bytesTotal).toBe(total);
        steps.push(bytesDone);
      },
    });
    expect(steps).toHaveLength(5);
    expect(steps.at(-1)).toBe(total);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
  });

  it('leaves the digests out when told so', async () => {
    const wrong = member('vm.mf', `${manifest.content}`.replace(/[0-9a-f]{64}/g, '0'.repeat(64)));
    const file = archiveFile([descriptor, wrong, disk]);
    const onProgress = () => expect.unreachable('nothing is to be hashed');
    expect(codes(await readPackage(file, { digests: false, onProgress }))).toEqual([]);
    expect(codes(await readPackage(file))).toEqual(['digest-mismatch', 'digest-mismatch']);
  });

  it('ends with the reason of the signal, before and amid its work', async () => {
    const file = archiveFile(sample());
    const reason = new Error('enough');
    await expect(readPackage(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    const onProgress = () => abort.abort(reason);
    await expect(readPackage(file, { signal: abort.signal, onProgress })).rejects.toBe(reason);
  });

  it('finds each kind of change to a package in a folder', async () => {
    const flipped = member(disk.name, disk.content);
    flipped.content[67_000] = (flipped.content[67_000] ?? 0) ^ 1;
    expect(codes(await readFolder([descriptor, manifest, disk]))).toEqual([]);
    expect(codes(await readFolder([descriptor, manifest, flipped]))).toEqual(['digest-mismatch']);
    expect(codes(await readFolder([descriptor, manifest]))).toEqual([
      'missing-file',
      'digest-without-file',
    ]);
  });
});

describe('the table of findings', () => {
  it('explains each code in one line without a full stop', () => {
    for (const [code, { severity, means }] of Object.entries(FINDINGS)) {
      expect(code).toMatch(/^[a-z]+(-[a-z]+)+$/);
      expect(['error', 'warning']).toContain(severity);
      expect(means).toMatch(/^[^\n]{10,}[^.\n]$/);
    }
  });
});
