// Suggestions for mistyped words, and the length of what errors quote.

import { expect, it } from 'vitest';
import { parseChoice } from '../src/choices.ts';
import { advice } from '../src/facts.ts';
import { nearest } from '../src/spelling.ts';
import { quoted } from '../src/words.ts';
import { thrownBy } from './support/errors.ts';
import { rows } from './support/rows.ts';

const WORDS = ['id', 'name', 'folder', 'data_store', 'created_on', 'updated_on', 'abxx', 'abcd'];

it.each([
  ...rows('name', 'nam', 'NAME', 'filename'),
  ...rows('folder', 'fodler'),
  ...rows('created_on', 'created'),
  ...rows('data_store', 'store'),
  ...rows('id', 'di'),
  // A swap of neighbours is one mistake.
  ...rows('abcd', 'abdc'),
  ...rows(undefined, 'xyz', '', '__proto__', `name${'e'.repeat(1e6)}`),
])('the word nearest to %.20s is %s', (word, expected) => {
  expect(nearest(word, WORDS)).toBe(expected);
});

it.each([
  // One letter too many, missing, wrong or swapped with its neighbour, whatever the case and the hyphens.
  ...rows('time-zone', 'time-zzone', 'timezne', 'time_zome', 'TiemZone'),
  // Two mistakes in eight letters, but not three.
  ...rows('time-zone', 'tame-zane'),
  ...rows(undefined, 'tame-zanx', 'tame-zonexxx'),
  // The start of a word, or most of it.
  ...rows('time-zone', 'tim', 'zone', 'time-zone-of-it'),
  ...rows('no-time', 'no-tim'),
  ...rows(undefined, 'zon', 'ti', 'no-zone', 'unzone', 'distime-zone'),
  // Of equally near words, the one with the same first letter.
  ...rows('cut', 'cit'),
  ...rows(undefined, 'q', 'jsonl'),
])('of words that are alike, the one nearest to %s is %s', (word, expected) => {
  expect(nearest(word, ['folder', 'time-zone', 'no-time', 'bit', 'cut', 'x'])).toBe(expected);
});

it.each([
  ['rad', "unknown colour 'rad' in --paint", 'did you mean red? valid: red, Blue'],
  ['violet', "unknown colour 'violet' in --paint", 'valid: red, Blue'],
  ['', 'missing colour in --paint', 'valid: red, Blue'],
])('the choice %j is rejected with what is valid', (word, message, hint) => {
  const choice = { noun: 'colour', valid: ['red', 'Blue'], where: '--paint' } as const;
  const error = { code: 'usage', message, facts: advice(hint) };
  expect(thrownBy(() => parseChoice(word, choice))).toMatchObject(error);
});

it('a quoted text is cut to 60 whole characters', () => {
  expect(quoted('a'.repeat(60))).toBe(`'${'a'.repeat(60)}'`);
  expect(quoted(`${'a'.repeat(59)}😀b`)).toBe(`'${'a'.repeat(59)}…'`);
});
