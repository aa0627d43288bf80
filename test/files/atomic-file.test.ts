// Files of settings and secrets: what is read, what is refused, and what a write leaves behind.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readJsonFile, replaceFile, writeJsonFile } from '../../src/files/atomic-file.ts';
import { systemOf } from '../../src/io.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

const SYSTEM = systemOf(process);

function fileWith(text: string | Buffer, mode = 0o600): string {
  const file = path.join(temporaryDirectory(), 'settings.json');
  writeFileSync(file, text);
  chmodSync(file, mode);
  return file;
}

const broken = (reason: string) => ({ state: 'broken', reason });

describe('readJsonFile', () => {
  it.each([
    ['an object', '{"a": [1, null]}', { a: [1, null] }],
    ['an object after a byte order mark', '\ufeff{"a": 1}', { a: 1 }],
  ])('returns %s', (_what, text, value) => {
    expect(readJsonFile(fileWith(text))).toEqual({ state: 'read', value });
  });

  it('returns __proto__ as plain data', () => {
    const result = readJsonFile(fileWith('{"__proto__": {"polluted": true}}'));
    const value = result.state === 'read' ? result.value : null;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it('reports a missing file, or a file in place of its directory, as absent', () => {
    const file = fileWith('{}');
    expect(readJsonFile(`${file}.other`)).toEqual({ state: 'absent' });
    expect(readJsonFile(path.join(file, 'below.json'))).toEqual({ state: 'absent' });
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
    ['a string', '"s3cret"', 'it does not hold a JSON object'],
    ['null', 'null', 'it does not hold a JSON object'],
  ])('names the problem of %s without its contents', (_what, text, reason) => {
    expect(readJsonFile(fileWith(text))).toEqual(broken(reason));
  });

  unixOnly('symbolic links need rights')('refuses a symbolic link', () => {
    const file = fileWith('{"a": 1}');
    symlinkSync(file, `${file}.link`);
    expect(readJsonFile(`${file}.link`)).toEqual(broken('it is a symbolic link'));
  });

  unixOnly('named pipes are Unix')(
    'refuses a directory and, without waiting for a writer, a named pipe',
    () => {
      const directory = temporaryDirectory();
      const pipe = path.join(directory, 'pipe');
      execFileSync('mkfifo', [pipe]);
      for (const file of [directory, pipe]) {
        expect(readJsonFile(file)).toEqual(broken('it is not a regular file'));
      }
    },
  );

  it('refuses a file over 4 MiB', () => {
    const file = fileWith(Buffer.alloc(4 * 2 ** 20 + 1, ' '));
    expect(readJsonFile(file)).toEqual(broken('it is too large'));
  });

  unixOnly('modes are Unix')('tightens a file that others could read', () => {
    const file = fileWith('{"a": 1}', 0o644);
    readJsonFile(file);
    expect(modeOf(file)).toBe('600');
  });
});

describe('writeJsonFile', () => {
  unixOnly('modes are Unix')('creates a file of mode 600 in directories of mode 700', async () => {
    const file = path.join(temporaryDirectory(), 'new', 'below', 'token.json');
    const value = { token: 't', nested: { list: [1] } };
    await writeJsonFile(file, value, SYSTEM);
    const parent = path.dirname(file);
    expect([file, parent, path.dirname(parent)].map(modeOf)).toEqual(['600', '700', '700']);
    expect(readJsonFile(file)).toEqual({ state: 'read', value });
  });

  unixOnly('modes are Unix')(
    'replaces a file of a wider mode and leaves nothing else behind',
    async () => {
      const file = fileWith('{"old": true}', 0o666);
      await writeJsonFile(file, { new: true }, SYSTEM);
      expect(modeOf(file)).toBe('600');
      expect(readdirSync(path.dirname(file))).toEqual(['settings.json']);
    },
  );

  it('replaces a symbolic link and leaves its target unchanged', async () => {
    const target = fileWith('{"target": true}');
    const link = `${target}.link`;
    symlinkSync(target, link);
    await writeJsonFile(link, { secret: true }, SYSTEM);
    expect(readJsonFile(link)).toEqual({ state: 'read', value: { secret: true } });
    expect(readFileSync(target, 'utf8')).toBe('{"target": true}');
  });

  it('fails on a directory and leaves nothing behind', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'token.json');
    mkdirSync(file);
    await expect(writeJsonFile(file, { a: 1 }, SYSTEM)).rejects.toThrow();
    expect(readdirSync(directory)).toEqual(['token.json']);
    expect(statSync(file).isDirectory()).toBe(true);
  });

  it('keeps the order and names of unusual keys', async () => {
    const file = path.join(temporaryDirectory(), 'odd.json');
    const value = JSON.parse('{"b": 1, "2": 2, "1": {"__proto__": {"x": 1}, "constructor": "y"}}');
    await writeJsonFile(file, value, SYSTEM);
    expect(JSON.stringify(readJsonFile(file))).toBe(JSON.stringify({ state: 'read', value }));
  });
});

describe('replaceFile', () => {
  it('keeps the old file if the new one was written only in part', async () => {
    const file = fileWith('old');
    const create = (staging: string, text: string) => {
      writeFileSync(staging, text.slice(1));
      writeFileSync(`${staging}.tmp-1`, text);
    };
    await expect(replaceFile(file, 'new', SYSTEM, { create })).rejects.toThrow(
      'written only in part',
    );
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(path.dirname(file))).toEqual(['settings.json']);
  });

  /** Writes a file whose rename fails a number of times, and returns the waits between them. */
  async function renameFailing(times: number, code: string, platform: NodeJS.Platform) {
    const file = fileWith('old');
    const waits: number[] = [];
    let failures = 0;
    const error = await replaceFile(
      file,
      'new',
      { ...SYSTEM, platform },
      {
        sleep: async (milliseconds) => waits.push(milliseconds),
        rename: (_from, to) => {
          failures += 1;
          if (failures <= times) throw Object.assign(new Error('rename'), { code });
          writeFileSync(to, 'renamed');
        },
      },
    ).catch((thrown: Error) => thrown);
    return {
      text: readFileSync(file, 'utf8'),
      waits,
      error,
      left: readdirSync(path.dirname(file)),
    };
  }

  it.each(['EPERM', 'EACCES', 'EBUSY'])('retries a rename after %s on Windows', async (code) => {
    const result = await renameFailing(2, code, 'win32');
    expect(result).toMatchObject({ text: 'renamed', waits: [8, 16], error: undefined });
  });

  it('gives up a rename on Windows after a second', async () => {
    const { waits, ...result } = await renameFailing(100, 'EBUSY', 'win32');
    expect(waits.reduce((sum, milliseconds) => sum + milliseconds)).toBe(1016);
    expect(result).toMatchObject({
      text: 'old',
      error: { code: 'EBUSY' },
      left: ['settings.json'],
    });
  });

  it.each([
    ['ENOSPC', 'win32'],
    ['EBUSY', 'linux'],
  ] as const)('does not retry a rename after %s on %s', async (code, platform) => {
    const result = await renameFailing(1, code, platform);
    expect(result).toMatchObject({ text: 'old', waits: [], error: { code } });
  });
});

describe('leftovers of killed writers', () => {
  const LONG_AGO = Date.now() / 1000 - 3600;
  const leave = (directory: string, name: string, time = LONG_AGO) => {
    const file = path.join(directory, name);
    writeFileSync(file, 'secret');
    utimesSync(file, time, time);
  };

  it("are removed by the next write, conf's included, after a minute", async () => {
    const directory = temporaryDirectory();
    const fresh = '.token.json.fresh.new';
    leave(directory, '.token.json.abcdef.new');
    leave(directory, '.token.json.abcdef.new.tmp-1234567890abcdef');
    leave(directory, fresh, Date.now() / 1000 - 50);
    await writeJsonFile(path.join(directory, 'token.json'), {}, SYSTEM);
    expect(readdirSync(directory).sort()).toEqual([fresh, 'token.json']);
  });

  it('are removed by a write that fails', async () => {
    const directory = temporaryDirectory();
    leave(directory, '.token.json.abcdef.new');
    const create = (staging: string) => {
      writeFileSync(staging, '');
      throw new Error('no space');
    };
    const file = path.join(directory, 'token.json');
    await expect(replaceFile(file, 'new', SYSTEM, { create })).rejects.toThrow('no space');
    expect(readdirSync(directory)).toEqual([]);
  });

  it('are removed without touching other files', async () => {
    const directory = temporaryDirectory();
    const others = ['.other.json.abcdef.new', '.token.json.abcdef.backup', 'token.json.new'];
    for (const name of others) leave(directory, name);
    await writeJsonFile(path.join(directory, 'token.json'), {}, SYSTEM);
    expect(readdirSync(directory).sort()).toEqual([...others, 'token.json'].sort());
  });
});
