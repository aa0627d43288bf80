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

export interface Series<Row extends ImageRecord> {
  readonly key: string;
  /** `ubuntu-#.#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** Several images if neither names nor created_on tell which one is newer. */
  readonly newest: readonly [Row, ...Row[]];
}

interface Group<Row extends ImageRecord> {
  version: VersionedName;
  /** All images of that version. */
  images: [Row, ...Row[]];
}

/** Collects images and holds only those that may be the newest of their series. */
export class SeriesIndex<Row extends ImageRecord> {
  readonly #groups = new Map<string, Group<Row>>();

  /** Ignores an image without a name. */
  add(image: Row): void {
    const version = versionOf(image);
    if (version === undefined) return;
    const key = seriesKey(version);
    const group = this.#groups.get(key);
    const order = group ? compareVersions(version, group.version) : 1;
    if (group === undefined) this.#groups.set(key, { version, images: [image] });
    else if (order > 0) Object.assign(group, { version, images: [image] });
    else if (order === 0) group.images.push(image);
  }

  /** Returns the series in the order of their names. */
  all(): Series<Row>[] {
    return [...this.#groups]
      .sort(([left], [right]) => compareText(left, right))
      .map(([key, { version, images }]) => ({
        key,
        pattern: describeSeries(version),
        newest: newestCreated(images),
      }));
  }
}

export function versionOf(image: ImageRecord): VersionedName | undefined {
  const name = readValue(image, 'name');
  return name === null || name === '' ? undefined : parseVersion(`${name}`);
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

/** Returns every image with a name, series by series, the newest first. */
export function rankCandidates<Row extends ImageRecord>(images: readonly Row[]): Candidate<Row>[] {
  const entries = images.flatMap((image) => {
    const version = versionOf(image);
    if (version === undefined) return [];
    // A time that cannot be read comes first, beside the last one, as it counts as equal.
    const created = createdOn(image) ?? Number.POSITIVE_INFINITY;
    return { image, version, key: seriesKey(version), created };
  });
  entries.sort(
    (left, right) =>
      compareText(left.key, right.key) ||
      compareVersions(right.version, left.version) ||
      // Not a difference: infinity minus infinity is not a number.
      Number(left.created < right.created) - Number(left.created > right.created) ||
      byId(left.image, right.image),
  );
  let rank = 0;
  return entries.map(({ image, version, key, created }, index) => {
    const before = entries[index - 1];
    if (before?.key !== key) rank = 0;
    const isOlder =
      before === undefined ||
      compareVersions(before.version, version) !== 0 ||
      (before.created !== created && before.created !== Number.POSITIVE_INFINITY);
    if (isOlder || rank === 0) rank += 1;
    return { image, pattern: describeSeries(version), version: version.numbers.join('.'), rank };
  });
}
