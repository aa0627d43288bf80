// A query: which images match, how they are sorted, and which conditions the service may get.

import { ImgctlError } from '../errors.ts';
import { type ImageRecord, nameOf } from './fields.ts';
import { type Filter, like, parseFilter, type ServiceFilter, serviceFilter } from './filter.ts';
import { filterPredicate, type Test, type Verdict } from './filter-predicate.ts';
import { parseWord, type Word } from './name.ts';
import { isFieldSort, parseSort, type SortKey, sortImages } from './sort.ts';

interface QueryInput {
  readonly words?: readonly string[];
  readonly filters?: readonly Filter[];
  /** The most significant first. */
  readonly sorts?: readonly SortKey[];
}

export interface Condition {
  readonly text: string;
  readonly word?: Word;
  readonly test: Test<ImageRecord>;
  /** What the service may get of it, if anything. */
  readonly sent: ServiceFilter | undefined;
}

export interface QueryObserver {
  /** @param verdict whether the image matches, or the unknown zone that decides it */
  matched(image: ImageRecord, verdict: Verdict): void;
  dependsOnZone(image: ImageRecord, zone: string): void;
}

interface QueryText {
  readonly words: readonly string[];
  readonly filters?: readonly string[] | undefined;
  readonly sorts?: readonly string[];
}

/** @throws ImgctlError usage */
export function parseQuery({ words, filters = [], sorts = [] }: QueryText, now: number): Query {
  return new Query({
    words,
    filters: filters.map((text) => parseFilter(text, now)),
    sorts: sorts.map(parseSort),
  });
}

/** It does not change. An image must match every word and filter. */
export class Query {
  readonly words: readonly string[];
  readonly filters: readonly Filter[];
  readonly sorts: readonly SortKey[];
  /** The words, then the filters. */
  readonly conditions: readonly Condition[];

  /** @throws ImgctlError usage: a word is empty */
  constructor({ words = [], filters = [], sorts = [] }: QueryInput) {
    this.words = words;
    this.filters = filters;
    this.sorts = sorts;
    this.conditions = [
      ...words.map(wordCondition),
      ...filters.map((filter) => {
        const test = filterPredicate(filter);
        return { text: filter.text, test, sent: serviceFilter(filter) };
      }),
    ];
  }

  get isEverything(): boolean {
    return this.conditions.length + this.sorts.length === 0;
  }

  /** True if the service can apply all of it: it takes one filter and one sort key (service.md section 4.3). */
  get isForService(): boolean {
    const { conditions, sorts } = this;
    return (
      conditions.length < 2 &&
      conditions.every(({ sent, word }) => sent && !word?.needsWholeNumbers) &&
      sorts.length < 2 &&
      sorts.every(isFieldSort)
    );
  }

  /** True if the image matches, or may match: the observer learns which. */
  matches(image: ImageRecord, observer?: QueryObserver): boolean {
    let verdict: Verdict = true;
    for (const { test } of this.conditions) {
      const one = test(image);
      if (one !== true) verdict = one;
      if (one === false) break;
    }
    observer?.matched(image, verdict);
    return verdict !== false;
  }

  sort<Row extends ImageRecord>(images: readonly Row[], observer?: QueryObserver): Row[] {
    return sortImages(images, this.sorts, (image, zone) => observer?.dependsOnZone(image, zone));
  }
}

export const EVERYTHING = new Query({});

function wordCondition(text: string): Condition {
  if (text === '') {
    throw new ImgctlError('usage', 'empty search text', { hint: 'omit it to list all images' });
  }
  const word = parseWord(text);
  const test = (image: ImageRecord) => word.matches(nameOf(image));
  // The service would treat a % in the word as a wildcard.
  const filter = text.includes('%') ? undefined : like('name', `%${word.pieces.join('%')}%`);
  return { text, word, test, sent: filter && serviceFilter(filter) };
}
