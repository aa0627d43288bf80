// Filters, sort keys and words put together: what is asked of the service, and what is done here.

import { ImgctlError } from '../errors.ts';
import { type Filter, parseFilter } from './filter.ts';
import { filterPredicate } from './filter-predicate.ts';
import { containsPredicate } from './like.ts';
import { parseSort, sortImages } from './sort.ts';
import { type ImageRecord, readValue } from './value.ts';

export interface QueryInput {
  /** `field,operator,value` each. */
  readonly filters: readonly string[];
  /** `field` or `field,direction` each, the most significant first. */
  readonly sorts: readonly string[];
  /** Texts that the name must contain, all of them. */
  readonly words: readonly string[];
}

export interface QueryPlan {
  /** Query parameters for the service, service-api.md section 4.3; it takes one filter and one sort key. */
  readonly server: { readonly filter: string | undefined; readonly sort: string | undefined };
  /** Whether the service cannot be asked for all of it, so that `matches` has work to do. */
  readonly filtersLocally: boolean;
  /** Whether the service cannot sort, since there are several keys. */
  readonly sortsLocally: boolean;
  /** Whether an image from the service, which has applied server.filter, passes all the rest. */
  matches(image: ImageRecord): boolean;
  /** Whether an image passes everything; for a service that has applied nothing. */
  matchesAll(image: ImageRecord): boolean;
  /** The images by all sort keys, in a new array; in the order they came in without one. */
  sort<Row extends ImageRecord>(images: readonly Row[]): Row[];
}

/** One condition: as the service takes it, where it can, and as it is tested here. */
interface Condition {
  readonly wire: string | undefined;
  /** Whether the service's answer to `wire` may hold more than was asked for. */
  readonly needsCheck: boolean;
  readonly test: (image: ImageRecord) => boolean;
}

/**
 * The first condition that the service can answer, and that a URL can hold, is left to it, words before
 * filters; all others are tested here. `now` in milliseconds since the epoch. Throws usage errors.
 */
export function planQuery(input: QueryInput, { now }: { readonly now: number }): QueryPlan {
  const conditions = [
    ...input.words.map(wordCondition),
    ...input.filters.map((text) => filterCondition(parseFilter(text, now))),
  ];
  const keys = input.sorts.map(parseSort);
  const sent = conditions.find(({ wire }) => wire !== undefined && fitsIntoUrl(wire));
  const local = conditions.filter((condition) => condition !== sent || condition.needsCheck);
  return {
    server: { filter: sent?.wire, sort: keys.length === 1 ? keys[0]?.wire : undefined },
    filtersLocally: local.length > 0,
    sortsLocally: keys.length > 1,
    matches: (image) => local.every((condition) => condition.test(image)),
    matchesAll: (image) => conditions.every((condition) => condition.test(image)),
    sort: (images) => sortImages(images, keys),
  };
}

/** Servers and proxies refuse URLs of more than some thousand bytes: a list of ids soon is one. */
const MOST_URL_BYTES = 4_000;

function fitsIntoUrl(filter: string): boolean {
  return new URLSearchParams({ filter }).toString().length <= MOST_URL_BYTES;
}

function filterCondition(filter: Filter): Condition {
  const wire = filter.serverCanAnswer ? filter.wire : undefined;
  return { wire, needsCheck: false, test: filterPredicate(filter) };
}

function wordCondition(word: string): Condition {
  if (word === '') {
    throw new ImgctlError('usage', 'an empty text to search for', {
      hint: 'leave it out to list every image',
    });
  }
  const contains = containsPredicate(word);
  return {
    wire: `name,like,%${word}%`,
    // The service takes a % in the word for a wildcard.
    needsCheck: word.includes('%'),
    test: (image) => {
      const name = readValue(image, 'name');
      return name !== null && contains(`${name}`);
    },
  };
}
