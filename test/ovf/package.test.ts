// readPackage for its callers: progress, cancellation, and links in a folder.

import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPackage } from '../../src/ovf/package.ts';
import { temporaryDirectory } from '../support/io.ts';
import { packTar, type TarMember } from '../support/package-writer.ts';
import { codes, member, sample, withManifest } from './harness.ts';

const [descriptor, , disk] = sample();

function archiveFile(members: readonly TarMember[]): string {
  const file = join(temporaryDirectory(), 'vm.ova');
  writeFileSync(file, packTar(members));
  return file;
}

describe('readPackage', () => {
  it.each([
    ['refuses a link out of its folder', 'elsewhere', ['outside-folder']],
    ['accepts a link that stays in its folder', 'vm/files', []],
  ])('%s', async (_what, place, expected) => {
    const base = temporaryDirectory();
    const folder = join(base, 'vm');
    mkdirSync(folder);
    for (const { name, content } of sample()) writeFileSync(join(folder, name), content);
    const target = join(base, place);
    mkdirSync(target);
    renameSync(join(folder, disk.name), join(target, disk.name));
    symlinkSync(join(target, disk.name), join(folder, disk.name));
    symlinkSync(folder, join(base, 'link'));
    expect(codes(await readPackage(join(folder, 'vm.ovf')))).toEqual(expected);
    expect(codes(await readPackage(join(base, 'link', 'vm.ovf')))).toEqual(expected);
  });

  it('reports the progress of digests', async () => {
    const extra = member('extra.bin', Buffer.alloc(3_000_000, 'x'));
    const file = archiveFile(withManifest([descriptor, disk, extra]));
    const steps: [number, number][] = [];
    await readPackage(file, { onProgress: (...step) => steps.push(step) });
    const start = descriptor.content.length + disk.content.length;
    const total = start + 3_000_000;
    const done = [descriptor.content.length, start, start + 2 ** 20, start + 2 ** 21, total];
    expect(steps).toEqual(done.map((bytes) => [bytes, total]));
  });

  it('throws the reason of an aborted signal, before and during its work', async () => {
    const file = archiveFile(sample());
    const reason = new Error('enough');
    await expect(readPackage(file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    const onProgress = () => abort.abort(reason);
    await expect(readPackage(file, { signal: abort.signal, onProgress })).rejects.toBe(reason);
  });
});
