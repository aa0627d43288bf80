// Groups images into series by their names, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, readValue } from './fields.ts';
import { parseTimestamp } from './timestamp.ts';
import {
  compareVersions,
  describeSeries,
  parseVersion,
  seriesKey,
  type VersionedName,
} from './version.ts';
import { type Reading, WordReader } from './words.ts';

export interface Series<Row extends ImageRecord> {
  readonly key: string;
  /** `ubuntu-#.#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** Several images if neither names nor created_on tell which one is newer. */
  readonly newest: readonly [Row, ...Row[]];
  /** Several if a word means different numbers: 8 in web-8.1-3 and web-7.2-8. The newest comes first. */
  readonly readings: readonly ReadSeries<Row>[];
}

/** The part of a series in whose names the words mean the same numbers. */
interface ReadSeries<Row extends ImageRecord> {
  readonly reading: Reading;
  readonly newest: readonly [Row, ...Row[]];
}

interface Entry<Row extends ImageRecord> {
  readonly image: Row;
  readonly key: string;
  readonly version: VersionedName;
  readonly reading: Reading;
}

export interface Candidate<Row extends ImageRecord> extends Entry<Row> {
  readonly pattern: string;
  /** 1 for the newest of its series; equal for images of which neither is newer. */
  readonly rank: number;
}

/** Collects the images that a reader accepts, and holds only those that may be the newest of their series. */
export class SeriesIndex<Row extends ImageRecord> {
  readonly #reader: WordReader;
  readonly #holdsAll: boolean;
  /** By series and reading. */
  readonly #groups = new Map<string, [Entry<Row>, ...Entry<Row>[]]>();

  /** @param holdsAll holds every image that the reader accepts */
  constructor(reader = new WordReader([]), holdsAll = false) {
    this.#reader = reader;
    this.#holdsAll = holdsAll;
  }

  /** Ignores an image without a name. */
  add(image: Row): void {
    const version = versionOf(image);
    if (version === undefined) return;
    const reading = this.#reader.read(nameOf(image), version);
    if (reading === undefined) return;
    const key = seriesKey(version);
    const groupKey = `${reading.map(([, index]) => index)} ${key}`;
    const entry = { image, key, version, reading };
    const group = this.#groups.get(groupKey);
    const order = group ? compareVersions(version, group[0].version) : 1;
    if (group && (this.#holdsAll || order === 0)) group.push(entry);
    else if (order > 0) this.#groups.set(groupKey, [entry]);
  }

  /** Returns the images that it holds, series by series in the order of their names, the newest first. */
  ranked(): Candidate<Row>[] {
    const entries = [...this.#groups.values()].flat().map((entry) => {
      return { ...entry, pattern: describeSeries(entry.version), created: createdOn(entry.image) };
    });
    entries.sort(
      (left, right) =>
        // A # in a name can give two series the same pattern.
        compareText(left.pattern, right.pattern) ||
        compareText(left.key, right.key) ||
        compareVersions(right.version, left.version) ||
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
        compareVersions(before.version, entry.version) !== 0 ||
        (before.created !== created && before.created !== Number.POSITIVE_INFINITY);
      if (isOlder || rank === 0) rank += 1;
      return { ...entry, rank };
    });
  }

  /** Returns the series in the order of their names. */
  all(): Series<Row>[] {
    type Read = { reading: Reading; newest: [Row, ...Row[]]; rank: number };
    const all: (Omit<Series<Row>, 'readings'> & { readings: Read[] })[] = [];
    for (const { key, pattern, reading, rank, image } of this.ranked()) {
      const series = all.at(-1);
      const first: Read = { reading, rank, newest: [image] };
      if (series?.key !== key) {
        all.push({ key, pattern, newest: first.newest, readings: [first] });
        continue;
      }
      const same = series.readings.find((each) => isSameReading(each.reading, reading));
      if (same === undefined) series.readings.push(first);
      else if (same.rank === rank) same.newest.push(image);
    }
    return all;
  }
}

export function isSameReading(left: Reading, right: Reading = []): boolean {
  return left.every(([, index], at) => index === right[at]?.[1]);
}

/** Returns an empty text if the image has no name. */
function nameOf(image: ImageRecord): string {
  return `${readValue(image, 'name') ?? ''}`;
}

export function versionOf(image: ImageRecord): VersionedName | undefined {
  const name = nameOf(image);
  return name === '' ? undefined : parseVersion(name);
}

/** A time that cannot be read comes first, beside the last one, as it counts as equal. */
function createdOn(image: ImageRecord): number {
  return parseTimestamp(`${readValue(image, 'created_on')}`) ?? Number.POSITIVE_INFINITY;
}
