// JSON files: read with suspicion, written whole or not at all.

import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeDirectory, readJsonFile, writeJsonFile } from '../../src/files/json-file.ts';
import { runShell } from '../session/bundle.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';

function fileWith(text: string | Buffer, mode = 0o600): string {
  const file = path.join(temporaryDirectory(), 'settings.json');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

describe('reading', () => {
  it('gives the object', () => {
    expect(readJsonFile(fileWith('{"a": [1, null]}'))).toEqual({
      state: 'read',
      value: { a: [1, null] },
    });
  });

  it('passes over a byte order mark', () => {
    expect(readJsonFile(fileWith('\ufeff{"a": 1}'))).toEqual({ state: 'read', value: { a: 1 } });
  });

  it('keeps __proto__ as plain data', () => {
    const result = readJsonFile(fileWith('{"__proto__": {"polluted": true}}'));
    expect(result).toMatchObject({ state: 'read' });
    expect(Object.getPrototypeOf(result.state === 'read' ? result.value : null)).toBe(
      Object.prototype,
    );
  });

  it('tells absence, also where a directory on the way is a file', () => {
    const file = fileWith('{}');
    expect(readJsonFile(`${file}.other`)).toEqual({ state: 'absent' });
    expect(readJsonFile(path.join(file, 'below.json'))).toEqual({ state: 'absent' });
  });

  it.each([
    ['nothing', '', 'not valid JSON at line 1, column 1'],
    ['a cut object', '{"token": "s3cret"', 'not valid JSON at line 1, column 19'],
    ['a cut text', '{\n"token": "s3cr', 'not valid JSON at line 2, column 15'],
    ['a stray token', '{\n  "token": s3cret\n}', 'not valid JSON at line 2, column 12'],
    ['a comma too many', '{"s3cret": 1,\n}', 'not valid JSON at line 2, column 1'],
    [
      'text that poses as a position',
      '{"a": "at position 3", x',
      'not valid JSON at line 1, column 24',
    ],
    ['an array', '["s3cret"]', 'it does not hold a JSON object'],
    ['a text', '"s3cret"', 'it does not hold a JSON object'],
    ['null', 'null', 'it does not hold a JSON object'],
  ])('names what is wrong with %s, but nothing of the contents', (_what, text, reason) => {
    expect(readJsonFile(fileWith(text))).toEqual({ state: 'broken', reason });
  });

  it('finds the place in a long file too', () => {
    const text = `{\n${'"key": "value",\n'.repeat(500)}"last": oops}`;
    expect(readJsonFile(fileWith(text))).toEqual({
      state: 'broken',
      reason: 'not valid JSON at line 502, column 9',
    });
  });

  it('does not follow a symbolic link', () => {
    const file = fileWith('{"a": 1}');
    symlinkSync(file, `${file}.link`);
    expect(readJsonFile(`${file}.link`)).toEqual({
      state: 'broken',
      reason: 'it is a symbolic link',
    });
  });

  it('refuses a directory', () => {
    expect(readJsonFile(temporaryDirectory())).toEqual({
      state: 'broken',
      reason: 'it is not a regular file',
    });
  });

  it('refuses a named pipe instead of waiting for it', async () => {
    const file = path.join(temporaryDirectory(), 'pipe');
    await runShell(`mkfifo ${file}`);
    expect(readJsonFile(file)).toEqual({ state: 'broken', reason: 'it is not a regular file' });
  });

  it('refuses what is far too large', () => {
    expect(readJsonFile(fileWith(Buffer.alloc(4 * 2 ** 20 + 1, ' ')))).toEqual({
      state: 'broken',
      reason: 'it is too large',
    });
  });

  it('tightens a file that others could read', () => {
    const file = fileWith('{"a": 1}', 0o644);
    readJsonFile(file);
    expect(modeOf(file)).toBe('600');
  });
});

describe('writing', () => {
  it('makes a file of mode 600 in a directory of mode 700', async () => {
    const file = path.join(temporaryDirectory(), 'new', 'below', 'token.json');
    await writeJsonFile(file, { token: 't', nested: { list: [1] } });
    expect(modeOf(file)).toBe('600');
    expect(modeOf(path.dirname(file))).toBe('700');
    expect(modeOf(path.dirname(path.dirname(file)))).toBe('700');
    expect(readJsonFile(file)).toEqual({
      state: 'read',
      value: { token: 't', nested: { list: [1] } },
    });
  });

  it('replaces a wide file by a narrow one and leaves nothing else behind', async () => {
    const file = fileWith('{"old": true}', 0o666);
    await writeJsonFile(file, { new: true });
    expect(modeOf(file)).toBe('600');
    expect(readdirSync(path.dirname(file))).toEqual(['settings.json']);
  });

  it('replaces a symbolic link, and leaves its target as it was', async () => {
    const target = fileWith('{"target": true}');
    const link = `${target}.link`;
    symlinkSync(target, link);
    await writeJsonFile(link, { secret: true });
    expect(readJsonFile(link)).toEqual({ state: 'read', value: { secret: true } });
    expect(readFileSync(target, 'utf8')).toBe('{"target": true}');
  });

  it('neither replaces a directory nor leaves anything behind', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'token.json');
    mkdirSync(file);
    await expect(writeJsonFile(file, { a: 1 })).rejects.toThrow();
    expect(readdirSync(directory)).toEqual(['token.json']);
    expect(statSync(file).isDirectory()).toBe(true);
  });

  it('goes by way of a staging file in a snap too', async () => {
    vi.stubEnv('SNAP', '/snap/any');
    const target = fileWith('{"target": true}', 0o644);
    const link = `${target}.link`;
    symlinkSync(target, link);
    await writeJsonFile(link, { a: 1 });
    vi.unstubAllEnvs();
    expect(readFileSync(target, 'utf8')).toBe('{"target": true}');
    expect(modeOf(link)).toBe('600');
    expect(readdirSync(path.dirname(link)).sort()).toEqual(['settings.json', 'settings.json.link']);
  });

  it('keeps what JSON of any keys holds', async () => {
    const file = path.join(temporaryDirectory(), 'odd.json');
    const value = JSON.parse('{"b": 1, "2": 2, "1": {"__proto__": {"x": 1}, "constructor": "y"}}');
    await writeJsonFile(file, value);
    expect(JSON.stringify(readJsonFile(file))).toBe(JSON.stringify({ state: 'read', value }));
  });
});

it.skipIf(process.platform !== 'linux')(
  'a directory that cannot be made is an error, also where Node would try for ever',
  () => {
    expect(() => makeDirectory('/proc/imgctl-test/tokens')).toThrow(/ENOENT|EACCES|EROFS/);
  },
);
