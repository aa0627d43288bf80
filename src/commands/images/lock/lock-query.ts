// The query that a lock stores: its words and filters, and the newest image that they find.

import { numericId } from '../../../api/images.ts';
import type { Context } from '../../../context.ts';
import { attempt } from '../../../errors.ts';
import { hint, type Invocation } from '../../../facts.ts';
import { equals } from '../../../query/filter.ts';
import { findNewest, type NewestCollector, selectionOf } from '../../../query/newest.ts';
import { parseQuery, Query } from '../../../query/query.ts';
import { noMatchError } from '../empty.ts';
import { withQuery } from '../invocation.ts';
import { type LockedImage, type LockQuery, lockedImage } from './lock-format.ts';

/** @throws ImgctlError usage: somebody has edited the query; the message names the lock */
export function queryOf({ io }: Context, name: string, { text, filters }: LockQuery): Query {
  return namingLock(name, () => parseQuery({ words: text, filters }, io.now()));
}

/**
 * Locks the image that `images latest` would show.
 * @param search has found the images of this query
 * @param command locks another query under this name, for the hint if several images could be the
 * newest
 * @throws ImgctlError empty, ambiguous: the message names the lock
 */
export function newestForLock(
  name: string,
  query: LockQuery,
  search: NewestCollector,
  command: Invocation,
): LockedImage {
  return namingLock(name, () => {
    const newest = findNewest(search);
    if (newest.kind === 'none') throw noMatchError(search);
    if (newest.kind === 'one') return lockedImage(query, newest.image);
    const [first] = newest.error.choices;
    const id = numericId(first);
    if (id === undefined) throw newest.error;
    const selection = selectionOf(search, first) ?? new Query({ filters: [equals('id', id)] });
    throw newest.error.with({ facts: hint`lock the first with: ${withQuery(command, selection)}` });
  });
}

/**
 * Returns what the action returns.
 * @throws ImgctlError of the action, with the name of the lock before its message
 */
function namingLock<T>(name: string, action: () => T): T {
  const { value, error } = attempt(action);
  if (error) throw error.with({ message: `${name}: ${error.message}` });
  return value;
}
