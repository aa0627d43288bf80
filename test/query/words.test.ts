// Words of a query: whole numbers, text words, and which number of a name a word means.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { likePredicate } from '../../src/query/patterns.ts';
import { planQuery } from '../../src/query/plan.ts';
import { SeriesIndex } from '../../src/query/series.ts';
import { parseVersion } from '../../src/query/version.ts';
import { numberMatch, parseWord, patternOfMatch } from '../../src/query/words.ts';

const matches = (word: string, name: string) => parseWord(word).matches(name);

describe('a word', () => {
  it.each([
    ['8', 'a-8 a-8.10 OL8U9-olvm-x86_64-1 rhel8', 'a-18 a-9.8 a-20260803 a-9.x86_64 a-9.el8'],
    ['8.', 'a-8.10', 'a-8'],
    ['.8', '', 'a-9.8'],
    ['8.1', 'a-8.1', 'a-8.10'],
    ['8.10', 'a-8.10-20240528.0', ''],
    ['22.04', 'ubuntu-22.04.1-amd64', ''],
    ['2.04', '', 'ubuntu-22.04'],
    ['1.23', 'photon-3-kube-v1.23.16.ova', ''],
    ['5.1.0', '', 'a-5.1'],
    ['20240528', 'a-9-20240528.0.x86_64', ''],
    ['64', 'a-64.ova', 'a-9.x86_64-amd64-arm64-64bit'],
    ['11', '', 'photon-hw11-3.0'],
    ['rocky-8', 'Rocky-8.10-GenericCloud', 'rocky-80'],
    ['0-server', '', 'ubuntu-20.10-server'],
    ['ROCKY', 'rocky-9', ''],
    ['x86', 'a-9.x86_64 a-9-x86', 'a-9.x864'],
    ['x86_64', 'a-9.x86_64.ova', 'a-9.x86_64_v3'],
    ['9.x86_64', 'a-9.x86_64.ova', 'a-9.x86_64_v3'],
    ['X86-64', 'a-9-x86-64.ova', ''],
    ['cloudimg-amd64', 'ubuntu-22.04-cloudimg-amd64-1', ''],
    ['amd64', 'a-amd64', 'a-amd64v3'],
    ['ppc64', 'a-9.ppc64le', 'a-9.ppc641'],
    ['arm', 'a-arm64-1', ''],
    ['hw11', 'photon-hw11-3.0', ''],
    ['hw1', '', 'photon-hw11-3.0'],
    ['32bit', 'win-32bit-10', ''],
    ['10G', 'disk-10G.ova', ''],
    ['0G', '', 'disk-10G.ova'],
  ])('%s matches "%s", but not "%s"', (word, matching, others) => {
    const names = `${matching} ${others}`.trim().split(' ');
    expect(names.filter((name) => matches(word, name)).join(' ')).toBe(matching);
  });

  it.each([
    ['web-8.1-3', '8 0 3 1'],
    ['web-3.2-8', '8 1 3 0'],
  ])('means in %s the first number that it matches', (name, numbers) => {
    expect(numberMatch(['8', '3'], parseVersion(name)).flat().join(' ')).toBe(numbers);
  });
});

it.each([
  ['web-8.1-3.ova', { 8: 0 }, 'web-8.%-%.ova'],
  ['web-7.2-8.ova', { 8: 1 }, 'web-%.%-8.ova'],
  ['a-22.04.1-3', { '22.04': 0 }, 'a-22.04.%-%'],
  ['a-8.x86_64-8', { 8: 1 }, 'a-%.x86_64-8'],
  ['web-8.1-3', { 8: 0, 3: 1 }, 'web-8.%-3'],
])('the pattern of %s with the match %j is %s', (name, match, pattern) => {
  expect(patternOfMatch(name, Object.entries(match))).toBe(pattern);
  expect(likePredicate(pattern)(name)).toBe(true);
});

it.each([
  ['rocky 8', 'rocky-9-18 rocky-9.8', { blamed: { text: '8' }, count: 2 }],
  ['9 amd64', 'a-9.amd64v2', { blamed: { text: 'amd64' }, count: 1 }],
  // Each word matches some name.
  ['a 8 3', 'a-18-3 a-8-13', { blamed: { text: '8' }, count: 2 }],
])('the words %s with the names %s blame %j', (words, names, blamed) => {
  const plan = planQuery({ words: words.split(' ') }, { now: 0 });
  for (const name of names.split(' ')) plan.matches({ name });
  expect(plan.nearMisses()).toMatchObject(blamed);
});

/** Names of few parts, so that numbers repeat at different places. */
const number = fc.constantFrom('8', '9', '18', '8.10', '9.8', '20260808', '20260808.1');
const textWord = fc.constantFrom('x86_64', 'x86_64_v3', 'amd64', 'el8', 'hw8', '64bit', '8G');
const anyName = fc
  .tuple(fc.constantFrom('web', 'db'), number, textWord, number)
  .map((parts) => parts.join('-'));
const names = fc.uniqueArray(anyName, { minLength: 1, maxLength: 12 });

function choose(all: readonly string[], words: readonly string[]) {
  const index = new SeriesIndex<{ name: string }>(words);
  const plan = planQuery({ words }, { now: 0 });
  for (const name of all) if (plan.matches({ name })) index.add({ name });
  return index.series().map(({ pattern, matches }) => ({
    pattern,
    newest: matches.map(({ newest }) => newest.map(({ name }) => name)),
  }));
}

it('a word takes linear time on any name', () => {
  expect(matches('a8', 'a88'.repeat(100_000))).toBe(false);
});

const dated = fc.constantFrom('05-40-2023', '31-01-2024', '01-02-2024', '9-12-2005', '03-01-2024');

it('the newest of names with dates does not depend on the order in which they are read', () => {
  const all = fc.uniqueArray(
    dated.map((date) => `a-${date}`),
    { minLength: 2 },
  );
  fc.assert(
    fc.property(all, (one) => {
      expect(choose(one.toSorted(), [])).toEqual(choose(one, []));
    }),
  );
});

describe('the newest image for a word of digits', () => {
  it('has a number that is the word, or begins with it and a dot', () => {
    fc.assert(
      fc.property(names, fc.constantFrom('8', '9', '8.1', '18', '20260808'), (all, word) => {
        for (const name of choose(all, [word]).flatMap(({ newest }) => newest.flat())) {
          const [, first = '', , second = ''] = name.split('-');
          expect([first, second].some((each) => `${each}.`.startsWith(`${word}.`))).toBe(true);
        }
      }),
    );
  });

  it('stays the same if an image with another text word is added', () => {
    fc.assert(
      fc.property(names, textWord, textWord, number, (all, wanted, other, version) => {
        fc.pre(wanted !== other);
        const words = ['web', wanted];
        const added = `web-${version}-${other}-99999999`;
        expect(choose([...all, added], words)).toEqual(choose(all, words));
      }),
    );
  });
});
