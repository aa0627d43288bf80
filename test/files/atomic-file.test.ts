// Files of settings and secrets: what is read, what is refused, and what a write leaves behind.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { advice, type Facts } from '../../src/facts.ts';
import { readJsonFile, replaceFile, writeJsonFile } from '../../src/files/atomic-file.ts';
import { changeUserFile, readTextFile } from '../../src/files/user-file.ts';
import { modeOf, openFilesBelow, silentPipe } from '../support/files.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

function fileWith(text: string | Uint8Array): string {
  const file = path.join(temporaryDirectory(), 'settings.json');
  fs.writeFileSync(file, text);
  return file;
}

describe('readJsonFile', () => {
  it('returns an object with __proto__ as plain data, or undefined for a missing file or folder', () => {
    const file = fileWith('\ufeff{"__proto__": {"polluted": true}, "a": [1, null]}');
    const value = readJsonFile(file);
    expect(value?.a).toEqual([1, null]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(readJsonFile(fileWith(`{}${' '.repeat(4 * 2 ** 20 - 2)}`))).toEqual({});
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
    ['a key that stands twice', '{"a": {"b": 1, "b": 2}}', 'it has b twice'],
    ['another encoding', Buffer.from('{"a": "J\u00f6rg"}', 'latin1'), 'it is not UTF-8'],
    ['too many levels', `{"a": ${'['.repeat(60)}`, 'its JSON is nested too deep'],
    ['a file over 4 MiB', ' '.repeat(4 * 2 ** 20 + 1), 'it is too large'],
  ])('names the problem of %s without its contents', (_what, text: string | Uint8Array, reason) => {
    const file = fileWith(text);
    expect(() => readJsonFile(file)).toThrow(new Error(reason));
    expect(openFilesBelow(file)).toEqual([]);
  });

  unixOnly('links and named pipes are Unix').each([
    ['a symbolic link', 'link', 'it is a symbolic link'],
    ['a directory', '.', 'it is not a regular file'],
    ['a named pipe, without waiting for a writer', 'pipe', 'it is not a regular file'],
  ])('refuses %s', (_what, name, reason) => {
    const file = fileWith('{"a": 1}');
    const directory = path.dirname(file);
    fs.symlinkSync(file, path.join(directory, 'link'));
    execFileSync('mkfifo', [path.join(directory, 'pipe')]);
    expect(() => readJsonFile(path.join(directory, name))).toThrow(new Error(reason));
  });
});

unixOnly('pipes are Unix')('readTextFile ends a wait for a pipe at an interrupt', async () => {
  const io = fakeIo();
  const reading = readTextFile(silentPipe(), 'the pipe', io);
  io.interrupt();
  await expect(reading).rejects.toMatchObject({ code: 'interrupted' });
});

describe('readTextFile', () => {
  const read = async (bytes: Uint8Array, packed?: Facts) => {
    const file = path.join(temporaryDirectory(), 'all.json');
    fs.writeFileSync(file, bytes);
    return readTextFile(file, 'the snapshot', fakeIo(), packed && { factsIfDamaged: packed });
  };

  it.each([
    ['bytes of another encoding', Buffer.from('J\u00f6rg', 'latin1'), 'it is not UTF-8', undefined],
    [
      'a compressed file',
      gzipSync('{}'),
      'it is compressed',
      'decompress it first, for example with: gzip -d',
    ],
  ])('refuses %s', async (_what, bytes, reason, hint) => {
    const message = `cannot read the snapshot: ${reason}`;
    const expected = { code: 'config', message, facts: hint && advice(hint) };
    await expect(read(bytes)).rejects.toMatchObject(expected);
  });

  it('unpacks gzip if it may, at most 256 MiB', async () => {
    const packed = gzipSync('{}');
    const damaged = advice('save it again');
    expect(await read(packed, damaged)).toBe('{}');
    const zeros = gzipSync(Buffer.alloc(2 ** 20));
    const bomb = Buffer.concat(Array.from({ length: 257 }, () => zeros));
    const reasons = [
      [bomb, 'it is larger than 256 MiB unpacked', 'ERR_BUFFER_TOO_LARGE'],
      [packed.subarray(0, -4), 'its gzip data is damaged', 'Z_BUF_ERROR'],
    ] as const;
    for (const [bytes, reason, code] of reasons) {
      const error = {
        code: 'config',
        message: `cannot read the snapshot: ${reason}`,
        facts: damaged,
        cause: { message: reason, cause: { code } },
      };
      await expect(read(bytes, damaged)).rejects.toMatchObject(error);
    }
  });

  it('names a folder as one, and returns undefined for a missing file', async () => {
    const folder = temporaryDirectory();
    await expect(readTextFile(folder, 'the snapshot', fakeIo())).rejects.toMatchObject({
      message: 'cannot read the snapshot: it is a folder',
      facts: advice('use the name of a regular file'),
      cause: { code: 'EISDIR' },
    });
    const missing = path.join(folder, 'all.json');
    expect(await readTextFile(missing, 'the snapshot', fakeIo())).toBeUndefined();
  });

  it('returns a text without its byte order mark', async () => {
    expect(await read(Buffer.from('\ufeffJ\u00f6rg'))).toBe('J\u00f6rg');
  });

  unixOnly('needs /dev/zero')('refuses more than 256 MiB, if its size says so unread', async () => {
    const sparse = fileWith('');
    fs.truncateSync(sparse, 300_000_000);
    const opened = vi.spyOn(fs, 'createReadStream');
    onTestFinished(() => opened.mockRestore());
    for (const [file, times] of [
      [sparse, 0],
      ['/dev/zero', 1],
    ] as const) {
      const message = 'cannot read the snapshot: it is larger than 256 MiB';
      const reading = readTextFile(file, 'the snapshot', fakeIo());
      await expect(reading).rejects.toMatchObject({ code: 'config', message });
      expect(opened).toHaveBeenCalledTimes(times);
    }
  });
});

it.each([
  ['in no folder', 'none/list.json', 'ENOENT', 'no such file or directory', true],
  ['below a file', 'file/list.json', 'ENOTDIR', 'not a directory', true],
  ['whose lock cannot be made', 'list.json', 'EROFS', 'read-only file system', false],
])('changeUserFile cannot write a file %s', async (_what, name, code, reason, lacksFolder) => {
  const folder = temporaryDirectory();
  fs.writeFileSync(path.join(folder, 'file'), '');
  const hold = () => Promise.reject(Object.assign(new Error('refused'), { code }));
  const change = async () => 'text';
  const message = `cannot write the list: ${reason}`;
  const facts = lacksFolder
    ? advice('create its folder first')
    : advice('check its folder, its permissions and the free space');
  const changed = changeUserFile(path.join(folder, name), 'the list', hold, change);
  const error = { code: 'failed', message, facts, cause: { code } };
  await expect(changed).rejects.toMatchObject(error);
});

const withModes = unixOnly('modes are Unix');

withModes('replaceFile gives a file mode 600 before its name, and new folders 700', async () => {
  const directory = path.join(temporaryDirectory(), 'new');
  const file = path.join(directory, 'token.json');
  let staged: string[] = [];
  const assertHeld = () => {
    staged = fs.readdirSync(directory).map((name) => modeOf(path.join(directory, name)));
  };
  await replaceFile(file, 'text', { assertHeld });
  const modes = { staged, file: modeOf(file), directory: modeOf(directory) };
  expect(modes).toEqual({ staged: ['600'], file: '600', directory: '700' });
});

withModes('readJsonFile tightens a file that others could read', () => {
  const file = fileWith('{}');
  fs.chmodSync(file, 0o644);
  readJsonFile(file);
  expect(modeOf(file)).toBe('600');
});

describe('replaceFile', () => {
  it('names the reason if the file system of a folder that is missing is read-only', async () => {
    const file = path.join(temporaryDirectory(), 'a/b/c.json');
    const spy = vi.spyOn(fs, 'mkdirSync').mockImplementation((folder) => {
      // As mkdir(2) does.
      const code = fs.existsSync(path.dirname(`${folder}`)) ? 'EROFS' : 'ENOENT';
      throw Object.assign(new Error('mkdir'), { code });
    });
    onTestFinished(() => spy.mockRestore());
    await expect(replaceFile(file, 'text')).rejects.toMatchObject({ code: 'EROFS' });
  });

  it('keeps the old file if the new one was only partly written', async () => {
    const file = fileWith('old');
    const create = (staging: string) => {
      fs.writeFileSync(staging, 'ne');
      fs.writeFileSync(`${staging}.tmp-1`, 'new');
    };
    const spy = vi.spyOn(fs, 'lstatSync').mockImplementation(() => {
      // Another process removed its own staging file meanwhile.
      throw Object.assign(new Error('lstat'), { code: 'ENOENT' });
    });
    onTestFinished(() => spy.mockRestore());
    await expect(replaceFile(file, 'new', { create })).rejects.toThrow('only partly written');
    expect(fs.readFileSync(file, 'utf8')).toBe('old');
    expect(fs.readdirSync(path.dirname(file))).toEqual(['settings.json']);
  });

  it('keeps the group if this user may not give the file away', async () => {
    const file = fileWith('old');
    const spy = vi.spyOn(fs, 'lchownSync').mockImplementation((_, uid) => {
      if (uid !== -1) throw Object.assign(new Error('chown'), { code: 'EPERM' });
    });
    onTestFinished(() => spy.mockRestore());
    await replaceFile(file, 'new', { keepsOwner: true });
    expect(spy).toHaveBeenLastCalledWith(expect.any(String), -1, fs.statSync(file).gid);
  });

  it.each([
    ['EPERM', 2, 'new'],
    ['EACCES', 2, 'new'],
    ['EBUSY', 2, 'new'],
    ['EBUSY', 100, 'old'],
    ['ENOSPC', 1, 'old'],
  ])(
    'retries for a second if a rename is blocked: %s, %i times, leaves the %s file',
    async (...row) => {
      const [code, times, text] = row;
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

it("leftovers of killed writers, also conf's, are removed after a minute, by writes that fail too", async () => {
  const directory = temporaryDirectory();
  const leave = (name: string, age = 70) => {
    const file = path.join(directory, name);
    fs.writeFileSync(file, 'secret');
    const time = Date.now() / 1_000 - age;
    fs.utimesSync(file, time, time);
  };
  const staging = (text: string) => `.${text}.0d5e1c3a-7b7e-4f2e-9a57-3f0c2b9d8e11`;
  const fresh = '.token.json.11111111-2222-4333-8444-555555555555.new';
  leave(fresh, 50);
  const others = [
    `${staging('other.json')}.new`,
    `${staging('token.json')}.backup`,
    'token.json.new',
    '.token.json.newest',
    '.token.json.old.new',
  ];
  for (const name of others) leave(name);
  const file = path.join(directory, 'token.json');
  const create = (staging: string) => fs.writeFileSync(staging, 'not it');
  const partly = async () => {
    const written = replaceFile(file, '{}', { create });
    await expect(written).rejects.toThrow('it was only partly written');
  };
  for (const write of [partly, () => writeJsonFile(file, {})]) {
    leave(`${staging('token.json')}.new`);
    leave(`${staging('token.json')}.new.tmp-1234567890abcdef`);
    await write();
    expect(openFilesBelow(directory)).toEqual([]);
    const left = fs.readdirSync(directory).filter((name) => name !== 'token.json');
    expect(left.sort()).toEqual([fresh, ...others].sort());
  }
});
