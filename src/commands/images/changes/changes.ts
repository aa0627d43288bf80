// imgctl images changes: shows what was added, updated, moved or removed since the last run.

import { keyOf } from '../../../api/images.ts';
import type { ReceivedImage } from '../../../api/types.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import { checkName } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { stringify } from '../../../json.ts';
import { column, pick } from '../../../output/columns.ts';
import { LINE_FORMAT_LIST } from '../../../output/formats.ts';
import type { Filter } from '../../../query/filter.ts';
import { EVERYTHING } from '../../../query/query.ts';
import { Tally } from '../../../query/tally.ts';
import { counted } from '../../../words.ts';
import {
  FILTER_OPTION,
  IMAGE_COLUMNS,
  IMAGE_TABLE_OPTIONS,
  MINE_OPTION,
  readQuery,
  WORDS,
} from '../options.ts';
import { collectImages, openCatalogue, readImages, warnOfZones } from '../read.ts';
import {
  type FileLabel,
  readSnapshot,
  type SavedSnapshot,
  type Snapshot,
} from '../snapshot-file.ts';
import { byKey, type Change, changeOf, compareLabels, compareLists } from './compare.ts';
import { type ChangesTask, type FoundChanges, reportOf } from './report.ts';
import { openState, suggestCursors } from './state.ts';

const COLUMNS = [
  column('change', 'string', 'added, updated, moved or removed', { isState: true }),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path', 'folder', 'updated_on'),
  column(
    'before',
    'object or null',
    `the old image; in tables, ${LINE_FORMAT_LIST} only the old values`,
  ),
];

const CELLS = ['change', 'id', 'name', 'folder', 'updated_on', 'before'];

const OPTIONS = [
  FILTER_OPTION,
  MINE_OPTION,
  option(
    '--cursor <name>',
    'remember the last run under this name, so that jobs do not interfere',
    { default: 'default', suggest: suggestCursors },
  ),
  option(
    '--since-file <file>',
    'compare with this snapshot instead of the last run, by label if it is from another service',
    { from: 'files', conflicts: ['cursor'] },
  ),
  option('--peek', 'do not remember this run'),
  option('--exit-code', 'exit with 10 if there are changes'),
  ...IMAGE_TABLE_OPTIONS,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const imagesChanges = command({
  name: 'changes',
  summary: 'show what changed in the catalogue since your last run',
  description: [
    'Compares the catalogue with the last run, and shows images that were added, updated, moved (their name, path, folder or data store changed) or removed. An image that no longer matches the query is shown once more.',
    'The first run remembers the images and shows nothing. If a run fails, or its output cannot be written, the next run shows the same changes again.',
    'The last run is remembered per profile, user, query and cursor. Runs with the same cursor wait for each other.',
  ],
  examples: [
    'imgctl images changes',
    'imgctl images changes ubuntu --cursor nightly --exit-code',
    'imgctl images changes --json | jq -r \'.[] | select(.change == "added").path\'',
    'imgctl images changes --since-file catalogue.json',
  ],
  seeAlso: ['images snapshot', 'help choosing', 'help exit-codes'],
  arguments: [WORDS],
  options: OPTIONS,
  fields: COLUMNS,
  exitCodes: [...SERVICE_CODES, 10],
  run,
});

async function run(context: Context, options: Options, words: readonly string[]): Promise<Result> {
  checkName(options.cursor, 'cursor');
  const query = readQuery(words, options, context.io.now());
  refuseRelativeTimes(query.filters);
  // On a terminal, `before` shows the old and the new folder.
  const shown = context.io.stdout.isTTY ? CELLS.filter((name) => name !== 'folder') : CELLS;
  const output = context.output(COLUMNS, { ...options, shown, lineColumns: CELLS });
  const task: ChangesTask = { context, options, query, output };
  const { sinceFile } = options;
  return sinceFile === undefined ? compareWithLastRun(task) : compareWithFile(task, sinceFile);
}

/** With them, images would leave the query although nothing changed. @throws ImgctlError usage */
function refuseRelativeTimes(filters: readonly Filter[]): void {
  const relative = filters.find(({ operands }) =>
    operands.some(({ span }) => span?.dependsOn === 'now'),
  );
  if (relative === undefined) return;
  throw new ImgctlError('usage', `images changes takes no relative time (got ${relative.text})`, {
    facts: "use a date, such as: -f 'updated_on>=2026-11-01'",
  });
}

async function compareWithLastRun(task: ChangesTask): Promise<Result> {
  const { context, options, query } = task;
  const { console, io } = context;
  const state = await openState(context, options, query);
  try {
    const old = await state.read();
    const takenAt = new Date(io.now()).toISOString();
    const compared = await compareCatalogue(task, state.file, old);
    const report = reportOf(task, compared);
    const images = counted(compared.lines.length, 'image');
    const afterwards = async () => {
      report.afterwards();
      const isOutdated = old === undefined || compared.hasChanged;
      if (isOutdated && !options.peek) await state.replace(takenAt, compared.lines);
      if (old !== undefined) return;
      if (options.peek) console.report(`first run: ${images}, not remembered because of --peek`);
      else console.report(`first run: remembered ${images}; the next run shows what changed`);
    };
    // Other runs with this cursor wait until the changes are printed and remembered.
    return { ...report, afterwards, close: state.release };
  } catch (error) {
    state.release();
    throw error;
  }
}

async function compareWithFile(task: ChangesTask, name: string): Promise<Result> {
  const { context, query } = task;
  const snapshot = await readSnapshot(name, context.io);
  const { baseUrl } = (await context.session()).account;
  if (snapshot.baseUrl !== baseUrl) {
    const message = `compared by label: ${name} belongs to ${snapshot.baseUrl}, not to ${baseUrl}`;
    const advice = `if both addresses are one service, compare ids: set base_url in ${name} to ${baseUrl}`;
    context.console.report(message, advice);
    return reportOf(task, await compareServices(task, snapshot));
  }
  const images = (await snapshot.images()).filter((image) => query.matches(image));
  const old = { ...snapshot, lines: images.map((image) => stringify(image)) };
  return reportOf(task, await compareCatalogue(task, snapshot.file, old));
}

/** Compares all images, as folders may differ between services, and reports those that match. */
async function compareServices(
  { context, query }: ChangesTask,
  snapshot: SavedSnapshot,
): Promise<FoundChanges> {
  const old = await snapshot.images();
  const now = await readAll(context, await openCatalogue(context, {}));
  const changes = compareLabels(old, now).filter(({ image }) => query.matches(image));
  const tally = new Tally(query);
  tally.see(now);
  warnOfZones(context, tally);
  const isEmpty = !now.some((image) => query.matches(image));
  return { changes, isEmpty, tally, since: snapshot.takenAt };
}

/**
 * @param old undefined in the first run, which has no changes.
 * @param file where `old` comes from
 */
async function compareCatalogue(
  task: ChangesTask,
  file: FileLabel,
  old: Snapshot | undefined,
): Promise<FoundChanges & { readonly lines: readonly string[]; readonly hasChanged: boolean }> {
  const { context, options, query } = task;
  const catalogue = await openCatalogue(context, { mine: options.mine });
  const tally = new Tally(query);
  const images = readImages(context, catalogue, query, { tally });
  const { changes, missing, lines } = await compareLists(old?.lines ?? [], images, file);
  const ofMissing = await classifyMissing(task, missing);
  return {
    changes: old === undefined ? [] : [...changes, ...ofMissing],
    isEmpty: lines.length === 0,
    tally,
    since: old?.takenAt,
    lines,
    // An image that only left the query is no change, but must not be compared again.
    hasChanged: changes.length + missing.length > 0,
  };
}

/**
 * Returns the changes of images that no longer match: those that were removed, and those that
 * differ from before. Others only left the query, which is no change.
 * @throws ImgctlError incomplete-list: one still matches
 */
async function classifyMissing(
  { context, options, query }: ChangesTask,
  missing: readonly ReceivedImage[],
): Promise<Change[]> {
  if (missing.length === 0) return [];
  // Also without conditions: a list may lose an image that still exists. A catalogue keeps pages.
  const catalogue = await openCatalogue(context, { mine: options.mine });
  const all = byKey(await readAll(context, catalogue));
  return missing.flatMap((before): Change | [] => {
    const image = all.get(keyOf(before));
    if (image === undefined) return { change: 'removed', image: before, before };
    if (!query.matches(image)) return changeOf(before, image) ?? [];
    const message = `the list is incomplete: image ${image.id} exists, but is not listed`;
    throw new ImgctlError('incomplete-list', message, { facts: 'run the command again' });
  });
}

function readAll(context: Context, catalogue: Catalogue): Promise<ReceivedImage[]> {
  return collectImages(readImages(context, catalogue, EVERYTHING));
}
