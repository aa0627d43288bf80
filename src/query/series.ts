// Groups images into series, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, nameOf, readValue } from './fields.ts';
import { type Name, readName } from './name.ts';
import { parseTime, type Time, timeDifference } from './timestamp.ts';
import { compareVersions, isGuess, isPreRelease, isStep } from './version-order.ts';
import { parseWord, type Word } from './word.ts';
import { yearFirstIn } from './year-first.ts';

export interface Series<Row extends ImageRecord> {
  /** `ubuntu-#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** The newest image, or several and a problem: each of them could be the newest. */
  readonly newest: readonly [Row, ...Row[]];
  readonly problem?: string | undefined;
}

/** An image and its place in its series. */
export type RankedImage<Row extends ImageRecord> = ReturnType<
  SeriesIndex<Row>['rankedImages']
>[number];

/** What is held of each image. */
interface Entry<Row extends ImageRecord> {
  readonly image: Row;
  readonly parts: Name['parts'];
  /** Which versions of the name the words mean: 8 is the first one of web-8.1-3, the second one of web-7.2-8. */
  readonly match: string;
  /** Read if it is needed; null if it cannot be read. */
  created?: Time | null;
}

/** Images of one series. */
type Entries<Row extends ImageRecord> = readonly [Entry<Row>, ...Entry<Row>[]];

/** Collects the images of a query. Ignores images without a name. */
export class SeriesIndex<Row extends ImageRecord> {
  /** The words of digits. */
  readonly #words: readonly Word[];
  readonly #bySeries = new Map<string, [Entry<Row>, ...Entry<Row>[]]>();

  /** @param words that the names of the images match */
  constructor(words: readonly string[] = []) {
    this.#words = words.map(parseWord).filter(({ isNumber }) => isNumber);
  }

  get isEmpty(): boolean {
    return this.#bySeries.size === 0;
  }

  add(image: Row): void {
    const text = nameOf(image);
    if (text === '') return;
    const name = readName(text);
    const entry = { image, parts: name.parts, match: this.#matchOf(name) };
    const entries = this.#bySeries.get(name.seriesKey);
    if (entries) entries.push(entry);
    else this.#bySeries.set(name.seriesKey, [entry]);
  }

  /**
   * Returns all images, series by series in alphabetical order, the newest first. `rank` is 1 for the newest, and equal
   * for images of which neither is newer.
   */
  rankedImages() {
    return this.#groups().flatMap((entries, seriesNumber) => {
      const sorted = entries.toSorted(compareAges);
      const pattern = patternOf(sorted[0] ?? entries[0]);
      let rank = 1;
      return sorted.map((entry, index) => {
        const before = sorted[index - 1];
        if (before && !isEquallyNew(before, entry)) rank += 1;
        return { image: entry.image, seriesNumber, pattern, rank };
      });
    });
  }

  /** Returns the series in alphabetical order. */
  series(): Series<Row>[] {
    return this.#groups().map((entries) => {
      const newestByMatch = new Map<string, Entry<Row>>();
      for (const entry of entries) {
        newestByMatch.set(entry.match, newer(entry, newestByMatch.get(entry.match)));
      }
      const [first, ...others] = [...newestByMatch.values()].sort(compareAges);
      if (first === undefined || others.length === 0) return seriesOf(entries, first);
      return this.#unclearSeries([first, ...others]);
    });
  }

  /** @param newest of each meaning of the words */
  #unclearSeries(newest: Entries<Row>): Series<Row> {
    const names = newest.map(({ image }) => readName(nameOf(image)));
    const words = this.#words.filter(({ versionIndexIn }) => {
      return new Set(names.map(versionIndexIn)).size > 1;
    });
    const pattern = patternOf(newest[0]);
    const texts = words.map(({ text }) => text).join(' and ');
    const problem = `${texts} matches different numbers in ${pattern}`;
    return { pattern, newest: imagesOf(newest), problem };
  }

  /** Returns the newest images of the series of this one, with the words at the same versions. */
  newestLike(image: Row): readonly Row[] {
    const name = readName(nameOf(image));
    const all = this.#bySeries.get(name.seriesKey) ?? [];
    const match = this.#matchOf(name);
    const [first, ...others] = all.filter((entry) => entry.match === match);
    return first ? seriesOf([first, ...others]).newest : [];
  }

  #groups(): Entries<Row>[] {
    const all = [...this.#bySeries].sort(([left], [right]) => compareText(left, right));
    return all.map(([, entries]) => entries);
  }

  #matchOf(name: Name): string {
    return this.#words.map(({ versionIndexIn }) => versionIndexIn(name)).join();
  }
}

function hasSome<Row extends ImageRecord>(entries: readonly Entry<Row>[]): entries is Entries<Row> {
  return entries.length > 0;
}

function imagesOf<Row extends ImageRecord>([first, ...others]: Entries<Row>) {
  return [first.image, ...others.map(({ image }) => image)] as const;
}

function patternOf<Row extends ImageRecord>({ image }: Entry<Row>): string {
  return readName(nameOf(image)).pattern;
}

function newer<Row extends ImageRecord>(one: Entry<Row>, other = one): Entry<Row> {
  return compareAges(other, one) < 0 ? other : one;
}

function newestIn<Row extends ImageRecord>(entries: Entries<Row>): Entry<Row> {
  return entries.reduce((best, entry) => newer(entry, best));
}

/** Returns a number below 0 if the left image is newer. */
function compareAges<Row extends ImageRecord>(left: Entry<Row>, right: Entry<Row>): number {
  const byVersion = compareVersions(right.parts, left.parts);
  if (byVersion !== 0) return byVersion;
  const [leftTime, rightTime] = [timeOf(left), timeOf(right)];
  if (leftTime !== rightTime) return leftTime > rightTime ? -1 : 1;
  return compareValues(readValue(left.image, 'id'), readValue(right.image, 'id'));
}

function isEquallyNew<Row extends ImageRecord>(newer: Entry<Row>, other: Entry<Row>): boolean {
  if (compareVersions(newer.parts, other.parts) !== 0) return false;
  const [created, before] = [createdOn(newer), createdOn(other)];
  if (!created || !before) return true;
  const [least] = timeDifference(created, before);
  return least <= 0;
}

/** Returns the series with its newest image, or those that could be, in the order of choices. */
function seriesOf<Row extends ImageRecord>(
  entries: Entries<Row>,
  first = newestIn(entries),
): Series<Row> {
  const pattern = patternOf(first);
  const others = entries.filter((entry) => entry !== first);
  const unclear = (problem: string, rivals: Entries<Row>): Series<Row> => {
    const [one, two] = [first.image, newestIn(rivals).image];
    return { pattern, newest: compareChoices(one, two) > 0 ? [two, one] : [one, two], problem };
  };
  const rivals = incomparable(first, others);
  if (hasSome(rivals)) return unclear(`the versions in ${pattern} cannot be compared`, rivals);
  const isRelease = ({ parts }: Entry<Row>) => !isPreRelease(parts);
  const releases = isRelease(first) ? [] : others.filter(isRelease);
  if (hasSome(releases)) return unclear(`the newest of ${pattern} is a pre-release`, releases);
  const dated = newestByDate(first, entries);
  if (dated.image !== first.image) {
    return unclear(`the dates in ${pattern} cannot be compared`, [dated]);
  }
  const equal = others.filter((entry) => isEquallyNew(first, entry)).sort(compareAges);
  const problem = equal.length > 0 ? `${equal.length + 1} images are equally new` : undefined;
  return { pattern, newest: imagesOf([first, ...equal]), problem };
}

/** Returns the images of which it takes a guess to say that they are older than the first. */
function incomparable<Row extends ImageRecord>(first: Entry<Row>, others: readonly Entry<Row>[]) {
  const isDoubtful = ({ parts }: Entry<Row>) => isGuess(first.parts, parts);
  if (!others.some(isDoubtful)) return [];
  // 999 is older than 10000 if 1000 to 9999 are there too.
  let lowest = first;
  return others.toSorted(compareAges).filter((entry) => {
    if (isDoubtful(entry) && !isStep(lowest.parts, entry.parts)) return true;
    lowest = entry;
    return false;
  });
}

/** Returns the newest if dates with the year last are compared by year, or `first` if it has none. */
function newestByDate<Row extends ImageRecord>(first: Entry<Row>, entries: Entries<Row>) {
  const nameOfEntry = ({ image }: Entry<Row>) => nameOf(image);
  const yearFirst = yearFirstIn(entries.map(nameOfEntry));
  if (yearFirst(nameOfEntry(first)) === nameOfEntry(first)) return first;
  const inOrder = (entry: Entry<Row>) => ({
    ...entry,
    parts: readName(yearFirst(nameOfEntry(entry))).parts,
  });
  const [one, ...others] = entries;
  return newestIn([inOrder(one), ...others.map(inOrder)]);
}

/**
 * Compares two images of which the user has to choose one, also of different series: releases are before pre-releases,
 * then newer versions before older ones, dates by their year.
 */
export function compareChoices(left: ImageRecord, right: ImageRecord): number {
  const names = [nameOf(left), nameOf(right)];
  const yearFirst = yearFirstIn(names);
  const [one = [], other = []] = names.map((name) => readName(yearFirst(name)).parts);
  const isLeftEarly = isPreRelease(one);
  if (isLeftEarly !== isPreRelease(other)) return isLeftEarly ? 1 : -1;
  return compareVersions(other, one);
}

/** Returns numbers in the order of series and versions: greater for newer images, null without a name. */
export function versionRanks(images: readonly ImageRecord[]): (number | null)[] {
  const index = new SeriesIndex<ImageRecord>();
  for (const image of images) index.add(image);
  const ranked = index.rankedImages();
  const ranks = new Map<ImageRecord, number>();
  for (const { image, seriesNumber, rank } of ranked) {
    ranks.set(image, ranked.length * (seriesNumber + 1) - rank);
  }
  return images.map((image) => ranks.get(image) ?? null);
}

/** Infinity for a time that cannot be read: the image may be the newest, so it comes first. */
function timeOf<Row extends ImageRecord>(entry: Entry<Row>): number {
  return createdOn(entry)?.at ?? Number.POSITIVE_INFINITY;
}

function createdOn<Row extends ImageRecord>(entry: Entry<Row>): Time | null {
  if (entry.created === undefined) {
    entry.created = parseTime(`${readValue(entry.image, 'created_on')}`) ?? null;
  }
  return entry.created;
}
