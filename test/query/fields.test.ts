// Field names, and how a wrong word is answered.

import { describe, expect, it } from 'vitest';
import { FIELDS, kindOf, resolveField } from '../../src/query/fields.ts';
import { parseChoice, quoted } from '../../src/query/usage.ts';
import { thrownBy } from '../support/errors.ts';

describe('fields', () => {
  it('are the nine of the service, in its order and with their kinds', () => {
    expect(FIELDS.map((field) => `${field}:${kindOf(field)}`)).toEqual([
      'id:number',
      'name:text',
      'path:text',
      'label:text',
      'folder:text',
      'data_store:text',
      'public:boolean',
      'created_on:time',
      'updated_on:time',
    ]);
  });

  it.each([['name'], ['NAME'], ['Name']])('%s is found whatever its case', (word) => {
    expect(resolveField(word, '--columns')).toBe('name');
  });

  it.each([
    ['nam', "unknown field 'nam' in --columns", 'did you mean name? valid: id, name, path, label,'],
    ['', 'no field in --columns', 'valid: id, name,'],
    ['__proto__', "unknown field '__proto__' in --columns", 'valid: id, name,'],
    ['constructor', "unknown field 'constructor' in --columns", 'valid: id, name,'],
    ['toString', "unknown field 'toString' in --columns", 'valid: id, name,'],
  ])('%s is refused', (word, message, hint) => {
    const error = thrownBy(() => resolveField(word, '--columns'));
    expect([error.code, error.message]).toEqual(['usage', message]);
    expect(error.hint?.slice(0, hint.length)).toBe(hint);
  });
});

describe('parseChoice', () => {
  const choice = { noun: 'colour', valid: ['red', 'Blue'], where: '--paint' } as const;

  it.each([
    ['BLUE', 'Blue'],
    ['red', 'red'],
  ])('%s means %s', (word, expected) => {
    expect(parseChoice(word, choice)).toBe(expected);
  });

  it('suggests a synonym before a word that only looks alike', () => {
    const synonyms = new Map([['rod', 'Blue']] as const);
    expect(thrownBy(() => parseChoice('rod', { ...choice, synonyms })).hint).toBe(
      'did you mean Blue? valid: red, Blue',
    );
  });
});

describe('quoted', () => {
  it.each([
    ['short', "'short'"],
    ['a'.repeat(60), `'${'a'.repeat(60)}'`],
    ['a'.repeat(61), `'${'a'.repeat(60)}…'`],
    [`${'a'.repeat(59)}😀b`, `'${'a'.repeat(59)}…'`],
  ])('%s', (text, expected) => {
    expect(quoted(text)).toBe(expected);
  });
});
