// The image commands on a service that filters and sorts with PostgreSQL, which no code of ours can influence.

import fs from 'node:fs';
import fc from 'fast-check';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { idsOf, rowsOf } from '../../support/catalogue-page.ts';
import { temporaryDirectory } from '../../support/io.ts';
import type { Handler } from '../../support/scripted-server.ts';
import {
  COLUMNS,
  changingTable,
  database,
  type Habits,
  sqlService,
} from '../../support/sql-service.ts';
import { configDirectory, scriptedUser } from '../../support/users.ts';

const TIMES = ['created_on', 'updated_on'] as const;
const TEXTS = ['name', 'path', 'label', 'folder', 'data_store'] as const;
const FIELDS = ['id', ...TEXTS, 'public', ...TIMES] as const;
type Field = (typeof FIELDS)[number];

/** SORTS_OF=5000 sorts the large table. */
const SORTED = Number(process.env.SORTS_OF ?? 250);

/** RANDOM_QUERIES=1000 runs this many on each service alone, and a tenth on 5,000 images. */
const RUNS = Number(process.env.RANDOM_QUERIES ?? 0);

// PostgreSQL has to start.
beforeAll(async () => void (await database()), 300_000);

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

/** Returns a user of the service; `change` returns the URL that the service receives instead. */
async function userOf(habits: Habits = {}, change = (url: URL) => url) {
  const { from = 'images_250' } = habits;
  const db = await database();
  const service = sqlService(db, habits);
  const handler: Handler = (request, index) => {
    return service({ ...request, url: change(new URL(request.url)) }, index);
  };
  const { imgctl, requests } = await scriptedUser(handler);
  return {
    imgctl,
    requests,
    /** Returns the ids of a list that ends well. */
    async list(options: string) {
      const { stdout, ...result } = await imgctl(`images list --json --time raw ${options}`);
      expect(result).toEqual({ stderr: '', exitCode: 0 });
      return idsOf(stdout);
    },
    /** Returns the ids that SQL returns. */
    async select(sql: string) {
      const { rows } = await db.query<{ id: number }>(`select id from ${from} as image ${sql}`);
      return rows.map(({ id }) => id);
    },
  };
}

describe('images list on a service without an order of equal values', () => {
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

  it.each(FIELDS)('sorts completely by %s', { timeout: 60_000 + SORTED * 30 }, async (field) => {
    const { list, select } = await userOf({ from: `images_${SORTED}` });
    // The service's own order of the others never counts.
    const mayStopEarly = field === 'id' || TIMES.some((time) => time === field);
    const limits = mayStopEarly ? [undefined, 5, 101] : [SORTED > 2_500 ? 2_500 : 101];
    for (const way of ['asc', 'desc']) {
      const ids = await select(orderOf([[field, way]]));
      for (const limit of limits) {
        const options = `-s ${field},${way} ${limit ? `-n ${limit}` : ''}`;
        expect({ options, ids: await list(options) }).toEqual({
          options,
          ids: ids.slice(0, limit),
        });
      }
    }
  });

  it('does not take images without a time for the newest, though PostgreSQL sends them first', async () => {
    const updated = 'case when id % 2 = 0 then null else updated_on end as updated_on';
    const columns = `id, name, path, label, folder, data_store, public, created_on, ${updated}`;
    const { list, select } = await userOf({ from: `(select ${columns} from images_250)` });
    for (const way of ['asc', 'desc']) {
      const ids = await select(orderOf([['updated_on', way]]));
      expect(await list(`-s updated_on,${way} -n 5`)).toEqual(ids.slice(0, 5));
    }
  });

  it('lists the newest of a folder, and ends with a page that is 404', async () => {
    const user = await userOf({ from: 'images_5000', endsWith404: true });
    const newest = await user.select(
      `where folder = 'ubuntu' ${orderOf([['created_on', 'desc']])}`,
    );
    expect(await user.list('-f folder=ubuntu -s created_on,desc -n 150')).toEqual(
      newest.slice(0, 150),
    );
    expect(await user.list('-f folder=ubuntu -s created_on,desc')).toEqual(newest);
  });
});

/** Swaps large and small letters. */
const FLIPPED = `translate(name, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ', 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz')`;
const PAIRS = `(select * from images_250 union all
  select id + 1, ${FLIPPED}, folder, data_store, public, created_on, updated_on, label, path from images_250)`;

/** Only the images that are looked for have an i. */
const FEW = "(select * from images_5000 where name ~ '^(ubuntu|rocky|mini)')";

/** Sends the first image of all for a request of one. */
const ofAnother = (url: URL) => {
  if (url.searchParams.get('per_page') === '1') url.searchParams.delete('filter');
  return url;
};

describe('images list, looking for words', () => {
  const ignoring = (url: URL) => {
    url.searchParams.delete('filter');
    return url;
  };
  const minding = { mindsCase: TEXTS };

  it.each<[string, string, string, Habits, ((url: URL) => URL)?]>([
    ['ignores filters', 'UBUNTU', 'name', {}, ignoring],
    ['minds case', 'UBUNTU', 'name', minding],
    ['minds case for names alone', '-f folder~LINUX UBUNTU', 'name', { mindsCase: ['name'] }],
    ['minds case for folders alone', '-f folder~LINUX', 'folder', { mindsCase: ['folder'] }],
    ['is Turkish', '-f name~MINI', 'name', { collation: 'tr', from: FEW }],
    ['sends a row of another image as proof', 'UBUNTU', 'name', minding, ofAnother],
    ['has each name in both cases', 'uBuntu', 'name', { ...minding, from: PAIRS }],
  ])('finds all from a service that %s', async (_, options, field, habits, change) => {
    const { list, select } = await userOf(habits, change);
    const word = options.match(/\w+$/)?.[0];
    const also =
      options.includes('folder~') && field === 'name' ? "and folder ilike '%linux%'" : '';
    const ids = await select(`where ${field} ilike '%${word}%' ${also} order by id desc`);
    expect(ids).not.toEqual([]);
    expect(await list(options)).toEqual(ids);
  });

  it('finds nothing in an empty catalogue', async () => {
    const { list, requests } = await userOf({ from: 'images_0' });
    expect(await list('ubuntu')).toEqual([]);
    expect(requests().length).toBeLessThan(4);
  });
});

/** Returns what requests ask for, once each: the filter, the sort if it is not id,desc, and the number of images if not 100. */
function described(requests: readonly string[]): string[] {
  const texts = requests.map((request) => {
    const { pathname, searchParams } = new URL(request.replace('GET ', 'http://service'));
    const { filter = 'all', sort, per_page } = Object.fromEntries(searchParams);
    if (sort === undefined) return pathname;
    const shown = sort === 'id,desc' ? filter : `${filter} by ${sort}`;
    const count = per_page === '100' ? '' : `, ${per_page} image`;
    return `${shown.replace(/^id,lt,\d+$/, 'below')}${count}`;
  });
  return [...new Set(texts)];
}

/** All images by id. */
const ALL = ['all', 'below'];
const PROOF = 'name,like,%REEbsd-22.04-EL8-20200102.OV%, 1 image';
const UBUNTU = ['name,like,%ubuntu%', 'all', PROOF];

/** The number of requests for 250 images, and what they ask for. */
describe.each<[string, Habits, ...[string, number, string[]][]]>([
  [
    'ignores case',
    {},
    ['list', 3, ALL],
    ['list ubuntu', 3, UBUNTU],
    ['list ubuntu 22.04', 3, UBUNTU],
    ['list -f name~ubuntu', 3, UBUNTU],
    ['list nosuch', 3, ['name,like,%nosuch%', 'all', PROOF]],
    ['list -f folder=ubuntu', 1, ['folder,eq,ubuntu']],
    ['list -f id<500', 1, ['below']],
    ['list -f id,in,3,10', 1, ['id,in,3,10']],
    ['list -f folder!=ubuntu', 3, ALL],
    ['list -f folder=null', 3, ALL],
    ['list -f public=true', 3, ALL],
    ['list -f created_on>=2018-03-20', 3, ALL],
    ['list -f name,like,%ubuntu-2%amd64%', 3, ALL],
    ['get 10', 1, ['/v2/image/10']],
    ['get ubuntu-16.04-amd64-20200101.ova', 1, ['name,eq,ubuntu-16.04-amd64-20200101.ova']],
    ['latest ubuntu 22.04 amd64', 3, UBUNTU],
    ['changes', 3, ALL],
  ],
  [
    'minds case',
    { mindsCase: TEXTS },
    ['list ubuntu', 5, [...UBUNTU, ...ALL.slice(1)]],
    ['list nosuch', 5, ['name,like,%nosuch%', 'all', PROOF, ...ALL.slice(1)]],
    ['list -f folder=ubuntu', 1, ['folder,eq,ubuntu']],
  ],
  [
    'minds the case of names alone',
    { mindsCase: ['name'] },
    ['list ubuntu -f folder~BSD', 6, [...UBUNTU, 'folder,like,%BSD%', ...ALL.slice(1)]],
  ],
])('on a service that %s', (_, habits, ...rows) => {
  it.each(rows)('images %s sends no strange request', async (line, count, expected) => {
    const { imgctl, requests } = await userOf(habits);
    await imgctl(`images ${line}`);
    const sent = requests();
    expect({ count: sent.length, sent: described(sent) }).toEqual({ count, sent: expected });
  });
});

/** A user of a service with 250 images, and what a line asks of it: the parameters of each request. */
async function askerOf(habits: Habits = {}) {
  const db = await database();
  const user = await scriptedUser(sqlService(db, habits));
  const ids = async (sql: string) => {
    const { from = 'images_250' } = habits;
    const { rows } = await db.query<{ id: number }>(`select id from ${from} ${sql}`);
    return rows.map(({ id }) => id);
  };
  const asked = async (line: string) => {
    const before = user.server.requests.length;
    const { stdout, stderr, exitCode } = await user.imgctl(`${line} -o json`);
    const requests = user.server.requests.slice(before).map(({ url }) => {
      const { filter, sort, page, per_page } = Object.fromEntries(url.searchParams);
      const order = sort === 'id,desc' ? [] : [`by ${sort}`];
      return [page, filter, ...order, ...(per_page === '1' ? ['top'] : [])]
        .filter(Boolean)
        .join(' ');
    });
    return { found: exitCode === 0 ? idsOf(stdout) : [], stderr, exitCode, requests };
  };
  return { ...user, ids, asked };
}

/** All 250 images by id, whose gaps are of seven. */
const PAGES = ['1', '1 id,lt,1053', '1 id,lt,353'];

describe('a sorted list', () => {
  it.each([
    ['-s updated_on,desc -n 5', ['1 by updated_on,desc']],
    // The next ones may be as new.
    ['-s updated_on,desc -n 100', ['1 by updated_on,desc', ...PAGES]],
    ['-s updated_on,desc -n 101', PAGES],
    ['-s updated_on,desc', PAGES],
    ['-s updated_on -n 5', PAGES],
    ['-s name -n 5', PAGES],
    ['-s id,desc -n 5', ['1']],
    ['-s id -n 5', ['1 by id,asc']],
    ['-s id -n 101', ['1 by id,asc', ...PAGES]],
    ['-n 5', ['1']],
  ])('asks for %s only what saves pages', async (options, requests) => {
    const { asked } = await askerOf();
    expect((await asked(`images list ${options}`)).requests).toEqual(requests);
  });
});

const MINDS = { mindsCase: ['name'] };
const TOP_PROOF = /^1 name,like,%[^%]+% top$/;
const [, ...REST] = PAGES;

describe('a filtered list', () => {
  it.each<[string, Habits, string, (string | RegExp)[]]>([
    ["-f 'name~UBUNTU'", {}, "name ilike '%ubuntu%'", ['1 name,like,%UBUNTU%', '1', TOP_PROOF]],
    [
      'ubuntu -s created_on,desc -n 2',
      {},
      "name ilike '%ubuntu%' order by created_on desc, id desc limit 2",
      ['1 name,like,%ubuntu% by created_on,desc', '1', TOP_PROOF],
    ],
    [
      'ubuntu 20 -f id>1000',
      MINDS,
      "name ilike '%ubuntu%' and name like '%-20.%' and id > 1000",
      ['1 name,like,%ubuntu%', '1', TOP_PROOF, '1 id,gt,1000', ...REST],
    ],
    [
      'ubuntu -f path~store',
      { mindsCase: ['path'] },
      "name ilike '%ubuntu%'",
      ['1 name,like,%ubuntu%', '1', TOP_PROOF],
    ],
    ['22 -f name,like,ubuntu%', {}, "name ilike 'ubuntu-22%'", ['1 name,like,%22%', TOP_PROOF]],
    ['-f name=a,b-3.ova', {}, "name = 'a,b-3.ova'", PAGES],
    ['-f name~a,b', {}, "name like 'a,b%'", PAGES],
    ["-f 'name~%'", {}, "name like '%\\%%'", PAGES],
    ["-f 'name!~%'", {}, "name not like '%\\%%'", PAGES],
    ['-f name,in,null,x', {}, "name = 'null'", ['1 name,in,null,x']],
    [
      'mini',
      { collation: 'tr' },
      "name ilike '%mini%'",
      ['1 name,like,%mini%', '1', TOP_PROOF, ...REST],
    ],
  ])('asks for %s in the case typed, on %j', async (line, habits, where, expected) => {
    const { asked, ids } = await askerOf(habits);
    const { found, stderr, requests } = await asked(`images list ${line}`);
    const order = where.includes('order') ? '' : 'order by id desc';
    expect({ found, stderr }).toEqual({ found: await ids(`where ${where} ${order}`), stderr: '' });
    expect(requests).toEqual(
      expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
    );
  });
});

describe('a service that refuses', () => {
  it.each<[string, Habits, string, string[]]>([
    ['a field', { unfiltered: ['label'] }, '-f label=x', ['1 label,eq,x', ...PAGES]],
    [
      'a sort',
      { unsorted: ['updated_on'] },
      '-s updated_on,desc -n 1',
      ['1 by updated_on,desc', ...PAGES],
    ],
    ['an id with 422', { refusal: 422 }, '-f id=3000000000', ['1 id,eq,3000000000', ...PAGES]],
    [
      'a field with 403',
      { refusal: 403, unfiltered: ['label'] },
      '-f label=x',
      ['1 label,eq,x', ...PAGES],
    ],
  ])('%s gets the list by id: %s', async (_, habits, options, requests) => {
    const { asked, imgctl } = await askerOf(habits);
    expect(await asked(`images list ${options}`)).toMatchObject({ requests, exitCode: 0 });
    const { stderr } = await imgctl(`images list ${options} --debug`);
    expect(stderr).toContain('debug: the service refused ');
  });

  it.each<[string, Habits]>([
    ['nosuch.ova', { unfiltered: ['label'] }],
    ['nosuch.ova', { unfiltered: ['label'], refusal: 404 }],
    ['3000000000', {}],
    ['3000000000', { refusal: 500 }],
  ])('a part of images get %s is told from an image that is nowhere: %j', async (name, habits) => {
    const { imgctl } = await askerOf(habits);
    const { stderr, exitCode } = await imgctl(`images get ${name}`);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining(name), exitCode: 5 });
  });

  it.each([
    ['filters of ids', { unfiltered: ['id'] }],
    ['to sort by id', { unsorted: ['id'], secondKey: 'id' as const }],
  ])('%s sends the pages by number, and all images', async (_, habits) => {
    const { asked, ids } = await askerOf(habits);
    const { found, stderr, requests } = await asked('images list');
    expect({ found, stderr }).toEqual({ found: await ids('order by id desc'), stderr: '' });
    expect(requests.some((request) => request.startsWith('3'))).toBe(true);
  });
});

describe('--page', () => {
  it('shows the page of the filter as typed', async () => {
    const { asked } = await askerOf(MINDS);
    const { requests, stderr, found } = await asked('images list --page 1 -f name~ubuntu');
    expect(requests).toEqual(['1 name,like,%ubuntu% by undefined']);
    expect(stderr).toBe('');
    expect(found.length).toBeGreaterThan(20);
  });

  it.each<[Habits, RegExp]>([
    [{ endsWith404: true }, /page 99 does not exist/],
    [{}, /page 99 does not exist; the last page is 3/],
  ])('names a page that a service does not have: %j', async (habits, text) => {
    const { asked } = await askerOf(habits);
    const stderr = expect.stringMatching(text);
    expect(await asked('images list --page 99')).toMatchObject({ stderr, exitCode: 5 });
  });
});

it.each([
  ['null', /6|3/],
  ['web,in,prod', /no image is named web,in,prod/],
  ['a,b-3.ova', /a,b-3/],
])('images get takes any name as a name: %s', async (name, shown) => {
  const { imgctl } = await askerOf();
  const { stdout, stderr } = await imgctl(['images', 'get', name]);
  expect(stdout + stderr).toMatch(shown);
  expect(stderr).not.toMatch(/unknown|no image is named (null|a,b)/);
});

describe('images lock check', () => {
  it.each<[string, Habits, number]>([
    // A page for each lock, the first page of all, and questions about case.
    ['all of few images', {}, 7],
    ['all of few images', MINDS, 7],
    ['all of many images', { from: 'images_5000' }, 62],
    ['all of many images', { from: 'images_5000', ...MINDS }, 62],
  ])('with four locks reads %s once: %j', async (_, habits, maximum) => {
    const { imgctl, server } = await askerOf(habits);
    const cwd = temporaryDirectory();
    const times = { path: null, created_on: null, updated_on: null };
    const locked = ['ubuntu', 'debian', 'rocky', 'mini'].map(async (text) => {
      const sql = `select id, name from ${habits.from ?? 'images_250'} where name like '${text}-%' limit 1`;
      const [image] = (await (await database()).query<object>(sql)).rows;
      return [text, { text: [text], filters: [], ...image, ...times }];
    });
    const images = Object.fromEntries(await Promise.all(locked));
    const file = { version: 1, base_url: server.baseUrl, images };
    fs.writeFileSync(`${cwd}/images.lock.json`, JSON.stringify(file));
    await imgctl('images lock check', { cwd });
    expect(server.requests.length).toBeLessThanOrEqual(maximum);
    const ends = server.requests.filter(({ url }) => /per_page=1&.*1&sort/.test(url.search));
    expect(ends.length).toBeLessThanOrEqual(1);
  });
});

/** Services that differ from each other. */
const SERVICES: readonly (readonly [name: string, Habits])[] = [
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
const CHANGING: readonly (readonly [name: string, Habits, Changes])[] = [
  ['replaces an image at every request', {}, 'at each request'],
  ['replaces an image all the time', {}, 'by a timer'],
  ['minds case, and replaces images', { mindsCase: TEXTS }, 'at each request'],
  ['sends pages of two sizes, and replaces images', { sizes: [50, 100] }, 'at each request'],
];

type Changes = 'at each request' | 'by a timer';

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

/** Runs random queries, each on one of the services, in JSON and ndjson. Images that are touched meanwhile do not count. */
async function expectSameRows(
  count: 250 | 5_000,
  runs: number,
  services: readonly (readonly [string, Habits, Changes?])[],
) {
  const db = await database();
  const [[, , changes] = []] = services;
  const table = changes && (await changingTable(db, count, 'changing'));
  const from = table?.from ?? `images_${count}`;
  const timer = setInterval(() => changes === 'by a timer' && table?.replace(), 30);
  onTestFinished(() => clearInterval(timer));
  const samples = (await db.query<Sample>(`select ${COLUMNS} from ${from} limit 100`)).rows;
  const users = new Map<string, Awaited<ReturnType<typeof scriptedUser>>>();
  for (const [name, habits] of services) {
    const onRequest = changes === 'at each request' ? table?.replace : undefined;
    const service = sqlService(db, { from, ...habits, ...(onRequest ? { onRequest } : {}) });
    users.set(name, await scriptedUser(service, { IMGCTL_CONFIG_DIR: configDirectory({}) }));
  }
  let matched = 0;
  const query = fc.record({
    service: fc.constantFrom(...users.keys()),
    conditions: fc.array(conditions(samples), { maxLength: 3 }),
    sorts: fc.array(aSort, { maxLength: 2 }),
    limit: table ? fc.constant(null) : fc.option(fc.integer({ min: 1, max: count + 10 })),
    format: fc.constantFrom('json', 'ndjson'),
  });
  const property = fc.asyncProperty(query, async (asked) => {
    const { service, conditions, sorts, limit, format } = asked;
    const options = conditions.flatMap(({ typed }) => (typed.length > 1 ? typed : []));
    const words = conditions.flatMap(({ typed }) => (typed.length > 1 ? [] : typed));
    const result = await users
      .get(service)
      ?.imgctl(
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
    const found = rowsOf(result?.stdout ?? '');
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
  it('returns what SQL returns for 25 random queries', { timeout: 60_000 }, () =>
    expectSameRows(250, 25, SERVICES),
  );

  it.each(CHANGING)(
    'returns each image that stays once, from a service that %s',
    { timeout: 60_000 + RUNS * 1_000 },
    async (...service) => {
      await expectSameRows(250, RUNS || 4, [service]);
      if (RUNS > 0) await expectSameRows(5_000, Math.ceil(RUNS / 10), [service]);
    },
  );

  it.each(RUNS > 0 ? SERVICES : [])(
    `returns what SQL returns for ${RUNS} random queries, from a service that %s`,
    { timeout: 60_000 + RUNS * 1_000 },
    async (...service) => {
      await expectSameRows(250, RUNS, [service]);
      await expectSameRows(5_000, Math.ceil(RUNS / 10), [service]);
    },
  );
});
