// Which image is the newest, by the names of 163 families of published images and by 42 schemes of versions.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReceivedImage } from '../../src/api/types.ts';
import { nameOf } from '../../src/query/fields.ts';
import { findNewest } from '../../src/query/newest.ts';
import { Query } from '../../src/query/query.ts';
import { SeriesIndex } from '../../src/query/series.ts';
import { sortImages } from '../../src/query/sort.ts';
import { FAMILIES, type Question } from './published-names.ts';
import { SCHEMES, seeded } from './version-schemes.ts';

function indexOf(names: readonly string[], words: readonly string[]) {
  const index = new SeriesIndex<ReceivedImage>(words);
  const query = new Query({ words });
  for (const name of names) if (query.matches({ name })) index.add({ name });
  return index;
}

/** Returns the newest name, `ambiguous` or `none`, as images latest would. */
function answerOf(names: readonly string[], words: readonly string[] = []): string {
  const [series, ...others] = indexOf(names, words).series();
  if (series === undefined) return 'none';
  const isOnly = others.length === 0 && series.doubt === undefined;
  return isOnly ? nameOf(series.choices[0]) : 'ambiguous';
}

/** Numbers are all that imgctl knows. */
const KNOWN_WRONG = new Set([
  'leap dvd',
  'securityonion',
  // rhel94 and rhel810
  'rhel',
]);

describe.each(FAMILIES)('the newest of the names of $title', ({ names, questions }) => {
  it('is what a person means, or a refusal', () => {
    const wrong = questions.filter(({ typed, answer }: Question) => {
      const given = answerOf(names, typed.split(' '));
      return given !== answer && given !== 'ambiguous' && given !== 'none';
    });
    expect(wrong.filter(({ typed }) => !KNOWN_WRONG.has(typed))).toEqual([]);
  });

  it('is the same in any order', () => {
    const expected = answerOf(names);
    const shuffled = fc.shuffledSubarray([...names], { minLength: names.length });
    const property = fc.property(shuffled, (some) => {
      expect(answerOf(some)).toBe(expected);
    });
    fc.assert(property, { numRuns: 2 });
  });

  it('stays the same in each series if images of another one are added', () => {
    const more = indexOf([...names, 'another-2099.ova', 'zz-99-99.ova'], []).series();
    const series = more.filter(({ pattern }) => !/^(?:another|zz)-/.test(pattern));
    expect(series).toEqual(indexOf(names, []).series());
  });
});

it('at least 85 in 100 questions whose answer is seen in the names are answered', () => {
  const questions = FAMILIES.flatMap(({ names, questions: all }) =>
    all.filter(({ seen }) => seen).map(({ typed, answer }) => ({ names, typed, answer })),
  );
  const right = questions.filter(({ names, typed, answer }) => {
    return answerOf(names, typed.split(' ')) === answer;
  });
  expect(questions.length).toBeGreaterThan(600);
  expect(right.length / questions.length).toBeGreaterThan(0.85);
});

it('in three of four ambiguous questions the first candidate is what a person means', () => {
  const first = FAMILIES.flatMap(({ names, questions }) =>
    questions.flatMap(({ typed, answer }) => {
      if (answer === 'ambiguous') return [];
      const index = indexOf(names, typed.split(' '));
      const newest = findNewest({ index, query: new Query({}) });
      return newest.kind === 'several' ? [nameOf(newest.error.choices[0]) === answer] : [];
    }),
  );
  expect(first.length).toBeGreaterThan(50);
  expect(first.filter(Boolean).length / first.length).toBeGreaterThan(0.75);
});

/** Times that each scheme is tried. */
const RUNS = Number(process.env.SCHEME_RUNS ?? 30);

/** Years of two digits at the end look like any other number. */
const SORTED_SCHEMES = SCHEMES.filter(({ name }) => name !== '31.01.24');

describe.each(SORTED_SCHEMES)('versions such as $name', ({ make }) => {
  /** Names in the order of their versions, the oldest first, and the same in any order. */
  function* trials() {
    const random = seeded(1);
    for (let run = 0; run < RUNS; run += 1) {
      const names = make(random, 2 + (run % 6)).map((version) => `app-${version}.ova`);
      const order = names.map((name) => ({ name, at: random() })).sort((a, b) => a.at - b.at);
      yield { names, shuffled: order.map(({ name }) => name) };
    }
  }

  it('have no wrong newest, and one order: latest, name:version, --each, --explain and lock check agree where latest answers', () => {
    for (const { names, shuffled } of trials()) {
      const answer = answerOf(shuffled);
      expect([names.at(-1), 'ambiguous']).toContain(answer);
      if (answer === 'ambiguous') continue;
      const key = { field: 'name:version', direction: 'desc' } as const;
      const [sorted] = sortImages(
        shuffled.map((name) => ({ name })),
        [key],
      );
      const index = indexOf([...shuffled, 'another-2.ova', 'another-1.ova'], []);
      const isOwn = ({ pattern }: { pattern: string }) => pattern.startsWith('app-');
      const each = index.series().filter(isOwn);
      const [explained] = index.rankedImages().filter(isOwn);
      const locked = index.newestLike({ name: shuffled[0] ?? '' });
      const newest = each.map(({ choices }) => choices[0].name);
      expect([sorted?.name, newest, explained?.image.name, locked]).toEqual([
        answer,
        [answer],
        answer,
        [{ name: answer }],
      ]);
    }
  });
});
