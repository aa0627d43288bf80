// Files that another program shortens while they are read.

import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { checkFindings, readCheck, runChecks } from '../../src/ovf/checks.ts';
import { FindingList } from '../../src/ovf/findings.ts';
import { readPackage } from '../../src/ovf/package.ts';
import { readWhole, withWindow } from '../../src/ovf/package-file.ts';
import { openFilesBelow } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { manifestOf } from '../support/package-writer.ts';
import { packageOf } from './harness.ts';

const SIZE = 8 * 2 ** 20;

it.each([
  ['without a digest', 'size-mismatch'],
  ['with a digest', 'digest-mismatch'],
])('a disk %s that is truncated while it is read has the finding %s', async (_, code) => {
  const folder = temporaryDirectory();
  const files = packageOf(Buffer.alloc(SIZE, 'raw'), { name: 'd.img', format: 'raw' });
  for (const { name, content } of files) writeFileSync(join(folder, name), content);
  if (code === 'digest-mismatch') writeFileSync(join(folder, 'vm.mf'), manifestOf(files));
  // The next mebibyte was read while this one was checked.
  const onProgress = (done: number) => {
    if (done >= 2 ** 20 && done < 3 * 2 ** 20) truncateSync(join(folder, 'd.img'), 2 ** 20);
  };
  const { findings } = await readPackage(join(folder, 'vm.ovf'), { onProgress });
  const message = expect.stringMatching(/^ends after [1-3]\d{6} of 8388608 bytes$/);
  const errors = findings.filter(({ severity }) => severity === 'error');
  expect(errors).toEqual([{ code, severity: 'error', place: 'd.img', message }]);
});

it('a file that was not read although it has a check is a finding', () => {
  const file = { name: 'd.img', path: 'd.img', offset: 0, size: 9, complete: true };
  const found = checkFindings('vm.ovf', [readCheck(file)], []);
  expect(found).toMatchObject([{ code: 'missing-file', place: 'd.img', message: 'was not read' }]);
});

it('readWhole reports a file that ends before its size', async () => {
  const path = join(temporaryDirectory(), 'vm.mf');
  writeFileSync(path, 'short');
  const findings = new FindingList();
  const file = { name: 'vm.mf', path, offset: 0, size: 9, complete: true };
  expect(await readWhole(file, findings, 100, 'manifest-too-large')).toBe(null);
  expect(findings.list('')).toMatchObject([
    { code: 'size-mismatch', message: 'ends after 5 of 9 bytes' },
  ]);
});

it('files are read to their next mebibyte after an interrupt, and no further', async () => {
  const path = join(temporaryDirectory(), 'd.img');
  writeFileSync(path, Buffer.alloc(SIZE));
  const check = readCheck({ name: 'd.img', path, offset: 0, size: SIZE, complete: true });
  const abort = new AbortController();
  const read: number[] = [];
  const onProgress = (done: number) => {
    read.push(done);
    abort.abort('enough');
  };
  const { signal } = abort;
  await expect(runChecks([check], { signal, onProgress })).rejects.toBe('enough');
  expect(read).toEqual([2 ** 20]);
  const region = { path, offset: 0, size: SIZE };
  await expect(withWindow(region, signal, (window) => window(0, 1))).rejects.toBe('enough');
  expect(openFilesBelow(path)).toEqual([]);
});
