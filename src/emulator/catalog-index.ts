// An index over the catalogue, which never changes: sort orders and recent results are cached.

import { setImmediate } from 'node:timers/promises';
import type { Image } from '../api/types.ts';
import type { CatalogEntry } from './catalog.ts';
import {
  type FieldValue,
  fieldValue,
  IMAGE_FIELDS,
  type ImageField,
  type Predicate,
  parseFilter,
  parseSort,
  type SortOrder,
} from './filter.ts';

/** Results are cached for the next pages of the same query. */
const MAX_CACHED_RESULTS = 16;

type Entries = readonly CatalogEntry[];

export type CatalogIndex = ReturnType<typeof indexCatalog>;

/** Indexes entries, which must have ascending ids. */
export function indexCatalog(entries: Entries) {
  const byId = new Map(entries.map(({ image }) => [String(image.id), image]));
  const orders = new Map<ImageField, { ascending: Entries; descending: Entries }>();
  const results = new Map<string, Entries>();

  const ordersOf = (field: ImageField) => {
    let both = orders.get(field);
    if (both === undefined) {
      const ascending = sortEntries(entries, field);
      both = { ascending, descending: reverseStable(ascending, field) };
      orders.set(field, both);
    }
    return both;
  };

  const search = (passes: Predicate | undefined, sort: SortOrder | undefined) => {
    const both = sort === undefined ? undefined : ordersOf(sort.field);
    const order = (sort?.descending ? both?.descending : both?.ascending) ?? entries;
    if (passes === undefined) return order;
    // Filters in the order of ids, which is the order in memory and therefore much faster.
    const passing = entries.filter(passes);
    if (order === entries) return passing;
    const members = new Set(passing);
    return order.filter((entry) => members.has(entry));
  };

  return {
    get: (id: string): Image | undefined => byId.get(id),
    /** Returns the images that match, sorted, by id if there is no sort; throws 400 for an invalid query. */
    find: (filter: string | undefined, sort: string | undefined): Entries => {
      const query = JSON.stringify([filter, sort]);
      const result =
        results.get(query) ??
        search(
          filter === undefined ? undefined : parseFilter(filter),
          sort === undefined ? undefined : parseSort(sort),
        );
      // Moves the result to the end, so that the first key is the least recently used.
      results.delete(query);
      results.set(query, result);
      const [oldest] = results.keys();
      if (results.size > MAX_CACHED_RESULTS && oldest !== undefined) results.delete(oldest);
      return result;
    },
    /** Prepares every sort order between requests: sorting 100,000 names takes longer than a page may. */
    warm: async (signal: AbortSignal) => {
      for (const field of IMAGE_FIELDS) {
        await setImmediate();
        if (signal.aborted) return;
        ordersOf(field);
      }
    },
  };
}

/** Sorts by a field, null first; equals stay in the order of their ids, as the sort is stable. */
function sortEntries(entries: Entries, field: ImageField): Entries {
  return entries
    .map((entry) => ({ entry, key: fieldValue(entry, field) }))
    .sort((a, b) => compareValues(a.key, b.key))
    .map(({ entry }) => entry);
}

/** Compares by code unit, which equals code point: the catalogue is all ASCII. */
function compareValues(a: FieldValue | null, b: FieldValue | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  return a < b ? -1 : 1;
}

/** Reverses the order but keeps ids ascending among equals. */
function reverseStable(order: Entries, field: ImageField): Entries {
  const keys = order.map((entry) => fieldValue(entry, field));
  const reversed: CatalogEntry[] = [];
  for (let end = order.length, start = end; end > 0; end = start) {
    while (start > 0 && keys[start - 1] === keys[end - 1]) start -= 1;
    for (const entry of order.slice(start, end)) reversed.push(entry);
  }
  return reversed;
}
