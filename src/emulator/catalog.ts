// Generates the public catalogue: the same count and seed always give the same images.

import type { Image } from '../api/types.ts';
import { DISTRIBUTIONS, type Release } from './distributions.ts';
import { parseTimestamp, serviceTimestamp } from './timestamp.ts';

/** A catalogue image with its timestamps in milliseconds since the epoch. */
export interface CatalogEntry {
  readonly image: Image;
  readonly created: number;
  readonly updated: number;
}

interface CatalogFile extends Omit<CatalogEntry, 'image'> {
  readonly name: string;
  readonly folder: string | null;
  readonly dataStore: string;
}

const SECOND = 1000;
const DAY = 86_400 * SECOND;
/** Builds are added between 9 and 21 UTC, which is the same day in Eastern time. */
const MORNING = 9 * 3600 * SECOND;
const FIRST_ID = 1000;
const DATA_STORES = ['images-01', 'images-02', 'images-03'] as const;
/** Nothing has a later date, so that no run sees a timestamp in the future. */
const LAST_UPDATE = Date.UTC(2025, 6, 31);
/** One image in 40 is an archived copy of another: names alone are not unique. */
const ARCHIVED_ONE_IN = 40;
const UNFILED_ONE_IN = 50;

/** Returns `count` images with ascending ids, oldest first. */
export function buildCatalog(count: number, seed: number): CatalogEntry[] {
  const random = seededRandom(seed);
  const originals = originalFiles(count - Math.floor(count / ARCHIVED_ONE_IN), random);
  const archived = archivedFiles(originals, count - originals.length, random);
  const files = [...originals, ...archived].sort((a, b) => a.created - b.created);
  let id = FIRST_ID;
  return files.map((file) => {
    id += 1 + random.below(3);
    return { image: toImage(id, file), created: file.created, updated: file.updated };
  });
}

/** Returns the entries of given images, which may have missing fields. */
export function catalogOf(images: readonly Partial<Image>[]): CatalogEntry[] {
  // Filters cannot ask for a time in another format, and a sort needs some number.
  const instant = (text: unknown) => parseTimestamp(`${text}`) ?? 0;
  return images
    .map((image) => ({
      image: image as Image,
      created: instant(image.created_on),
      updated: instant(image.updated_on),
    }))
    .sort((a, b) => Number(a.image.id) - Number(b.image.id));
}

function originalFiles(count: number, random: Random): CatalogFile[] {
  const series = shuffled(
    DISTRIBUTIONS.flatMap((distribution) =>
      distribution.releases.flatMap((release) =>
        distribution.variants.map((variant) => ({ distribution, release, variant })),
      ),
    ),
    random,
  );
  return series.flatMap(({ distribution, release, variant }, index) => {
    const builds = Math.floor((count + series.length - 1 - index) / series.length);
    return buildTimes(release, builds, random).map(({ day, build }) => {
      const created = day + MORNING + random.below(DAY / 2 / SECOND) * SECOND;
      const maxDelay = Math.min(300 * DAY, LAST_UPDATE - created);
      const delay = random.pick([0, 1]) * random.below(maxDelay / SECOND) * SECOND;
      return {
        name: distribution.fileName(release[0], variant, build),
        folder: random.below(UNFILED_ONE_IN) === 0 ? null : distribution.folder,
        dataStore: random.pick(DATA_STORES),
        created,
        updated: created + delay,
      };
    });
  });
}

/** Returns ascending build days of a release; further builds of a day are numbered. */
function buildTimes([, firstDay, lastDay]: Release, builds: number, random: Random) {
  const first = Date.parse(firstDay);
  const days = (Date.parse(lastDay) - first) / DAY;
  const times: { day: number; build: string }[] = [];
  let [day, date, serial] = [0, '', 0];
  for (let index = 0; index < builds; index += 1) {
    const offset = Math.floor((days * (index + random.below(100) / 100)) / builds);
    serial += 1;
    if (first + offset * DAY !== day) {
      day = first + offset * DAY;
      date = new Date(day).toISOString().slice(0, 10).replaceAll('-', '');
      serial = 0;
    }
    times.push({ day, build: serial === 0 ? date : `${date}.${serial}` });
  }
  return times;
}

function archivedFiles(
  originals: readonly CatalogFile[],
  count: number,
  random: Random,
): CatalogFile[] {
  const stride = ARCHIVED_ONE_IN - 1;
  return Array.from({ length: count }, (_, index) => originals[index * stride])
    .filter((original) => original !== undefined)
    .map((original) => {
      const created = original.created + (1 + random.below(30)) * DAY;
      return { ...original, folder: 'archive', dataStore: 'archive-01', created, updated: created };
    });
}

function toImage(id: number, { name, folder, dataStore, created, updated }: CatalogFile): Image {
  const label = folder === null ? name : `${folder}/${name}`;
  return {
    id,
    name,
    path: `[${dataStore}] ${label}`,
    label,
    folder,
    data_store: dataStore,
    public: true,
    created_on: serviceTimestamp(created),
    updated_on: serviceTimestamp(updated),
  };
}

function shuffled<Value>(values: readonly Value[], random: Random): Value[] {
  return values
    .map((value) => ({ value, place: random.below(2 ** 31) }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

export type Random = ReturnType<typeof seededRandom>;

/** A 32-bit xorshift generator: the same seed gives the same numbers on every machine. */
export function seededRandom(seed: number) {
  // Spreads neighbouring seeds apart and avoids 0, which xorshift never leaves.
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bf03635) >>> 0 || 1;
  /** Returns an integer from 0 to limit - 1. */
  const below = (limit: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
  const pick = <Value>(values: readonly [Value, ...Value[]]) =>
    values[below(values.length)] ?? values[0];
  return { below, pick };
}
