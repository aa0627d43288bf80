// Why a test was skipped, as its title says it.

import { expect, it } from 'vitest';
import { missing, reasonOf, skipped } from '../support/requirements.ts';

it.each([
  ['a store (skipped: redis-server is not installed) > is used', 'redis-server is not installed'],
  ['push (to a folder) > is done (only on Linux)', 'only on Linux'],
  [`push${skipped(missing('no-a', 'no-b'))}`, 'no-a and no-b are not installed'],
])('the reason in %j is %j', (title, reason) => {
  expect(reasonOf(title)).toBe(reason);
});

it('a title ends with no reason if nothing is missing', () => {
  expect(skipped(missing())).toBe('');
});
