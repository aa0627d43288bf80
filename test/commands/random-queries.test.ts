// Random queries to imgctl and to a naive implementation in this file return the same images.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { buildCatalog, type CatalogEntry } from '../../src/emulator/catalog.ts';
import { FIELDS, type Field } from '../../src/query/fields.ts';
import { END } from '../support/emulator.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const IMAGES = 150;
const SEED = 7;
const NOW = Date.UTC(2025, 7, 1);
const DAY = 86_400_000;
/** Has its timestamps as numbers, so that nothing is parsed here. */
const entries = buildCatalog(IMAGES, SEED, END);
const anEntry = fc.constantFrom(...entries);

type Value = number | string | boolean | null;

function naiveValue(entry: CatalogEntry, field: Field): Value {
  if (field === 'created_on') return entry.created;
  if (field === 'updated_on') return entry.updated;
  return entry.image[field];
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

interface Filter {
  readonly field: Field;
  readonly operator: string;
  readonly text: string;
  readonly wanted: readonly Value[];
}

function passes(entry: CatalogEntry, { field, operator, text, wanted }: Filter): boolean {
  const value = naiveValue(entry, field);
  const [first = null] = wanted;
  if (operator === 'eq' || operator === 'in') return wanted.includes(value);
  if (operator === 'ne') return !wanted.includes(value);
  if (value === null) return false;
  if (operator === 'like') return isLike(String(entry.image[field]), text);
  if (operator === 'lt') return order(value, first) < 0;
  if (operator === 'le') return order(value, first) <= 0;
  if (operator === 'gt') return order(value, first) > 0;
  return order(value, first) >= 0;
}

const comparison = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge');
const textField = fc.constantFrom('name', 'path', 'label', 'data_store', 'folder');
const timeField = fc.constantFrom('created_on', 'updated_on');

/** A filter that compares with a value, written as this text. */
const filter = (field: Field, operator: string, value: Value, text = String(value)): Filter => ({
  field,
  operator,
  text,
  wanted: [value],
});

const anyFilter: fc.Arbitrary<Filter> = fc.oneof(
  fc
    .tuple(comparison, anEntry, fc.integer({ min: -1, max: 1 }))
    .map(([operator, { image }, plus]) => filter('id', operator, image.id + plus)),
  fc
    .tuple(textField, comparison, anEntry)
    .map(([field, operator, { image }]) => filter(field, operator, image[field] ?? 'linux')),
  fc
    .tuple(fc.constantFrom('id', 'name', 'folder'), fc.array(anEntry, { minLength: 1 }))
    .map(([field, some]) => {
      const wanted = some.map((entry) => entry.image[field as 'name'] ?? 'none');
      return { field: field as Field, operator: 'in', text: wanted.join(','), wanted };
    }),
  fc
    .tuple(fc.constantFrom(...FIELDS), anEntry, fc.nat(30), fc.nat(9), fc.nat(3), fc.boolean())
    .map(([field, entry, start, length, shape, upper]) => {
      const part = String(entry.image[field]).slice(start, start + length + 1);
      const text =
        [`%${part}%`, `${part}%`, `%${part}`, `%${part.replace(/.$/, '%')}`][shape] ?? '';
      return { field, operator: 'like', text: upper ? text.toUpperCase() : text, wanted: [] };
    }),
  fc.tuple(comparison, fc.boolean()).map(([operator, value]) => filter('public', operator, value)),
  fc.constantFrom('eq', 'ne').map((operator) => filter('folder', operator, null)),
  fc.tuple(timeField, comparison, anEntry, fc.boolean()).map(([field, operator, entry, iso]) => {
    const value = Number(naiveValue(entry, field));
    const text = iso ? new Date(value).toISOString() : entry.image[field];
    return filter(field, operator, value, text);
  }),
  fc
    .tuple(timeField, comparison, fc.integer({ min: 1, max: 3000 }))
    .map(([field, operator, days]) => filter(field, operator, NOW - days * DAY, `-${days}d`)),
);

const aQuery = fc.record({
  filters: fc.array(anyFilter, { maxLength: 3 }),
  sorts: fc.array(fc.tuple(fc.constantFrom(...FIELDS), fc.constantFrom('asc', 'desc')), {
    maxLength: 3,
  }),
  limit: fc.integer({ min: 1, max: IMAGES + 10 }),
});
type Query = typeof aQuery extends fc.Arbitrary<infer Type> ? Type : never;

function argumentsOf({ filters, sorts, limit }: Query): string[] {
  return [
    ...['images', 'list', '--json', '--per-page', '50', '--limit', String(limit)],
    ...filters.flatMap(({ field, operator, text }) => ['--filter', `${field},${operator},${text}`]),
    ...sorts.flatMap((key) => ['--sort', key.join(',')]),
  ];
}

function resultOf({ filters, sorts, limit }: Query): object[] {
  const found = entries.filter((entry) => filters.every((filter) => passes(entry, filter)));
  // A stable sort by one key after the other, the least significant first.
  for (const [field, direction] of sorts.toReversed()) {
    const sign = direction === 'desc' ? -1 : 1;
    found.sort((a, b) => sign * order(naiveValue(a, field), naiveValue(b, field)));
  }
  return found.slice(0, limit).map(({ image }) => image);
}

it('images list returns what 200 random queries match', { timeout: 60_000 }, async () => {
  const { imgctl } = await emulatorUser({ images: IMAGES, seed: SEED });
  const env = { IMGCTL_TOKEN: (await imgctl('token', { env: PASSWORD })).stdout.trim() };
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(aQuery, async (query) => {
      const { stdout, stderr, exitCode } = await imgctl(argumentsOf(query), { env, time: NOW });
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      const expected = resultOf(query);
      // As text, so that the order of the fields counts too.
      expect(JSON.stringify(JSON.parse(stdout))).toBe(JSON.stringify(expected));
      if (expected.length > 0) matched += 1;
    }),
    { numRuns: 200, seed: 20_250_801 },
  );
  expect(matched).toBeGreaterThan(100);
});
