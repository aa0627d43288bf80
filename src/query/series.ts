// Groups images into series, and finds the newest image of each.

import { compareText, compareValues, type ImageRecord, nameOf, readValue } from './fields.ts';
import { type ComparedPlaces, type Name, readName } from './name.ts';
import { parseTime, type Time, timeDifference } from './timestamp.ts';
import { compareVersions, isGuess, isPreRelease } from './version-order.ts';
import { parseWord, type Word } from './word.ts';
import { yearFirstIn } from './year-first.ts';

export interface Series<Row extends ImageRecord> {
  /** `ubuntu-#-server-cloudimg-amd64-#.ova` */
  readonly pattern: string;
  /** The newest image. If there is a problem, those that may be the newest, the likeliest first. */
  readonly choices: readonly [Row, ...Row[]];
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
  readonly places: ComparedPlaces;
  /** The positions of the versions that the words mean: `0.0` for 8 in web-8.1-3. */
  readonly meant: string;
  /** Read if it is needed; null if it cannot be read. */
  created?: Time | null;
}

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
    const name = readName(text);
    const { seriesKey, compared } = name;
    const entry = { image, places: compared, meant: this.#meantIn(name) };
    const entries = this.#bySeries.get(seriesKey);
    if (entries) entries.push(entry);
    else this.#bySeries.set(seriesKey, [entry]);
  }

  #meantIn(name: Name): string {
    return this.#words.map(({ positionIn }) => positionIn(name)).join();
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
    const meant = this.#meantIn(name);
    const alike = this.#bySeries.get(name.seriesKey)?.filter((entry) => entry.meant === meant);
    return alike?.length ? this.#seriesOf(alike).choices : [];
  }

  #seriesOf(entries: readonly Entry<Row>[]): Series<Row> {
    const newest = newestOf(entries);
    // Why it may not be the newest, and what to choose from, the likeliest first.
    const doubt =
      this.#doubtAboutWords(newest, entries) ??
      doubtAboutOrder(newest, entries) ??
      doubtAboutEqual(newest, entries);
    const [first, ...others] = doubt?.choices ?? [newest];
    const choices = [first.image, ...others.map(({ image }) => image)] as const;
    return { pattern: patternOf(newest), choices, problem: doubt?.problem };
  }

  /** 8 means different versions in web-8.1-3 and web-7-8: the newest image for each is a choice. */
  #doubtAboutWords<Each extends Entry>(newest: Each, all: readonly Each[]) {
    const newestByMeant = new Map<string, Each>();
    for (const entry of all) {
      if (entry.meant === newest.meant) continue;
      const known = newestByMeant.get(entry.meant) ?? entry;
      newestByMeant.set(entry.meant, newerOf(known, entry));
    }
    if (newestByMeant.size === 0) return undefined;
    const choices = [newest, ...[...newestByMeant.values()].sort(newestFirst)] as const;
    const names = choices.map(({ image }) => readName(nameOf(image)));
    const words = this.#words.filter(({ positionIn }) => {
      return new Set(names.map((name) => positionIn(name))).size > 1;
    });
    const texts = words.map(({ text }) => text).join(' and ');
    const verb = words.length === 1 ? 'matches' : 'match';
    return { choices, problem: `${texts} ${verb} different numbers in ${patternOf(newest)}` };
  }
}

function doubtAboutOrder<Each extends Entry>(newest: Each, all: readonly Each[]) {
  const pattern = patternOf(newest);
  const doubtFor = (rivals: readonly Each[], problem: string) => {
    if (rivals.length === 0) return undefined;
    const rival = newestOf(rivals);
    const isRivalFirst = likeliestFirst(newest.image, rival.image) > 0;
    const choices = isRivalFirst ? ([rival, newest] as const) : ([newest, rival] as const);
    return { choices, problem };
  };
  return (
    doubtFor(rivalsByGuess(newest, all), `the versions in ${pattern} cannot be compared`) ??
    doubtFor(releasesBehind(newest, all), `the newest of ${pattern} is a pre-release`) ??
    doubtFor(rivalByYear(newest, all), `the dates in ${pattern} cannot be compared`)
  );
}

/**
 * Returns the images that may be newer than the newest: 999 beside 10000, unless 1000 is there too,
 * as 1000 is surely older than 10000, and 999 than 1000.
 */
function rivalsByGuess<Each extends Entry>(newest: Each, all: readonly Each[]): readonly Each[] {
  const mayBeNewer = ({ places }: Each) => isGuess(newest.places, places);
  if (!all.some(mayBeNewer)) return [];
  let lastSure = newest;
  return all.toSorted(newestFirst).filter((entry) => {
    const isRival = mayBeNewer(entry) && !isSurelyOlder(entry, lastSure);
    if (!isRival) lastSure = entry;
    return isRival;
  });
}

/** True for 999 beside 1000, but not for 21H2 beside 999, which is written in another form. */
function isSurelyOlder(older: Entry, newer: Entry): boolean {
  const hasSameForm = older.places.flat(2).length === newer.places.flat(2).length;
  return hasSameForm && !isGuess(newer.places, older.places);
}

function releasesBehind<Each extends Entry>(newest: Each, all: readonly Each[]): readonly Each[] {
  return isPreRelease(newest.places) ? all.filter((entry) => !isPreRelease(entry.places)) : [];
}

/** Returns the image that is the newest if years count first in dates such as 31-01-2024. */
function rivalByYear<Each extends Entry>(newest: Each, all: readonly Each[]): readonly Each[] {
  const yearFirst = yearFirstIn(all.map(({ image }) => nameOf(image)));
  const name = nameOf(newest.image);
  const hasYearLast = yearFirst(name) !== name;
  if (!hasYearLast) return [];
  const redated = all.map((entry) => {
    return { ...entry, places: readName(yearFirst(nameOf(entry.image))).compared };
  });
  const byYear = newestOf(redated);
  return byYear.image === newest.image ? [] : [byYear];
}

function doubtAboutEqual<Each extends Entry>(newest: Each, all: readonly Each[]) {
  const isRival = (entry: Each) => entry !== newest && isEquallyNew(newest, entry);
  const choices = [newest, ...all.filter(isRival).sort(newestFirst)] as const;
  if (choices.length === 1) return undefined;
  return { choices, problem: `${choices.length} images are equally new` };
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
function newestOf<Each extends Entry>(entries: readonly Each[]): Each {
  return entries.reduce(newerOf);
}

function newerOf<Each extends Entry>(one: Each, other: Each): Each {
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
export function likeliestFirst(left: ImageRecord, right: ImageRecord): number {
  const names = [nameOf(left), nameOf(right)];
  const yearFirst = yearFirstIn(names);
  const [one = [], other = []] = names.map((name) => readName(yearFirst(name)).compared);
  const byRelease = Number(isPreRelease(one)) - Number(isPreRelease(other));
  if (byRelease !== 0) return byRelease;
  return compareVersions(other, one);
}
