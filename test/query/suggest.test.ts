// Usage errors and suggestions for mistyped words.

import { describe, expect, it } from 'vitest';
import { nearest, parseChoice, quoted, suggest } from '../../src/query/suggest.ts';
import { thrownBy } from '../support/errors.ts';
import { rows } from '../support/rows.ts';

const WORDS = ['id', 'name', 'folder', 'data_store', 'created_on', 'updated_on'];

describe('parseChoice', () => {
  const choice = { noun: 'colour', valid: ['red', 'Blue'], where: '--paint' } as const;

  it.each([
    ['rad', "unknown colour 'rad' in --paint", 'did you mean red? valid: red, Blue'],
    ['violet', "unknown colour 'violet' in --paint", 'valid: red, Blue'],
    ['', 'missing colour in --paint', 'valid: red, Blue'],
  ])('rejects %j and names what is valid', (word, message, hint) => {
    const error = thrownBy(() => parseChoice(word, choice));
    expect(error).toMatchObject({ code: 'usage', message, hint });
  });
});

describe('suggest', () => {
  it('returns the word that was meant, else the command', () => {
    const profiles = ['default', 'staging'];
    expect(suggest('stagin', profiles, 'imgctl x')).toBe('did you mean staging?');
    expect(suggest('other', profiles, 'imgctl x')).toBe('see: imgctl x');
  });
});

describe('quoted', () => {
  it.each([
    ['short', "'short'"],
    ['a'.repeat(60), `'${'a'.repeat(60)}'`],
    ['a'.repeat(61), `'${'a'.repeat(60)}…'`],
    [`${'a'.repeat(59)}😀b`, `'${'a'.repeat(59)}…'`],
  ])('cuts %s to 60 whole characters', (text, expected) => {
    expect(quoted(text)).toBe(expected);
  });
});

describe('nearest', () => {
  it.each([
    ...rows('name', 'nam', 'NAME', 'filename'),
    ...rows('folder', 'fodler'),
    ...rows('created_on', 'created'),
    ...rows('data_store', 'store'),
    ...rows('id', 'di'),
    ...rows(undefined, 'xyz', '', '__proto__'),
  ])('returns for %j: %s', (word, expected) => {
    expect(nearest(word, WORDS)).toBe(expected);
  });

  it('returns undefined for a word of a million letters', () => {
    expect(nearest(`name${'e'.repeat(1e6)}`, WORDS)).toBeUndefined();
  });

  it('counts a swap of neighbours as one mistake', () => {
    expect(nearest('abdc', ['abxx', 'abcd'])).toBe('abcd');
  });
});
