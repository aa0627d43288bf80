// imgctl images lock check: compares locked images with the catalogue.

import { keyOf } from '../../../api/images.ts';
import type { ReceivedImage } from '../../../api/types.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { terms } from '../../../cli/command-types.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError } from '../../../errors.ts';
import { hint } from '../../../facts.ts';
import { column, pick } from '../../../output/columns.ts';
import { contains } from '../../../query/filter.ts';
import { readName } from '../../../query/name.ts';
import { Query } from '../../../query/query.ts';
import { SeriesIndex } from '../../../query/series.ts';
import { Tally } from '../../../query/tally.ts';
import { parseWord } from '../../../query/word.ts';
import { counted } from '../../../words.ts';
import { IMAGE_COLUMNS } from '../options.ts';
import { openCatalogue, readTogether } from '../read.ts';
import { lockCommand, readLocks, selectLocks } from './lock-file.ts';
import type { LockedImage } from './lock-format.ts';
import { queryOf } from './lock-query.ts';
import { type Break, breakOf } from './locked-image.ts';
import { LOCK_CATALOGUE_OPTIONS, LOCK_NAME, NAMES } from './options.ts';

const COLUMNS = [
  LOCK_NAME,
  column('state', 'string', 'gone, replaced, moved, newer or ok', { isState: true }),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path'),
  column('newest_id', 'number or null', 'identifier of a newer image'),
  column('newest_name', 'string or null', 'file name of a newer image'),
];

const OPTIONS = [
  option('--exit-code', 'exit with 10 if there are newer images'),
  ...LOCK_CATALOGUE_OPTIONS,
] as const;

export const lockCheck = command({
  name: 'check',
  otherNames: ['status', 'verify', 'diff'],
  summary: 'compare locked images with the catalogue',
  description: [
    'Shows the state of each image, the first of these that applies:',
    terms(
      ['gone', 'the image no longer exists'],
      ['replaced', 'it was updated after it was locked, or has another name'],
      ['moved', 'its path changed'],
      ['newer', 'there is a newer image of the same series'],
      ['ok', 'nothing changed'],
    ),
    'Exits with 1 if an image is gone, replaced or moved. With --exit-code, exits with 10 if there are only newer ones.',
  ],
  examples: [
    'imgctl images lock check',
    'imgctl images lock check --exit-code || imgctl images lock update',
  ],
  seeAlso: ['images lock update', 'help exit-codes'],
  arguments: [NAMES],
  options: OPTIONS,
  fields: COLUMNS,
  exitCodes: [...SERVICE_CODES, 10],
  run,
});

async function run(
  context: Context,
  options: Parsed<typeof OPTIONS>,
  names: readonly string[],
): Promise<Result> {
  // Both before any request, so that options that contradict each other are refused first.
  const shown = ['lock', 'state', 'id', 'name'];
  const cells = [...shown, 'newest_id', 'newest_name'];
  const withoutNewest = context.output(COLUMNS, { ...options, shown, cells });
  const withNewest = context.output(COLUMNS, {
    ...options,
    shown: [...shown, 'newest_name'],
    cells,
  });
  const catalogue = await openCatalogue(context, options);
  const all = await readLocks(context, options, catalogue.baseUrl);
  const locks = [...selectLocks(options, all, names)];
  const searches = locks.map(([lock, locked]) => searchFor(context, lock, locked));
  await readTogether(context, catalogue, searches);
  const rows: LockRow[] = [];
  for (const search of searches) {
    const { lock, locked } = search;
    if (!matchesOwnWords(locked)) {
      const message = `${lock}: its image ${locked.name} does not match ${locked.text.join(' ')}`;
      const update = lockCommand(options, 'update', lock);
      context.console.warn(message, hint`lock one that does: ${update}`);
    }
    rows.push(rowOf(search, await liveImage(catalogue, search)));
  }
  const output = rows.some((row) => row.newest_name !== null) ? withNewest : withoutNewest;
  const broken = rows.filter(({ state }) => state !== 'newer' && state !== 'ok');
  if (broken.length === 0) {
    const hasNewer = rows.some(({ state }) => state === 'newer');
    return { output, rows, exitCode: options.exitCode && hasNewer ? CHANGES_EXIT_CODE : 0 };
  }
  const update = lockCommand(options, 'update', ...broken.map(({ lock }) => lock));
  const message = `${broken.length} of ${counted(rows.length, 'locked image')} changed`;
  const error = new ImgctlError('lock-broken', message, {
    details: broken.map(({ lock, state }) => `${lock}: ${state}`),
    facts: hint`lock the newest images instead: ${update}`,
  });
  return { output, rows, error };
}

/** How a lock is checked, and the images that were found for it. */
interface LockSearch {
  /** The name of the lock. */
  readonly lock: string;
  readonly locked: LockedImage;
  /** The words and filters of the lock. */
  readonly stored: Query;
  /** Finds the images of the series, and others. */
  readonly query: Query;
  readonly tally: Tally;
  /** What the query has found, as the catalogue has it. */
  readonly found: readonly ReceivedImage[];
  readonly add: (image: ReceivedImage) => void;
}

/**
 * Returns a search for the images of a series. The service takes only one filter: the longest word,
 * which is in the fewest names, such as `server` of ubuntu-22.04-server.ova.
 */
function searchFor(context: Context, lock: string, locked: LockedImage): LockSearch {
  const stored = queryOf(context, lock, locked);
  const words = readName(locked.name ?? '').seriesKey.match(/[^ #]+/g) ?? [];
  const [longest = ''] = words.toSorted((one, other) => other.length - one.length);
  // Without the stored words, which the locked image may no longer match.
  const query = new Query({ filters: [contains('name', longest), ...stored.filters] });
  const found: ReceivedImage[] = [];
  const add = (image: ReceivedImage) => void found.push(image);
  return { lock, locked, stored, query, tally: new Tally(query), found, add };
}

/** Returns the locked image as the catalogue has it; its filters may hide it from the search. */
async function liveImage(
  catalogue: Catalogue,
  { locked, found }: LockSearch,
): Promise<ReceivedImage | undefined> {
  const listed = found.find((image) => keyOf(image) === locked.id);
  return listed ?? catalogue.getImage(locked.id);
}

/** A type, since an interface has no index signature. */
type LockRow = Pick<LockedImage, 'id' | 'name' | 'path'> & {
  readonly lock: string;
  readonly state: Break | 'newer' | 'ok';
  readonly newest_id: unknown;
  readonly newest_name: unknown;
};

/** @param live the locked image as the catalogue has it, if it still exists */
function rowOf(search: LockSearch, live: ReceivedImage | undefined): LockRow {
  const { lock, locked } = search;
  const { id, name, path } = locked;
  const newest = newestOfSeries(search);
  const isAmongNewest = newest.some((image) => keyOf(image) === id);
  const other = newest.find((image) => keyOf(image) !== id);
  const state = breakOf(locked, live) ?? (other && !isAmongNewest ? 'newer' : 'ok');
  // An image that is gone can also be replaced by one that is as new.
  const replacement = state === 'newer' || state === 'gone' ? other : undefined;
  const { id: newest_id = null, name: newest_name = null } = replacement ?? {};
  return { lock, state, id, name, path, newest_id, newest_name };
}

/**
 * Returns the newest image of the series, or several equally new ones; none without a name. For the
 * words `ubuntu 22.04` and the image ubuntu-22.04-server-20240101.ova it is
 * ubuntu-22.04-server-20240301.ova, but not ubuntu-24.04-server-20240301.ova.
 */
function newestOfSeries({ locked, stored, found }: LockSearch): readonly ReceivedImage[] {
  // The words say which versions are compared, unless somebody has edited them.
  const index = new SeriesIndex<ReceivedImage>(matchesOwnWords(locked) ? locked.text : []);
  for (const image of found) if (stored.matches(image)) index.add(image);
  // Even if it is gone or the filters hide it: an older image must not seem newer.
  index.add(locked);
  return index.newestLike(locked);
}

/** False if somebody has edited the words, or an older imgctl matched them otherwise. */
function matchesOwnWords({ text, name }: LockedImage): boolean {
  return text.every((word) => parseWord(word).matches(`${name}`));
}
