// imgctl images lock update: locks the newest images of the queries that the file stores.

import type { ReceivedImage } from '../../../api/types.ts';
import { command, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { column, pick } from '../../../output/columns.ts';
import { newestCollector } from '../../../query/newest.ts';
import { SeriesIndex } from '../../../query/series.ts';
import { IMAGE_COLUMNS } from '../options.ts';
import { openCatalogue, readTogether } from '../read.ts';
import { changeLocks, lockCommand, noteIfNone, requireLock, selectLocks } from './lock-file.ts';
import type { LockedImage } from './lock-format.ts';
import { newestForLock, queryOf } from './lock-query.ts';
import { LOCK_CATALOGUE_OPTIONS, LOCK_NAME, NAMES } from './options.ts';

const COLUMNS = [
  LOCK_NAME,
  column(
    'change',
    'string',
    'updated, downgraded (the newest is older than the old one) or unchanged',
    { isState: true },
  ),
  column('old_id', 'number', 'identifier of the old image'),
  column('old_name', 'string', 'its file name'),
  column('old_path', 'string', 'its path'),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path'),
];

export const lockUpdate = command({
  name: 'update',
  otherNames: ['upgrade', 'refresh'],
  summary: 'update locked images to the newest',
  description: ['Updates the named images, or all. If one of them fails, none is changed.'],
  examples: ['imgctl images lock update', 'imgctl images lock update web --json'],
  seeAlso: ['images lock check'],
  arguments: [NAMES],
  options: LOCK_CATALOGUE_OPTIONS,
  fields: COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

async function run(
  context: Context,
  options: Parsed<typeof LOCK_CATALOGUE_OPTIONS>,
  names: readonly string[],
): Promise<Result> {
  const output = context.output(COLUMNS, {
    ...options,
    shown: ['lock', 'change', 'old_name', 'name'],
  });
  const catalogue = await openCatalogue(context, options);
  const { baseUrl } = catalogue;
  const { before, after } = await changeLocks(context, options, { baseUrl }, async (locks) => {
    const selected = [...selectLocks(options, locks, names)].map(([name, locked]) => {
      return { name, locked, search: newestCollector(queryOf(context, name, locked)) };
    });
    const searches = selected.map(({ search }) => search);
    await readTogether(context, catalogue, searches);
    const newest = selected.map(({ name, locked, search }) => {
      const replace = lockCommand(options, 'add', name, '--replace');
      return [name, newestForLock(name, locked, search, replace)] as const;
    });
    return new Map([...locks, ...newest]);
  });
  const rows = [...selectLocks(options, before, names)].map(([lock, old]) => {
    const now = requireLock(options, after, lock);
    const was = { old_id: old.id, old_name: old.name, old_path: old.path };
    const { id, name, path } = now;
    return { lock, change: changeBetween(old, now), ...was, id, name, path };
  });
  const afterwards = () => noteIfNone(context, output, before);
  return { output, rows, done: `${options.file} holds the newest images`, afterwards };
}

function changeBetween(old: LockedImage, now: LockedImage) {
  if (JSON.stringify(now) === JSON.stringify(old)) return 'unchanged';
  const both = new SeriesIndex<ReceivedImage>();
  for (const image of [old, now]) both.add(image);
  return both.newestLike(now).includes(now) ? 'updated' : 'downgraded';
}
