// Groups images into series, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, nameOf, readValue } from './fields.ts';
import { type ComparedPlaces, Name, readName } from './name.ts';
import { parseTime, type Time, timeDifference } from './timestamp.ts';
import { compareVersions, isGuess, isPreRelease } from './version-order.ts';
import { parseWord, type Word } from './word.ts';
import { yearFirstIn } from './year-first.ts';

export interface Series<Row extends ImageRecord> {
  /** `ubuntu-#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** The newest image; of an ambiguous series, all that may be the newest, the likeliest first. */
  readonly choices: readonly [Row, ...Row[]];
  /** Why it is ambiguous; undefined if it is not. */
  readonly doubt: string | undefined;
}

export interface RankedImage<Row extends ImageRecord> {
  readonly image: Row;
  readonly seriesNumber: number;
  readonly pattern: string;
  /** 1 for the newest of its series; that of the image before if neither of the two is newer. */
  readonly rank: number;
}

/** What is held of each image of a series. */
interface Entry<Row extends ImageRecord = ImageRecord> {
  readonly image: Row;
  readonly places: ComparedPlaces;
  /** The positions of the versions that the words mean: `0.0,1.0` for 8 and 3 in web-8.1-a-3. */
  readonly positions: string;
  /** Read if it is needed; null if it cannot be read. */
  created?: Time | null;
}

type Entries<Row extends ImageRecord> = readonly Entry<Row>[];

/** Collects the images of a query. Ignores images without a name. */
export class SeriesIndex<Row extends ImageRecord> {
  readonly #words: readonly Word[];
  /** The images of each series, which has at least one. */
  readonly #bySeries = new Map<string, Entry<Row>[]>();

  /** @param words that the names of the images match */
  constructor(words: readonly string[] = []) {
    this.#words = words.map(parseWord);
  }

  get isEmpty(): boolean {
    return this.#bySeries.size === 0;
  }

  add(image: Row): void {
    const text = nameOf(image);
    if (text === '') return;
    // Not readName, which remembers a name that is read again.
    const name = new Name(text);
    const { seriesKey, compared } = name;
    const entry = { image, places: compared, positions: this.#positionsIn(name) };
    const entries = this.#bySeries.get(seriesKey);
    if (entries) entries.push(entry);
    else this.#bySeries.set(seriesKey, [entry]);
  }

  #positionsIn(name: Name): string {
    return this.#words.map((word) => word.positionIn(name)).join();
  }

  /** Returns the images of each series, in the alphabetical order of the series. */
  #entriesBySeries(): Entry<Row>[][] {
    const all = [...this.#bySeries].sort(([left], [right]) => compareText(left, right));
    return all.map(([, entries]) => entries);
  }

  /** Returns all images, series by series in alphabetical order, the newest first. */
  rankedImages(): RankedImage<Row>[] {
    const ranked: RankedImage<Row>[] = [];
    for (const [seriesNumber, entries] of this.#entriesBySeries().entries()) {
      const pattern = patternOf(newestOf(entries));
      const sorted = entries.toSorted(newestFirst);
      let rank = 1;
      for (const [index, entry] of sorted.entries()) {
        const before = sorted[index - 1];
        if (before && !isEquallyNew(before, entry)) rank += 1;
        ranked.push({ image: entry.image, seriesNumber, pattern, rank });
      }
    }
    return ranked;
  }

  /** Returns the series in alphabetical order. */
  series(): Series<Row>[] {
    return this.#entriesBySeries().map((entries) => this.#seriesOf(entries));
  }

  /** Returns the newest images of the series of this one, with the words at the same versions. */
  newestLike(image: Row): readonly Row[] {
    const name = readName(nameOf(image));
    const positions = this.#positionsIn(name);
    const entries = this.#bySeries.get(name.seriesKey) ?? [];
    const alike = entries.filter((entry) => entry.positions === positions);
    return alike.length > 0 ? this.#seriesOf(alike).choices : [];
  }

  #seriesOf(entries: Entries<Row>): Series<Row> {
    const newest = newestOf(entries);
    const { choices, doubt } = this.#ambiguityOfWords(newest, entries) ??
      ambiguityOfOrder(newest, entries) ??
      ambiguityOfEqual(newest, entries) ?? { choices: [newest.image], doubt: undefined };
    return { pattern: patternOf(newest), choices, doubt };
  }

  /** 8 means different versions in web-8.1-3 and web-7-8: the newest image for each is a choice. */
  #ambiguityOfWords(newest: Entry<Row>, all: Entries<Row>): Ambiguity<Row> | undefined {
    const newestByPositions = new Map<string, Entry<Row>>();
    for (const entry of all) {
      if (entry.positions === newest.positions) continue;
      const known = newestByPositions.get(entry.positions) ?? entry;
      newestByPositions.set(entry.positions, newerOf(known, entry));
    }
    if (newestByPositions.size === 0) return undefined;
    const others = [...newestByPositions.values()].sort(newestFirst);
    const choices = [newest.image, ...others.map(({ image }) => image)] as const;
    const names = choices.map((image) => readName(nameOf(image)));
    const words = this.#words.filter(({ positionIn }) => new Set(names.map(positionIn)).size > 1);
    const texts = words.map(({ text }) => text).join(' and ');
    const verb = words.length === 1 ? 'matches' : 'match';
    return { choices, doubt: `${texts} ${verb} different numbers in ${patternOf(newest)}` };
  }
}

/** The images that may be the newest, the likeliest first, and why that is uncertain. */
interface Ambiguity<Row extends ImageRecord> {
  readonly choices: readonly [Row, ...Row[]];
  readonly doubt: string;
}

/** Looks for rivals, which may be newer than the newest. The first rule that finds any counts. */
function ambiguityOfOrder<Row extends ImageRecord>(
  newest: Entry<Row>,
  all: Entries<Row>,
): Ambiguity<Row> | undefined {
  const pattern = patternOf(newest);
  const rules = [
    { rivalsIn: rivalByGuess, doubt: `the versions in ${pattern} cannot be compared` },
    { rivalsIn: releaseBehind, doubt: `the newest of ${pattern} is a pre-release` },
    { rivalsIn: rivalsByYear, doubt: `the dates in ${pattern} cannot be compared` },
  ];
  for (const { rivalsIn, doubt } of rules) {
    const rivals = rivalsIn(newest, all);
    if (rivals.length > 0) return { choices: likeliestFirst([newest.image, ...rivals]), doubt };
  }
  return undefined;
}

/**
 * Returns 999 beside 10000: it takes a guess to say which is newer. But none if 1000 is there too,
 * as 999 is surely older than 1000, and 1000 than 10000. So it compares each image with the next
 * newer one: as long as each is surely older than that, all are surely older than the newest.
 */
function rivalByGuess<Row extends ImageRecord>(newest: Entry<Row>, all: Entries<Row>): Row[] {
  const isGuessed = ({ places }: Entry) => isGuess(newest.places, places);
  if (!all.some(isGuessed)) return [];
  const sorted = all.toSorted(newestFirst);
  const rival = sorted.find((entry, index) => {
    return isGuessed(entry) && !isSurelyOlder(entry, sorted[index - 1] ?? newest);
  });
  return rival ? [rival.image] : [];
}

/** True for 999 beside 1000, but not for 21H2 beside 999, which is written in another form. */
function isSurelyOlder(older: Entry, newer: Entry): boolean {
  const hasSameForm = older.places.flat(2).length === newer.places.flat(2).length;
  return hasSameForm && !isGuess(newer.places, older.places);
}

/** Returns the newest release, 2.0 beside 2.1-rc1, if the newest image is a pre-release. */
function releaseBehind<Row extends ImageRecord>(newest: Entry<Row>, all: Entries<Row>): Row[] {
  if (!isPreRelease(newest.places)) return [];
  const releases = all.filter(({ places }) => !isPreRelease(places));
  return releases.length > 0 ? [newestOf(releases).image] : [];
}

/**
 * Returns the images that are the newest if years count first in dates such as 03-01-2024, once
 * with the day before the month, once with the month before the day.
 */
function rivalsByYear<Row extends ImageRecord>(newest: Entry<Row>, all: Entries<Row>): Row[] {
  const names = all.map(({ image }) => nameOf(image));
  const name = nameOf(newest.image);
  const rivals = new Set<Row>();
  for (const order of ['day', 'month'] as const) {
    const yearFirst = yearFirstIn(names, order);
    // Without a date in the first order, a name has none in the second one.
    if (yearFirst(name) === name) break;
    const redate = ({ image }: Entry<Row>) => readName(yearFirst(nameOf(image))).compared;
    const redated = all.map((entry) => ({ ...entry, places: redate(entry) }));
    rivals.add(newestOf(redated).image);
  }
  rivals.delete(newest.image);
  return [...rivals];
}

function ambiguityOfEqual<Row extends ImageRecord>(
  newest: Entry<Row>,
  all: Entries<Row>,
): Ambiguity<Row> | undefined {
  const equal = all.filter((entry) => entry !== newest && isEquallyNew(newest, entry));
  if (equal.length === 0) return undefined;
  const others = equal.sort(newestFirst).map(({ image }) => image);
  const choices = [newest.image, ...others] as const;
  return { choices, doubt: `${choices.length} images are equally new` };
}

/** True if neither the versions nor the times say that the newest image is newer than the older. */
function isEquallyNew(newest: Entry, older: Entry): boolean {
  if (compareVersions(newest.places, older.places) !== 0) return false;
  const [created, createdBefore] = [createdOn(newest), createdOn(older)];
  if (!created || !createdBefore) return true;
  const [least] = timeDifference(created, createdBefore);
  return least <= 0;
}

/** @param entries at least one */
function newestOf<Row extends ImageRecord>(entries: Entries<Row>): Entry<Row> {
  return entries.reduce(newerOf);
}

function newerOf<Row extends ImageRecord>(one: Entry<Row>, other: Entry<Row>): Entry<Row> {
  return newestFirst(one, other) < 0 ? one : other;
}

/** Sorts by version, then by time, then by id, as lists do. */
function newestFirst(left: Entry, right: Entry): number {
  const byVersion = compareVersions(right.places, left.places);
  if (byVersion !== 0) return byVersion;
  const [leftTime, rightTime] = [timeOf(left), timeOf(right)];
  if (leftTime !== rightTime) return leftTime > rightTime ? -1 : 1;
  return compareValues(readValue(right.image, 'id'), readValue(left.image, 'id'));
}

/** Infinity for a time that cannot be read: the image may be the newest, so it comes first. */
function timeOf(entry: Entry): number {
  return createdOn(entry)?.at ?? Number.POSITIVE_INFINITY;
}

function createdOn(entry: Entry): Time | null {
  if (entry.created === undefined) {
    entry.created = parseTime(`${readValue(entry.image, 'created_on')}`) ?? null;
  }
  return entry.created;
}

function patternOf({ image }: Entry): string {
  return readName(nameOf(image)).pattern;
}

/**
 * Sorts images of which the user has to choose one, also of different series: releases before
 * pre-releases, then newer versions before older ones, dates by their year.
 */
export function likeliestFirst<Row extends ImageRecord>(
  images: readonly [Row, ...Row[]],
): [Row, ...Row[]] {
  // For all names at once, as 5.12.24 is a date beside 28.02.24, and a version beside 6.1.1.
  const yearFirst = yearFirstIn(images.map(nameOf), 'day');
  const placesOf = (image: Row) => readName(yearFirst(nameOf(image))).compared;
  const sorted: [Row, ...Row[]] = [...images];
  return sorted.sort((left, right) => {
    const [leftPlaces, rightPlaces] = [placesOf(left), placesOf(right)];
    const byRelease = Number(isPreRelease(leftPlaces)) - Number(isPreRelease(rightPlaces));
    return byRelease || compareVersions(rightPlaces, leftPlaces);
  });
}
