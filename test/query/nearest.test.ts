// Suggestions for mistyped words.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearest, nearestFew } from '../../src/query/nearest.ts';

const WORDS = ['id', 'name', 'folder', 'data_store', 'created_on', 'updated_on'];

describe('nearest', () => {
  it.each([
    ['nam', 'name'],
    ['naem', 'name'],
    ['NAME', 'name'],
    ['fodler', 'folder'],
    ['created', 'created_on'],
    ['store', 'data_store'],
    ['di', 'id'],
    ['filename', 'name'],
    ['xyz', undefined],
    ['', undefined],
    ['x', undefined],
    ['__proto__', undefined],
    ['constructor', undefined],
    [`name${'e'.repeat(1e6)}`, undefined],
  ])('%.20s -> %s', (word, expected) => {
    expect(nearest(word, WORDS)).toBe(expected);
  });

  it('finds nothing in common between two single letters', () => {
    expect(nearest('x', ['y'])).toBeUndefined();
  });

  it('counts a swap of neighbours as one mistake, so it wins over two replacements', () => {
    expect(nearest('abdc', ['abxx', 'abcd'])).toBe('abcd');
  });

  it('finds any word of four letters or more again after one letter is lost', () => {
    const word = fc.stringMatching(/^[a-z]{4,12}$/);
    fc.assert(
      fc.property(word, fc.nat(), (text, index) => {
        const at = index % text.length;
        expect(nearest(text.slice(0, at) + text.slice(at + 1), [text])).toBe(text);
      }),
    );
  });
});

describe('nearestFew', () => {
  it('gives the nearest first, and no more than asked for', () => {
    const names = ['debian-12.ova', 'ubuntu-22.04.ova', 'ubuntu-20.04.ova', 'ubuntu-24.04.ova'];
    expect(nearestFew('ubuntu-24.05.ova', names, 2)).toEqual([
      'ubuntu-24.04.ova',
      'ubuntu-22.04.ova',
    ]);
  });

  it('names an item only once and none that is unlike', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.uniqueArray(fc.string()),
        fc.nat(5),
        (word, candidates, count) => {
          const few = nearestFew(word, candidates, count);
          expect(few.length).toBeLessThanOrEqual(count);
          expect(new Set(few).size).toBe(few.length);
          expect(candidates).toEqual(expect.arrayContaining(few));
        },
      ),
    );
  });
});
