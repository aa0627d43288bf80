// The cache of image names: what it holds, how much, and that its failures are silent.

import {
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  collectNames,
  readImageNames,
  rememberImages,
} from '../../../src/commands/images/image-names.ts';
import { temporaryDirectory } from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';

const HERE = { profile: 'default', baseUrl: 'https://images.example.com' };

const remember = (directory: string, elements: readonly unknown[], isComplete = false) =>
  rememberImages(directory, HERE, collectNames(elements), isComplete);

const remembered = (directory: string) =>
  [...readImageNames(directory, HERE)].map(([id, [name]]) => ({ id, name }));

const image = (id: number, name = `image-${id}`) => ({ id, name });
const images = (count: number) => Array.from({ length: count }, (_, index) => image(index + 1));

function onlyFile(directory: string): string {
  const [name = '', ...others] = readdirSync(path.join(directory, 'images'));
  expect(others).toEqual([]);
  return path.join(directory, 'images', name);
}

describe('the cache of image names', () => {
  it('returns the latest state of each image, new ones first, until a complete list lacks it', async () => {
    const directory = temporaryDirectory();
    await remember(directory, images(3));
    await remember(directory, [image(9), image(2, 'renamed')]);
    expect(remembered(directory)).toEqual([image(9), image(1), image(2, 'renamed'), image(3)]);
    await remember(directory, images(2), true);
    expect(remembered(directory)).toEqual(images(2));
    const { ino } = statSync(onlyFile(directory));
    await remember(directory, images(1));
    await remember(directory, []);
    expect(statSync(onlyFile(directory)).ino).toBe(ino);
    await remember(directory, [], true);
    expect(remembered(directory)).toEqual([]);
  });

  it('holds 5,000 images at most', async () => {
    const directory = temporaryDirectory();
    await remember(directory, images(5_010), true);
    await remember(directory, [image(100_000)]);
    expect(remembered(directory)).toEqual([image(100_000), ...images(4_999)]);
  });

  it('stores only id, name and folder, none of them long, also after a move', async () => {
    const directory = temporaryDirectory();
    const others = [null, 'https://images.example.com/v2/image/1', {}, [], { id: 'x', name: 'x' }];
    const names = [{ id: 1 }, { id: 1, name: 2 }, image(1, ''), image(1, 'x'.repeat(256))];
    const stored = { ...image(7), folder: 'Linux', path: 'secret' };
    const long = { ...image(8), id: '8', folder: 'x'.repeat(256) };
    const longest = image(9, 'x'.repeat(255));
    await remember(directory, [...others, image(1.5), ...names, stored, long, longest]);
    expect(readFileSync(onlyFile(directory), 'utf8')).not.toContain('secret');
    await remember(directory, [{ ...stored, folder: 'Old' }]);
    const expected = new Map([
      [7, ['image-7', 'Old']],
      [8, ['image-8', '']],
      [9, [longest.name, '']],
    ]);
    expect(readImageNames(directory, HERE)).toEqual(expected);
  });

  it('ignores a directory that cannot be written, and replaces an invalid file', async () => {
    const directory = temporaryDirectory();
    await remember(directory, images(1));
    const file = onlyFile(directory);
    for (const text of ['{', '[]', '{"images": 1}', '{"images": [null, 1, {"id": "1"}]}']) {
      writeFileSync(file, text);
      expect(remembered(directory)).toEqual([]);
      await remember(directory, images(1));
      expect(remembered(directory)).toEqual(images(1));
    }
    await remember(file, images(1));
    expect(remembered(file)).toEqual([]);
  });

  unixOnly('links are Unix')(
    'is read within the limits of own files: a link is replaced',
    async () => {
      const directory = temporaryDirectory();
      await remember(directory, images(1), true);
      const file = onlyFile(directory);
      const elsewhere = path.join(directory, 'elsewhere.json');
      renameSync(file, elsewhere);
      symlinkSync(elsewhere, file);
      await remember(directory, images(1), true);
      expect(lstatSync(file).isSymbolicLink()).toBe(false);
      expect(remembered(directory)).toEqual(images(1));
    },
  );
});
