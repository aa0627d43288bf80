// Groups images into series, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, nameOf, readValue } from './fields.ts';
import { type Name, type Places, readName } from './name.ts';
import { parseTime, type Time, timeDifference } from './timestamp.ts';
import { compareVersions, isGuess, isPreRelease } from './version-order.ts';
import { parseWord, type Word } from './word.ts';
import { yearFirstIn } from './year-first.ts';

export interface Series<Row extends ImageRecord> {
  /** `ubuntu-#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  readonly newest: Row;
  /** Images that could be the newest instead; none without a problem. */
  readonly rivals: readonly Row[];
  readonly problem: string | undefined;
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
  readonly places: Places;
  /** Which versions the words mean: 8 is the first one of web-8.1-3, the second one of web-7-8. */
  readonly match: string;
  /** Read if it is needed; null if it cannot be read. */
  created?: Time | null;
}

/** Collects the images of a query. Ignores images without a name. */
export class SeriesIndex<Row extends ImageRecord> {
  /** The words that begin with a number. */
  readonly #words: readonly Word[];
  /** The images of each series, which has at least one. */
  readonly #bySeries = new Map<string, Entry<Row>[]>();

  /** @param words that the names of the images match */
  constructor(words: readonly string[] = []) {
    this.#words = words.map(parseWord).filter(({ positionIn }) => positionIn);
  }

  get isEmpty(): boolean {
    return this.#bySeries.size === 0;
  }

  add(image: Row): void {
    const text = nameOf(image);
    if (text === '') return;
    const name = readName(text);
    const { seriesKey, places } = name;
    const entry = { image, places, match: this.#matchOf(name) };
    const entries = this.#bySeries.get(seriesKey);
    if (entries) entries.push(entry);
    else this.#bySeries.set(seriesKey, [entry]);
  }

  /** Returns all images, series by series in alphabetical order, the newest first. */
  rankedImages(): RankedImage<Row>[] {
    const ranked: RankedImage<Row>[] = [];
    for (const [seriesNumber, entries] of this.#groups().entries()) {
      const pattern = patternOf(newestOf(entries));
      let rank = 0;
      let before: Entry | undefined;
      for (const entry of entries.toSorted(compareAges)) {
        if (!before || !isEquallyNew(before, entry)) rank += 1;
        ranked.push({ image: entry.image, seriesNumber, pattern, rank });
        before = entry;
      }
    }
    return ranked;
  }

  /** Returns the series in alphabetical order. */
  series(): Series<Row>[] {
    return this.#groups().map((entries) => {
      const newest = newestOf(entries);
      const others = newestOfOtherMatches(newest, entries);
      return others.length > 0 ? this.#unclearSeries(newest, others) : seriesOf(newest, entries);
    });
  }

  /** Returns a series in which the words mean different versions; for each, the newest image. */
  #unclearSeries(newest: Entry<Row>, others: readonly Entry<Row>[]): Series<Row> {
    const names = [newest, ...others].map(({ image }) => readName(nameOf(image)));
    const words = this.#words.filter(({ positionIn }) => {
      return new Set(names.map((name) => positionIn?.(name))).size > 1;
    });
    const pattern = patternOf(newest);
    const texts = words.map(({ text }) => text).join(' and ');
    const verb = words.length === 1 ? 'matches' : 'match';
    const problem = `${texts} ${verb} different numbers in ${pattern}`;
    return { pattern, newest: newest.image, rivals: others.map(({ image }) => image), problem };
  }

  /** Returns the newest images of the series of this one, with the words at the same versions. */
  newestLike(image: Row): readonly Row[] {
    const name = readName(nameOf(image));
    const match = this.#matchOf(name);
    const alike = this.#bySeries.get(name.seriesKey)?.filter((entry) => entry.match === match);
    if (!alike?.length) return [];
    const { newest, rivals } = seriesOf(newestOf(alike), alike);
    return [newest, ...rivals];
  }

  #groups(): Entry<Row>[][] {
    const all = [...this.#bySeries].sort(([left], [right]) => compareText(left, right));
    return all.map(([, entries]) => entries);
  }

  #matchOf(name: Name): string {
    return this.#words.map(({ positionIn }) => positionIn?.(name)).join();
  }
}

/** Returns the newest images for matches other than that of the newest of all, one for each. */
function newestOfOtherMatches<Each extends Entry>(newest: Each, entries: readonly Each[]): Each[] {
  const byMatch = new Map<string, Each>();
  for (const entry of entries) {
    if (entry.match === newest.match) continue;
    byMatch.set(entry.match, newerOf(byMatch.get(entry.match) ?? entry, entry));
  }
  return [...byMatch.values()].sort(compareAges);
}

/** @param newest of the entries by version and time */
function seriesOf<Row extends ImageRecord>(
  newest: Entry<Row>,
  entries: readonly Entry<Row>[],
): Series<Row> {
  const pattern = patternOf(newest);
  for (const { rivalsOf, what, why } of DOUBTS) {
    const rivals = rivalsOf(newest, entries);
    if (rivals.length === 0) continue;
    const [image, rival] = [newest.image, newestOf(rivals).image];
    const [first, second] = compareChoices(image, rival) > 0 ? [rival, image] : [image, rival];
    return { pattern, newest: first, rivals: [second], problem: `${what} ${pattern} ${why}` };
  }
  const equal = entries.filter((entry) => entry !== newest && isEquallyNew(newest, entry));
  const rivals = equal.sort(compareAges).map(({ image }) => image);
  const problem = equal.length > 0 ? `${equal.length + 1} images are equally new` : undefined;
  return { pattern, newest: newest.image, rivals, problem };
}

/** Why the newest image by version may not be the newest. The first doubt with rivals counts. */
const DOUBTS = [
  { rivalsOf: unsureOlder, what: 'the versions in', why: 'cannot be compared' },
  { rivalsOf: releasesBesidePreRelease, what: 'the newest of', why: 'is a pre-release' },
  { rivalsOf: newestByYear, what: 'the dates in', why: 'cannot be compared' },
] as const;

/**
 * Returns the images that may be newer than the newest: 999 beside 10000. It is not one of them if
 * 1000 is there too, as 1000 is surely older than 10000, and 999 than 1000. So from the newest to
 * the oldest, each is compared with the newest, then with the last one that is surely older.
 */
function unsureOlder<Each extends Entry>(newest: Each, all: readonly Each[]): readonly Each[] {
  const mayBeNewer = ({ places }: Each) => isGuess(newest.places, places);
  if (!all.some(mayBeNewer)) return [];
  const unsure: Each[] = [];
  let lastSure = newest;
  for (const entry of all.toSorted(compareAges)) {
    if (mayBeNewer(entry) && !isSurelyOlder(entry, lastSure)) unsure.push(entry);
    else lastSure = entry;
  }
  return unsure;
}

/** True for 999 beside 1000, but not for 21H2 beside 999, which is written in another form. */
function isSurelyOlder(older: Entry, newer: Entry): boolean {
  const hasSameForm = older.places.flat(2).length === newer.places.flat(2).length;
  return hasSameForm && !isGuess(newer.places, older.places);
}

function releasesBesidePreRelease<Each extends Entry>(
  newest: Each,
  all: readonly Each[],
): readonly Each[] {
  if (!isPreRelease(newest.places)) return [];
  return all.filter(({ places }) => !isPreRelease(places));
}

/** Returns the image that is the newest if years count first in dates such as 31-01-2024. */
function newestByYear<Each extends Entry>(newest: Each, all: readonly Each[]): readonly Each[] {
  const yearFirst = yearFirstIn(all.map(({ image }) => nameOf(image)));
  const name = nameOf(newest.image);
  if (yearFirst(name) === name) return [];
  const redated = all.map((entry) => {
    return { ...entry, places: readName(yearFirst(nameOf(entry.image))).places };
  });
  const byYear = newestOf(redated);
  return byYear.image === newest.image ? [] : [byYear];
}

/** @param entries at least one */
function newestOf<Each extends Entry>(entries: readonly Each[]): Each {
  return entries.reduce(newerOf);
}

function newerOf<Each extends Entry>(one: Each, other: Each): Each {
  return compareAges(one, other) < 0 ? one : other;
}

/** Returns a number below 0 if the left image is newer. */
function compareAges(left: Entry, right: Entry): number {
  const byVersion = compareVersions(right.places, left.places);
  if (byVersion !== 0) return byVersion;
  const [leftTime, rightTime] = [timeOf(left), timeOf(right)];
  if (leftTime !== rightTime) return leftTime > rightTime ? -1 : 1;
  return compareValues(readValue(left.image, 'id'), readValue(right.image, 'id'));
}

/** True if neither the versions nor the times say that the newest image is newer than the older. */
function isEquallyNew(newest: Entry, older: Entry): boolean {
  if (compareVersions(newest.places, older.places) !== 0) return false;
  const [created, before] = [createdOn(newest), createdOn(older)];
  if (!created || !before) return true;
  const [least] = timeDifference(created, before);
  return least <= 0;
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
 * Compares two images of which the user has to choose one, also of different series: releases are
 * before pre-releases, then newer versions before older ones, dates by their year.
 */
export function compareChoices(left: ImageRecord, right: ImageRecord): number {
  const names = [nameOf(left), nameOf(right)];
  const yearFirst = yearFirstIn(names);
  const [one = [], other = []] = names.map((name) => readName(yearFirst(name)).places);
  const byRelease = Number(isPreRelease(one)) - Number(isPreRelease(other));
  if (byRelease !== 0) return byRelease;
  return compareVersions(other, one);
}

/** Returns numbers in the order of series, then of versions, the oldest first; null for no name. */
export function versionRanks(images: readonly ImageRecord[]): (number | null)[] {
  const index = new SeriesIndex<ImageRecord>();
  for (const image of images) index.add(image);
  const ranked = index.rankedImages();
  const ranks = new Map<ImageRecord, number>();
  // No rank is greater than the number of images, so each series has ranks of its own.
  for (const { image, seriesNumber, rank } of ranked) {
    ranks.set(image, ranked.length * (seriesNumber + 1) - rank);
  }
  return images.map((image) => ranks.get(image) ?? null);
}
