// Finds the newest image of the series that match a query, or says why there is not exactly one.

import { ImgctlError } from '../errors.ts';
import { type ImageRecord, nameOf, readValue } from './fields.ts';
import { type Filter, filterOf } from './filter.ts';
import { readName } from './name.ts';
import { Query } from './query.ts';
import { likeliestFirst, type Series, SeriesIndex } from './series.ts';
import { Tally } from './tally.ts';
import { describeZone } from './timestamp.ts';

/** Collects the images that match a query, by series. */
export interface NewestCollector {
  readonly query: Query;
  readonly tally: Tally;
  readonly index: SeriesIndex<ImageRecord>;
  readonly add: (image: ImageRecord) => void;
}

export function newestCollector(query: Query): NewestCollector {
  const index = new SeriesIndex<ImageRecord>(query.words);
  return { query, tally: new Tally(query), index, add: (image) => index.add(image) };
}

export class AmbiguousError extends ImgctlError {
  readonly choices: readonly [ImageRecord, ...ImageRecord[]];

  constructor(message: string, choices: AmbiguousError['choices']) {
    super('ambiguous', message, { details: listed(describeChoices(choices)) });
    this.choices = choices;
  }
}

/** Returns the name of each image; its id, path and time if it is alone or shares the name. */
export function describeChoices(choices: readonly ImageRecord[]): string[] {
  const counts = new Map<string, number>();
  for (const name of choices.map(nameOf)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return choices.map((image) => {
    const name = nameOf(image);
    if (choices.length > 1 && counts.get(name) === 1) return name;
    const [id, path, created] = (['id', 'path', 'created_on'] as const).map(
      (field) => readValue(image, field) ?? '-',
    );
    return `${id}  ${path}  (${created})`;
  });
}

type Newest =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly image: ImageRecord }
  /** The error lists them. */
  | { readonly kind: 'several'; readonly error: AmbiguousError };

export function findNewest({ index, query }: Pick<NewestCollector, 'query' | 'index'>): Newest {
  const [series, ...others] = index.series();
  if (series === undefined) return { kind: 'none' };
  if (others.length === 0) {
    const error = ambiguityOf(series, query);
    return error ? { kind: 'several', error } : { kind: 'one', image: series.choices[0] };
  }
  const newestOf = ({ choices }: Series<ImageRecord>) => choices[0];
  const newest: [ImageRecord, ...ImageRecord[]] = [newestOf(series), ...others.map(newestOf)];
  const advice = newest.length > MAX_LISTED ? '; add words' : '';
  const message = `${newest.length} series match${advice}`;
  return { kind: 'several', error: new AmbiguousError(message, likeliestFirst(newest)) };
}

/** Returns the only newest image of each series, and an error that names the ambiguous ones. */
export function newestOfEach({ index, query }: NewestCollector) {
  const images: ImageRecord[] = [];
  const errors: AmbiguousError[] = [];
  for (const series of index.series()) {
    const error = ambiguityOf(series, query);
    if (error) errors.push(error);
    else images.push(series.choices[0]);
  }
  if (errors.length < 2) return { images, error: errors[0] };
  const message = `${errors.length} series have no single newest image`;
  const lines = errors.map((each) => `${each.message}: ${each.details?.join(', ')}`);
  return { images, error: new ImgctlError('ambiguous', message, { details: listed(lines) }) };
}

/** Returns the query with filters that leave out each ambiguous series. */
export function withoutAmbiguous({ index, query }: NewestCollector): Query {
  const isAmbiguous = index.series().map((series) => doubtOf(series, query) !== undefined);
  const mustStay: ImageRecord[] = [];
  // One series can have several patterns: web-1 and web_1.
  const namesByPattern = new Map<string, string[]>();
  for (const { image, seriesNumber } of index.rankedImages()) {
    if (!isAmbiguous[seriesNumber]) {
      mustStay.push(image);
      continue;
    }
    const pattern = wildcardsOf(image);
    const names = namesByPattern.get(pattern);
    if (names) names.push(nameOf(image));
    else namesByPattern.set(pattern, [nameOf(image)]);
  }
  const filters = [...namesByPattern].flatMap(([pattern, names]) => {
    return filtersAgainst(names, pattern, mustStay);
  });
  return new Query({ words: query.words, filters: [...query.filters, ...filters] });
}

/** Leaves names out by their pattern or, if that leaves out images that must stay, one by one. */
function filtersAgainst(
  names: readonly string[],
  pattern: string,
  mustStay: readonly ImageRecord[],
): Filter[] {
  const byPattern = filterOf('name', 'notlike', pattern);
  const query = new Query({ filters: [byPattern] });
  if (mustStay.every((image) => query.matches(image))) return [byPattern];
  // None of them is `null`, which ne reads as missing: the pattern of that name matches it alone.
  return names.map((name) => filterOf('name', 'ne', name));
}

/** Returns the pattern of a filter for the versions of an image: `web-%.ova`. */
function wildcardsOf(image: ImageRecord): string {
  return readName(nameOf(image)).pattern.replaceAll('#', '%');
}

/** Returns why it is uncertain which image of a series is the newest, or whether that matches. */
function doubtOf({ choices, doubt }: Series<ImageRecord>, query: Query): string | undefined {
  if (doubt !== undefined) return doubt;
  const zone = query.zones.deciding(choices[0]);
  return zone && `a time ${describeZone(zone)} decides whether the newest image matches`;
}

function ambiguityOf(series: Series<ImageRecord>, query: Query): AmbiguousError | undefined {
  const doubt = doubtOf(series, query);
  return doubt === undefined ? undefined : new AmbiguousError(doubt, series.choices);
}

/** Narrows the query to names like that of the image; undefined if others are as new even then. */
export function selectionOf(
  { index, query: { words, filters } }: NewestCollector,
  target: ImageRecord,
): Query | undefined {
  const narrowing = filterOf('name', 'like', wildcardsOf(target));
  const query = new Query({ words, filters: [...filters, narrowing] });
  const narrower = new SeriesIndex<ImageRecord>(words);
  for (const { image } of index.rankedImages()) {
    if (query.matches(image)) narrower.add(image);
  }
  const newest = findNewest({ index: narrower, query });
  return newest.kind === 'one' && newest.image === target ? query : undefined;
}

export const MAX_LISTED = 20;

function listed(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LISTED) return lines;
  return [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more`];
}
