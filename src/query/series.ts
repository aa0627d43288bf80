// Groups images into series, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, nameOf, readValue } from './fields.ts';
import { parseTimestamp } from './timestamp.ts';
import {
  compareVersions,
  describeSeries,
  findDate,
  inDateOrder,
  parseVersion,
  seriesKey,
  type VersionedName,
} from './version.ts';
import { isSameMatch, type NumberMatch, numberMatch, parseWord } from './words.ts';

export interface Series<Row extends ImageRecord> {
  readonly key: string;
  /** `ubuntu-#.#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** Several images if neither names nor created_on tell which one is newer. */
  readonly newest: readonly [Row, ...Row[]];
  /** Several if a word means different numbers: 8 in web-8.1-3 and web-7.2-8. The newest comes first. */
  readonly matches: readonly {
    readonly match: NumberMatch;
    readonly newest: readonly [Row, ...Row[]];
  }[];
  /** The newest if dates such as 01-02-2024 begin with the month; undefined if that makes no difference. */
  readonly newestByMonth?: Row | undefined;
}

interface Entry<Row extends ImageRecord> {
  readonly image: Row;
  readonly key: string;
  readonly version: VersionedName;
  readonly match: NumberMatch;
}

export interface Candidate<Row extends ImageRecord> extends Entry<Row> {
  readonly pattern: string;
  /** 1 for the newest of its series; equal for images of which neither is newer. */
  readonly rank: number;
  readonly hasUnclearDate: boolean;
}

/** Collects images, and holds only those that may be the newest of their series. */
export class SeriesIndex<Row extends ImageRecord> {
  /** Those of digits. */
  readonly #words: readonly string[];
  readonly #keepAll: boolean;
  /** The place of the date in the names of a series; undefined if not every name has one, at the same place. */
  readonly #dates = new Map<string, number | undefined>();
  /** By series and number match. */
  readonly #groups = new Map<string, [Entry<Row>, ...Entry<Row>[]]>();

  /**
   * @param words that the names of the images match
   * @param keepAll holds every image
   */
  constructor(words: readonly string[] = [], keepAll = false) {
    this.#words = words.filter((word) => parseWord(word).isNumber);
    this.#keepAll = keepAll;
  }

  get isEmpty(): boolean {
    return this.#groups.size === 0;
  }

  /** Returns undefined for an image without a name. */
  #entryOf(image: Row): Entry<Row> | undefined {
    const name = nameOf(image);
    if (name === '') return undefined;
    const version = parseVersion(name);
    return { image, key: seriesKey(version), version, match: numberMatch(this.#words, version) };
  }

  /** Ignores an image without a name. */
  add(image: Row): void {
    const entry = this.#entryOf(image);
    if (entry === undefined) return;
    const { key, version, match } = entry;
    const date = findDate(version);
    if (!this.#dates.has(key)) this.#dates.set(key, date);
    else if (this.#dates.get(key) !== date) this.#dates.set(key, undefined);
    const groupKey = `${match.map(([, index]) => index)} ${key}`;
    const group = this.#groups.get(groupKey);
    const order = group ? compareVersions(version, group[0].version) : 1;
    // The order of dates is known only when all are.
    const holds = this.#keepAll || (group && findDate(group[0].version) !== undefined);
    if (group && (holds || order === 0)) group.push(entry);
    else if (order > 0) this.#groups.set(groupKey, [entry]);
  }

  /** Returns the images that it holds, series by series in the order of their names, the newest first. */
  rankedImages(monthFirst = false): Candidate<Row>[] {
    const bySeries = new Map<string, Entry<Row>[]>();
    for (const entry of [...this.#groups.values()].flat()) {
      const series = bySeries.get(entry.key);
      if (series) series.push(entry);
      else bySeries.set(entry.key, [entry]);
    }
    const entries = [...bySeries.values()].flatMap((series) => {
      const versions = series.map(({ version }) => version);
      const dated = inDateOrder(versions, this.#dates.get(series[0]?.key ?? ''), monthFirst);
      return series.map((entry, index) => ({
        ...entry,
        pattern: describeSeries(entry.version),
        order: dated.names[index] ?? entry.version,
        hasUnclearDate: dated.isUnclear,
        created: createdOn(entry.image),
      }));
    });
    entries.sort(
      (left, right) =>
        // A # in a name can give two series the same pattern.
        compareText(left.pattern, right.pattern) ||
        compareText(left.key, right.key) ||
        compareVersions(right.order, left.order) ||
        // Not a difference: infinity minus infinity is not a number.
        Number(left.created < right.created) - Number(left.created > right.created) ||
        compareValues(readValue(left.image, 'id'), readValue(right.image, 'id')),
    );
    let rank = 0;
    return entries.map(({ created, ...entry }, index) => {
      const before = entries[index - 1];
      if (before?.key !== entry.key) rank = 0;
      const isOlder =
        before === undefined ||
        compareVersions(before.order, entry.order) !== 0 ||
        (before.created !== created && before.created !== Number.POSITIVE_INFINITY);
      if (isOlder || rank === 0) rank += 1;
      return { ...entry, rank };
    });
  }

  /** Returns the series in the order of their names. */
  series(): Series<Row>[] {
    const candidates = this.rankedImages();
    const all = this.#collect(candidates);
    if (!candidates.some(({ hasUnclearDate }) => hasUnclearDate)) return all;
    const byMonth = this.#collect(this.rankedImages(true));
    return all.map((series, index) => {
      const newest = byMonth[index]?.newest[0];
      return { ...series, newestByMonth: newest === series.newest[0] ? undefined : newest };
    });
  }

  /** Returns the newest images of the series of this one, with the words at the same numbers. */
  newestLike(image: Row): readonly Row[] {
    const own = this.#entryOf(image);
    const series = this.series().find(({ key }) => key === own?.key);
    const same = series?.matches.find(({ match }) => own && isSameMatch(match, own.match));
    return [...(same?.newest ?? []), ...(series?.newestByMonth ? [series.newestByMonth] : [])];
  }

  #collect(candidates: readonly Candidate<Row>[]): Series<Row>[] {
    type Read = { match: NumberMatch; newest: [Row, ...Row[]]; rank: number };
    const all: (Omit<Series<Row>, 'matches'> & { matches: Read[] })[] = [];
    for (const { key, pattern, match, rank, image } of candidates) {
      const series = all.at(-1);
      const first: Read = { match, rank, newest: [image] };
      if (series?.key !== key) {
        all.push({ key, pattern, newest: first.newest, matches: [first] });
        continue;
      }
      const same = series.matches.find((each) => isSameMatch(each.match, match));
      if (same === undefined) series.matches.push(first);
      else if (same.rank === rank) same.newest.push(image);
    }
    return all;
  }
}

/** Returns Infinity for a time that cannot be read: the image counts as equal to the newest, so it comes first. */
function createdOn(image: ImageRecord): number {
  return parseTimestamp(`${readValue(image, 'created_on')}`) ?? Number.POSITIVE_INFINITY;
}
