// What only another process can show: a full disk, a wide umask, signals, a holder that is killed.

import {
  existsSync,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('a write', () => {
  it.each([
    ['a file', 'write', 'config.json', /^failed: (ENOSPC|EFBIG)\n$/],
    ['the settings', 'set', '.', /^failed: cannot write \S+: it was written only in part\n$/],
  ])('of %s that is cut short leaves the old file whole', async (_what, action, name, output) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'config.json');
    writeFileSync(file, '{"profiles": {}}');
    // One block of 1024 bytes: the write of 4000 is cut short, as on a full disk.
    const place = path.join(directory, name);
    const ended = await runShell(`ulimit -f 1; exec node ${child} ${action} ${place}`);
    expect(ended.output).toMatch(output);
    expect(readFileSync(file, 'utf8')).toBe('{"profiles": {}}');
    expect(readdirSync(directory)).toEqual(['config.json']);
  });

  it('creates every file with mode 600, whatever the umask', async () => {
    const file = path.join(temporaryDirectory(), 'new', 'token.json');
    const { output } = await runShell(`umask 0; exec node ${child} modes ${file}`);
    expect(output).toBe('created with 600\nwritten\ncreated with 600\nwritten\n');
    const files = [file, path.join(path.dirname(file), 'config.json'), path.dirname(file)];
    expect(files.map(modeOf)).toEqual(['600', '600', '700']);
  });

  it('of the settings replaces the file in a snap too', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'config.json');
    const old = path.join(directory, 'old.json');
    writeFileSync(old, '{"profiles": {}}');
    linkSync(old, file);
    const { output } = await runShell(`SNAP=/snap/any exec node ${child} set ${directory}`);
    expect(output).toBe('written\n');
    expect(readFileSync(file, 'utf8')).toContain('username');
    expect(readFileSync(old, 'utf8')).toBe('{"profiles": {}}');
    expect(readdirSync(directory).sort()).toEqual(['config.json', 'old.json']);
  });
});

describe('a lock', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('is released by its holder after %s', async (signal) => {
    const directory = temporaryDirectory();
    const ended = await runShell(`exec node ${child} hold ${directory}`, (output, kill) => {
      if (output.endsWith('holding\n')) kill(signal);
    });
    expect(ended).toMatchObject({ status: 0, signal: null });
    expect(ended.output).toMatch(/^written\n2 listeners, holding\n.+\nreleased\n$/);
  });

  it('of a killed holder is taken over', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'token.json');
    const ended = await runShell(`exec node ${child} hold ${directory}`, (output, kill) => {
      if (output.endsWith('holding\n')) kill('SIGKILL');
    });
    expect(ended.signal).toBe('SIGKILL');
    expect(existsSync(`${file}.lock`)).toBe(true);
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(`${file}.lock`, longAgo, longAgo);
    expect(await withLock(file, 1_000, fakeIo(), async () => 'taken')).toBe('taken');
  });
});
