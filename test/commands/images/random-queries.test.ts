// Random queries to imgctl over a scripted server, judged by a naive implementation that shares no code with src.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, expect, it, vi } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { findImages } from '../../../src/emulator/resources.ts';
import { cataloguePage, rowsOf } from '../../support/catalogue-page.ts';
import { type CliResult, temporaryDirectory } from '../../support/io.ts';
import { localUser, scriptedUser } from '../../support/users.ts';

/** `RANDOM_QUERIES=6000 npx vitest run ...` runs more of them. */
const RUNS = Number(process.env.RANDOM_QUERIES ?? 30);

type Value = number | string | boolean | null;
type Field = (typeof FIELDS)[number];

const TIMES = ['created_on', 'updated_on'] as const;
const TEXTS = ['name', 'path', 'label', 'folder', 'data_store'] as const;
const FIELDS = ['id', ...TEXTS, 'public', ...TIMES] as const;

/** The clock of the queries. */
const NOW = Date.UTC(2025, 7, 1);
const DAY = 86_400_000;
const HOUR = 3_600_000;
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const ZONES = Object.entries({ EDT: -4, EST: -5, UTC: 0, CEST: 2, CST: -6, PDT: -7 });
const PRODUCTS = 'ubuntu Debian debian rocky a_b 100%-free élan \u{1f427}tux \ue000private'.split(
  ' ',
);
const FOLDERS = ['linux', 'Linux', 'bsd', '\u{1f427}', '\uffe5', null];

/** Timestamps as numbers by their texts, so that nothing is parsed here. */
const instants = new Map<Value, number>();

function timestamp(instant: number, [zone, hours]: readonly [string, number]): string {
  const local = new Date(instant + hours * HOUR);
  const [day, time = ''] = local.toISOString().split('T');
  const text = `${day} ${WEEKDAYS[local.getUTCDay()]} ${time.slice(0, 8)} ${zone}`;
  instants.set(text, instant);
  return text;
}

/** 150 images in the order of their ids; names, folders and instants repeat, also in another zone. */
const IMAGES: readonly Image[] = Array.from({ length: 150 }, (_, index) => {
  // Multiplying by a prime spreads the choices without randomness.
  const pick = <Type>(values: readonly Type[], prime: number) =>
    values[(index * prime) % values.length] as Type;
  const folder = pick(FOLDERS, 5);
  const machine = pick(['', '-x86_64', '-el8'], 11);
  const name = `${pick(PRODUCTS, 2)}-${pick(['8.9', '8.10', '9'], 7)}-${index % 60}${machine}.ova`;
  const label = folder === null ? name : `${folder}/${name}`;
  const data_store = `store-${index % 4}`;
  const created = NOW - ((index * 37) % 50) * 31 * DAY - (index % 3) * HOUR;
  return {
    ...{ id: 3 + index * 7, name, path: `[${data_store}] ${label}`, label, folder, data_store },
    public: index % 5 !== 0,
    created_on: timestamp(created, pick(ZONES, 3)),
    updated_on: timestamp(created + (index % 7) * DAY, pick(ZONES, 7)),
  };
});

const comparableOf = (image: Image, field: Field): Value =>
  instants.get(image[field]) ?? image[field];

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

/** A filter as it is written, and what it compares with. */
interface NaiveFilter {
  readonly field: Field;
  readonly operator: string;
  readonly text: string;
  readonly wanted: readonly Value[];
}

function passes(image: Image, { field, operator, text, wanted }: NaiveFilter): boolean {
  const value = comparableOf(image, field);
  if (operator === 'eq' || operator === 'in') return wanted.includes(value);
  if (operator === 'ne') return !wanted.includes(value);
  if (operator === 'notlike' || operator === '!~') {
    const pattern = operator === '!~' ? `%${text}%` : text;
    return value === null || !isLike(String(image[field]), pattern);
  }
  if (value === null) return false;
  if (operator === 'like') return isLike(String(image[field]), text);
  const result = order(value, wanted[0] ?? null);
  if (result === 0) return operator.endsWith('e');
  return operator.startsWith(result < 0 ? 'l' : 'g');
}

/** Finds a word of digits in the numbers of a name, and any other where no digit touches one of its own. */
function hasWord({ name }: Image, word: string): boolean {
  const [text, part] = [name.toLowerCase(), word.toLowerCase()];
  if (!/\d/.test(part)) return text.includes(part);
  const areDigits = (both: string) => /^\d\d$/.test(both);
  const visible = text.replace(/x86_64|el8/g, (hidden) => 'x'.repeat(hidden.length));
  const isNumber = /^[\d.]+$/.test(part);
  const places = Array.from({ length: text.length }, (_, at) => at);
  return places.some((start) => {
    // A version begins at a digit, but not behind another one, its dot or its letter.
    const begins = /\d/.test(visible[start] ?? '') && !/\d[.a-z]?$/.test(visible.slice(0, start));
    if (isNumber && !begins) return false;
    return places.some((last) => {
      const found = text.slice(start, last + 1);
      const isCut =
        areDigits(text.slice(start - 1, start + 1)) || areDigits(text.slice(last, last + 2));
      return !isCut && alike(found) === alike(part);
    });
  });
}

/** Separators are the same, and say nothing between a letter and a digit. */
function alike(text: string): string {
  return text.replace(/[-_. ]/g, '-').replace(/(?<=[a-z])-(?=\d)|(?<=\d)-(?=[a-z])/g, '');
}

/** Zones of users; Lord Howe's clocks change by half an hour. */
const USER_ZONES = 'UTC Europe/Berlin America/New_York Asia/Kolkata Australia/Lord_Howe'.split(' ');

/** Returns the time as a user in the zone reads it, and the first instant that is read so. */
function localTime(instant: number, timeZone: string): { text: string; first: number } {
  const clock = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const text = clock.format(instant);
  const earlier = [HOUR, HOUR / 2].find((before) => clock.format(instant - before) === text) ?? 0;
  return { text, first: instant - earlier };
}

const anImage = fc.constantFrom(...IMAGES);
const comparison = fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge');
const timeField = fc.constantFrom(...TIMES);

const aFilter: fc.Arbitrary<NaiveFilter> = fc.oneof(
  fc.tuple(fc.constantFrom(...FIELDS), comparison, anImage).map(([field, operator, image]) => {
    const wanted = [comparableOf(image, field) ?? 'linux'];
    return { field, operator, text: String(image[field] ?? 'linux'), wanted };
  }),
  fc
    .record({ field: fc.constantFrom(...FIELDS), image: anImage, shape: fc.nat(4), at: fc.nat(30) })
    .map(({ field, image, shape, at }) => {
      // Whole characters, as a URL holds no half of an emoji.
      const part = [...String(image[field])].slice(at, at + (at % 9) + 1).join('');
      const shapes = [`%${part}%`, `${part}%`, `%${part}`, `%${part.replace(/.$/u, '%')}`, '%,%'];
      const text = shapes[shape] ?? '';
      const operator = at % 3 ? 'like' : 'notlike';
      return { field, operator, text: at % 2 ? text.toUpperCase() : text, wanted: [] };
    }),
  fc.tuple(fc.constantFrom(...TEXTS), anImage, fc.nat(9)).map(([field, image, at]) => {
    const text =
      [...String(image[field])]
        .slice(at, at + 3)
        .join('')
        .trim() || 'a';
    return { field, operator: '!~', text, wanted: [] };
  }),
  fc
    .tuple(fc.constantFrom('id', 'name', 'folder'), fc.array(anImage, { minLength: 1 }))
    .map(([field, some]) => {
      const wanted = some.map((image) => image[field] ?? 'none');
      return { field, operator: 'in', text: wanted.join(','), wanted };
    }),
  fc.constantFrom('eq', 'ne').map((operator) => {
    return { field: 'folder' as const, operator, text: 'null', wanted: [null] };
  }),
  fc.tuple(timeField, comparison, anImage).map(([field, operator, image]) => {
    const instant = Number(comparableOf(image, field));
    return { field, operator, text: new Date(instant).toISOString(), wanted: [instant] };
  }),
  fc
    .tuple(timeField, comparison, fc.integer({ min: 1, max: 3000 }))
    .map(([field, operator, days]) => {
      return { field, operator, text: `-${days}d`, wanted: [NOW - days * DAY] };
    }),
);

const aSort = fc.tuple(fc.constantFrom(...FIELDS), fc.constantFrom('asc', 'desc'));

/** A number or a part of a name. */
const aWord = fc.oneof(
  fc.constantFrom('8', '9', '8.1', '8.10', '10', '2', '64', '86', '100'),
  fc.tuple(anImage, fc.nat(18), fc.integer({ min: 1, max: 8 })).map(([{ name }, at, length]) => {
    const word = [...name].slice(at, at + length).join('') || 'a';
    return at % 2 ? word.toUpperCase() : word;
  }),
);

const aQuery = fc.record({
  words: fc.array(aWord, { maxLength: 2 }),
  zone: fc.constantFrom(...USER_ZONES),
  filters: fc.array(aFilter, { maxLength: 3 }),
  localTimes: fc.array(fc.tuple(timeField, fc.constantFrom('lt', 'ge'), anImage), { maxLength: 1 }),
  sorts: fc.array(aSort, { maxLength: 3 }),
  limit: fc.integer({ min: 1, max: IMAGES.length + 10 }),
});

type Query = typeof aQuery extends fc.Arbitrary<infer Type> ? Type : never;

/** The filters, and those with times as the user's clock shows them. */
function filtersOf({ filters, localTimes, zone }: Query): readonly NaiveFilter[] {
  const more = localTimes.map(([field, operator, image]) => {
    const { text, first } = localTime(Number(comparableOf(image, field)), zone);
    return { field, operator, text, wanted: [first] };
  });
  return [...filters, ...more];
}

/** Sorts stably by one key after the other, the least significant first. */
function resultOf(query: Query): Image[] {
  const { words, sorts, limit } = query;
  const filters = filtersOf(query);
  const result = IMAGES.filter(
    (image) =>
      words.every((word) => hasWord(image, word)) && filters.every((each) => passes(image, each)),
  ).reverse();
  for (const [field, direction] of sorts.toReversed()) {
    const sign = direction === 'desc' ? -1 : 1;
    result.sort((a, b) => sign * order(comparableOf(a, field), comparableOf(b, field)));
  }
  return result.slice(0, limit);
}

function argumentsOf(query: Query): string[] {
  const { words, sorts, limit } = query;
  return [
    ...`images list -o ${limit % 2 ? 'json' : 'ndjson'} --per-page 50 --limit ${limit}`.split(' '),
    ...filtersOf(query).flatMap(({ field, operator, text }) => [
      '--filter',
      operator === '!~' ? `${field}!~${text}` : `${field},${operator},${text}`,
    ]),
    ...sorts.flatMap((key) => ['--sort', key.join(',')]),
    '--',
    ...words,
  ];
}

/**
 * Applies a filter as a database with another collation does: `_` stands for any character. Ignores case, or minds it
 * and stores booleans as 1 and 0.
 */
function filtered(filter: string | undefined, mindsCase: boolean): readonly Image[] {
  if (filter === undefined) return IMAGES;
  const [, field, operator = '', content = ''] = /^(\w+),(\w+),(.*)$/s.exec(filter) ?? [];
  const fold = (value: unknown) => {
    if (!mindsCase) return String(value).toLowerCase();
    return String(typeof value === 'boolean' ? Number(value) : value);
  };
  const escaped = content.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = escaped.replaceAll('%', '.*').replaceAll('_', '.');
  const like = new RegExp(`^${fold(pattern)}$`, 'su');
  return IMAGES.filter((image) => {
    const value = image[field as Field];
    if (operator === 'eq') return fold(value) === fold(content);
    if (operator === 'in') return content.split(',').map(fold).includes(fold(value));
    if (operator === 'like') return value !== null && like.test(fold(value));
    const wanted = [Number(content)];
    return passes(image, { field: field as Field, operator, text: '', wanted });
  });
}

function collated(images: readonly Image[], sort: string | undefined): Image[] {
  const [field = 'id', direction] = (sort ?? 'id').split(',') as [Field, string?];
  const sign = direction === 'desc' ? -1 : 1;
  const keyOf = (image: Image) => String(image[field]).toLowerCase().replaceAll('-', '');
  return images.toSorted((a, b) => sign * keyOf(a).localeCompare(keyOf(b)));
}

/** Sorts as a locale does, with null last. */
function sortedByLocale(images: readonly Image[], sort: string | undefined): Image[] {
  const [field = 'id', direction] = (sort ?? 'id').split(',') as [Field, string?];
  const sign = direction === 'desc' ? -1 : 1;
  return images.toSorted((a, b) => {
    const [left, right] = [a[field], b[field]];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * String(left).localeCompare(String(right), 'en', { numeric: true });
  });
}

/** Whether rows are compared in their order; with a limit, of unordered ones only that each matches. */
type Order = 'ordered' | 'unordered';

it.each<[string, Order, (filter?: string, sort?: string) => readonly Image[], boolean]>([
  [
    'has another collation',
    'unordered',
    (filter, sort) => collated(filtered(filter, false), sort),
    true,
  ],
  [
    'minds case and has a locale',
    'unordered',
    (filter, sort) => sortedByLocale(filtered(filter, true), sort),
    true,
  ],
  ['echoes the filter only', 'ordered', (_, sort) => findImages(IMAGES, undefined, sort), true],
  ['applies and echoes nothing', 'ordered', () => IMAGES, false],
])(
  `images list returns what ${RUNS} random queries match, from a service that %s`,
  { timeout: 60_000 + RUNS * 100 },
  async (_, order, find, echoes) => {
    const { imgctl } = await scriptedUser(({ url }) => {
      const { searchParams } = url;
      const [filter, sort] = ['filter', 'sort'].map((name) => searchParams.get(name) ?? undefined);
      if (!echoes) for (const name of ['filter', 'sort']) searchParams.delete(name);
      return { json: cataloguePage(url, find(filter, sort)) };
    });
    await expectResults(order, (query) => imgctl(argumentsOf(query), { time: NOW }));
  },
);

it(`images list --from returns what ${RUNS} random queries match`, {
  timeout: 60_000 + RUNS * 100,
}, async () => {
  const file = path.join(temporaryDirectory(), 'catalogue.json');
  const taken = { taken_at: '2025-08-01T00:00:00Z', base_url: 'https://x', username: 'demo' };
  writeFileSync(file, JSON.stringify({ version: 1, ...taken, images: IMAGES }));
  const { imgctl } = localUser();
  await expectResults('ordered', (query) => {
    const [group = '', name = '', ...others] = argumentsOf(query).filter(
      (word, index, all) => word !== '--per-page' && all[index - 1] !== '--per-page',
    );
    return imgctl([group, name, '--from', file, ...others], { time: NOW });
  });
});

afterEach(() => void vi.unstubAllEnvs());

/** Runs random queries and compares what each prints with what it matches. */
async function expectResults(order: Order, list: (query: Query) => Promise<CliResult>) {
  let matched = 0;
  await fc.assert(
    fc.asyncProperty(aQuery, async (query) => {
      vi.stubEnv('TZ', query.zone);
      const { stdout, stderr, exitCode } = await list(query);
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      const expected = resultOf(query);
      const rows = rowsOf(stdout);
      // As text, so that the order of the fields counts too.
      const texts = (images: readonly unknown[]) => images.map((image) => JSON.stringify(image));
      if (order === 'ordered') expect(texts(rows)).toEqual(texts(expected));
      else {
        const matching = texts(resultOf({ ...query, sorts: [], limit: IMAGES.length }));
        expect(matching).toEqual(expect.arrayContaining(texts(rows)));
        expect(new Set(texts(rows)).size).toBe(expected.length);
      }
      if (expected.length > 0) matched += 1;
    }),
    { numRuns: RUNS, seed: 20_250_801 },
  );
  expect(matched).toBeGreaterThan(RUNS / 4);
}
