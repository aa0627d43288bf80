// images lock: locks images by name in a file, and checks them; reads the lock file for images get --lock too.

import fs from 'node:fs';
import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import {
  formatLockFile,
  type LockedImage,
  type Locks,
  lockedImage,
  parseLockFile,
  stateOf,
} from '../catalogue/lock-file.ts';
import { indexSeries, onlyNewest } from '../catalogue/newest.ts';
import type { ArgumentDeclaration, FieldDeclaration } from '../cli/declarations.ts';
import { type GetOptions, readGet, timesOf } from '../cli/printing.ts';
import { type CommandSpec, GET_OPTION, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError, valueOrError } from '../errors.ts';
import { cannotWrite, followLinks, readTextFile, replaceUserFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import { checkName, DEFAULT_LOCK_FILE } from '../files/paths.ts';
import { counted, shellQuote } from '../output/messages.ts';
import { escapeInJson } from '../output/text.ts';
import type { Row } from '../output/writers.ts';
import { TIME_FIELDS } from '../query/fields.ts';
import { planQuery } from '../query/plan.ts';
import { isSameReading, SeriesIndex, versionOf, WordReader } from '../query/series.ts';
import { quoted, suggest } from '../query/suggest.ts';
import { seriesKey } from '../query/version.ts';
import {
  CHOOSING_FILTER,
  imageFields,
  listCommand,
  openSource,
  readAll,
  type Source,
} from './images-shared.ts';

export const LOCK_FILE_OPTION = option('--file <file>', 'lock file', {
  default: DEFAULT_LOCK_FILE,
  value: { kind: 'text', from: 'files' },
});

const NAMES: ArgumentDeclaration = {
  name: 'name',
  description: 'names of locked images (all)',
  variadic: true,
  value: { kind: 'text', from: 'locks' },
};

const LOCK_FIELDS: readonly FieldDeclaration[] = [
  ['lock', 'string', 'name of the lock'],
  ['text', 'array', 'words that the name must match'],
  ['filters', 'array', 'filters of the query, as given'],
  ...imageFields('id', 'name', 'path', 'created_on', 'updated_on'),
];

export const imagesLock: CommandSpec = {
  name: 'lock',
  summary: 'lock images by name in a file',
  description: [
    'A lock file stores a query and its newest image under each name. Commit it, so that every build uses the same images.',
  ],
  examples: [
    'imgctl images lock add web ubuntu 22.04 server',
    'imgctl images get --lock web --get path',
    'imgctl images lock check',
  ],
  seeAlso: ['images get', 'images latest', 'help choosing'],
  subcommands: [
    {
      name: 'add',
      summary: 'lock the newest image that matches',
      description: ['Selects the image as "imgctl images latest" does.'],
      examples: [
        'imgctl images lock add web ubuntu 22.04 server',
        'imgctl images lock add db debian genericcloud -f folder,ne,archive',
      ],
      seeAlso: ['images latest', 'images lock update'],
      arguments: [
        { name: 'name', description: 'name of the lock', required: true },
        {
          name: 'text',
          description: 'consider only images whose name matches every word',
          variadic: true,
        },
      ],
      options: [
        CHOOSING_FILTER,
        option('--replace', 'replace the lock of this name'),
        LOCK_FILE_OPTION,
        GET_OPTION,
      ],
      mutates: true,
      fields: LOCK_FIELDS,
      exitCodes: SERVICE_CODES,
      run: add,
    },
    {
      name: 'list',
      summary: 'list locked images',
      description: ['Does not contact the service.'],
      examples: ['imgctl images lock list', 'imgctl images lock list --get path'],
      options: [LOCK_FILE_OPTION, GET_OPTION],
      fields: LOCK_FIELDS,
      exitCodes: [5],
      run: list,
    },
    {
      name: 'check',
      summary: 'compare locked images with the catalogue',
      description: [
        'Shows the state of each image, the first of these that applies:',
        {
          terms: [
            ['gone', 'the image no longer exists'],
            ['replaced', 'it was updated after it was locked'],
            ['moved', 'its name or path changed'],
            ['newer', 'there is a newer image of the same series'],
            ['ok', 'nothing changed'],
          ],
        },
        'Exits with 1 if an image is gone, replaced or moved. With --exit-code, exits with 10 if there are only newer ones.',
      ],
      examples: [
        'imgctl images lock check',
        'imgctl images lock check --exit-code || imgctl images lock update',
      ],
      seeAlso: ['images lock update', 'help exit-codes'],
      arguments: [NAMES],
      options: [
        option('--exit-code', 'exit with 10 if there are newer images'),
        LOCK_FILE_OPTION,
        GET_OPTION,
      ],
      fields: [
        ['lock', 'string', 'name of the lock'],
        ['state', 'string', 'gone, replaced, moved, newer or ok: the first that applies'],
        ...imageFields('id', 'name', 'path'),
        ['newest_id', 'number or null', 'identifier of a newer image'],
        ['newest_name', 'string or null', 'file name of a newer image'],
      ],
      exitCodes: [...SERVICE_CODES, 10],
      run: check,
    },
    {
      name: 'update',
      summary: 'update locked images to the newest',
      description: ['Updates the named images, or all. If one of them fails, none is changed.'],
      examples: ['imgctl images lock update', 'imgctl images lock update web --json'],
      seeAlso: ['images lock check'],
      arguments: [NAMES],
      options: [LOCK_FILE_OPTION, GET_OPTION],
      mutates: true,
      fields: [
        ['lock', 'string', 'name of the lock'],
        ['change', 'string', 'updated or unchanged'],
        ['old_id', 'number', 'identifier of the old image'],
        ['old_name', 'string', 'its file name'],
        ['old_path', 'string', 'its path'],
        ...imageFields('id', 'name', 'path'),
      ],
      exitCodes: SERVICE_CODES,
      run: update,
    },
    {
      name: 'remove',
      summary: 'unlock an image',
      examples: [
        'imgctl images lock remove web',
        'imgctl images lock remove db --file ci.lock.json',
      ],
      arguments: [
        { ...NAMES, description: 'name of a locked image', required: true, variadic: false },
      ],
      options: [LOCK_FILE_OPTION],
      mutates: true,
      exitCodes: [5],
      run: remove,
    },
  ],
};

interface Options extends GetOptions {
  file?: string;
  filter?: string[];
  exitCode?: boolean;
  replace?: boolean;
}

const COLUMNS = ['lock', 'id', 'name', 'updated_on'];
const ALL_COLUMNS = LOCK_FIELDS.map(([name]) => name);

async function add(context: Context, options: Options, name: string, text: readonly string[]) {
  checkName(name, 'lock', { dots: true });
  const view = viewOf(context, options, ALL_COLUMNS);
  const query = { text, filters: options.filter ?? [] };
  planOf(context, query);
  const source = await openSource(context, {});
  let added: LockedImage | undefined;
  await changeLocks(context, options, new Map(), async (locks) => {
    if (locks.has(name) && !options.replace) {
      throw new ImgctlError('usage', `${name} is already locked`, {
        hint: 'add --replace, or use another name',
      });
    }
    added = lockedImage(query, await resolve(context, source, query, name));
    return new Map(locks).set(name, added);
  });
  await context.printRecord({ lock: name, ...added }, { columns: COLUMNS, ...view });
  context.console.success(`Locked as ${name} in ${options.file ?? DEFAULT_LOCK_FILE}`);
}

async function list(context: Context, options: Options): Promise<void> {
  const view = viewOf(context, options, ALL_COLUMNS);
  const rows = [...(await readLocks(context, options))].map(([lock, image]) => ({
    lock,
    ...image,
  }));
  await context.printList(rows, COLUMNS, view);
  if (rows.length === 0 && context.format === 'table') context.console.note('no images are locked');
}

/** Checks the format before a lock is changed. @param fields that --get can choose */
function viewOf(context: Context, options: Options, fields: readonly string[]) {
  const get = readGet(context, options, fields);
  return { idField: 'lock', get, times: timesOf(context, TIME_FIELDS, get) };
}

const CHECK_COLUMNS = ['lock', 'state', 'id', 'name', 'newest_id', 'newest_name'];

/** The states of a lock that no longer holds. */
const BROKEN_STATES = ['gone', 'replaced', 'moved'];

async function check(context: Context, options: Options, names: readonly string[]) {
  const view = viewOf(context, options, [...CHECK_COLUMNS, 'path']);
  const locks = selectLocks(options, await readLocks(context, options), names);
  const source = await openSource(context, {});
  const rows: { lock: string; state: string; [field: string]: unknown }[] = [];
  for (const [lock, locked] of locks) {
    const { live, newest, matchesText } = await findLocked(context, source, locked);
    const { text, id, name, path } = locked;
    if (!matchesText) {
      context.console.warn(
        `${lock}: its image ${name} does not match ${text.join(' ')}`,
        `lock one that does: ${lockCommand(options, 'update', lock)}`,
      );
    }
    const state = stateOf(locked, live, newest);
    const newer = state === 'newer' ? newest : undefined;
    const found = { newest_id: newer?.id ?? null, newest_name: newer?.name ?? null };
    rows.push({ lock, state, id, name, path, ...found });
  }
  await context.printList(rows, CHECK_COLUMNS, view);
  const broken = rows.filter(({ state }) => BROKEN_STATES.includes(state));
  if (broken.length > 0) {
    const message = `${broken.length} of ${counted(rows.length, 'locked image')} changed`;
    const update = lockCommand(options, 'update', ...broken.map(({ lock }) => lock));
    throw new ImgctlError('lock-broken', message, {
      details: broken.map(({ lock, state }) => `${lock}: ${state}`),
      hint: `lock the newest images instead: ${update}`,
    });
  }
  const isNewer = rows.some(({ state }) => state === 'newer');
  if (options.exitCode && isNewer) context.exitCode = CHANGES_EXIT_CODE;
}

const UPDATE_COLUMNS = ['lock', 'change', 'old_name', 'name'];

async function update(context: Context, options: Options, names: readonly string[]): Promise<void> {
  const fields = [...UPDATE_COLUMNS, 'old_id', 'old_path', 'id', 'path'];
  const view = viewOf(context, options, fields);
  const source = await openSource(context, {});
  const rows: Row[] = [];
  await changeLocks(context, options, undefined, async (locks) => {
    const changed = new Map(locks);
    for (const [lock, old] of selectLocks(options, locks, names)) {
      const now = lockedImage(old, await resolve(context, source, old, lock));
      const change = JSON.stringify(now) === JSON.stringify(old) ? 'unchanged' : 'updated';
      if (change === 'updated') changed.set(lock, now);
      const before = { old_id: old.id, old_name: old.name, old_path: old.path };
      rows.push({ lock, change, ...before, id: now.id, name: now.name, path: now.path });
    }
    return rows.some(({ change }) => change === 'updated') ? changed : locks;
  });
  await context.printList(rows, UPDATE_COLUMNS, view);
}

async function remove(context: Context, options: Options, name: string) {
  await changeLocks(context, options, undefined, async (locks) => {
    requireLock(options, locks, name);
    return new Map([...locks].filter(([each]) => each !== name));
  });
  context.console.success(`Unlocked ${name}`);
}

/** Returns the locks with these names, or all. @throws ImgctlError not-found */
function selectLocks(options: Options, locks: Locks, names: readonly string[]): Locks {
  if (names.length === 0) return locks;
  return new Map(names.map((name) => [name, requireLock(options, locks, name)]));
}

type Query = Pick<LockedImage, 'text' | 'filters'>;

function planOf({ io }: Context, { text, filters }: Query) {
  return planQuery({ words: text, filters }, { now: io.now() });
}

/** Returns the image that `images latest` would show. @throws ImgctlError that names the lock */
async function resolve(context: Context, source: Source, query: Query, name: string) {
  const found = await indexSeries(readAll(context, source, planOf(context, query)), query.text);
  const result = valueOrError(() => onlyNewest(found, listCommand(query.text, query.filters)));
  if ('value' in result) return result.value;
  throw result.error.with({ message: `${name}: ${result.error.message}` });
}

/** Returns the image with the id of a locked one, and the newest image of its series. */
async function findLocked(context: Context, source: Source, locked: LockedImage) {
  const version = versionOf(locked);
  const reading = version && new WordReader(locked.text).read(`${locked.name}`, version);
  // Earlier versions of imgctl found 8 in x86_64 too: such an image is compared as it was locked.
  const matchesText = version === undefined || reading !== undefined;
  const index = new SeriesIndex<ReceivedImage>(new WordReader(matchesText ? locked.text : []));
  let live: ReceivedImage | undefined;
  for await (const images of readAll(context, source, planOf(context, locked))) {
    for (const image of images) {
      if (image.id === locked.id) live = image;
      index.add(image);
    }
  }
  const key = version && seriesKey(version);
  const newest = index
    .all()
    .find((series) => series.key === key)
    ?.readings.find((each) => isSameReading(each.reading, reading))?.newest[0];
  return { live: live ?? (await source.getImage(locked.id)), newest, matchesText };
}

/** Others may be resolving images meanwhile. */
const LOCK_PATIENCE = 60_000;

/**
 * Replaces the locks by those that `change` returns; one process at a time.
 * @param initial the locks if there is no file; else that is an error
 * @throws ImgctlError config, failed, timeout, and whatever `change` throws
 */
async function changeLocks(
  context: Context,
  options: Options,
  initial: Locks | undefined,
  change: (locks: Locks) => Promise<Locks>,
): Promise<void> {
  const { io } = context;
  const { file, what } = lockFile(context, options);
  try {
    const target = followLinks(file);
    const update = async (confirm: () => void) => {
      const locks = await readLocks(context, options, initial);
      const changed = await change(locks);
      if (changed === locks) return;
      await replaceUserFile(target, escapeInJson(formatLockFile(changed)), what, confirm);
    };
    // withLock would create the folder.
    fs.accessSync(path.dirname(target));
    await withLock(target, LOCK_PATIENCE, io, update);
  } catch (error) {
    throw cannotWrite(what, error);
  }
}

/** Returns a command for hints, for the same file. */
function lockCommand({ file = DEFAULT_LOCK_FILE }: Options, ...words: string[]): string {
  const flag = file === DEFAULT_LOCK_FILE ? '' : ` --file ${shellQuote(file)}`;
  return `imgctl images lock ${words.join(' ')}${flag}`;
}

/** @throws ImgctlError not-found */
function requireLock(options: Options, locks: Locks, name: string): LockedImage {
  const locked = locks.get(name);
  if (locked !== undefined) return locked;
  throw new ImgctlError('not-found', `no image is locked as ${quoted(name)}`, {
    hint: suggest(name, [...locks.keys()], lockCommand(options, 'list')),
  });
}

/** Returns the image that is locked with this name. @throws ImgctlError not-found: it is gone; lock-broken: it was replaced */
export async function readLockedImage(
  context: Context,
  source: Source,
  options: Options,
  name: string,
) {
  const locked = requireLock(options, await readLocks(context, options), name);
  const image = await source.getImage(locked.id);
  const hint = `lock the newest one instead: ${lockCommand(options, 'update', name)}`;
  if (image === undefined) {
    const message = `${name} is gone: image ${locked.id} does not exist`;
    throw new ImgctlError('not-found', message, { hint });
  }
  const state = stateOf(locked, image);
  if (state === 'replaced') {
    const message = `${name} was replaced: image ${locked.id} was updated on ${image.updated_on}`;
    throw new ImgctlError('lock-broken', message, { hint });
  }
  if (state === 'moved') {
    context.console.warn(`${name} was moved from ${locked.path} to ${image.path}`, hint);
  }
  return image;
}

/** Returns the path of the lock file, and its name for messages. */
function lockFile({ io }: Context, { file = DEFAULT_LOCK_FILE }: Options) {
  return { file: path.resolve(io.cwd, file), what: `the lock file ${file}` };
}

/** @throws ImgctlError config: unreadable, or missing without `initial` */
async function readLocks(context: Context, options: Options, initial?: Locks): Promise<Locks> {
  const { file, what } = lockFile(context, options);
  const invalid = (problem: string, hint = 'restore it, for example with git') =>
    new ImgctlError('config', `${what} ${problem}`, { hint });
  const text = await readTextFile(file, what, context.io);
  if (text === undefined) {
    if (initial) return initial;
    throw invalid('does not exist', `create it with: ${lockCommand(options, 'add NAME TEXT')}`);
  }
  return parseLockFile(text, invalid);
}
