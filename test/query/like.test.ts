// The patterns of `like`, compared with a slow and simple matcher.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { containsPredicate, likePredicate } from '../../src/query/plan.ts';

describe('likePredicate', () => {
  it.each([
    ['ab%ba', 'aba', false],
    ['%ÄÖ%', 'xäöx', true],
    ['%Σ%', 'οδος', true],
    ['οδοσ', 'ΟΔΟΣ', true],
    ['u_untu', 'ubuntu', false],
    ['u.untu', 'ubuntu', false],
    ['.*', 'ubuntu', false],
    ['[a-z]%', 'ubuntu', false],
    ['a\\%b', 'a\\xb', true],
    ['%abac%', 'ababac', true],
    ['%😀%', 'a😀b', true],
    ['%\n%', 'a\nb', true],
  ])('returns for %j on %j: %s', (pattern, text, expected) => {
    expect(likePredicate(pattern)(text)).toBe(expected);
  });

  it('agrees with a naive matcher on any pattern of few letters', () => {
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', 'B', '%'), maxLength: 10 });
    const text = fc.string({ unit: fc.constantFrom('a', 'A', 'b'), maxLength: 14 });
    fc.assert(
      fc.property(pattern, text, (like, name) => {
        expect(likePredicate(like)(name)).toBe(naiveLike(like.toUpperCase(), name.toUpperCase()));
      }),
      { numRuns: 2000 },
    );
  });

  // A matcher that backtracks or restarts would run into the timeout.
  it.each([
    ['%a'.repeat(50_000), 'a'.repeat(100_000), true],
    [`${'%a'.repeat(50_000)}b`, 'a'.repeat(100_000), false],
    [`${'%a'.repeat(50)}%b%`, 'a'.repeat(100_000), false],
    ['%'.repeat(100_000), 'a'.repeat(100_000), true],
    [`%b${'a'.repeat(300)}%`, 'a'.repeat(600_000), false],
    [`%${'a'.repeat(300)}b%`, 'a'.repeat(600_000), false],
    [`%${'ab'.repeat(150)}c%`, 'ab'.repeat(300_000), false],
  ])('takes linear time on long pattern %#', (pattern, text, expected) => {
    expect(likePredicate(pattern)(text)).toBe(expected);
  });
});

describe('containsPredicate', () => {
  it('ignores case', () => {
    expect(containsPredicate('OFF')('at 50% off')).toBe(true);
  });
});

function naiveLike(pattern: string, text: string): boolean {
  if (pattern === '') return text === '';
  if (pattern[0] !== '%') {
    return text !== '' && pattern[0] === text[0] && naiveLike(pattern.slice(1), text.slice(1));
  }
  return naiveLike(pattern.slice(1), text) || (text !== '' && naiveLike(pattern, text.slice(1)));
}
