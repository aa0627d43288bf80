// Which part of a query the service applies, which part imgctl applies, and the patterns of `like`.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { likePredicate, planQuery, type QueryInput } from '../../src/query/plan.ts';
import { thrownBy } from '../support/errors.ts';

const NOW = Date.UTC(2024, 5, 15, 12);
const STAMP = '2018-07-18 Wed 15:36:49 EDT';

const plan = (input: QueryInput) => planQuery(input, { now: NOW });

describe('planQuery', () => {
  it.each([
    [{}, undefined, false],
    [{ filters: ['Name,EQ,x'] }, 'name,eq,x', false],
    [{ filters: ['id,gt,1', 'id,lt,9'] }, 'id,gt,1', true],
    [{ filters: ['created_on,ge,-30d'] }, undefined, true],
    [{ filters: ['created_on,ge,-30d', 'id,gt,1'] }, 'id,gt,1', true],
    [{ filters: ['folder,eq,null', `created_on,ge,${STAMP}`] }, `created_on,ge,${STAMP}`, true],
    [{ words: ['ubuntu'] }, 'name,like,%ubuntu%', false],
    [{ words: ['ubuntu'], filters: ['id,gt,1'] }, 'name,like,%ubuntu%', true],
    [{ words: ['a,b', 'c'] }, 'name,like,%a,b%', true],
    [{ words: ['50%'] }, undefined, true],
  ])('sends for %j the filter %s and filters locally: %s', (input, filter, filtersLocally) => {
    const { server, ...rest } = plan(input);
    expect(server.filter).toBe(filter);
    expect(rest.filtersLocally).toBe(filtersLocally);
  });

  it('applies a filter locally that is too long for a URL', () => {
    const long = `id,in${',1'.repeat(2_000)}`;
    const query = plan({ filters: [long, 'id,gt,0'] });
    expect(query.server.filter).toBe('id,gt,0');
    expect([query.matches({ id: 1 }), query.matches({ id: 2 })]).toEqual([true, false]);
    expect(plan({ filters: [long] }).server.filter).toBeUndefined();
    expect(plan({ filters: [long.slice(0, 1_001)] }).server.filter).toBe(long.slice(0, 1_001));
  });

  it('matches the local conditions, or all of them if the service ignored its own', () => {
    const query = plan({ filters: ['created_on,le,-30d', 'id,gt,5', 'name,like,u%'] });
    const image = { id: 3, name: 'ubuntu', created_on: STAMP };
    expect(query.server.filter).toBe('id,gt,5');
    expect(query.matches(image)).toBe(true);
    expect(query.matchesAll(image)).toBe(false);
    expect(query.matches({ ...image, name: 'debian' })).toBe(false);
    expect(query.matches({ ...image, created_on: '2024-06-15 Sat 07:00:00 EDT' })).toBe(false);
    expect(query.matchesAll({ ...image, id: 6 })).toBe(true);
  });

  it.each<[string[], unknown, boolean]>([
    [['UBUNTU', '22'], '22-ubuntu', true],
    [['UBUNTU', '22'], '2-ubuntu', false],
    [['null'], null, false],
    [['2'], 22, true],
    [['5%a'], '5%A', true],
    [['5%a'], '5-a', false],
  ])('matches the words %j in the name %j in any case and order: %s', (words, name, expected) => {
    expect(plan({ words }).matchesAll({ name })).toBe(expected);
  });

  it('rejects an empty word', () => {
    const expected = { code: 'usage', message: 'empty search text' };
    expect(thrownBy(() => plan({ words: [''] }))).toMatchObject(expected);
  });

  it.each([
    [[], undefined, false],
    [['name'], 'name,asc', false],
    [['Name,DESC'], 'name,desc', false],
    [['folder', 'name,desc'], undefined, true],
  ])('sends for %j the sort key %s and sorts locally: %s', (sorts, sort, sortsLocally) => {
    const query = plan({ sorts });
    expect(query.server.sort).toBe(sort);
    expect(query.sortsLocally).toBe(sortsLocally);
  });
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
