// imgctl images changes: shows what was added, updated, moved or removed since the last run.

import fs from 'node:fs';
import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import {
  type FileLabel,
  formatSnapshot,
  parseLines,
  parseSnapshot,
  type Snapshot,
} from '../catalogue/snapshot.ts';
import { type CommandSpec, METRICS_OPTION, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError, valueOr } from '../errors.ts';
import { type ConfirmLock, cannotWrite, readTextFile, replaceFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import { checkName, keyedFile } from '../files/paths.ts';
import { BrokenPipeError } from '../io.ts';
import { stringify } from '../json.ts';
import { counted } from '../output/messages.ts';
import { cellText } from '../output/text.ts';
import type { QueryPlan } from '../query/plan.ts';
import {
  FILTER_OPTION,
  imageFields,
  openSource,
  readAll,
  readQuery,
  readSnapshot,
  readView,
  TABLE_OPTIONS,
  type ViewOptions,
  WORDS,
} from './images-shared.ts';
import { type Measures, type MetricsOptions, withMetrics } from './metrics.ts';

export const imagesChanges: CommandSpec = {
  name: 'changes',
  summary: 'show what changed since the last run',
  description: [
    'Compares the catalogue with the last run, and shows images that were added, updated, moved (their name, path, folder or data store changed) or removed. The field before has the old values; in JSON, the whole old image.',
    'The first run remembers the images and shows nothing. If a run fails, or its output is not read to the end, the next run shows the same changes again.',
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
  options: [
    FILTER_OPTION,
    option('--mine', 'compare your own images instead of the catalogue'),
    option(
      '--cursor <name>',
      'remember the last run under this name, so that jobs do not interfere',
      {
        default: 'default',
        value: { kind: 'text', from: 'cursors' },
      },
    ),
    option('--since-file <file>', 'compare with this snapshot instead of the last run', {
      value: { kind: 'text', from: 'files' },
      conflicts: ['cursor', 'mine'],
    }),
    option('--peek', 'do not remember this run'),
    option('--exit-code', 'exit with 10 if there are changes'),
    METRICS_OPTION,
    ...TABLE_OPTIONS,
  ],
  mutates: true,
  fields: [
    ['change', 'string', 'added, updated, moved or removed'],
    ...imageFields('id', 'name', 'path', 'folder', 'updated_on'),
    ['before', 'object or null', 'the old image; in tables, csv and tsv only the old values'],
  ],
  exitCodes: [...SERVICE_CODES, 10],
  run,
};

interface ChangesOptions extends Pick<ViewOptions, 'header' | 'time'>, MetricsOptions {
  filter?: string[];
  mine?: boolean;
  cursor?: string;
  sinceFile?: string;
  peek?: boolean;
  exitCode?: boolean;
}

interface Task {
  readonly context: Context;
  readonly options: ChangesOptions;
  readonly plan: QueryPlan;
  readonly measure: (measures: Measures) => void;
}

async function run(context: Context, options: ChangesOptions, words: readonly string[]) {
  await withMetrics(context, options, 'changes', async (measure) => {
    const { cursor = 'default', sinceFile } = options;
    checkName(cursor, 'cursor');
    const task = { context, options, plan: readQuery(context, words, options), measure };
    const count =
      sinceFile === undefined
        ? await compareWithState(task, cursor, words)
        : await compareWithFile(task, sinceFile);
    if (options.exitCode && count > 0) context.exitCode = CHANGES_EXIT_CODE;
  });
}

/** Others may read a large catalogue one after the other. */
const LOCK_PATIENCE = 600_000;

/** Prints the changes, then stores what it saw. Returns the number of changes. */
async function compareWithState(task: Task, cursor: string, words: readonly string[]) {
  const { context, options } = task;
  const { console, io, paths } = context;
  const { profile, baseUrl: base_url, username } = (await context.session()).account;
  if (paths.state === undefined) {
    throw new ImgctlError('config', 'there is no folder to remember the last run in', {
      hint: 'set HOME, XDG_STATE_HOME or IMGCTL_CONFIG_DIR',
    });
  }
  const source = options.mine ? 'mine' : 'catalogue';
  const filters = [...(options.filter ?? [])].sort();
  // The order of words and filters does not matter, as all of them must match.
  const key = { cursor, profile, base_url, username, source, words: [...words].sort(), filters };
  const target = keyedFile(directoryOf(paths.state), cursor, [stringify(key)]);
  const hint = 'move it elsewhere to start again';
  const file = { what: `the file ${target}`, hint, foreign: hint };
  const compare = async (confirm: ConfirmLock) => {
    const text = await readTextFile(target, file.what, io);
    const state = text === undefined ? undefined : parseSnapshot(text, file);
    if (state && stringify(state.head.key) !== stringify(key)) {
      throw new ImgctlError('config', `${file.what} belongs to another query`, { hint });
    }
    const taken_at = new Date(io.now()).toISOString();
    const { count, lines } = await printChanges(task, file, state);
    if (!options.peek && (state === undefined || count > 0)) {
      const head = { taken_at, base_url, username, key };
      await replaceFile(target, formatSnapshot(head, lines), { confirm });
    }
    if (state === undefined) {
      const seen = counted(lines.length, 'image');
      if (options.peek) console.note(`first run: ${seen}, not remembered because of --peek`);
      else console.note(`first run: remembered ${seen}; the next run shows what changed`);
    }
    return count;
  };
  if (options.peek) return compare(() => {});
  return withLock(target, LOCK_PATIENCE, io, compare).catch((error: unknown) => {
    throw error instanceof BrokenPipeError ? error : cannotWrite(file.what, error);
  });
}

function directoryOf(stateDirectory: string): string {
  return path.join(stateDirectory, 'changes');
}

/** Compares with a snapshot; no state is read or stored. */
async function compareWithFile(task: Task, name: string): Promise<number> {
  const { context, plan } = task;
  const snapshot = await readSnapshot(context, name);
  const { baseUrl } = await context.session();
  if (snapshot.baseUrl !== baseUrl) {
    context.console.warn(`the snapshot ${name} is from ${snapshot.baseUrl}, not from ${baseUrl}`);
  }
  const images = (await snapshot.images()).filter(plan.matchesAll);
  const old = { ...snapshot, lines: images.map((image) => stringify(image)) };
  return (await printChanges(task, snapshot.file, old)).count;
}

async function readImages({ context, options, plan }: Task, comparison: Comparison): Promise<void> {
  if (options.mine) {
    const { client } = await context.session();
    const { images } = await client.listUserImages();
    for (const image of images.filter(plan.matchesAll)) comparison.add(image);
    const [first, ...others] = comparison.repeated;
    if (first === undefined) return;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    context.console.warn(`the service lists image ${first}${more} twice; the last one counts`);
    return;
  }
  for await (const images of readAll(context, await openSource(context, {}), plan)) {
    for (const image of images) comparison.add(image);
  }
}

const COLUMNS = ['change', 'id', 'name', 'folder', 'updated_on', 'before'];

/**
 * Reads the images and prints how they differ from the old ones, which are undefined before the first run.
 * @param file where the old images come from
 */
async function printChanges(task: Task, file: FileLabel, old: Snapshot | undefined) {
  const { context, options, measure } = task;
  const view = readView(context, options, []);
  const comparison = new Comparison(old?.lines ?? []);
  await readImages(task, comparison);
  const changes = old ? await comparison.changes(file) : [];
  const timeOf = (text: string) => view.times?.format(text) ?? text;
  const isText = ['table', 'csv', 'tsv'].includes(context.format);
  const rows = changes.map(({ change, image, before }) => {
    const { id = null, name = null, path = null, folder = null, updated_on = null } = image;
    const old = isText && before ? oldValues(image, before, timeOf) : before;
    return { change, id, name, path, folder, updated_on, before: old };
  });
  await context.printList(rows, COLUMNS, view);
  const count = (...kinds: readonly Change['change'][]) =>
    changes.filter(({ change }) => kinds.includes(change)).length;
  measure({
    succeeded: true,
    last_added: count('added'),
    last_updated: count('updated', 'moved'),
    last_deleted: count('removed'),
  });
  if (old && rows.length === 0 && context.format === 'table') {
    context.console.note(`no changes since ${timeOf(new Date(old.takenAt).toISOString())}`);
  }
  return { count: changes.length, lines: [...comparison.lines.values()] };
}

/** Returns the names of all cursors that were used on this machine. */
export function cursorNames(directory: string | undefined): string[] {
  if (directory === undefined) return [];
  const files = valueOr(() => fs.readdirSync(directoryOf(directory)), []);
  const names = files.flatMap((file) => /^([\w-]+)\.[0-9a-f]{16}\.json$/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

interface Change {
  /** moved: another name, path, folder or data store; updated: any other difference. */
  readonly change: 'added' | 'updated' | 'moved' | 'removed';
  /** As it is now, or as it was before it was removed. */
  readonly image: ReceivedImage;
  readonly before: ReceivedImage | null;
}

/** Receives the new images one by one; unchanged images cost neither parsing nor memory. */
class Comparison {
  /** The JSON of each new image, by its id. */
  readonly lines = new Map<unknown, string>();
  /** The ids that were added more than once. */
  readonly repeated = new Set<unknown>();
  readonly #old: Map<string, string>;
  readonly #different = new Map<unknown, ReceivedImage>();

  /** @param lines the JSON of each old image */
  constructor(lines: readonly string[]) {
    this.#old = new Map(lines.map((line) => [line, line]));
  }

  /** Replaces an image that was added with the same id. */
  add(image: ReceivedImage): void {
    const key = keyOf(image);
    const line = stringify(image);
    // The old text, so that the new one need not stay in memory.
    const same = this.#old.get(line);
    if (this.lines.has(key)) this.repeated.add(key);
    this.lines.set(key, same ?? line);
    if (same === undefined) this.#different.set(key, image);
    else this.#different.delete(key);
  }

  /**
   * Returns the changes in the order of the new images, then the removed ones in the old order.
   * @param file where the old images come from
   * @throws ImgctlError config: an old image is damaged
   */
  async changes(file: FileLabel): Promise<Change[]> {
    for (const line of this.lines.values()) this.#old.delete(line);
    const old = new Map<unknown, ReceivedImage>();
    for (const image of await parseLines([...this.#old.keys()], file)) old.set(keyOf(image), image);
    const changes: Change[] = [];
    for (const [key, image] of this.#different) {
      const before = old.get(key);
      const fields = Object.keys({ ...before, ...image });
      if (before === undefined) changes.push({ change: 'added', image, before: null });
      else if (differs(before, image, PLACE)) changes.push({ change: 'moved', image, before });
      else if (differs(before, image, fields)) changes.push({ change: 'updated', image, before });
    }
    for (const [key, before] of old) {
      if (!this.lines.has(key)) changes.push({ change: 'removed', image: before, before });
    }
    return changes;
  }
}

const PLACE = ['name', 'path', 'folder', 'data_store'];

/** Returns `folder: linux` or the old time; null if the image was removed. */
function oldValues(image: ReceivedImage, before: ReceivedImage, timeOf: (text: string) => string) {
  const changed = (fields: string[]) => fields.filter((field) => differs(before, image, [field]));
  const places = changed(['name', 'folder', 'data_store']);
  const fields = places.length > 0 ? places : changed(Object.keys({ ...before, ...image }));
  if (fields.join() === 'updated_on') return timeOf(`${before.updated_on}`);
  return fields.map((field) => `${field}: ${cellText(before[field] ?? '-')}`).join(', ') || null;
}

function keyOf(image: ReceivedImage): unknown {
  return image.id ?? stringify(image);
}

/** A field that is missing equals null. */
function differs(left: ReceivedImage, right: ReceivedImage, fields: readonly string[]): boolean {
  return fields.some((field) => stringify(left[field]) !== stringify(right[field]));
}
