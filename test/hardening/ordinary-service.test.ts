// The image commands on a service that filters and sorts with PostgreSQL, which no code of ours can influence.

import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { rowsOf } from '../support/catalogue-page.ts';
import {
  COLUMNS,
  changingTable,
  database,
  type Habits,
  sqlService,
} from '../support/sql-service.ts';
import { configDirectory, scriptedUser } from '../support/users.ts';

const TIMES = ['created_on', 'updated_on'] as const;
const TEXTS = ['name', 'path', 'label', 'folder', 'data_store'] as const;
const FIELDS = ['id', ...TEXTS, 'public', ...TIMES] as const;
type Field = (typeof FIELDS)[number];

/** RANDOM_QUERIES=1000 runs this many on each service, and a tenth on 5,000 images. */
const RUNS = Number(process.env.RANDOM_QUERIES ?? 5);

// PostgreSQL has to start.
beforeAll(async () => void (await database()));

/** Returns the value of a field as imgctl compares it: texts by code point, times by second. */
function comparable(field: Field): string {
  if (TEXTS.some((text) => text === field)) return `${field} collate "C"`;
  return field.endsWith('_on') ? `date_trunc('second', ${field})` : field;
}

/** Missing values come first, and last in a descending order; of equal values the highest id is first. */
function orderOf(sorts: readonly (readonly [Field, string])[]): string {
  const keys = sorts.map(
    ([field, way]) => `${comparable(field)} ${way} nulls ${way === 'asc' ? 'first' : 'last'}`,
  );
  return `order by ${[...keys, 'id desc'].join(', ')}`;
}

type Changes = 'at each request' | 'by a timer';
type Service = [name: string, Habits, changes?: Changes];

/** Services that differ from each other. */
const SERVICES: readonly Service[] = [
  ['ignores case', {}],
  ['minds case', { mindsCase: TEXTS }],
  ['minds the case of folders and paths alone', { mindsCase: ['folder', 'path'] }],
  ['orders equal values by id', { secondKey: 'id' }],
  ['collates as in German', { collation: 'de' }],
  ['collates as in Turkish', { collation: 'tr' }],
  ['takes letters as equal but for case and accents', { collation: 'loose' }],
  [
    'refuses large pages, and sends 404 after the last',
    { refusesPerPage: true, endsWith404: true },
  ],
  [
    'knows neither labels nor paths',
    { unfiltered: ['label', 'path'], unsorted: ['label', 'path'], refusal: 422 },
  ],
  ['refuses all filters', { unfiltered: FIELDS }],
  ['sorts by id alone', { unsorted: FIELDS.slice(1) }],
  ['sorts nothing', { unsorted: FIELDS, secondKey: 'id' }],
  ['ignores filters', { ignores: true }],
  ['has a firewall against filters', { unfiltered: FIELDS, refusal: 403 }],
  ['lowers the pattern', { like: 'lowers the pattern' }],
  ['knows only contains, starts and ends', { like: 'contains, starts or ends' }],
  ['sends pages of 50 and 100 images in turn', { sizes: [50, 100] }],
];

/** Services whose catalogue changes while a list is read. */
const CHANGING: readonly Service[] = [
  ['replaces an image at every request', {}, 'at each request'],
  ['replaces an image all the time', {}, 'by a timer'],
  ['minds case, and replaces images', { mindsCase: TEXTS }, 'at each request'],
  ['sends pages of two sizes, and replaces images', { sizes: [50, 100] }, 'at each request'],
];

const COMPARISONS = { eq: '=', ne: 'is distinct from', lt: '<', le: '<=', gt: '>', ge: '>=' };

const NOW = Date.parse('2024-03-01T00:00:00Z');

/** A filter or word as it is typed, and what it means in SQL. */
interface Condition {
  readonly typed: readonly string[];
  readonly sql: string;
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** In a pattern only % has a meaning; `not like` includes images without a folder. */
function likeSql(field: string, pattern: string, isNot: boolean): string {
  const sql = `coalesce(${field} ilike ${quote(pattern.replace(/[\\_]/g, '\\$&'))}, false)`;
  return isNot ? `not ${sql}` : sql;
}

/** Values that images have, so that most filters match some. */
type Sample = Readonly<Record<string, unknown>>;

function conditions(samples: readonly Sample[]): fc.Arbitrary<Condition> {
  const sample = fc.constantFrom(...samples);
  const comparison = fc.constantFrom(...(Object.keys(COMPARISONS) as (keyof typeof COMPARISONS)[]));
  const filter = (field: string, operator: string, value: string, sql: string): Condition => ({
    typed: ['--filter', `${field},${operator},${value}`],
    sql,
  });
  const part = fc
    .record({
      sample,
      field: fc.constantFrom(...TEXTS),
      at: fc.nat(25),
      length: fc.integer({ min: 1, max: 9 }),
    })
    .map(({ sample: image, field, at, length }) => {
      const text = [...String(image[field] ?? 'linux')];
      const from = at % Math.max(1, text.length - 2);
      return {
        field,
        text:
          text
            .slice(from, from + length)
            .join('')
            .trim() || 'a',
      };
    });
  return fc.oneof(
    fc.tuple(fc.constantFrom(...FIELDS), comparison, sample).map(([field, operator, image]) => {
      const value = String(image[field] ?? 'linux');
      return filter(
        field,
        operator,
        value,
        `${comparable(field)} ${COMPARISONS[operator]} ${quote(value)}`,
      );
    }),
    fc
      .tuple(part, fc.nat(5), fc.boolean(), fc.boolean())
      .map(([{ field, text }, shape, isLarge, isNot]) => {
        const shapes = [
          `%${text}%`,
          `${text}%`,
          `%${text}`,
          text,
          `%${[...text].join('%')}%`,
          `${text[0]}%${text.at(-1)}%`,
        ];
        const pattern = (isLarge ? shapes[shape]?.toUpperCase() : shapes[shape]) ?? '';
        return filter(field, isNot ? 'notlike' : 'like', pattern, likeSql(field, pattern, isNot));
      }),
    // A sign in the text would be part of the operator.
    part
      .filter(({ text }) => !/^[=<>~]/.test(text))
      .chain((it) => fc.constantFrom('~', '!~').map((sign) => ({ ...it, sign })))
      .map(({ field, text, sign }) => ({
        typed: ['--filter', `${field}${sign}${text}`],
        sql: `${sign === '~' ? '' : 'not '}coalesce(strpos(lower(${field}), lower(${quote(text)})) > 0, false)`,
      })),
    fc
      .tuple(fc.constantFrom('id', ...TEXTS), fc.array(sample, { minLength: 1, maxLength: 9 }))
      .map(([field, images]) => {
        const values = images.flatMap((image) => String(image[field] ?? 'none').split(','));
        return filter(
          field,
          'in',
          values.join(','),
          `${comparable(field)} in (${values.map(quote).join(',')})`,
        );
      }),
    fc.constantFrom(...TEXTS).map((field) => filter(field, 'eq', 'null', `${field} is null`)),
    fc
      .tuple(fc.constantFrom(...TIMES), fc.constantFrom('lt', 'ge'), fc.nat(2_200))
      .map(([field, operator, days]) => {
        const sql = `${field} ${operator === 'lt' ? '<' : '>='} ${quote(new Date(NOW - days * 86_400_000).toISOString())}`;
        return filter(field, operator, `-${days}d`, sql);
      }),
    // Words without digits, which a name has anywhere.
    part
      .filter(({ text }) => /^[^\d\s%-]+$/.test(text))
      .map(({ text }) => ({
        typed: [text],
        sql: likeSql('name', `%${text}%`, false),
      })),
  );
}

const aSort = fc.tuple(fc.constantFrom(...FIELDS), fc.constantFrom('asc', 'desc'));

/** Runs random queries in JSON and ndjson. Images that are touched meanwhile do not count. */
async function expectSameRows(count: 250 | 5_000, runs: number, habits: Habits, changes?: Changes) {
  const db = await database();
  const table = changes && (await changingTable(db, count, 'changing'));
  const from = table?.from ?? `images_${count}`;
  const timer = setInterval(() => changes === 'by a timer' && table?.replace(), 30);
  onTestFinished(() => clearInterval(timer));
  const samples = (await db.query<Sample>(`select ${COLUMNS} from ${from} limit 100`)).rows;
  const onRequest = changes === 'at each request' ? table?.replace : undefined;
  const service = sqlService(db, { from, ...habits, ...(onRequest ? { onRequest } : {}) });
  const { imgctl } = await scriptedUser(service, { IMGCTL_CONFIG_DIR: configDirectory({}) });
  let matched = 0;
  const query = fc.record({
    conditions: fc.array(conditions(samples), { maxLength: 3 }),
    sorts: fc.array(aSort, { maxLength: 2 }),
    limit: table ? fc.constant(null) : fc.option(fc.integer({ min: 1, max: count + 10 })),
    format: fc.constantFrom('json', 'ndjson'),
  });
  const property = fc.asyncProperty(query, async (asked) => {
    const { conditions, sorts, limit, format } = asked;
    const options = conditions.flatMap(({ typed }) => (typed.length > 1 ? typed : []));
    const words = conditions.flatMap(({ typed }) => (typed.length > 1 ? [] : typed));
    const result = await imgctl(
      [
        ...['images', 'list', '-o', format, '--time=raw', ...options],
        ...sorts.flatMap((sort) => ['--sort', sort.join(',')]),
        ...(limit === null ? [] : ['--limit', `${limit}`]),
        '--',
        ...words,
      ],
      { time: NOW },
    );
    expect(result).toMatchObject({ stderr: '', exitCode: 0 });
    const where = ['true', ...conditions.map(({ sql }) => sql)].join(' and ');
    const { rows } = await db.query<Sample>(
      `select ${COLUMNS} from ${from} as image where ${where} ${orderOf(sorts)} limit ${limit ?? 'all'}`,
    );
    const found = rowsOf(result.stdout);
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    const touched = (await table?.touched()) ?? new Set();
    const stayed = (images: readonly { readonly id?: unknown }[]) =>
      images.filter(({ id }) => !touched.has(id));
    expect(stayed(found)).toEqual(stayed(rows));
    if (rows.length > 0) matched += 1;
  });
  await fc.assert(property, { numRuns: runs, seed: 20_250_801, endOnFailure: true });
  expect(matched).toBeGreaterThan(runs / 4);
}

describe('images list on PostgreSQL', () => {
  it('is needed as a judge, because the pages of this service repeat and lack images', async () => {
    const service = sqlService(await database(), { from: 'images_5000' });
    const ids = new Set<unknown>();
    for (let page = 1; page <= 50; page += 1) {
      const query = `expand=1&sort=data_store,asc&per_page=100&page=${page}`;
      const url = new URL(`http://127.0.0.1/v2/image?${query}`);
      const { json } = await service({ method: 'GET', target: '', headers: {}, url }, page);
      for (const { id } of (json as { data: { id: number }[] }).data) ids.add(id);
    }
    expect(ids.size).toBeLessThan(5_000);
  });

  it.each<[string, Habits, Changes?]>([...SERVICES, ...CHANGING])(
    `returns each image that stays once, as SQL does, for ${RUNS} random queries to a service that %s`,
    { timeout: 300_000 + RUNS * 10_000 },
    async (_, habits, changes) => {
      await expectSameRows(250, RUNS, habits, changes);
      await expectSameRows(5_000, Math.ceil(RUNS / 10), habits, changes);
    },
  );
});
