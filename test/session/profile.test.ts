// Profiles in config.json: read strictly, changed one at a time, everything else unchanged.

import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { changeConfigFile, changeProfile } from '../../src/session/profile.ts';
import {
  checkProfileName,
  configFilePath,
  readConfigFile,
  Settings,
} from '../../src/session/settings.ts';
import { fakeIo, impatientIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

function directoryWith(text: string): string {
  const directory = temporaryDirectory();
  writeFileSync(path.join(directory, 'config.json'), text);
  return directory;
}

const contents = (directory: string) =>
  JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8'));

describe('checkProfileName', () => {
  it.each(['default', 'a', '0', 'A-b_c', 'constructor', 'x'.repeat(64)])('accepts %s', (name) => {
    expect(checkProfileName(name)).toBe(name);
  });

  const PATHS = ['../../x', 'a/b', 'a\\b', '.', '.hidden'];
  it.each(['', ...PATHS, '-a', '__proto__', '_limit', 'a b', 'ä', 'a\n'])('rejects %j', (name) => {
    expect(() => checkProfileName(name)).toThrowError(expect.objectContaining({ code: 'usage' }));
  });

  it('rejects a long name without repeating it in full', () => {
    expect(() => checkProfileName('x'.repeat(65))).toThrowError();
    expect(() => checkProfileName('x'.repeat(1_000))).toThrowError(/^.{1,120}$/);
  });
});

describe('config.json', () => {
  it('is empty without a directory or file', () => {
    expect(readConfigFile(undefined).profiles.size).toBe(0);
    expect(readConfigFile(path.join(temporaryDirectory(), 'none')).profile).toBeUndefined();
  });

  it.each([
    ['{"profiles": ', /not valid JSON at line 1/],
    ['{"profile": 1}', /profile is not a string$/],
    ['{"profiles": []}', /profiles is not an object$/],
    ['{"profiles": {"a": "s3cret"}}', /profiles\.a is not an object$/],
    ['{"profiles": {"a": {"username": 42}}}', /profiles\.a\.username is not a string$/],
  ])(
    'that reads %j is an error with file and place, and is not overwritten',
    async (text, reason) => {
      const directory = directoryWith(text);
      const expected = expect.objectContaining({
        code: 'config',
        message: expect.stringMatching(reason),
      });
      expect(() => readConfigFile(directory)).toThrowError(expected);
      expect(() => readConfigFile(directory)).toThrowError(path.join(directory, 'config.json'));
      const changed = changeProfile(directory, fakeIo(), 'a', { username: 'demo' });
      await expect(changed).rejects.toThrowError(expected);
      expect(readFileSync(path.join(directory, 'config.json'), 'utf8')).toBe(text);
      expect(readdirSync(directory)).toEqual(['config.json']);
    },
  );

  it('holds __proto__ and constructor as plain data', async () => {
    const text = '{"__proto__":{"a":1},"profiles":{"__proto__":{"output":"xml"},"constructor":{}}}';
    const directory = directoryWith(text);
    const { profiles } = readConfigFile(directory);
    expect([...profiles.keys()]).toEqual(['__proto__', 'constructor']);
    const settings = new Settings('x', {}, {}, profiles.get('x') ?? {});
    expect(settings.get('output')).toBe('table');
    await changeProfile(directory, fakeIo(), 'x', { output: 'json' });
    const written = readFileSync(path.join(directory, 'config.json'), 'utf8').replace(/\s/g, '');
    expect(written).toContain('"__proto__":{"a":1}');
    expect(written).toContain('"__proto__":{"output":"xml"}');
  });

  it('keeps all other members when settings change', async () => {
    const directory = directoryWith(
      '{"future": [1], "profile": "a", "profiles": {"a": {"username": "u", "output": "csv", "new": "n"}, "b": {}}}',
    );
    await changeProfile(directory, fakeIo(), 'a', { output: undefined, timeout: '5s' });
    expect(contents(directory)).toEqual({
      future: [1],
      profile: 'a',
      profiles: { a: { username: 'u', new: 'n', timeout: '5s' }, b: {} },
    });
  });

  it('loses the default profile if that is removed', async () => {
    const directory = directoryWith('{"profile": "a", "profiles": {"a": {}}}');
    await changeConfigFile(directory, fakeIo(), (config) => ({ ...config, profile: undefined }));
    expect(contents(directory)).toEqual({ profiles: { a: {} } });
  });

  it('stores all of many changes made at the same time', async () => {
    const directory = path.join(temporaryDirectory(), 'new');
    const io = impatientIo();
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    await Promise.all(names.map((name) => changeProfile(directory, io, name, { username: name })));
    expect(contents(directory).profiles).toEqual(
      Object.fromEntries(names.map((name) => [name, { username: name }])),
    );
    expect(readdirSync(directory)).toEqual(['config.json']);
  });

  unixOnly('symbolic links need rights')('stays a link to a file elsewhere', async () => {
    const elsewhere = directoryWith('{}');
    const directory = temporaryDirectory();
    symlinkSync(path.join(elsewhere, 'config.json'), path.join(directory, 'config.json'));
    await changeProfile(directory, fakeIo(), 'a', { output: 'json' });
    expect(contents(elsewhere)).toEqual({ profiles: { a: { output: 'json' } } });
    expect(configFilePath(directory)).toBe(configFilePath(elsewhere));
  });

  it('that cannot be written is an error', async () => {
    const change = (directory: string | undefined) =>
      changeProfile(directory, fakeIo(), 'a', { output: 'json' });
    await expect(change(undefined)).rejects.toMatchObject({ code: 'config' });
    const below = path.join(directoryWith('{}'), 'config.json', 'below');
    await expect(change(below)).rejects.toMatchObject({
      code: 'config',
      message: expect.stringMatching(/^cannot write .*config\.json: E[A-Z]+$/),
    });
  });
});
