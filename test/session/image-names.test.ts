// The cache of image names: what it holds, how much, and that its failures are silent.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectNames, readImageNames, rememberImages } from '../../src/session/image-names.ts';
import { temporaryDirectory } from '../support/io.ts';

const HERE = { profile: 'default', baseUrl: 'https://images.example.com' };

const remember = (
  directory: string | undefined,
  elements: readonly unknown[],
  isComplete: boolean,
) => rememberImages(directory, HERE, collectNames(elements), isComplete);

const remembered = (directory: string | undefined) =>
  [...readImageNames(directory, HERE)].map(([id, [name]]) => ({ id, name }));

const image = (id: number, name = `image-${id}`) => ({ id, name });
const images = (count: number, first = 1) =>
  Array.from({ length: count }, (_, index) => image(first + index));

function onlyFile(directory: string): string {
  const folder = path.join(directory, 'images');
  const names = readdirSync(folder);
  expect(names).toHaveLength(1);
  return path.join(folder, names[0] ?? '');
}

describe('the cache of image names', () => {
  it('returns the latest state of each image, new ones first, until a complete list lacks it', async () => {
    const directory = temporaryDirectory();
    await remember(directory, images(3), false);
    await remember(directory, [image(9), image(2, 'renamed')], false);
    expect(remembered(directory)).toEqual([image(9), image(1), image(2, 'renamed'), image(3)]);
    await remember(directory, images(2), true);
    expect(remembered(directory)).toEqual(images(2));
    await remember(directory, [], true);
    expect(remembered(directory)).toEqual([]);
  });

  it('holds 5,000 images at most', async () => {
    const directory = temporaryDirectory();
    await remember(directory, images(5_010), true);
    expect(remembered(directory)).toEqual(images(5_000));
    await remember(directory, [image(100_000)], false);
    const cached = remembered(directory);
    expect(cached).toHaveLength(5_000);
    expect([cached[0], cached.at(-1)]).toEqual([image(100_000), image(4_999)]);
  });

  it('stores only id, name, folder and data store, also after a move', async () => {
    const directory = temporaryDirectory();
    const others = [null, 'https://images.example.com/v2/image/1', {}, [], { id: '1', name: 'x' }];
    const names = [{ id: 1 }, { id: 1, name: 2 }, image(1, ''), image(1, 'x'.repeat(256))];
    const stored = { ...image(7), folder: 'Linux', data_store: 'ds1', path: 'secret' };
    const long = { ...image(8), folder: null, data_store: 'x'.repeat(256) };
    await remember(directory, [...others, image(1.5), ...names, stored, long], false);
    expect(readFileSync(onlyFile(directory), 'utf8')).not.toContain('secret');
    await remember(directory, [{ ...stored, folder: 'Old' }], false);
    expect([...readImageNames(directory, HERE)]).toEqual([
      [7, ['image-7', 'Old', 'ds1']],
      [8, ['image-8', '', '']],
    ]);
  });

  it('is written only if something is new', async () => {
    const directory = temporaryDirectory();
    await remember(directory, images(5), true);
    const { ino } = statSync(onlyFile(directory));
    await remember(directory, images(2, 3), false);
    await remember(directory, images(5), true);
    await remember(directory, [], false);
    expect(statSync(onlyFile(directory)).ino).toBe(ino);
  });

  it('ignores a directory that cannot be written', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    for (const directory of [undefined, file]) {
      await remember(directory, images(1), false);
      expect(remembered(directory)).toEqual([]);
    }
  });

  it('replaces an invalid file', async () => {
    for (const text of ['', '{', '[]', '{"images": 1}', '{"images": [null, 1, {"id": "1"}]}']) {
      const directory = temporaryDirectory();
      await remember(directory, images(1), false);
      writeFileSync(onlyFile(directory), text);
      expect(remembered(directory)).toEqual([]);
      await remember(directory, images(1), false);
      expect(remembered(directory)).toEqual(images(1));
    }
  });
});
