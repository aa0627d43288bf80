// imgctl images changes: shows what was added, updated, moved or removed since the last run.

import fs from 'node:fs';
import path from 'node:path';
import { keyOf } from '../../api/images.ts';
import type { ReceivedImage } from '../../api/types.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import {
  type FileLabel,
  formatSnapshot,
  parseSnapshot,
  readSnapshot,
  type SavedSnapshot,
  type Snapshot,
} from '../../catalogue/snapshot.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../cli/command.ts';
import type { Result } from '../../cli/result.ts';
import { type Candidates, suggestWords, type Typing } from '../../cli/suggestions.ts';
import { findPaths } from '../../config/paths.ts';
import { checkName } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError, tryOr } from '../../errors.ts';
import { type AssertHeld, replaceFile } from '../../files/atomic-file.ts';
import { holdMutex } from '../../files/mutex.ts';
import { keyedFile } from '../../files/paths.ts';
import { cannotWrite, readTextFile } from '../../files/user-file.ts';
import { stringify } from '../../json.ts';
import { column, pick } from '../../output/columns.ts';
import { LINE_FORMAT_LIST } from '../../output/formats.ts';
import type { Output } from '../../output/output.ts';
import { type Filter, portableTexts } from '../../query/filter.ts';
import { EVERYTHING, type Query } from '../../query/query.ts';
import { Tally } from '../../query/tally.ts';
import { counted } from '../../words.ts';
import {
  CELLS_ON_TERMINAL,
  CHANGE_CELLS,
  type Change,
  changeOf,
  compareLists,
  mapTimes,
  oldValues,
} from './compare-lists.ts';
import { noMatchError, slipHint } from './empty.ts';
import {
  FILTER_OPTION,
  IMAGE_COLUMNS,
  IMAGE_TABLE_OPTIONS,
  MINE_OPTION,
  readQuery,
  WORDS,
} from './options.ts';
import { openCatalogue, readImages } from './read.ts';

const CHANGE_COLUMNS = [
  column('change', 'string', 'added, updated, moved or removed', { isState: true }),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path', 'folder', 'updated_on'),
  column(
    'before',
    'object or null',
    `the old image; in tables, ${LINE_FORMAT_LIST} only the old values`,
  ),
];

function suggestCursors({ context }: Typing): Candidates {
  const { state } = findPaths(context.io);
  if (state === undefined) return suggestWords([]);
  const files = tryOr(() => fs.readdirSync(directoryOf(state)), []);
  const names = files.flatMap((file) => /^([\w-]+)\.[0-9a-f]{16}\.json$/.exec(file)?.[1] ?? []);
  return suggestWords([...new Set(names)].sort());
}

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
    'compare with this snapshot instead of the last run; if it is from another service, by label',
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
  fields: CHANGE_COLUMNS,
  exitCodes: [...SERVICE_CODES, 10],
  run,
});

interface Task {
  readonly context: Context;
  readonly options: Options;
  readonly query: Query;
  readonly output: Output;
}

async function run(context: Context, options: Options, words: readonly string[]): Promise<Result> {
  const { cursor, sinceFile } = options;
  checkName(cursor, 'cursor');
  const query = readQuery(words, options, context.io.now());
  refuseRelativeTimes(query.filters);
  const shown = context.io.stdout.isTTY ? CELLS_ON_TERMINAL : CHANGE_CELLS;
  const output = context.output(CHANGE_COLUMNS, { ...options, shown, cells: CHANGE_CELLS });
  const task = { context, options, query, output };
  return sinceFile === undefined
    ? compareWithState(task, cursor)
    : compareWithFile(task, sinceFile);
}

/** With them, images would leave the query although nothing changed. @throws ImgctlError usage */
function refuseRelativeTimes(filters: readonly Filter[]): void {
  const relative = filters.find(({ operands }) => operands.some(({ isRelative }) => isRelative));
  if (relative === undefined) return;
  throw new ImgctlError('usage', `images changes takes no relative time (got ${relative.text})`, {
    facts: "use a date, such as: -f 'updated_on>=2026-11-01'",
  });
}

/** Others may read a large catalogue one after the other. */
const MUTEX_PATIENCE = 600_000;

async function compareWithState(task: Task, cursor: string): Promise<Result> {
  const { context, options } = task;
  const { console, io } = context;
  const { key, target, file } = await stateFileOf(task, cursor);
  const fail = (error: unknown) => {
    throw cannotWrite(file.what, error);
  };
  const compare = async (assertHeld: AssertHeld) => {
    const text = await readTextFile(target, file.what, io);
    const state = text === undefined ? undefined : parseSnapshot(text, file);
    if (state && stringify(state.head.key) !== stringify(key)) {
      throw new ImgctlError('config', `${file.what} belongs to another query`, {
        facts: file.foreign,
      });
    }
    const taken_at = new Date(io.now()).toISOString();
    const { result, hasChanged, lines } = await compareCatalogue(task, file, state);
    const afterwards = async () => {
      result.afterwards();
      if (!options.peek && (hasChanged || state === undefined)) {
        const { base_url, username } = key;
        const head = { taken_at, base_url, username, key };
        await replaceFile(target, formatSnapshot(head, lines), { assertHeld }).catch(fail);
      }
      if (state === undefined) {
        const seen = counted(lines.length, 'image');
        if (options.peek) console.report(`first run: ${seen}, not remembered because of --peek`);
        else console.report(`first run: remembered ${seen}; the next run shows what changed`);
      }
    };
    return { ...result, afterwards };
  };
  if (options.peek) return compare(() => {});
  // Other runs with this cursor wait until the changes are printed and remembered.
  const { assertHeld, release } = await holdMutex(target, MUTEX_PATIENCE, io).catch(fail);
  try {
    return { ...(await compare(assertHeld)), close: release };
  } catch (error) {
    release();
    return fail(error);
  }
}

/** Returns the file of the last run with this query and cursor. @throws ImgctlError config: no home directory */
async function stateFileOf({ context, options, query }: Task, cursor: string) {
  const { state: folder } = findPaths(context.io);
  const { profile, baseUrl: base_url, username } = (await context.session()).account;
  if (folder === undefined) {
    const message = 'cannot remember this run: no home directory';
    throw new ImgctlError('config', message, { facts: { kind: 'no-home' } });
  }
  const source = options.mine ? 'mine' : 'catalogue';
  const filters = query.filters.flatMap(portableTexts).sort();
  // The order of words and filters does not matter, as all of them must match.
  const words = [...query.words].sort();
  const key = { cursor, profile, base_url, username, source, words, filters };
  const target = keyedFile(directoryOf(folder), cursor, [stringify(key)]);
  const again = 'move it elsewhere to start again';
  const file = { what: `the file ${target}`, damaged: again, foreign: again };
  return { key, target, file };
}

function directoryOf(stateDirectory: string): string {
  return path.join(stateDirectory, 'changes');
}

async function compareWithFile(task: Task, name: string): Promise<Result> {
  const { context, query } = task;
  const snapshot = await readSnapshot(name, context.io);
  const { baseUrl } = await context.session();
  if (snapshot.baseUrl !== baseUrl) {
    const message = `compared by label: ${name} belongs to ${snapshot.baseUrl}, not to ${baseUrl}`;
    const hint = `if both addresses are one service, compare ids: set base_url in ${name} to ${baseUrl}`;
    context.console.report(message, hint);
    return compareServices(task, snapshot);
  }
  const images = (await snapshot.images()).filter((image) => query.matches(image));
  const old = { ...snapshot, lines: images.map((image) => stringify(image)) };
  return (await compareCatalogue(task, snapshot.file, old)).result;
}

/** Compares the labels of two services: an id means another image in each. Of equal labels, the numbers are compared. */
async function compareServices(task: Task, snapshot: SavedSnapshot): Promise<Result> {
  const { context, query } = task;
  const catalogue = await openCatalogue(context, {});
  const before = await snapshot.images();
  const now: ReceivedImage[] = [];
  // All, as an image may have another folder there.
  for await (const images of readImages(context, catalogue, EVERYTHING)) {
    for (const image of images) now.push(image);
  }
  const changes: Change[] = [
    ...surplus(now, before).map((image) => ({ change: 'added', image, before: null }) as const),
    ...surplus(before, now).map((image) => ({ change: 'removed', image, before: image }) as const),
  ].filter(({ image }) => query.matches(image));
  const tally = new Tally(query);
  tally.see(now);
  const isEmpty = !now.some((image) => query.matches(image));
  return resultOf(task, changes, { tally, isEmpty, since: snapshot.takenAt });
}

/** Returns the images whose labels occur more often than among the others: the last ones of each label. */
function surplus(images: readonly ReceivedImage[], others: readonly ReceivedImage[]) {
  const labelOf = ({ label, name }: ReceivedImage) => `${label ?? name}`;
  const counts = new Map<string, number>();
  for (const label of others.map(labelOf)) counts.set(label, (counts.get(label) ?? 0) + 1);
  return images.filter((image) => {
    const left = counts.get(labelOf(image)) ?? 0;
    counts.set(labelOf(image), left - 1);
    return left <= 0;
  });
}

/**
 * Returns those that were removed or have changed; others only left the query.
 * @throws ImgctlError incomplete-list: one still matches
 */
async function classifyUnlisted(
  { context, query }: Task,
  catalogue: Catalogue,
  missing: readonly ReceivedImage[],
) {
  if (missing.length === 0) return [];
  const found = new Map<unknown, ReceivedImage>();
  for await (const images of readImages(context, catalogue, EVERYTHING)) {
    for (const image of images) found.set(keyOf(image), image);
  }
  return missing.flatMap((before): Change | [] => {
    const image = found.get(keyOf(before));
    if (image === undefined) return { change: 'removed', image: before, before };
    if (!query.matches(image)) return changeOf(before, image) ?? [];
    const message = `the list is incomplete: image ${image.id} exists, but is not listed`;
    throw new ImgctlError('incomplete-list', message, { facts: 'run the command again' });
  });
}

/** @param old undefined before the first run. @param file where it comes from */
async function compareCatalogue(task: Task, file: FileLabel, old: Snapshot | undefined) {
  const { context, options, query } = task;
  const catalogue = await openCatalogue(context, { mine: options.mine });
  const tally = new Tally(query);
  const images = readImages(context, catalogue, query, { tally });
  const { listed, missing, lines } = await compareLists(old?.lines ?? [], images, file);
  const unlisted = await classifyUnlisted(task, catalogue, missing);
  const changes = old ? [...listed, ...unlisted] : [];
  const compared = { tally, isEmpty: lines.length === 0, since: old?.takenAt };
  const result = resultOf(task, changes, compared);
  return { result, hasChanged: changes.length + missing.length > 0, lines };
}

interface Compared {
  readonly tally: Tally;
  readonly isEmpty: boolean;
  /** When the old images were listed; undefined before the first run. */
  readonly since: number | undefined;
}

function resultOf(
  { context, options, query, output }: Task,
  changes: readonly Change[],
  { tally, isEmpty, since }: Compared,
) {
  const { console, io, terminal } = context;
  const arrow = output.isTable && io.stdout.isTTY && (terminal.unicode ? '→' : '->');
  const rows = changes.map(({ change, image, before }) => {
    const { id = null, name = null, path = null, folder = null, updated_on = null } = image;
    const old =
      before &&
      (output.isTable || output.shape.kind === 'lines'
        ? oldValues(image, before, output.timeText, arrow)
        : mapTimes(before, output.timeText));
    return { change, id, name, path, folder, updated_on, before: old };
  });
  const note: typeof console.note = (...texts) => output.hasNotes && console.note(...texts);
  const afterwards = () => {
    // A typing mistake in a job would stay silent for ever.
    const isFirst = since === undefined;
    const isSlip = isEmpty && slipHint(query) !== undefined;
    if ((output.hasNotes || isFirst || isSlip) && isEmpty && query.conditions.length > 0) {
      const { message, facts } = noMatchError({ query, tally });
      const say = isFirst ? console.report : note;
      (isSlip ? console.warn : say)(message, facts);
    } else if (!isFirst && rows.length === 0) {
      note(`no changes since ${output.timeText(new Date(since).toISOString())}`);
    }
  };
  const exitCode = options.exitCode && rows.length > 0 ? CHANGES_EXIT_CODE : 0;
  return { output, rows, summary: describeCounts(changes), afterwards, exitCode };
}

/** Returns `3 changes: 2 added, 1 moved`. */
function describeCounts(changes: readonly Change[]): string {
  const kinds = (['added', 'updated', 'moved', 'removed'] as const).flatMap((kind) => {
    const count = changes.filter(({ change }) => change === kind).length;
    return count > 0 ? `${count} ${kind}` : [];
  });
  return `${counted(changes.length, 'change')}: ${kinds.join(', ')}`;
}
