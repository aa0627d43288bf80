// Finds the newest image of the series that match a query, or says why there is not exactly one.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { nameOf, readValue } from '../query/fields.ts';
import { like, notLike } from '../query/filter.ts';
import { readName } from '../query/name.ts';
import { Query } from '../query/query.ts';
import { compareChoices, type Series, SeriesIndex } from '../query/series.ts';
import { Tally } from '../query/tally.ts';

/** Collects the images that match a query, by series. */
export interface NewestCollector {
  readonly query: Query;
  readonly tally: Tally;
  readonly index: SeriesIndex<ReceivedImage>;
  readonly add: (image: ReceivedImage) => void;
}

export function newestCollector(query: Query): NewestCollector {
  const index = new SeriesIndex<ReceivedImage>(query.words);
  return { query, tally: new Tally(query), index, add: (image) => index.add(image) };
}

export class AmbiguousError extends ImgctlError {
  readonly choices: readonly [ReceivedImage, ...ReceivedImage[]];

  constructor(message: string, choices: AmbiguousError['choices']) {
    super('ambiguous', message, { details: listed(describeChoices(choices)) });
    this.choices = choices;
  }
}

/** Returns a line for each: its name, or if others have that name, or there is only one, its id, path and creation time. */
export function describeChoices(choices: readonly ReceivedImage[]): string[] {
  const names = new Set<string>();
  const repeated = new Set<string>();
  for (const name of choices.map(nameOf)) (names.has(name) ? repeated : names).add(name);
  return choices.map((image) => {
    const name = nameOf(image);
    const isEnough = choices.length > 1 && !repeated.has(name);
    const [id, path, created] = (['id', 'path', 'created_on'] as const).map(
      (field) => readValue(image, field) ?? '-',
    );
    return isEnough ? name : `${id}  ${path}  (${created})`;
  });
}

/** Returns the only newest image, or the error that lists the choices. @throws ImgctlError empty */
export function onlyNewest({ index, query }: Pick<NewestCollector, 'query' | 'index'>) {
  const allSeries = index.series();
  const newest = allSeries.map((series) => series.newest).sort(compareChoices);
  const [first, ...others] = newest;
  const [series] = allSeries;
  if (first === undefined || series === undefined)
    throw new ImgctlError('empty', 'no images match');
  if (others.length === 0) {
    const error = errorOf(series, query);
    return error ? { error } : { image: first };
  }
  const advice = newest.length > MAX_LISTED ? '; add words' : '';
  const message = `${newest.length} series match${advice}`;
  return { error: new AmbiguousError(message, [first, ...others]) };
}

/** Returns the newest image of each series that has only one, and an error that names the other series. */
export function newestOfEach({ index, query }: NewestCollector) {
  const images: ReceivedImage[] = [];
  const errors: AmbiguousError[] = [];
  for (const series of index.series()) {
    const error = errorOf(series, query);
    if (error) errors.push(error);
    else images.push(series.newest);
  }
  if (errors.length < 2) return { images, error: errors[0] };
  const message = `${errors.length} series have no single newest image`;
  const lines = errors.map(({ message, details = [] }) => `${message}: ${details.join(', ')}`);
  return { images, error: new ImgctlError('ambiguous', message, { details: listed(lines) }) };
}

/** Returns the query without the series that have no single newest image: with filters that leave all others. */
export function withoutUnsure({ index, query }: NewestCollector): Query {
  const isUnsure = index.series().map((series) => problemOf(series, query) !== undefined);
  const sure: ReceivedImage[] = [];
  // One series can have several patterns: web-1 and web_1.
  const unsure = new Map<string, ReceivedImage[]>();
  for (const { image, seriesNumber } of index.rankedImages()) {
    const pattern = wildcardsOf(image);
    const alike = unsure.get(pattern);
    if (!isUnsure[seriesNumber]) sure.push(image);
    else if (alike) alike.push(image);
    else unsure.set(pattern, [image]);
  }
  const filters = [...unsure].flatMap(([pattern, images]) => {
    const others = notLike('name', pattern);
    const rest = new Query({ filters: [others] });
    if (sure.every((image) => rest.matches(image))) return others;
    // The pattern matches images that must stay, so each name is left out by itself.
    return images.map((image) => notLike('name', nameOf(image)));
  });
  return new Query({ words: query.words, filters: [...query.filters, ...filters] });
}

/** Returns the pattern of a filter for the versions of an image: `web-%.ova`. */
function wildcardsOf(image: ReceivedImage): string {
  return readName(nameOf(image)).pattern.replaceAll('#', '%');
}

/** Returns why a series has no single newest image, also if an unknown zone decides whether that matches the query. */
function problemOf({ newest, problem }: Series<ReceivedImage>, query: Query) {
  if (problem !== undefined) return problem;
  const zone = query.decidingZone(newest);
  return zone && `the unknown zone ${zone} decides whether the newest image matches`;
}

function errorOf(series: Series<ReceivedImage>, query: Query): AmbiguousError | undefined {
  const problem = problemOf(series, query);
  if (problem === undefined) return undefined;
  return new AmbiguousError(problem, [series.newest, ...series.rivals]);
}

/** Narrows the query by the pattern of the image's name; undefined if the image is then not the only newest one. */
export function selectionOf(
  { index, query: { words, filters } }: NewestCollector,
  target: ReceivedImage,
): Query | undefined {
  const narrowing = like('name', wildcardsOf(target));
  const query = new Query({ words, filters: [...filters, narrowing] });
  const narrower = new SeriesIndex<ReceivedImage>(words);
  for (const { image } of index.rankedImages()) {
    if (query.matches(image)) narrower.add(image);
  }
  if (narrower.isEmpty) return undefined;
  const newest = onlyNewest({ index: narrower, query });
  return !newest.error && newest.image === target ? query : undefined;
}

export const MAX_LISTED = 20;

function listed(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LISTED) return lines;
  return [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more`];
}
