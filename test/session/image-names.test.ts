// The cache of image names: what is kept, how much, and that it never gets in the way.

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  collectNames,
  MOST_IMAGES,
  readImageNames,
  rememberImages,
} from '../../src/session/image-names.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';

const HERE = { profile: 'default', baseUrl: 'https://images.example.com' };

const remember = (directory: string | undefined, elements: readonly unknown[], isWhole: boolean) =>
  rememberImages(directory, HERE, collectNames(elements), isWhole);

/** As a list again, in its order. */
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

it('has what was seen last first, each id once', () => {
  const directory = temporaryDirectory();
  remember(directory, images(3), false);
  remember(directory, [image(9), image(2, 'renamed')], false);
  expect(remembered(directory)).toEqual([image(9), image(2, 'renamed'), image(1), image(3)]);
});

it('forgets what a whole list does not hold', () => {
  const directory = temporaryDirectory();
  remember(directory, images(5), false);
  remember(directory, images(2), true);
  expect(remembered(directory)).toEqual(images(2));
  remember(directory, [], true);
  expect(remembered(directory)).toEqual([]);
});

it(`holds ${MOST_IMAGES} at most`, () => {
  const directory = temporaryDirectory();
  remember(directory, images(MOST_IMAGES + 10), true);
  expect(remembered(directory)).toEqual(images(MOST_IMAGES));
  remember(directory, [image(100_000)], false);
  const kept = remembered(directory);
  expect([kept.length, kept[0], kept.at(-1)]).toEqual([
    MOST_IMAGES,
    image(100_000),
    image(MOST_IMAGES - 1),
  ]);
});

it('passes over what has no id and name', () => {
  const directory = temporaryDirectory();
  const odd = [
    null,
    'https://images.example.com/v2/image/1',
    {},
    { id: '1', name: 'x' },
    { id: 1 },
  ];
  const odder = [image(1.5), image(1, ''), image(1, 'x'.repeat(256)), { id: 1, name: 2 }, []];
  remember(directory, [...odd, ...odder, { ...image(7), path: 'secret' }], false);
  expect(remembered(directory)).toEqual([image(7)]);
  expect(readFileSync(onlyFile(directory), 'utf8')).toBe('{"images":[[7,"image-7","",""]]}');
});

it('has the folder and data store of an image, also after a move', () => {
  const directory = temporaryDirectory();
  const stored = { ...image(7), folder: 'Linux', data_store: 'ds1' };
  remember(directory, [stored, { ...image(8), folder: null, data_store: 'x'.repeat(256) }], false);
  remember(directory, [{ ...stored, folder: 'Old' }], false);
  expect([...readImageNames(directory, HERE)]).toEqual([
    [7, ['image-7', 'Old', 'ds1']],
    [8, ['image-8', '', '']],
  ]);
});

it('is for its owner alone', () => {
  const directory = path.join(temporaryDirectory(), 'cache');
  remember(directory, images(1), false);
  const places = [onlyFile(directory), path.join(directory, 'images'), directory];
  expect(places.map(modeOf)).toEqual(['600', '700', '700']);
});

it('is written only where there is something new', () => {
  const directory = temporaryDirectory();
  remember(directory, images(5), true);
  const { ino } = statSync(onlyFile(directory));
  remember(directory, images(2, 3), false);
  remember(directory, images(5), true);
  remember(directory, [], false);
  expect(statSync(onlyFile(directory)).ino).toBe(ino);
  remember(directory, [image(3, 'renamed')], false);
  expect(remembered(directory)[0]).toEqual(image(3, 'renamed'));
});

describe('where it cannot be kept', () => {
  it('says nothing', () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    for (const directory of [undefined, file, path.join(file, 'below')]) {
      remember(directory, images(1), false);
      expect(remembered(directory)).toEqual([]);
    }
  });

  it('leaves nothing behind', () => {
    const directory = temporaryDirectory();
    remember(directory, images(1), false);
    const file = onlyFile(directory);
    const folder = path.dirname(file);
    // A folder in the place of the file: the renaming fails.
    const other = path.join(temporaryDirectory(), 'cache');
    mkdirSync(path.join(other, 'images', path.basename(file), 'x'), { recursive: true });
    remember(other, images(1), false);
    expect(readdirSync(path.join(other, 'images'))).toEqual([path.basename(file)]);
    expect(readdirSync(folder)).toEqual([path.basename(file)]);
  });

  it.each(['', '{', '[]', '{"images": 1}', '{"images": [null, 1, [1], ["1", "x"], [1, 2]]}'])(
    'takes %j for an empty one, and writes a new one',
    (text) => {
      const directory = temporaryDirectory();
      remember(directory, images(1), false);
      const file = onlyFile(directory);
      writeFileSync(file, text);
      chmodSync(file, 0o600);
      expect(remembered(directory)).toEqual([]);
      remember(directory, images(1), false);
      expect(remembered(directory)).toEqual(images(1));
    },
  );
});
