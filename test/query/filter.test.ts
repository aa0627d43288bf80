// --filter: what is accepted, and which images match locally, whatever their shape.

import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FIELDS } from '../../src/query/fields.ts';
import { contains, equals, OPERATORS, parseFilter, portableTexts } from '../../src/query/filter.ts';
import { filterPredicate } from '../../src/query/filter-predicate.ts';
import { serviceFilter } from '../../src/query/service-filter.ts';
import { decidingZoneFinder } from '../../src/query/unknown-zone.ts';
import { hintOf, thrownBy } from '../support/errors.ts';
import { rows } from '../support/rows.ts';
import { anyCharacter } from '../support/texts.ts';

const NOW = Date.UTC(2024, 5, 15, 12);
const STAMP = '2018-07-18 Wed 15:36:49 EDT';
const UNKNOWN_ZONE = '2018-07-18 Wed 15:36:49 IST';

describe('serviceFilter', () => {
  it.each([
    ['name,like,%ubuntu%', 'name,like,%ubuntu%'],
    ['NAME,LIKE,%Ubuntu%', 'name,like,%Ubuntu%'],
    ['name~a_B', 'name,like,%a_B%'],
    ['name,eq,a\\b', 'name,eq,a\\b'],
    ['id,in, 1, 02 ,-3', 'id,in,1,2,-3'],
    ['name, in, a.ova, b.ova', 'name,in,a.ova,b.ova'],
    ['id>=5', 'id,ge,5'],
    ['id>5', 'id,gt,5'],
    ['id<=5', 'id,le,5'],
    ['id<5', 'id,lt,5'],
    ['id=5', 'id,eq,5'],
    ['name,in,a,b', 'name,in,a,b'],
    ['path~a] b/c', 'path,like,%a] b/c%'],
    ['folder,like,%null%', 'folder,like,%null%'],
    ['name,EQ,~a>=b', 'name,eq,~a>=b'],
    ...rows(undefined, 'folder,eq,null', 'folder,in,null,x', 'folder!=null', 'id!=3'),
    ...rows(undefined, `created_on=${STAMP}`, 'created_on>=2018-07-18', 'created_on~2018'),
    ...rows(undefined, 'name<b', 'folder>=a', 'name=é', 'name~é', 'name,in,a,é', 'name~a\\b'),
    ...rows(undefined, 'name=a,b.ova', 'name~1,2', 'name,like,%a,b', 'name,eq,a,b,,c'),
    ...rows(undefined, 'name=a ', 'name,eq, a', 'name= a', 'name,in,a ,b'),
    ...rows(undefined, 'path~[a] b/c', 'name~5%', 'name,like,a%', 'name,like,%a%b%', 'name,like,a'),
    ...rows(undefined, 'name,like,a%b%', 'name,like,%a%b'),
    ...rows(undefined, 'public=true', 'public,in,TRUE', 'public!=false'),
  ] as const)('returns for %s what cannot lose images: %s', (text, filter) => {
    expect(serviceFilter(parseFilter(text, NOW))?.text).toBe(filter);
  });
});

it.each([
  ['name~abc', 'abc', 5, true],
  ['id,in,1,22', undefined, 4, true],
  ['id<5', undefined, 1, false],
])('the service gets of %s the part %s and %i characters, without loss: %s', (text, ...known) => {
  const [part, valueLength, isLossless] = known;
  const filter = serviceFilter(parseFilter(text, NOW));
  expect(filter).toMatchObject({ part, valueLength, isLossless });
});

it.each(['a', '=a', '~a', '<a', '>a', ' a', 'null', ' null'])(
  'filters for %j can be typed',
  (part) => {
    const [inner, whole] = [contains('name', part), equals('name', part)].map(({ text }) => {
      return filterPredicate(parseFilter(text, NOW));
    });
    const found = [`-${part}-`, part].map((name) => [inner?.({ name }), whole?.({ name })]);
    expect(found).toEqual([
      [true, false],
      [true, true],
    ]);
  },
);

it('contains takes a % as it is, also behind a sign', () => {
  const found = filterPredicate(contains('name', '=5%x'));
  expect(['=5%x', '=5-x'].map((name) => found({ name }))).toEqual([true, false]);
});

it('a sign after the first character of a value stays part of it, as does %', () => {
  const texts = [contains('name', '50%a=b'), equals('name', 'a=b')].map(({ text }) => text);
  expect(texts).toEqual(['name~50%a=b', 'name=a=b']);
});

describe('portableTexts', () => {
  afterEach(() => vi.unstubAllEnvs());

  it.each([
    ['updated_on<2026-11-01', 'updated_on,lt,2026-11-01T00:00:00-04:00'],
    ['updated_on>=2026-11-01', 'updated_on,ge,2026-11-01T00:00:00-04:00'],
    ['updated_on<=2026-11-01', 'updated_on,lt,2026-11-02T00:00:00-05:00'],
    ['updated_on>2026-11-01', 'updated_on,ge,2026-11-02T00:00:00-05:00'],
    // Twice on that day.
    [
      'updated_on=2026-11-01 01:30',
      'updated_on,ge,2026-11-01T01:30:00-04:00 updated_on,lt,2026-11-01T01:31:00-05:00',
    ],
    ['updated_on!=2026-11-01T10:00Z', 'updated_on!=2026-11-01T10:00Z'],
    [`updated_on<=${STAMP}`, `updated_on<=${STAMP}`],
    ['updated_on>=30d', 'updated_on>=30d'],
    ['name~2026-11-01', 'name~2026-11-01'],
  ])('stores %s for every machine as %s', (text, stored) => {
    vi.stubEnv('TZ', 'America/New_York');
    expect(portableTexts(parseFilter(text, NOW)).join(' ')).toBe(stored);
  });

  it.each([
    ['updated_on!=2026-11-01', '2026-11-01'],
    ['updated_on,in,2026-11-01T00:00Z,2026-11-02', '2026-11-02'],
    ['updated_on,in,2026-11-01,2026-11-02', '2026-11-01'],
    // Ends in the year 10000.
    ['created_on<=9999-12-31', '9999-12-31'],
    ['created_on=9999-12-31', '9999-12-31'],
  ])('rejects %s', (text, day) => {
    vi.stubEnv('TZ', 'UTC');
    const error = thrownBy(() => portableTexts(parseFilter(text, NOW)));
    const message = `${text} cannot be stored without a time zone`;
    expect(error).toMatchObject({ code: 'usage', message });
    expect(hintOf(error)).toContain(
      `add the offset, such as ${day}T00:00:00+00:00, or use < and >=`,
    );
  });
});

/** What a filter means, however it was typed. */
const meaningOf = (text: string) => ({ ...parseFilter(text, NOW), text: '' });

describe('parseFilter', () => {
  it.each([
    ['id>=1100', 'id,ge,1100'],
    [' ID <= 02 ', 'id,le,2'],
    ['id<1', 'id,lt,1'],
    ['id>1', 'id,gt,1'],
    ['folder=a,b', 'folder,eq,a,b'],
    ['folder==a', 'folder,eq,a'],
    ['name=web,in,prod', 'name,eq,web,in,prod'],
    ['folder!=a', 'folder,ne,a'],
    ['folder!=null', 'folder,ne,null'],
    ['folder!= null ', 'folder,ne,null'],
    ['folder=null', 'folder,eq,null'],
    ['name = a', 'name,eq,a'],
    ['name= a', 'name,eq, a'],
    ['name=a~b>c', 'name,eq,a~b>c'],
    ['name, like, %x% ', 'name,like,%x% '],
    [' ID , in , 3, 4', 'id,in,3,4'],
    ['updated_on>=-30d', 'updated_on,ge,-30d'],
  ])('reads %j as %s', (text, form) => {
    expect(meaningOf(text)).toEqual(meaningOf(form));
  });

  it.each([
    ...rows('use a whole number, such as 42', 'id=+5', 'id=0x10', 'id=1e3', 'id=5.0', 'id=4-2'),
    ...rows('use a whole number, such as 42', 'id=x1,2', 'id=1,2x', 'id=1;2', 'id>1,2'),
    ...rows('use id,in,12,34,5', 'id=12,34,5', 'id=12, 34  5'),
    ...rows('use true or false', 'public=untrue', 'public=truely', 'public=1', 'public=1,2'),
  ])('refuses %s: %s', (text, hint) => {
    const error = thrownBy(() => parseFilter(text, NOW));
    expect([error.code, hintOf(error)]).toEqual(['usage', hint]);
  });

  it('reads any value after a sign as after the words of the operator', () => {
    const signs = { '=': 'eq', '!=': 'ne', '<': 'lt', '<=': 'le', '>': 'gt', '>=': 'ge' };
    const outcome = (text: string) => {
      try {
        return meaningOf(text);
      } catch (error) {
        return (error as Error).message.replace(/ in filter .*/s, '');
      }
    };
    const value = fc.string({ unit: anyCharacter, minLength: 1 }).map((text) => text.trim());
    const sign = fc.constantFrom(...Object.entries(signs));
    const property = fc.property(fc.constantFrom(...FIELDS), sign, value, (field, pair, text) => {
      // Further signs and operators between commas are in the table above.
      fc.pre(text !== '' && !/^[<=>~]|,/.test(text));
      expect(outcome(`${field}${pair[0]}${text}`)).toEqual(outcome(`${field},${pair[1]},${text}`));
    });
    fc.assert(property);
  });
});

const TIMES = { created_on: STAMP, updated_on: '2024-06-01 Sat 08:00:00 EDT' };
const IMAGE = { id: 12, name: 'ubuntu-22.04,server.ova', folder: null, public: true, ...TIMES };

function matches(filter: string, image: Record<string, unknown> = IMAGE) {
  return filterPredicate(parseFilter(filter, NOW))(image);
}

/** Whether the image matches, or the unknown zone that decides it. */
function verdict(filter: string, image: Record<string, unknown>) {
  const parsed = parseFilter(filter, NOW);
  return decidingZoneFinder(parsed)?.(image) ?? filterPredicate(parsed)(image);
}

describe('filterPredicate', () => {
  it.each([
    ...rows(true, 'id,eq,012', 'id,like,1%', 'id,le,12', 'id,ge,12'),
    ...rows(false, 'id,lt,12', 'id,le,11', 'id,gt,12', 'id,ge,13'),
    ...rows(true, 'name,eq,ubuntu-22.04,server.ova', 'name,like,UBUNTU%'),
    ...rows(false, 'name,like,ubuntu', 'name,lt,Z', 'name,notlike,UBUNTU%', 'id!~1'),
    // No part of the text counts twice.
    ...rows(false, 'name,like,%server.ova%ova', 'name,like,ubuntu%ubuntu%'),
    ...rows(true, 'public,eq,true', 'public,gt,false', 'public,like,t%'),
    ...rows(false, 'public,ne,TRUE'),
    ...rows(true, 'created_on,eq,2018-07-18 Wed 19:36:49 UTC', 'created_on,like,2018-07-18%'),
    ...rows(true, 'created_on,in,2018-07-19T00:00Z,2018-07-18T19:36:49Z', 'updated_on,ge,-2w'),
    ...rows(true, 'id,in,7, 12 ', 'created_on!~2019'),
    ...rows(false, 'created_on,ge,-30d', 'updated_on,gt,-2w', 'created_on,notlike,2018%'),
  ])('returns for %s: %s', (filter, expected) => {
    expect(matches(filter)).toBe(expected);
  });

  // As a table shows it in UTC: 2018-07-18 19:36.
  it.each([
    ...rows(true, 'created_on=2018-07-18 19:36', 'created_on=2018-07-18', 'created_on<=2018-07-18'),
    ...rows(true, 'created_on>=2018-07-18 19:36:49', 'created_on<2018-07-18 19:36:50'),
    ...rows(true, 'created_on,in,2018-07-17,2018-07-18', 'created_on!=2018-07-18 19:37'),
    ...rows(false, 'created_on=2018-07-17', 'created_on=2018-07-19'),
    ...rows(false, 'created_on!=2018-07-18', 'created_on>2018-07-18', 'created_on<2018-07-18'),
    ...rows(false, 'created_on>2018-07-18 19:36:49', 'created_on=2018-07-18T19:36:50Z'),
    ...rows('IST', 'updated_on=2018-07-18', 'updated_on!=2018-07-18', 'updated_on>2018-07-18'),
    ...rows(false, 'updated_on=2018-07-20', 'updated_on>2018-07-19'),
    ...rows(true, 'updated_on!=2018-07-20', 'updated_on<=2018-07-19'),
  ])('compares with a time as long as its last unit: %s is %s', (filter, expected) => {
    vi.stubEnv('TZ', 'UTC');
    expect(verdict(filter, { created_on: STAMP, updated_on: UNKNOWN_ZONE })).toBe(expected);
    vi.unstubAllEnvs();
  });

  it.each([
    ...rows(true, 'folder,eq,null', 'data_store,eq,null', 'created_on,eq,null'),
    ...rows(true, 'created_on,ne,-1d', 'public,ne,true', 'folder,notlike,%', 'folder!~a'),
    ...rows(
      false,
      'folder,ne,null',
      'folder,like,%',
      'folder,in,null,x',
      'created_on,lt,-1d',
      'folder<b',
    ),
  ])('returns for a null or missing value and %s: %s', (filter, expected) => {
    expect(matches(filter, { folder: null, created_on: null })).toBe(expected);
  });

  it.each([
    [{ id: 'abc' }, 'id,gt,9', true],
    [{ id: 'abc' }, 'id,eq,9', false],
    [{ id: Number.POSITIVE_INFINITY }, 'id,gt,9', true],
    [{ name: 'a ' }, 'name = a ', true],
    [{ name: 'a ' }, 'name= a ', false],
    [{ name: ' a' }, 'name= a', true],
    [{ name: 'a%b' }, 'name~A%', true],
    [{ name: 'ab' }, 'name~a%', false],
    [{ name: 'ab' }, 'name!~a%', true],
    [{ name: null }, 'name!~a%', true],
    [{ name: 'a' }, 'name=a ', false],
    [{ public: 1 }, 'public=true ', true],
    [{ public: 0 }, 'public,in,true', false],
    [{ name: 'null' }, 'name,eq,null', false],
    [{ name: 'null' }, 'name,in,null,x', true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,2018-07-19', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,-30d', true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on~2018-07', true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,ge,-30d', false],
    [{ created_on: UNKNOWN_ZONE }, `created_on,eq,${UNKNOWN_ZONE}`, true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,eq,2018-07-18 Wed 16:00:00 IST', false],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,2018-07-18 Wed 16:00:00 IST', true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,2018-07-18 Wed 16:00:00 BST', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,ne,2018-07-18 Wed 16:00:00 UTC', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,in,2018-07-18T12:00Z,2018-07-20T00:00Z', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, `created_on,in,${UNKNOWN_ZONE},2018-07-20T00:00Z`, true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,eq,2018-07-19T03:37Z', false],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,le,2018-07-18T01:36:48Z', false],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,le,2018-07-18T01:36:49Z', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,gt,2018-07-19T03:36:48Z', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,ge,2018-07-19T03:36:49Z', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,ge,2018-07-18T01:36:49Z', true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,2018-07-18T01:36:50Z', 'IST'],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,2018-07-18T01:36:49Z', false],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,gt,2018-07-19T03:36:49Z', false],
    [{ created_on: STAMP }, 'created_on,lt,2018-07-18 Wed 16:00:00 BST', 'BST'],
    [{ created_on: '2018-07-18 16:00' }, 'created_on,gt,2018-07-18T12:00Z', 'none'],
    [{ created_on: 'soon' }, 'created_on,gt,2018-07-19', 'unreadable'],
    [{ created_on: 5 }, 'created_on,gt,2018-07-19', 'unreadable'],
    [{ name: 'cafe\u0301' }, 'name=caf\u00e9', true],
    [{ name: 'caf\u00e9' }, 'name!=cafe\u0301', false],
    [{ name: 'cafe\u0301' }, 'name<caf\u00e9', false],
    [{ name: 'CAFE\u0301.ova' }, 'name~caf\u00e9', true],
  ])('returns for %j and %s: %s', (image, filter, expected) => {
    expect(verdict(filter, image)).toBe(expected);
  });

  it.each([
    [{ created_on: UNKNOWN_ZONE }, 'created_on,lt,2018-07-18T01:36:50Z', true],
    [{ created_on: UNKNOWN_ZONE }, 'created_on,ne,2018-07-18T15:36:49Z', true],
    [{ created_on: 'soon' }, 'created_on,lt,2018-07-18', true],
  ])('takes %j for one that matches %s if any instant that it may be does', (image, filter) => {
    expect(matches(filter, image)).toBe(true);
  });

  it('returns a verdict or fails with a usage error for any filter and image', () => {
    const word = fc.constantFrom<string>(...FIELDS, ...OPERATORS, '', '__proto__');
    const filter = fc.array(fc.oneof(word, fc.string()), { maxLength: 5 });
    const image = fc.dictionary(fc.constantFrom(...FIELDS), fc.anything());
    const property = fc.property(filter, image, (parts, record) => {
      try {
        expect(typeof verdict(parts.join(','), record)).toMatch(/boolean|string/);
      } catch (error) {
        expect(error).toMatchObject({ code: 'usage' });
      }
    });
    fc.assert(property, { numRuns: 1000 });
  });
});
