// Which part of a query the service applies, which part imgctl applies, and the patterns of `like`.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { likePredicate } from '../../src/query/filter-predicate.ts';
import { newestCollector, selectionOf, withoutAmbiguous } from '../../src/query/newest.ts';
import { parseQuery } from '../../src/query/query.ts';
import { Tally } from '../../src/query/tally.ts';
import { thrownBy } from '../support/errors.ts';

const NOW = Date.UTC(2024, 5, 15, 12);
const STAMP = '2018-07-18 Wed 15:36:49 EDT';

type Typed = Partial<Parameters<typeof parseQuery>[0]>;
const query = (typed: Typed) => parseQuery({ words: [], ...typed }, NOW);
const sentBy = (typed: Typed) => query(typed).conditions.flatMap(({ sent }) => sent ?? []);

describe('a query', () => {
  it.each([
    [{}, [], true],
    [{ filters: ['Name,EQ,x'] }, ['name,eq,x'], true],
    [{ filters: ['id,gt,1', 'id,lt,9'] }, ['id,gt,1', 'id,lt,9'], false],
    [{ filters: ['created_on,ge,-30d'] }, [], false],
    [{ filters: ['created_on,ge,-30d', 'id,gt,1'] }, ['id,gt,1'], false],
    [{ filters: ['folder,eq,null', `created_on,ge,${STAMP}`] }, [], false],
    [{ words: ['ubuntu'] }, ['name,like,%ubuntu%'], false],
    [{ words: ['22.04'] }, ['name,like,%22%'], false],
    [{ words: ['rocky9'] }, ['name,like,%rocky%'], false],
    [{ words: ['ubuntu'], filters: ['id,gt,1'] }, ['name,like,%ubuntu%', 'id,gt,1'], false],
    [{ words: ['UBUNTU-22'] }, ['name,like,%UBUNTU%'], false],
    [{ words: ['a,b', 'c'] }, ['name,like,%c%'], false],
    [{ words: ['50%'] }, ['name,like,%50%'], false],
    [{ words: ['é', 'a'] }, ['name,like,%a%'], false],
    [{ words: ['a;b'] }, [], false],
    [{ filters: ['name,like,%ubuntu%'] }, ['name,like,%ubuntu%'], true],
    [{ filters: ['name~ubuntu'] }, ['name,like,%ubuntu%'], true],
    [{ filters: ['name,like,ubuntu%', 'name,like,%a%b%', 'name,like,%'] }, [], false],
    [{ filters: ['name~50%', 'name~[a]', 'name~a\\b'] }, [], false],
    [{ filters: ['name=a;b'] }, [], false],
    [{ filters: ['public~tru'] }, [], false],
    [{ filters: ['name!~a', 'id!~1', 'id,notlike,1%', 'id>1'] }, ['id,gt,1'], false],
    [{ filters: ['public=true'] }, [], false],
    [{ sorts: ['name:version'] }, [], false],
    [{ sorts: ['id'] }, [], true],
    [{ sorts: ['id', 'name'] }, [], false],
    [{ words: ['a-ubuntu'], sorts: ['id'] }, ['name,like,%ubuntu%'], false],
  ])(
    'offers the service for %j the filters %j, as its whole query: %s',
    (typed, filters, isAll) => {
      expect(sentBy(typed).map(({ text }) => text)).toEqual(filters);
      expect(query(typed).isForService).toBe(isAll);
      expect(query(typed).isEverything).toBe(Object.keys(typed).length === 0);
    },
  );

  it('applies a filter locally that is too long for a URL', () => {
    const long = `id,in${',1'.repeat(2_000)}`;
    const both = { filters: [long, 'id,gt,0'] };
    expect(sentBy(both)).toMatchObject([{ text: 'id,gt,0' }]);
    expect([1, 2].map((id) => query(both).matches({ id }))).toEqual([true, false]);
    const shorter = long.slice(0, 1_001);
    expect(sentBy({ filters: [shorter] })).toMatchObject([{ text: shorter }]);
  });

  it('matches every condition, whatever the service gets', () => {
    const asked = query({ filters: ['created_on,le,-30d', 'id,gt,5', 'name,like,u%'] });
    const image = { id: 6, name: 'ubuntu', created_on: STAMP };
    expect(asked.matches(image)).toBe(true);
    expect(asked.matches({ ...image, id: 3 })).toBe(false);
    expect(asked.matches({ ...image, name: 'debian' })).toBe(false);
    expect(asked.matches({ ...image, created_on: '2024-06-15 Sat 07:00:00 EDT' })).toBe(false);
  });

  it('counts images once whose times are in an unknown zone, and names the zones', () => {
    const asked = query({ filters: ['updated_on>=-12h'], sorts: ['updated_on'] });
    const tally = new Tally(asked);
    const image = (id: number, zone: string) => ({
      id,
      updated_on: `2024-06-15 Sat 10:00:00 ${zone}`,
    });
    const images = [image(1, 'IST'), image(2, 'IST'), image(3, 'BST'), image(4, 'UTC')];
    expect(tally.zoneWarning()).toBeUndefined();
    const sorting = new Tally(query({ sorts: ['updated_on'] }));
    sorting.see(images);
    const sorted =
      '3 images have times in the unknown zone BST or in the unknown zone IST; they are sorted as UTC';
    expect(sorting.zoneWarning()).toBe(sorted);
    tally.see(images);
    tally.see(images);
    expect(images.filter((image) => asked.matches(image))).toHaveLength(4);
    expect(tally.zoneWarning()).toBe(sorted.replace('sorted as UTC', 'shown'));
  });

  it.each([
    ['2204', 'a-22.04', ['22.04']],
    ['2204', 'a-220.4', ['220.4']],
    ['2204', 'a-2.204-22.04', ['2.204']],
    ['ab2204cd', 'ab22.04cd', ['ab22.04cd']],
    ['12', '1.2', ['1.2']],
    ['12345678', '1.2345678', ['1.2345678']],
    ['2204 zz', 'a-22.04', []],
    ['a2204b', 'a22.04b', ['a22.04b']],
    ['22x2204', 'x22.04', []],
    ['2204x22', '22.04x', []],
    ['123456789', '1.23456789', []],
  ])('finds for the word %s and the name %s the words with a dot %j', (word, name, dotted) => {
    const tally = new Tally(query({ words: word.split(' ') }));
    tally.see([{ id: 1, name }]);
    expect(tally.dotted).toEqual(dotted);
  });

  it.each([
    [{ sorts: ['updated_on'] }, 'sorted as UTC'],
    [{ filters: ['updated_on>=-12h'] }, 'shown'],
    [{ filters: ['updated_on>=-12h'], sorts: ['updated_on'] }, 'shown'],
  ])('warns with %j of an unknown zone on a later page: %s', (typed, treatment) => {
    const tally = new Tally(query(typed));
    tally.see([{ id: 1, updated_on: '2024-06-15 Sat 10:00:00 UTC' }]);
    tally.see([{ id: 2, updated_on: '2024-06-15 Sat 10:00:00 IST' }]);
    const warning = `1 image has times in the unknown zone IST; it is ${treatment}`;
    expect(tally.zoneWarning()).toBe(warning);
  });

  it('sorts equal images by id, the highest first', () => {
    const images = [
      { id: 1, name: 'b' },
      { id: 2, name: 'b' },
      { id: 3, name: 'a' },
    ];
    const sorted = query({ sorts: ['name,desc'] }).sort(images);
    expect(sorted.map(({ id }) => id)).toEqual([2, 1, 3]);
  });

  it('counts each image without an id, and one with an id once', () => {
    const tally = new Tally(query({ words: ['a'], filters: ['name~b'] }));
    for (const images of [
      [{ name: 'a' }, { name: 'a' }, { id: 1, name: 'b' }],
      [{ id: 1, name: 'b' }],
    ])
      tally.see(images);
    expect(tally.counts().counts.map(({ count }) => count)).toEqual([2, 1]);
    const zoned = new Tally(query({ sorts: ['updated_on'] }));
    zoned.see(['IST', 'BST'].map((zone) => ({ updated_on: `2024-06-15 Sat 10:00:00 ${zone}` })));
    expect(zoned.zoneWarning()).toMatch(/^2 images have times in the unknown zone BST or /);
  });

  it('knows a zone that decides if the first of two filters needs none', () => {
    const asked = query({ filters: ['created_on>2000-01-01', 'updated_on>=2024-06-15T10:00Z'] });
    const image = { id: 1, created_on: STAMP, updated_on: '2024-06-15 Sat 10:00:00 IST' };
    expect(asked.zones.deciding(image)).toBe('IST');
  });

  it('counts each condition alone, or among the images of the one that was sent', () => {
    const tally = new Tally(query({ words: ['rocky', '9'], filters: ['name~min'] }));
    const images = ['rocky-8-min', 'rocky-8', 'xrocky'].map((name, id) => ({ id, name }));
    tally.see(images, 'name,like,%rocky%');
    const counts = [
      { text: 'rocky', count: 3 },
      { text: '9', count: 0 },
      { text: 'name~min', count: 1 },
    ];
    expect(tally.counts()).toEqual({ counts, withinFirst: true });
    tally.see([...images, { id: 3, name: 'alma-9-min' }]);
    const all = counts.map((each, index) => ({ ...each, count: each.count + (index > 0 ? 1 : 0) }));
    expect(tally.counts()).toEqual({ counts: all, withinFirst: false });
  });

  it('counts images whose time is unreadable among those that it sorts', () => {
    const asked = query({ sorts: ['updated_on', 'id'] });
    const tally = new Tally(asked);
    tally.see([{ id: 1, updated_on: 'soon' }, { id: 2, updated_on: STAMP }, { id: 3 }]);
    const warning = '1 image has times that cannot be read; it is sorted as missing or as UTC';
    expect(tally.zoneWarning()).toBe(warning);
  });

  it.each<[string[], unknown, boolean]>([
    [['UBUNTU', '22'], '22-ubuntu', true],
    [['UBUNTU', '22'], '2-ubuntu', false],
    [['null'], null, false],
    [['22'], 22, true],
    [['5%a'], '5%A', true],
    [['5%a'], '5-a', false],
    [['caf\u00e9'], 'cafe\u0301.ova', true],
    // What a service gets as ASCII must not match more here.
    [['strasse'], 'straße', false],
    [['fi'], 'ﬁle', false],
  ])('matches the words %j in the name %j in any case and order: %s', (words, name, expected) => {
    expect(query({ words }).matches({ name })).toBe(expected);
  });

  // Putting so many marks in order takes half a minute.
  it('takes no time for a name of 400,000 marks', () => {
    const name = `a${'\u0301\u0316'.repeat(200_000)}`;
    const queries = [{ words: ['b'] }, { filters: ['name~b'] }, { filters: ['name=b'] }];
    expect(queries.map((typed) => query(typed).matches({ name }))).toEqual([false, false, false]);
  });

  it.each([
    ['empty', '', /^empty search text$/],
    ['too long', 'a'.repeat(1_001), /^the search text 'a.* has more than 1000 characters$/],
  ])('rejects a word that is %s', (_, word, message) => {
    const expected = { code: 'usage', message: expect.stringMatching(message) };
    expect(thrownBy(() => query({ words: [word] }))).toMatchObject(expected);
    if (word !== '') expect(query({ words: [word.slice(1)] }).words).toHaveLength(1);
  });
});

it('a query without ambiguous series, or for one image, still has its words and filters', () => {
  const collector = newestCollector(query({ words: ['a'], filters: ['id>0'] }));
  const images = ['a-12_sp3', 'a-12_2021', 'b-a-1'].map((name, index) => ({ id: index + 1, name }));
  for (const image of images) collector.add(image);
  const queries = [withoutAmbiguous(collector), selectionOf(collector, images[2] ?? {})];
  expect(queries.map((each) => [each?.words, each?.filters.map(({ text }) => text)])).toEqual([
    [['a'], ['id>0', 'name,notlike,a-%']],
    [['a'], ['id>0', 'name,like,b-a-%']],
  ]);
});

describe('likePredicate', () => {
  it.each([
    ['%ÄÖ%', 'xäöx', true],
    ['%Σ%', 'οδος', true],
    ['οδοσ', 'ΟΔΟΣ', true],
    ['u_untu', 'ubuntu', false],
    ['[a-z]%', 'ubuntu', false],
    ['a\\%b', 'a\\xb', true],
    ['%😀%', 'a😀b', true],
    ['%k%', 'dis\u212a', false],
    ['%i%', '\u0130', false],
    ['%\n%', 'a\nb', true],
  ])('returns for %j on %j: %s', (pattern, text, expected) => {
    expect(likePredicate(pattern)(text)).toBe(expected);
  });

  it('agrees with a naive matcher on any pattern of few letters', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '%'), maxLength: 10 });
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b'), maxLength: 14 });
    const property = fc.property(pattern, text, (like, name) => {
      const naive = new RegExp(`^${like.replaceAll('%', '.*')}$`, 'i');
      expect(likePredicate(like)(name)).toBe(naive.test(name));
    });
    fc.assert(property, { numRuns: 2000 });
  });

  // A matcher that backtracks or restarts would run into the timeout.
  it.each([
    [`${'%a'.repeat(50_000)}b`, 'a'.repeat(100_000), false],
    ['%'.repeat(100_000), 'a'.repeat(100_000), true],
    [`%${'ab'.repeat(150)}c%`, 'ab'.repeat(300_000), false],
  ])('takes linear time on long pattern %#', (pattern, text, expected) => {
    expect(likePredicate(pattern)(text)).toBe(expected);
  });
});
