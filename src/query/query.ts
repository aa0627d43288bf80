// A query: which images match, how they are sorted, and which conditions the service may get.
//
// parseQuery parses what was typed. Then Query.matches and Query.sort need, for
//
//     a word      word.ts; name.ts and find-versions.ts find the versions of a name
//     a filter    filter.ts parses it, filter-predicate.ts tests the values that fields.ts reads
//     a time      time-value.ts (typed), timestamp.ts (of images), local-time.ts, unknown-zone.ts
//     a sort      sort.ts; by versions: series.ts
//
// service-filter.ts says what the service may get of a word or filter, tally.ts counts what each of
// them matches. series.ts finds the newest image of each series: version-order.ts compares names,
// year-first.ts dates.

import { ImgctlError } from '../errors.ts';
import { quoted } from '../words.ts';
import { type ImageRecord, nameOf } from './fields.ts';
import { type Filter, parseFilter } from './filter.ts';
import { filterPredicate, type Test } from './filter-predicate.ts';
import { likeFilter, type ServiceFilter, serviceFilter } from './service-filter.ts';
import { BY_ID, isFieldSort, parseSort, type SortKey, sortImages } from './sort.ts';
import { Zones } from './unknown-zone.ts';
import { parseWord, type Word } from './word.ts';

export interface Condition {
  readonly text: string;
  readonly word?: Word;
  readonly test: Test<ImageRecord>;
  /** What the service may get of it, if anything. */
  readonly sent: ServiceFilter | undefined;
}

type Texts = readonly string[];

/** @throws ImgctlError usage */
export function parseQuery(
  { words, filters = [], sorts = [] }: { words: Texts; filters?: Texts | undefined; sorts?: Texts },
  now: number,
): Query {
  return new Query({
    words,
    filters: filters.map((text) => parseFilter(text, now)),
    sorts: sorts.map(parseSort),
  });
}

type QueryParts = Partial<Pick<Query, 'words' | 'filters' | 'sorts'>>;

/** An immutable query. An image must match every word and filter. */
export class Query {
  readonly words: readonly string[];
  readonly filters: readonly Filter[];
  /** The most significant first. */
  readonly sorts: readonly SortKey[];
  /** The words, then the filters. */
  readonly conditions: readonly Condition[];
  readonly zones: Zones;

  /** @throws ImgctlError usage: a word is empty */
  constructor({ words = [], filters = [], sorts = [] }: QueryParts) {
    this.words = words;
    this.filters = filters;
    this.sorts = sorts;
    this.conditions = [...words.map(wordCondition), ...filters.map(filterCondition)];
    this.zones = new Zones(filters, sorts);
  }

  get isEverything(): boolean {
    return this.conditions.length + this.sorts.length === 0;
  }

  /** True if the service can apply all of it: one filter and one sort key (section 4.3). */
  get isForService(): boolean {
    const { words, filters, sorts } = this;
    if (words.length > 0 || filters.length > 1 || sorts.length > 1) return false;
    return this.conditions.every(({ sent }) => sent) && sorts.every(isFieldSort);
  }

  matches(image: ImageRecord): boolean {
    return this.conditions.every(({ test }) => test(image));
  }

  /** Sorts stably; equal images have the highest id first. */
  sort<Row extends ImageRecord>(images: readonly Row[]): Row[] {
    return sortImages(images, [...this.sorts, BY_ID]);
  }
}

export const EVERYTHING = new Query({});

/** Regular expressions of V8 have a limit, and no name is longer. */
const MAX_WORD = 1_000;

function wordCondition(text: string): Condition {
  if (text === '') {
    throw new ImgctlError('usage', 'empty search text', { facts: 'omit it to list all images' });
  }
  if (text.length > MAX_WORD) {
    const message = `the search text ${quoted(text)} has more than ${MAX_WORD} characters`;
    throw new ImgctlError('usage', message);
  }
  const word = parseWord(text);
  const test = (image: ImageRecord) => word.matches(nameOf(image));
  // The longest piece is in the fewest names.
  const [piece = ''] = word.pieces.toSorted((one, other) => other.length - one.length);
  return { text, word, test, sent: likeFilter('name', piece) };
}

function filterCondition(filter: Filter): Condition {
  return { text: filter.text, test: filterPredicate(filter), sent: serviceFilter(filter) };
}
