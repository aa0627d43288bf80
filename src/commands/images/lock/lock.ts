// imgctl images lock: locks images by name in a file, checks and updates them.

import { keyOf } from '../../../api/images.ts';
import type { ReceivedImage } from '../../../api/types.ts';
import {
  type NewestCollector,
  newestCollector,
  onlyNewest,
  selectionOf,
} from '../../../catalogue/newest.ts';
import {
  argument,
  command,
  GET_OPTION,
  option,
  type Parsed,
  SERVICE_CODES,
} from '../../../cli/command.ts';
import { type CommandDeclaration, terms } from '../../../cli/declarations.ts';
import type { Result } from '../../../cli/result.ts';
import { checkName } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { attempt, CHANGES_EXIT_CODE, ImgctlError } from '../../../errors.ts';
import { hint, type Invocation, imgctl } from '../../../facts.ts';
import { column, pick, type Row } from '../../../output/columns.ts';
import { contains, equals, portableTexts } from '../../../query/filter.ts';
import { readName } from '../../../query/name.ts';
import { parseQuery, Query } from '../../../query/query.ts';
import { SeriesIndex } from '../../../query/series.ts';
import { Tally } from '../../../query/tally.ts';
import { parseWord } from '../../../query/word.ts';
import { counted, shellQuote } from '../../../words.ts';
import { noMatchError } from '../empty.ts';
import { selecting } from '../invocation.ts';
import { CATALOGUE_OPTIONS, CHOOSING_FILTER, IMAGE_COLUMNS, WORDS } from '../options.ts';
import { openCatalogue, readTogether } from '../read.ts';
import {
  changeLocks,
  LOCK_FILE_OPTION,
  type LockFileOptions,
  lockCommand,
  readLocks,
  requireLock,
  suggestLocks,
} from './lock-file.ts';
import { type LockedImage, type Locks, lockedImage, lockState } from './lock-format.ts';

const NAMES = argument('name', 'names of locked images (all)', {
  variadic: true,
  suggest: suggestLocks,
});

const LOCK = column('lock', 'string', 'name of the lock', { isId: true });

const LOCK_COLUMNS = [
  LOCK,
  column('text', 'array', 'words that the name must match'),
  column('filters', 'array', 'filters of the query, as given'),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path', 'created_on', 'updated_on'),
];

const CHECK_COLUMNS = [
  LOCK,
  column('state', 'string', 'gone, replaced, moved, newer or ok', { isState: true }),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path'),
  column('newest_id', 'number or null', 'identifier of a newer image'),
  column('newest_name', 'string or null', 'file name of a newer image'),
];

const UPDATE_COLUMNS = [
  LOCK,
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

const LOCK_OPTIONS = [LOCK_FILE_OPTION, GET_OPTION] as const;

const UPDATE_OPTIONS = [...LOCK_OPTIONS, ...CATALOGUE_OPTIONS] as const;

const ADD_OPTIONS = [
  CHOOSING_FILTER,
  option('--replace', 'replace the lock of this name'),
  ...UPDATE_OPTIONS,
] as const;

const CHECK_OPTIONS = [
  option('--exit-code', 'exit with 10 if there are newer images'),
  ...UPDATE_OPTIONS,
] as const;

export const imagesLock: CommandDeclaration = {
  name: 'lock',
  summary: 'lock images by name in a file',
  description: [
    'A lock file stores a query and its newest image under each name, and the address of their service. Commit it, so that every build uses the same images. It works only with that service, because ids mean other images elsewhere.',
  ],
  examples: [
    'imgctl images lock add web ubuntu 22.04 server',
    'imgctl images get --lock web --get path',
    'imgctl images lock check',
  ],
  seeAlso: ['images get', 'images latest', 'help choosing'],
  subcommands: [
    command({
      name: 'add',
      otherNames: ['create', 'new'],
      summary: 'lock the newest image that matches',
      description: ['Selects the image as "imgctl images latest" does.'],
      examples: [
        'imgctl images lock add web ubuntu 22.04 server',
        'imgctl images lock add db debian genericcloud -f folder,ne,archive',
      ],
      seeAlso: ['images latest', 'images lock update'],
      arguments: [
        argument('name', 'name of the lock', { required: true }),
        { ...WORDS, description: 'consider only images whose name matches every word' },
      ],
      options: ADD_OPTIONS,
      fields: LOCK_COLUMNS,
      exitCodes: SERVICE_CODES,
      run: add,
    }),
    command({
      name: 'list',
      otherNames: ['ls'],
      summary: 'list locked images',
      description: ['Does not contact the service.'],
      examples: ['imgctl images lock list', 'imgctl images lock list --get path'],
      options: LOCK_OPTIONS,
      fields: LOCK_COLUMNS,
      exitCodes: [5],
      run: list,
    }),
    command({
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
      options: CHECK_OPTIONS,
      fields: CHECK_COLUMNS,
      exitCodes: [...SERVICE_CODES, 10],
      run: check,
    }),
    command({
      name: 'update',
      otherNames: ['upgrade', 'refresh'],
      summary: 'update locked images to the newest',
      description: ['Updates the named images, or all. If one of them fails, none is changed.'],
      examples: ['imgctl images lock update', 'imgctl images lock update web --json'],
      seeAlso: ['images lock check'],
      arguments: [NAMES],
      options: UPDATE_OPTIONS,
      fields: UPDATE_COLUMNS,
      exitCodes: SERVICE_CODES,
      run: update,
    }),
    command({
      name: 'remove',
      otherNames: ['rm', 'delete', 'unlock'],
      summary: 'unlock an image',
      examples: [
        'imgctl images lock remove web',
        'imgctl images lock remove db --file ci.lock.json',
      ],
      arguments: [
        argument('name', 'name of a locked image', { required: true, suggest: suggestLocks }),
      ],
      options: [LOCK_FILE_OPTION],
      exitCodes: [5],
      run: remove,
    }),
  ],
};

const SHOWN = ['lock', 'id', 'name', 'updated_on'];

async function add(
  context: Context,
  options: Parsed<typeof ADD_OPTIONS>,
  name: string,
  text: readonly string[],
) {
  checkName(name, 'lock', { dots: true });
  const output = context.output(LOCK_COLUMNS, { ...options, shown: SHOWN });
  const query = parseQuery({ words: text, filters: options.filter }, context.io.now());
  const stored = { text, filters: query.filters.flatMap(portableTexts) };
  const catalogue = await openCatalogue(context, options);
  const service = { baseUrl: catalogue.baseUrl, mayCreate: true };
  let added: LockedImage | undefined;
  await changeLocks(context, options, service, async (locks) => {
    if (locks.has(name) && !options.replace) {
      const message = `${name} is already locked`;
      throw new ImgctlError('usage', message, { facts: 'add --replace, or use another name' });
    }
    const command = lockCommand(options, 'add', name, ...(options.replace ? ['--replace'] : []));
    const found = newestCollector(query);
    await readTogether(context, catalogue, [found]);
    added = newestForLock(found, stored, name, command);
    return new Map(locks).set(name, added);
  });
  const { file } = options;
  const wanted = selecting(imgctl(), query).imgctl.map(shellQuote).join(' ');
  const what = wanted === '' ? 'the newest image' : `the newest of "${wanted}"`;
  const afterwards = () =>
    context.console.success(`Locked ${name} in ${file}: ${added?.name} (${what})`);
  const done = `${name} is locked in ${file}`;
  return { output, rows: [{ lock: name, ...added }], isOne: true, afterwards, done };
}

async function list(context: Context, options: Parsed<typeof LOCK_OPTIONS>): Promise<Result> {
  const output = context.output(LOCK_COLUMNS, { ...options, shown: SHOWN });
  const rows = [...(await readLocks(context, options))].map(([lock, image]) => ({
    lock,
    ...image,
  }));
  const afterwards = () => {
    if (rows.length === 0 && output.hasNotes) context.console.note('no images are locked');
  };
  return { output, rows, afterwards };
}

async function check(
  context: Context,
  options: Parsed<typeof CHECK_OPTIONS>,
  names: readonly string[],
) {
  const common = ['lock', 'state', 'id', 'name'];
  const cells = [...common, 'newest_id', 'newest_name'];
  const outputOf = (...more: string[]) =>
    context.output(CHECK_COLUMNS, { ...options, shown: [...common, ...more], cells });
  // Made before any request, so that options that contradict each other are refused first.
  const wide = outputOf('newest_name');
  const catalogue = await openCatalogue(context, options);
  const all = await readLocks(context, { ...options, name: names[0] }, catalogue.baseUrl);
  const locks = selectLocks(options, all, names);
  const rows: ReturnType<typeof checkedRow>[] = [];
  const searches = [...locks].map(([lock, locked]) => lockedCollector(context, lock, locked));
  await readTogether(context, catalogue, searches);
  for (const search of searches) {
    const { lock, locked, liveImage, matchesText } = search;
    const { text, id, name } = locked;
    const live = liveImage() ?? (await catalogue.getImage(id));
    if (!matchesText) {
      const update = hint`lock one that does: ${lockCommand(options, 'update', lock)}`;
      context.console.warn(`${lock}: its image ${name} does not match ${text.join(' ')}`, update);
    }
    rows.push(checkedRow(search, live));
  }
  const broken = rows.filter(({ state }) => ['gone', 'replaced', 'moved'].includes(state));
  const hasNewer = rows.some(({ newest_name: name }) => name !== null);
  const output = hasNewer ? wide : outputOf();
  if (broken.length > 0) {
    const message = `${broken.length} of ${counted(rows.length, 'locked image')} changed`;
    const update = lockCommand(options, 'update', ...broken.map(({ lock }) => lock));
    const error = new ImgctlError('lock-broken', message, {
      details: broken.map(({ lock, state }) => `${lock}: ${state}`),
      facts: hint`lock the newest images instead: ${update}`,
    });
    return { output, rows, error };
  }
  const isNewer = rows.some(({ state }) => state === 'newer');
  return { output, rows, exitCode: options.exitCode && isNewer ? CHANGES_EXIT_CODE : 0 };
}

/** @param live the image as the service has it, if it still exists */
function checkedRow(
  { lock, locked, index }: ReturnType<typeof lockedCollector>,
  live: ReceivedImage | undefined,
) {
  const { id, name, path } = locked;
  // Even if it is gone or the filters hide it: an older image must not seem newer.
  index.add(locked);
  const newest = index.newestLike(locked);
  const state = lockState(locked, live, newest);
  const isBehind = state === 'newer' || state === 'gone';
  const newer = isBehind ? newest.find((image) => keyOf(image) !== id) : undefined;
  const found = { newest_id: newer?.id ?? null, newest_name: newer?.name ?? null };
  return { lock, state, id, name, path, ...found };
}

async function update(
  context: Context,
  options: Parsed<typeof UPDATE_OPTIONS>,
  names: readonly string[],
) {
  const shown = ['lock', 'change', 'old_name', 'name'];
  const output = context.output(UPDATE_COLUMNS, { ...options, shown });
  const catalogue = await openCatalogue(context, options);
  const rows: Row[] = [];
  const file = { ...options, name: names[0] };
  await changeLocks(context, file, { baseUrl: catalogue.baseUrl }, async (locks) => {
    // Called again if another program changes the file meanwhile.
    rows.length = 0;
    const changed = new Map(locks);
    const selected = [...selectLocks(options, locks, names)].map(([lock, old]) => {
      return { lock, old, ...newestCollector(queryOf(context, lock, old)) };
    });
    await readTogether(context, catalogue, selected);
    for (const { lock, old, ...found } of selected) {
      const command = lockCommand(options, 'add', lock, '--replace');
      const now = newestForLock(found, old, lock, command);
      const change = outcomeOf(old, now);
      if (change !== 'unchanged') changed.set(lock, now);
      const before = { old_id: old.id, old_name: old.name, old_path: old.path };
      rows.push({ lock, change, ...before, id: now.id, name: now.name, path: now.path });
    }
    return rows.some(({ change }) => change !== 'unchanged') ? changed : locks;
  });
  return { output, rows, done: `${options.file} holds the newest images` };
}

function outcomeOf(old: LockedImage, now: LockedImage) {
  if (JSON.stringify(now) === JSON.stringify(old)) return 'unchanged';
  const both = new SeriesIndex<ReceivedImage>();
  for (const image of [old, now]) both.add(image);
  return both.newestLike(now).includes(now) ? 'updated' : 'downgraded';
}

async function remove(context: Context, options: LockFileOptions, name: string) {
  await changeLocks(context, { ...options, name }, {}, async (locks) => {
    requireLock(options, locks, name);
    return new Map([...locks].filter(([each]) => each !== name));
  });
  context.console.success(`Unlocked ${name}`);
}

function selectLocks(options: LockFileOptions, locks: Locks, names: readonly string[]): Locks {
  if (names.length === 0) return locks;
  return new Map(names.map((name) => [name, requireLock(options, locks, name)]));
}

/** @throws ImgctlError usage, which names the lock */
function queryOf({ io }: Context, name: string, { text, filters }: LockedImage): Query {
  return forLock(name, () => parseQuery({ words: text, filters }, io.now()));
}

/** Locks the image that `images latest` would show. @param command that would lock another query under this name */
function newestForLock(
  found: NewestCollector,
  stored: Pick<LockedImage, 'text' | 'filters'>,
  name: string,
  command: Invocation,
) {
  return forLock(name, () => {
    if (found.index.isEmpty) throw noMatchError(found);
    const newest = onlyNewest(found);
    if (!newest.error) return lockedImage(stored, newest.image);
    const { error } = newest;
    const [first] = error.choices;
    const byId = new Query({ filters: [equals('id', `${first.id}`)] });
    const selection = selectionOf(found, first) ?? byId;
    throw error.with({ facts: hint`lock the first with: ${selecting(command, selection)}` });
  });
}

/** @throws ImgctlError of the action, which names the lock */
function forLock<T>(name: string, action: () => T): T {
  const { value, error } = attempt(action);
  if (error) throw error.with({ message: `${name}: ${error.message}` });
  return value;
}

/** Returns a collector for the images of the locked image's series that match its query. */
function lockedCollector(context: Context, lock: string, locked: LockedImage) {
  const query = queryOf(context, lock, locked);
  const words = readName(locked.name ?? '').seriesKey.match(/[^ #]+/g) ?? [];
  // The longest word of a name is in the fewest other names.
  const [word = ''] = words.toSorted((one, other) => other.length - one.length);
  const series = contains('name', word);
  const wanted = new Query({ filters: [series, ...query.filters] });
  // A lock that was edited by hand may not match: its image is compared as it was locked.
  const matchesText = locked.text.every((word) => parseWord(word).matches(`${locked.name}`));
  const index = new SeriesIndex<ReceivedImage>(matchesText ? locked.text : []);
  let live: ReceivedImage | undefined;
  const add = (image: ReceivedImage) => {
    if (keyOf(image) === locked.id) live = image;
    if (query.matches(image)) index.add(image);
  };
  const liveImage = () => live;
  const tally = new Tally(wanted);
  return { lock, locked, query: wanted, tally, index, matchesText, add, liveImage };
}
