// Images, random queries and a naive implementation of both, which shares no code with src: the judge of src/query.

import fc from 'fast-check';
import type { Image } from '../../src/api/types.ts';

type Value = number | string | boolean | null;
type Field = keyof Image;

const FIELDS = 'id name path label folder data_store public created_on updated_on'.split(
  ' ',
) as Field[];

/** The clock of the queries. */
export const NOW = Date.UTC(2025, 7, 1);
const DAY = 86_400_000;
const HOUR = 3_600_000;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const ZONES = Object.entries({ EDT: -4, EST: -5, UTC: 0, CEST: 2 });
const PRODUCTS = 'ubuntu Debian rocky 100%-free élan \u{1f427}tux \ue000private'.split(' ');
const FOLDERS = ['linux', 'Linux', 'bsd', '\u{1f427}', '\uffe5', null];

/** Timestamps as numbers by their texts, so that nothing is parsed here. */
const instants = new Map<string, number>();

function timestamp(instant: number, [zone, hours]: readonly [string, number]): string {
  const local = new Date(instant + hours * HOUR);
  const [day, time = ''] = local.toISOString().split('T');
  const text = `${day} ${WEEKDAYS[local.getUTCDay()]} ${time.slice(0, 8)} ${zone}`;
  instants.set(text, instant);
  return text;
}

/** 150 images in the order of their ids; names, folders and instants repeat, also in another zone. */
export const IMAGES: readonly Image[] = Array.from({ length: 150 }, (_, index) => {
  // Multiplying by a prime spreads the choices without randomness.
  const pick = <Type>(values: readonly Type[], prime: number) =>
    values[(index * prime) % values.length] as Type;
  const folder = pick(FOLDERS, 5);
  const name = `${pick(PRODUCTS, 3)}-${pick(['8.9', '8.10', '9'], 7)}-${index % 60}.ova`;
  const label = folder === null ? name : `${folder}/${name}`;
  const data_store = `store-${index % 4}`;
  const created = NOW - ((index * 37) % 50) * 31 * DAY - (index % 3) * HOUR;
  return {
    id: 3 + index * 7,
    name,
    path: `[${data_store}] ${label}`,
    label,
    folder,
    data_store,
    public: index % 5 !== 0,
    created_on: timestamp(created, pick(ZONES, 3)),
    updated_on: timestamp(created + (index % 7) * DAY, pick(ZONES, 7)),
  };
});

const comparableOf = (image: Image, field: Field): Value =>
  field.endsWith('_on') ? instantOf(String(image[field])) : image[field];

function instantOf(text: string): number {
  const instant = instants.get(text);
  if (instant === undefined) throw new Error(`not a time of these images: ${text}`);
  return instant;
}

/** Compares null first, and texts by code points. */
function order(left: Value, right: Value): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left !== 'string' || typeof right !== 'string') return Number(left) - Number(right);
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

function isLike(text: string, pattern: string): boolean {
  if (pattern === '') return text === '';
  if (pattern.startsWith('%')) {
    return isLike(text, pattern.slice(1)) || (text !== '' && isLike(text.slice(1), pattern));
  }
  const same = text.charAt(0).toLowerCase() === pattern.charAt(0).toLowerCase();
  return text !== '' && same && isLike(text.slice(1), pattern.slice(1));
}

interface NaiveFilter {
  readonly field: Field;
  readonly operator: string;
  /** As it is written. */
  readonly text: string;
  readonly wanted: readonly Value[];
}

function passes(image: Image, { field, operator, text, wanted }: NaiveFilter): boolean {
  const value = comparableOf(image, field);
  const [first = null] = wanted;
  if (operator === 'eq' || operator === 'in') return wanted.includes(value);
  if (operator === 'ne') return !wanted.includes(value);
  if (value === null) return false;
  if (operator === 'like') return isLike(String(image[field]), text);
  if (operator === 'lt') return order(value, first) < 0;
  if (operator === 'le') return order(value, first) <= 0;
  if (operator === 'gt') return order(value, first) > 0;
  return order(value, first) >= 0;
}

/** Sorts stably by one key after the other, the least significant first. */
function sorted(images: readonly Image[], sorts: readonly (readonly string[])[]): Image[] {
  const result = [...images];
  for (const [field, direction] of sorts.toReversed()) {
    const sign = direction === 'desc' ? -1 : 1;
    const key = (image: Image) => comparableOf(image, field as Field);
    result.sort((left, right) => sign * order(key(left), key(right)));
  }
  return result;
}

/** Returns what a service finds for the parameters `filter` and `sort` of a request. */
export function serviceFinds(filter: string | null, sort: string | null): Image[] {
  const [, field = '', operator = '', text = ''] = /^(\w+),(\w+),(.*)$/s.exec(filter ?? '') ?? [];
  const values = operator === 'in' ? text.split(',') : [text];
  const wanted = values.map((value) => {
    if (operator === 'like') return value;
    if (field === 'id') return Number(value);
    if (field === 'public') return value === 'true';
    if (field === 'folder' && value === 'null') return null;
    return field.endsWith('_on') ? instantOf(value) : value;
  });
  const own = { field: field as Field, operator, text, wanted };
  const found = filter === null ? IMAGES : IMAGES.filter((image) => passes(image, own));
  return sorted(found, sort === null ? [] : [sort.split(',')]);
}

const anImage = fc.constantFrom(...IMAGES);
const anId = fc.tuple(anImage, fc.integer({ min: -1, max: 1 })).map(([{ id }, plus]) => id + plus);
const comparison = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge');
const textField = fc.constantFrom('name', 'path', 'label', 'data_store', 'folder');
const timeField = fc.constantFrom('created_on', 'updated_on');

/** A filter that compares with a value, written as this text. */
function filter(field: Field, operator: string, value: Value, text = String(value)): NaiveFilter {
  return { field, operator, text, wanted: [value] };
}

/** A filter that the service can apply. */
export const aServiceFilter: fc.Arbitrary<NaiveFilter> = fc.oneof(
  fc.tuple(comparison, anId).map(([operator, id]) => filter('id', operator, id)),
  fc
    .tuple(textField, comparison, anImage)
    .map(([field, operator, image]) => filter(field, operator, image[field] ?? 'linux')),
  fc
    .tuple(fc.constantFrom('id', 'name', 'folder'), fc.array(anImage, { minLength: 1 }))
    .map(([field, some]) => {
      const wanted = some.map((image) => image[field] ?? 'none');
      return { field, operator: 'in', text: wanted.join(','), wanted };
    }),
  fc
    .tuple(fc.constantFrom(...FIELDS), anImage, fc.nat(30), fc.nat(9), fc.nat(3), fc.boolean())
    .map(([field, image, start, length, shape, upper]) => {
      // Whole characters, as a URL holds no half of an emoji.
      const part = [...String(image[field])].slice(start, start + length + 1).join('');
      const shapes = [`%${part}%`, `${part}%`, `%${part}`, `%${part.replace(/.$/u, '%')}`];
      const text = shapes[shape] ?? '';
      return { field, operator: 'like', text: upper ? text.toUpperCase() : text, wanted: [] };
    }),
  fc.tuple(comparison, fc.boolean()).map(([operator, value]) => filter('public', operator, value)),
  fc.tuple(timeField, comparison, anImage).map(([field, operator, image]) => {
    return filter(field, operator, instantOf(image[field]), image[field]);
  }),
);

const aLocalFilter: fc.Arbitrary<NaiveFilter> = fc.oneof(
  fc.constantFrom('eq', 'ne').map((operator) => filter('folder', operator, null)),
  fc.tuple(timeField, comparison, anImage).map(([field, operator, image]) => {
    const instant = instantOf(image[field]);
    return filter(field, operator, instant, new Date(instant).toISOString());
  }),
  fc
    .tuple(timeField, comparison, fc.integer({ min: 1, max: 3000 }))
    .map(([field, operator, days]) => {
      return filter(field, operator, NOW - days * DAY, `-${days}d`);
    }),
);

export const aSort = fc.tuple(fc.constantFrom(...FIELDS), fc.constantFrom('asc', 'desc'));

const aFilter = fc.oneof({ weight: 2, arbitrary: aServiceFilter }, aLocalFilter);

export const aQuery = fc.record({
  filters: fc.array(aFilter, { maxLength: 3 }),
  sorts: fc.array(aSort, { maxLength: 3 }),
  limit: fc.integer({ min: 1, max: IMAGES.length + 10 }),
});

export type NaiveQuery = typeof aQuery extends fc.Arbitrary<infer Type> ? Type : never;

export function resultOf({ filters, sorts, limit }: NaiveQuery): Image[] {
  const found = IMAGES.filter((image) => filters.every((each) => passes(image, each)));
  return sorted(found, sorts).slice(0, limit);
}
