// Divides a query between the service and this program.

import { ImgctlError } from '../errors.ts';
import { type ImageRecord, readValue } from './fields.ts';
import { type Filter, parseFilter } from './filter.ts';
import { containsPredicate, filterPredicate } from './match.ts';
import { parseSort, sortImages } from './sort.ts';

export interface QueryInput {
  /** `field,operator,value` each. */
  readonly filters: readonly string[];
  /** `field` or `field,direction` each, the most significant first. */
  readonly sorts: readonly string[];
  readonly words: readonly string[];
}

export interface QueryPlan {
  /** Query parameters; the service takes one filter and one sort key (service-api.md section 4.3). */
  readonly server: { readonly filter: string | undefined; readonly sort: string | undefined };
  /** True if `matches` must be called for every image of the service. */
  readonly filtersLocally: boolean;
  readonly sortsLocally: boolean;
  /** True if an image that passed server.filter also passes the rest. */
  matches(image: ImageRecord): boolean;
  /** True if an image passes everything, for a service that ignored the filter. */
  matchesAll(image: ImageRecord): boolean;
  sort<Row extends ImageRecord>(images: readonly Row[]): Row[];
}

interface Condition {
  /** As the service expects it; undefined if the service cannot apply it. */
  readonly wire: string | undefined;
  /** True if the service may return more images than `test` accepts. */
  readonly needsCheck: boolean;
  readonly test: (image: ImageRecord) => boolean;
}

/** Sends the first condition that the service can apply, words before filters. @throws ImgctlError usage */
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

/** Servers and proxies reject longer URLs; a list of ids may have thousands. */
const MAX_URL_BYTES = 4_000;

function fitsIntoUrl(filter: string): boolean {
  return new URLSearchParams({ filter }).toString().length <= MAX_URL_BYTES;
}

function filterCondition(filter: Filter): Condition {
  const wire = filter.serverCanApply ? filter.wire : undefined;
  return { wire, needsCheck: false, test: filterPredicate(filter) };
}

function wordCondition(word: string): Condition {
  if (word === '') {
    throw new ImgctlError('usage', 'empty search text', {
      hint: 'leave it out to list all images',
    });
  }
  const contains = containsPredicate(word);
  return {
    wire: `name,like,%${word}%`,
    // The service treats a % in the word as a wildcard.
    needsCheck: word.includes('%'),
    test: (image) => {
      const name = readValue(image, 'name');
      return name !== null && contains(`${name}`);
    },
  };
}
