// imgctl images lock check: compares locked images with the catalogue.

import { keyOf, numericId } from '../../../api/images.ts';
import type { ReceivedImage } from '../../../api/types.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { terms } from '../../../cli/command-types.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError } from '../../../errors.ts';
import { hint } from '../../../facts.ts';
import { column, pick } from '../../../output/columns.ts';
import { counted } from '../../../words.ts';
import { IMAGE_COLUMNS } from '../options.ts';
import { openCatalogue, readTogether } from '../read.ts';
import { lockCommand, noteIfNone, readLocks, selectLocks } from './lock-file.ts';
import type { LockedImage } from './lock-format.ts';
import { type Break, breakOf } from './locked-image.ts';
import { type LockSearch, matchesOwnWords, newestOfSeries, searchFor } from './newer-image.ts';
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
  const output = context.output(COLUMNS, {
    ...options,
    shown: ['lock', 'state', 'id', 'name', 'newest_name'],
    lineColumns: ['lock', 'state', 'id', 'name', 'newest_id', 'newest_name'],
  });
  const catalogue = await openCatalogue(context, options);
  const all = await readLocks(context, options, catalogue.baseUrl);
  const locks = [...selectLocks(options, all, names)];
  const searches = locks.map(([name, image]) => searchFor(context, name, image));
  await readTogether(context, catalogue, searches);
  const rows: LockRow[] = [];
  for (const search of searches) {
    const { name, image } = search;
    if (!matchesOwnWords(image)) {
      const message = `${name}: its image ${image.name} does not match ${image.text.join(' ')}`;
      const update = lockCommand(options, 'update', name);
      context.console.warn(message, hint`lock one that does: ${update}`);
    }
    rows.push(rowOf(search, await liveImage(catalogue, search)));
  }
  const broken = rows.filter(({ state }) => state !== 'newer' && state !== 'ok');
  if (broken.length === 0) {
    const hasNewer = rows.some(({ state }) => state === 'newer');
    return {
      output,
      rows,
      exitCode: options.exitCode && hasNewer ? CHANGES_EXIT_CODE : 0,
      afterwards: () => noteIfNone(context, output, all),
    };
  }
  const update = lockCommand(options, 'update', ...broken.map(({ lock }) => lock));
  const message = `${broken.length} of ${counted(rows.length, 'locked image')} changed`;
  const error = new ImgctlError('lock-broken', message, {
    details: broken.map(({ lock, state }) => `${lock}: ${state}`),
    facts: hint`lock the newest images instead: ${update}`,
  });
  return { output, rows, error };
}

/** Returns the locked image as the catalogue has it; its filters may hide it from the search. */
async function liveImage(
  catalogue: Catalogue,
  { image: { id }, found }: LockSearch,
): Promise<ReceivedImage | undefined> {
  return found.find((each) => keyOf(each) === id) ?? catalogue.getImage(id);
}

/** A type, since an interface has no index signature. */
type LockRow = Pick<LockedImage, 'id' | 'name' | 'path'> & {
  readonly lock: string;
  readonly state: Break | 'newer' | 'ok';
  readonly newest_id: unknown;
  readonly newest_name: unknown;
};

/**
 * Returns the state of a lock, the first that applies:
 *
 *     breakOf                               | gone, replaced or moved
 *     the image is one of the newest        | ok
 *     there are newer ones                  | newer
 *
 * @param live the locked image as the catalogue has it, if it still exists
 */
function rowOf(search: LockSearch, live: ReceivedImage | undefined): LockRow {
  const { id, name, path } = search.image;
  const newest = newestOfSeries(search);
  const isAmongNewest = newest.some((image) => keyOf(image) === id);
  const other = newest.find((image) => keyOf(image) !== id);
  const state = breakOf(search.image, live) ?? (isAmongNewest || !other ? 'ok' : 'newer');
  // An image that is gone can also be replaced by one that is as new.
  const shown = state === 'newer' || state === 'gone' ? other : undefined;
  const newest_id = (shown && numericId(shown)) ?? null;
  const newest_name = shown?.name ?? null;
  return { lock: search.name, state, id, name, path, newest_id, newest_name };
}
