// Fields and --sort: the values of any shape, and the resulting order.

import { describe, expect, it } from 'vitest';
import { type Field, readValue } from '../../src/query/fields.ts';
import { parseSort, sortImages } from '../../src/query/sort.ts';
import { hintOf, thrownBy } from '../support/errors.ts';
import { rows } from '../support/rows.ts';

const NOON = '2018-07-18 Wed 12:00:00 UTC';
const LATER = '2018-07-18 Wed 09:00:00 EDT';
const EARLIER = '2018-07-18T11:30:00Z';
const UNKNOWN = '2018-07-18 Wed 12:30:00 IST';

type Row = Record<string, unknown>;

function sorted(images: readonly Row[], ...keys: string[]): Row[] {
  return sortImages(images, keys.map(parseSort));
}

describe('sortImages', () => {
  it.each([
    ['id', [10, 9, null, 1], [null, 1, 9, 10]],
    ['id,desc', [10, 9, null, 1], [10, 9, 1, null]],
    ['id, desc ', [9, 10], [10, 9]],
    ['id', ['b', '10', 9, 'a', {}], [{}, 9, '10', 'a', 'b']],
    ['name', ['b', 'a', 'B', null, '😀', '\uffee'], [null, 'B', 'a', 'b', '\uffee', '😀']],
    ['name', ['10', '1', '9', '10'], ['1', '10', '10', '9']],
    ['public', [true, false, null], [null, false, true]],
    ['created_on', [NOON, LATER, EARLIER, null], [null, EARLIER, NOON, LATER]],
    // An unknown zone counts as UTC.
    ['created_on', [UNKNOWN, NOON, LATER], [NOON, UNKNOWN, LATER]],
    // A text that is no time counts as missing.
    ['created_on', [NOON, LATER, 'soon', null], ['soon', null, NOON, LATER]],
    ['created_on,desc', [NOON, 'unknown', LATER], [LATER, NOON, 'unknown']],
    ['name:version', ['a-8.10', 'a-8.9', null, 'a-8.8'], [null, 'a-8.8', 'a-8.9', 'a-8.10']],
    ['name:version,desc', ['a-1', 'a-01', 'a-2'], ['a-2', 'a-1', 'a-01']],
  ])('sorts by %s: %j', (key, values, expected) => {
    const field = key.replace(/[,:].*/, '');
    const images = values.map((value) => ({ [field]: value }));
    expect(sorted(images, key).map((image) => image[field])).toEqual(expected);
  });
});

it.each([
  ...rows('did you mean name,desc?', '-name', 'name:desc', 'NAME=desc', 'name desc', 'name.desc'),
  ...rows('did you mean created_on,asc?', 'created_on:asc'),
  ...rows('did you mean name:version,desc?', '-name:version', 'name:version:desc'),
  ...rows('use FIELD,DIRECTION, such as name,desc', '-', '-nam', 'nam:desc'),
  ...rows('to sort by more fields, repeat the option', 'name,id', 'name,asc,ID'),
  ...rows(expect.stringContaining('valid: id,'), 'id-name', 'x name:desc', 'name:descending'),
])('parseSort refuses %s: %s', (text, hint) => {
  expect(hintOf(thrownBy(() => parseSort(text)))).toEqual(hint);
});

it.each([
  ...rows(12, { id: 12 }, { id: '12' }),
  ...rows('12a', { id: '12a' }),
  ...rows('9007199254740993', { id: '9007199254740993' }),
  ...rows(null, {}, { id: [12] }, { id: Number.NaN }, { id: { toString: 1 } }),
  ...rows(null, Object.create({ id: 12 })),
  ...rows('22', { name: 22 }),
  ...rows('true', { name: true }),
  ...rows(true, { public: true }),
  ...rows(false, { public: 'False' }),
  ...rows(true, { public: 1 }),
  ...rows(false, { public: 0 }),
  ...rows('2', { public: 2 }),
])('readValue of %j is %j', (image, expected) => {
  const [field = 'id'] = Object.keys(image) as Field[];
  expect(readValue(image, field)).toBe(expected);
});
