// Files of settings and secrets: what is read, what is refused, and what a write leaves behind.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readJsonFile, replaceFile, writeJsonFile } from '../../src/files/atomic-file.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

function fileWith(text: string | Buffer, mode = 0o600): string {
  const file = path.join(temporaryDirectory(), 'settings.json');
  fs.writeFileSync(file, text);
  fs.chmodSync(file, mode);
  return file;
}

describe('readJsonFile', () => {
  it('returns an object, also after a byte order mark, and __proto__ as plain data', () => {
    const value = readJsonFile(fileWith('\ufeff{"__proto__": {"polluted": true}, "a": [1, null]}'));
    expect(value?.a).toEqual([1, null]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('returns undefined for a missing file, or a file in place of its directory', () => {
    const file = fileWith('{}');
    expect(readJsonFile(`${file}.other`)).toBeUndefined();
    expect(readJsonFile(path.join(file, 'below.json'))).toBeUndefined();
  });

  const long = `{\n${'"key": "value",\n'.repeat(500)}"last": oops}`;
  it.each([
    ['an empty file', '', 'not valid JSON at line 1, column 1'],
    ['a truncated object', '{"token": "s3cret"', 'not valid JSON at line 1, column 19'],
    ['a truncated string', '{\n"token": "s3cr', 'not valid JSON at line 2, column 15'],
    ['a stray token', '{\n  "token": s3cret\n}', 'not valid JSON at line 2, column 12'],
    ['a stray token in a long file', long, 'not valid JSON at line 502, column 9'],
    ['a trailing comma', '{"s3cret": 1,\n}', 'not valid JSON at line 2, column 1'],
    ['a fake position', '{"a": "at position 3", x', 'not valid JSON at line 1, column 24'],
    ['an array', '["s3cret"]', 'it does not hold a JSON object'],
    ['null', 'null', 'it does not hold a JSON object'],
    ['a file over 4 MiB', ' '.repeat(4 * 2 ** 20 + 1), 'it is too large'],
  ])('names the problem of %s without its contents', (_what, text, reason) => {
    expect(() => readJsonFile(fileWith(text))).toThrow(new Error(reason));
  });

  unixOnly('links and named pipes are Unix')(
    'refuses a symbolic link, a directory and, without waiting for a writer, a named pipe',
    () => {
      const file = fileWith('{"a": 1}');
      fs.symlinkSync(file, `${file}.link`);
      execFileSync('mkfifo', [`${file}.pipe`]);
      const refused = [
        [`${file}.link`, 'it is a symbolic link'],
        [path.dirname(file), 'it is not a regular file'],
        [`${file}.pipe`, 'it is not a regular file'],
      ] as const;
      for (const [name, reason] of refused) {
        expect(() => readJsonFile(name)).toThrow(new Error(reason));
      }
    },
  );

  unixOnly('modes are Unix')('tightens a file that others could read', () => {
    const file = fileWith('{"a": 1}', 0o644);
    readJsonFile(file);
    expect(modeOf(file)).toBe('600');
  });
});

describe('writeJsonFile', () => {
  unixOnly('modes are Unix')('creates a file of mode 600 in directories of mode 700', async () => {
    const file = path.join(temporaryDirectory(), 'new', 'below', 'token.json');
    const parent = path.dirname(file);
    await writeJsonFile(file, { old: true });
    fs.chmodSync(file, 0o666);
    await writeJsonFile(file, { list: [1] });
    expect([file, parent, path.dirname(parent)].map(modeOf)).toEqual(['600', '700', '700']);
    expect([readJsonFile(file), fs.readdirSync(parent)]).toEqual([{ list: [1] }, ['token.json']]);
  });

  it('replaces a symbolic link and leaves its target unchanged', async () => {
    const target = fileWith('{"target": true}');
    const link = `${target}.link`;
    fs.symlinkSync(target, link);
    await writeJsonFile(link, { secret: true });
    expect(readJsonFile(link)).toEqual({ secret: true });
    expect(fs.readFileSync(target, 'utf8')).toBe('{"target": true}');
  });

  it('fails on a directory and leaves nothing behind', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'token.json');
    fs.mkdirSync(file);
    await expect(writeJsonFile(file, { a: 1 })).rejects.toThrow();
    expect([fs.readdirSync(directory), fs.readdirSync(file)]).toEqual([['token.json'], []]);
  });

  it('keeps the order and names of unusual keys', async () => {
    const file = path.join(temporaryDirectory(), 'odd.json');
    const value = JSON.parse('{"b": 1, "2": 2, "1": {"__proto__": {"x": 1}, "constructor": "y"}}');
    await writeJsonFile(file, value);
    expect(JSON.stringify(readJsonFile(file))).toBe(JSON.stringify(value));
  });
});

describe('replaceFile', () => {
  it('keeps the old file if the new one was written only in part', async () => {
    const file = fileWith('old');
    const create = (staging: string) => {
      fs.writeFileSync(staging, 'ne');
      fs.writeFileSync(`${staging}.tmp-1`, 'new');
    };
    await expect(replaceFile(file, 'new', { create })).rejects.toThrow('written only in part');
    expect(fs.readFileSync(file, 'utf8')).toBe('old');
    expect(fs.readdirSync(path.dirname(file))).toEqual(['settings.json']);
  });

  it.each([
    ['EPERM', 2, 'new'],
    ['EACCES', 2, 'new'],
    ['EBUSY', 2, 'new'],
    ['EBUSY', 100, 'old'],
    ['ENOSPC', 1, 'old'],
  ] as const)(
    'retries for a second if another program blocks a rename: %s, %i times, leaves the %s file',
    async (code, times, text) => {
      const file = fileWith('old');
      let calls = 0;
      const rename = fs.renameSync;
      const spy = vi.spyOn(fs, 'renameSync').mockImplementation((from, to) => {
        calls += 1;
        if (calls <= times) throw Object.assign(new Error('rename'), { code });
        rename(from, to);
      });
      onTestFinished(() => spy.mockRestore());
      const written = replaceFile(file, 'new');
      if (text === 'new') await written;
      else await expect(written).rejects.toMatchObject({ code });
      expect(fs.readFileSync(file, 'utf8')).toBe(text);
      expect(fs.readdirSync(path.dirname(file))).toEqual(['settings.json']);
      // Pauses of 8, 16 up to 512 ms.
      expect(calls).toBe(text === 'new' ? times + 1 : Math.min(times, 8));
    },
  );
});

describe('leftovers of killed writers', () => {
  const LONG_AGO = Date.now() / 1000 - 3600;
  const leave = (directory: string, name: string, time = LONG_AGO) => {
    const file = path.join(directory, name);
    fs.writeFileSync(file, 'secret');
    fs.utimesSync(file, time, time);
  };

  it("are removed by the next write, conf's included, after a minute, without touching other files", async () => {
    const directory = temporaryDirectory();
    const fresh = '.token.json.fresh.new';
    leave(directory, '.token.json.abcdef.new');
    leave(directory, '.token.json.abcdef.new.tmp-1234567890abcdef');
    leave(directory, fresh, Date.now() / 1000 - 50);
    const others = ['.other.json.abcdef.new', '.token.json.abcdef.backup', 'token.json.new'];
    for (const name of others) leave(directory, name);
    await writeJsonFile(path.join(directory, 'token.json'), {});
    expect(fs.readdirSync(directory).sort()).toEqual([fresh, 'token.json', ...others].sort());
  });

  it('are removed by a write that fails', async () => {
    const directory = temporaryDirectory();
    leave(directory, '.token.json.abcdef.new');
    const create = (staging: string) => {
      fs.writeFileSync(staging, '');
      throw new Error('no space');
    };
    const file = path.join(directory, 'token.json');
    await expect(replaceFile(file, 'new', { create })).rejects.toThrow('no space');
    expect(fs.readdirSync(directory)).toEqual([]);
  });
});
