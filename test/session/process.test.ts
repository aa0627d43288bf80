// What only a process of its own can show: a full disk, a wide umask, signals, a holder that is killed.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withLock } from '../../src/files/lock.ts';
import { modeOf } from '../support/files.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { bundleChild, runShell } from './bundle.ts';

let bundle = '';
let child = '';
beforeAll(async () => {
  bundle = mkdtempSync(path.join(tmpdir(), 'imgctl-bundle-'));
  child = await bundleChild(bundle);
});
afterAll(() => rmSync(bundle, { recursive: true, force: true }));

it('a short write leaves the old file whole and nothing behind', async () => {
  const file = path.join(temporaryDirectory(), 'settings.json');
  writeFileSync(file, '{"old": true}');
  // One block of 1024 bytes: the write of 4000 is cut, as on a full disk.
  const { output } = await runShell(`ulimit -f 1; exec node ${child} write ${file}`);
  expect(output).toMatch(/^failed: (ENOSPC|EFBIG)\n$/);
  expect(readFileSync(file, 'utf8')).toBe('{"old": true}');
  expect(readdirSync(path.dirname(file))).toEqual(['settings.json']);
});

it('every file has mode 600 from its first byte, whatever the umask', async () => {
  const file = path.join(temporaryDirectory(), 'new', 'token.json');
  const { output } = await runShell(`umask 0; exec node ${child} modes ${file}`);
  expect(output).toBe('made with 600\nwritten\n');
  expect(modeOf(file)).toBe('600');
  expect(modeOf(path.dirname(file))).toBe('700');
});

it.each(['SIGINT', 'SIGTERM'] as const)(
  '%s is left to the program after the libraries were loaded',
  async (signal) => {
    const file = path.join(temporaryDirectory(), 'token.json');
    const ended = await runShell(`exec node ${child} hold ${file}`, (output, kill) => {
      if (output.endsWith('holding\n')) kill(signal);
    });
    expect(ended).toMatchObject({ status: 0, signal: null });
    expect(ended.output).toMatch(/^written\n2 listeners, holding\n.+\nreleased\n$/);
  },
);

it('a holder that is killed leaves its lock, and the next one takes it', async () => {
  const file = path.join(temporaryDirectory(), 'token.json');
  const ended = await runShell(`exec node ${child} hold ${file}`, (output, kill) => {
    if (output.endsWith('holding\n')) kill('SIGKILL');
  });
  expect(ended.signal).toBe('SIGKILL');
  expect(existsSync(`${file}.lock`)).toBe(true);
  const longAgo = Date.now() / 1000 - 60;
  utimesSync(`${file}.lock`, longAgo, longAgo);
  expect(await withLock(file, 1_000, fakeIo(), async () => 'taken')).toBe('taken');
});
