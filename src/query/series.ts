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
  /** Several if a word means different numbers: 8 in web-8.1-3 and web-7.2-8. */
  readonly readings: readonly ReadSeries<Row>[];
}

/** The part of a series in whose names the words mean the same numbers. */
export interface ReadSeries<Row extends ImageRecord> {
  readonly reading: Reading;
  readonly newest: readonly [Row, ...Row[]];
}

interface Group<Row extends ImageRecord> {
  readonly key: string;
  readonly reading: Reading;
  version: VersionedName;
  /** All images of that version. */
  images: [Row, ...Row[]];
}

/** Collects the images that a reader accepts, and holds only those that may be the newest of their series. */
export class SeriesIndex<Row extends ImageRecord> {
  readonly #reader: WordReader;
  /** By series and reading. */
  readonly #groups = new Map<string, Group<Row>>();

  constructor(reader = new WordReader([])) {
    this.#reader = reader;
  }

  /** Ignores an image without a name. */
  add(image: Row): void {
    const version = versionOf(image);
    if (version === undefined) return;
    const reading = this.#reader.read(nameOf(image), version);
    if (reading === undefined) return;
    const key = seriesKey(version);
    const groupKey = `${reading.map(([, index]) => index)} ${key}`;
    const group = this.#groups.get(groupKey);
    const order = group ? compareVersions(version, group.version) : 1;
    if (group === undefined) {
      this.#groups.set(groupKey, { key, reading, version, images: [image] });
    } else if (order > 0) Object.assign(group, { version, images: [image] });
    else if (order === 0) group.images.push(image);
  }

  /** Returns the series in the order of their names. */
  all(): Series<Row>[] {
    const series = new Map<string, [Group<Row>, ...Group<Row>[]]>();
    for (const group of this.#groups.values()) {
      const groups = series.get(group.key);
      if (groups) groups.push(group);
      else series.set(group.key, [group]);
    }
    return [...series.values()]
      .map((groups) => {
        groups.sort((left, right) => compareVersions(right.version, left.version));
        const [{ key, version, images }] = groups;
        const readings = groups.map((group) => {
          return { reading: group.reading, newest: newestCreated(group.images) };
        });
        return { key, pattern: describeSeries(version), newest: newestCreated(images), readings };
      })
      .sort(bySeries);
  }
}

/** A # in a name can give two series the same pattern. */
function bySeries(left: SeriesName, right: SeriesName): number {
  return compareText(left.pattern, right.pattern) || compareText(left.key, right.key);
}

type SeriesName = Pick<Series<ImageRecord>, 'key' | 'pattern'>;

/** Returns an empty text if the image has no name. */
function nameOf(image: ImageRecord): string {
  return `${readValue(image, 'name') ?? ''}`;
}

export function versionOf(image: ImageRecord): VersionedName | undefined {
  const name = nameOf(image);
  return name === '' ? undefined : parseVersion(name);
}

/** Returns the images than which no other was created later, in the order of their ids. */
function newestCreated<Row extends ImageRecord>(images: readonly [Row, ...Row[]]): [Row, ...Row[]] {
  const instants = images.map(createdOn);
  const last = Math.max(...instants.filter((instant) => instant !== undefined));
  // A time that cannot be read counts as equal to every other.
  const [first = images[0], ...others] = images
    .filter((_, index) => (instants[index] ?? last) === last)
    .sort(byId);
  return [first, ...others];
}

function byId(left: ImageRecord, right: ImageRecord): number {
  return compareValues(readValue(left, 'id'), readValue(right, 'id'));
}

function createdOn(image: ImageRecord): number | undefined {
  const value = readValue(image, 'created_on');
  return value === null ? undefined : parseTimestamp(`${value}`);
}

export interface Candidate<Row extends ImageRecord> {
  readonly image: Row;
  readonly pattern: string;
  /** The numbers of the name: `22.04.20231111`. */
  readonly version: string;
  /** 1 for the newest of its series; equal for images of which neither is newer. */
  readonly rank: number;
}

/** Returns every image that the reader accepts, series by series, the newest first. */
export function rankCandidates<Row extends ImageRecord>(
  images: readonly Row[],
  reader = new WordReader([]),
): Candidate<Row>[] {
  const entries = images.flatMap((image) => {
    const version = versionOf(image);
    if (version === undefined || !reader.read(nameOf(image), version)) return [];
    // A time that cannot be read comes first, beside the last one, as it counts as equal.
    const created = createdOn(image) ?? Number.POSITIVE_INFINITY;
    return { image, version, key: seriesKey(version), pattern: describeSeries(version), created };
  });
  entries.sort(
    (left, right) =>
      bySeries(left, right) ||
      compareVersions(right.version, left.version) ||
      // Not a difference: infinity minus infinity is not a number.
      Number(left.created < right.created) - Number(left.created > right.created) ||
      byId(left.image, right.image),
  );
  let rank = 0;
  return entries.map(({ image, version, key, pattern, created }, index) => {
    const before = entries[index - 1];
    if (before?.key !== key) rank = 0;
    const isOlder =
      before === undefined ||
      compareVersions(before.version, version) !== 0 ||
      (before.created !== created && before.created !== Number.POSITIVE_INFINITY);
    if (isOlder || rank === 0) rank += 1;
    return { image, pattern, version: version.numbers.join('.'), rank };
  });
}
