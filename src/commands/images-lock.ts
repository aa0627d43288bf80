// images lock: pins images by name in a file, and checks them; reads the lock file for images get --lock too.

import fs from 'node:fs';
import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import type { FileLabel } from '../catalogue/snapshot.ts';
import type { ArgumentDeclaration, FieldDeclaration } from '../cli/declarations.ts';
import { type GetOptions, readGet, timesOfTable } from '../cli/printing.ts';
import { type CommandSpec, GET_OPTION, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError } from '../errors.ts';
import { cannotWrite, followLinks, readTextFile, replaceUserFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import { DEFAULT_LOCK_FILE } from '../files/paths.ts';
import { isObject } from '../json.ts';
import { counted } from '../output/messages.ts';
import { escapeInJson } from '../output/text.ts';
import type { Row } from '../output/writers.ts';
import { compareText, TIME_FIELDS } from '../query/fields.ts';
import { planQuery } from '../query/plan.ts';
import { isSameReading, versionOf, WordReader } from '../query/series.ts';
import { quoted, suggest } from '../query/suggest.ts';
import { parseTimestamp } from '../query/timestamp.ts';
import { compareVersions, seriesKey } from '../query/version.ts';
import { indexSeries, listCommand, onlyNewest } from './images-latest.ts';
import { FILTER_OPTION, imageFields, openSource, readAll, type Source } from './images-shared.ts';

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
  ['text', 'array', 'texts that the name of the image must contain'],
  ['filters', 'array', 'filters of the query, as field,operator,value'],
  ...imageFields('id', 'name', 'path', 'created_on', 'updated_on'),
];

export const imagesLock: CommandSpec = {
  name: 'lock',
  summary: 'pin images by name in a file',
  description: [
    'A lock file stores, for each name, a query and its newest image. Commit it, so that every build uses the same images. It has one field per line, so that a diff shows only what changed.',
  ],
  examples: ['imgctl images lock add web ubuntu 22.04 server', 'imgctl images lock check'],
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
        { name: 'name', description: 'name for the locked image', required: true },
        {
          name: 'text',
          description: 'consider only images whose name matches each text',
          variadic: true,
        },
      ],
      options: [FILTER_OPTION, LOCK_FILE_OPTION, GET_OPTION],
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
        'Shows the state of each image. If several apply, the first of these:',
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
        ['old_id', 'number', 'identifier of the image before'],
        ['old_name', 'string', 'file name before'],
        ['old_path', 'string', 'path before'],
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
}

const FIELDS = ['lock', 'id', 'name', 'path', ...TIME_FIELDS];

async function add(
  context: Context,
  options: Options & { filter?: string[] },
  name: string,
  text: readonly string[],
): Promise<void> {
  if (!/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) {
    throw new ImgctlError('usage', `invalid name of a lock: ${name.slice(0, 80)}`, {
      hint: 'use a letter or digit, then up to 63 letters, digits, ., - or _',
    });
  }
  const get = readGet(context, options, FIELDS);
  const query = { text, filters: options.filter ?? [] };
  planOf(context, query);
  const source = await openSource(context, {});
  let added: Pin | undefined;
  await changePins(context, options, false, async (pins) => {
    if (pins.has(name)) {
      throw new ImgctlError('usage', `${name} is already locked`, {
        hint: `use another name, or first run: imgctl images lock remove ${name}`,
      });
    }
    added = pinOf(query, await resolve(context, source, query, name));
    return new Map(pins).set(name, added);
  });
  const view = { columns: FIELDS, ...viewOf(context, get) };
  await context.printRecord({ lock: name, ...added }, view);
  context.console.success(`Locked as ${name} in ${options.file ?? DEFAULT_LOCK_FILE}`);
}

async function list(context: Context, options: Options): Promise<void> {
  const get = readGet(context, options, [...FIELDS, 'text', 'filters']);
  const pins = await readPins(context, options, true);
  const rows = [...pins].map(([lock, pin]) => ({ lock, ...pin }));
  await context.printList(rows, FIELDS, viewOf(context, get));
  if (rows.length === 0 && context.format === 'table') context.console.note('no images are locked');
}

function viewOf(context: Context, get: string | undefined) {
  return { idField: 'lock', get, times: timesOfTable(context, TIME_FIELDS, get) };
}

const CHECK_COLUMNS = ['lock', 'state', 'id', 'name', 'newest_id', 'newest_name'];

async function check(
  context: Context,
  options: Options & { exitCode?: boolean },
  names: readonly string[],
): Promise<void> {
  const get = readGet(context, options, [...CHECK_COLUMNS, 'path']);
  const pins = selectPins(await readPins(context, options, true), names);
  const source = await openSource(context, {});
  const rows: { lock: string; state: PinState; [field: string]: unknown }[] = [];
  for (const [name, pin] of pins) {
    const { live, newest, matchesText } = await findPinned(context, source, pin);
    if (!matchesText) {
      context.console.warn(
        `${name}: its image ${pin.name} does not match ${pin.text.join(' ')}`,
        `lock one that does: imgctl images lock update ${name}`,
      );
    }
    const state = stateOf(pin, live, newest);
    const newer = state === 'newer' ? newest : undefined;
    const found = { newest_id: newer?.id ?? null, newest_name: newer?.name ?? null };
    rows.push({ lock: name, state, id: pin.id, name: pin.name, path: pin.path, ...found });
  }
  await context.printList(rows, CHECK_COLUMNS, { idField: 'lock', get });
  const broken = rows.filter(({ state }) => BROKEN_STATES.includes(state));
  if (broken.length > 0) {
    const message = `${counted(broken.length, 'locked image')} of ${rows.length} changed`;
    throw new ImgctlError('pin-broken', message, {
      details: broken.map(({ lock, state }) => `${lock}: ${state}`),
      hint: `lock the newest images instead: imgctl images lock update ${broken.map(({ lock }) => lock).join(' ')}`,
    });
  }
  const isNewer = rows.some(({ state }) => state === 'newer');
  if (options.exitCode && isNewer) context.exitCode = CHANGES_EXIT_CODE;
}

const UPDATE_COLUMNS = ['lock', 'change', 'old_name', 'name'];

async function update(context: Context, options: Options, names: readonly string[]): Promise<void> {
  const get = readGet(context, options, [...UPDATE_COLUMNS, 'old_id', 'old_path', 'id', 'path']);
  const source = await openSource(context, {});
  const rows: Row[] = [];
  await changePins(context, options, true, async (pins) => {
    const changed = new Map(pins);
    for (const [lock, old] of selectPins(pins, names)) {
      const pin = pinOf(old, await resolve(context, source, old, lock));
      const change = JSON.stringify(pin) === JSON.stringify(old) ? 'unchanged' : 'updated';
      if (change === 'updated') changed.set(lock, pin);
      const before = { old_id: old.id, old_name: old.name, old_path: old.path };
      rows.push({ lock, change, ...before, id: pin.id, name: pin.name, path: pin.path });
    }
    return rows.some(({ change }) => change === 'updated') ? changed : pins;
  });
  await context.printList(rows, UPDATE_COLUMNS, { idField: 'lock', get });
}

async function remove(context: Context, options: Options, name: string) {
  await changePins(context, options, true, async (pins) => {
    requirePin(pins, name);
    return new Map([...pins].filter(([each]) => each !== name));
  });
  context.console.success(`Unlocked ${name}`);
}

/** Returns the pins with these names, or all. @throws ImgctlError not-found */
function selectPins(pins: Pins, names: readonly string[]): Pins {
  if (names.length === 0) return pins;
  return new Map(names.map((name) => [name, requirePin(pins, name)]));
}

type Query = Pick<Pin, 'text' | 'filters'>;

function planOf({ io }: Context, { text, filters }: Query) {
  return planQuery({ words: text, filters }, { now: io.now() });
}

/** Returns the image that `images latest` would show. @throws ImgctlError that names the lock */
async function resolve(
  context: Context,
  source: Source,
  query: Query,
  name: string,
): Promise<ReceivedImage> {
  try {
    const found = await indexSeries(readAll(context, source, planOf(context, query)), query.text);
    return onlyNewest(found, listCommand(query.text, query.filters));
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    if (error.code !== 'ambiguous' && error.code !== 'empty') throw error;
    throw error.with({ message: `${name}: ${error.message}` });
  }
}

/** Returns the image with the id of a pin, and the newest image of its series. */
async function findPinned(context: Context, source: Source, pin: Pin) {
  const version = versionOf(pin);
  const reading = version && new WordReader(pin.text).read(`${pin.name}`, version);
  let live: ReceivedImage | undefined;
  async function* watched() {
    for await (const images of readAll(context, source, planOf(context, pin))) {
      live = images.find(({ id }) => id === pin.id) ?? live;
      yield images;
    }
  }
  // Earlier versions of imgctl found 8 in x86_64 too: such a pin is compared as it was made.
  const matchesText = version === undefined || reading !== undefined;
  const { index } = await indexSeries(watched(), matchesText ? pin.text : []);
  const key = version && seriesKey(version);
  const newest = index
    .all()
    .find((series) => series.key === key)
    ?.readings.find((each) => isSameReading(each.reading, reading))?.newest[0];
  return { live: live ?? (await source.getImage(pin.id)), newest, matchesText };
}

/** Others may be resolving images meanwhile. */
const LOCK_PATIENCE = 60_000;

/** @throws ImgctlError config: unreadable, or missing and `required` */
async function readPins(
  { io }: Context,
  { file = DEFAULT_LOCK_FILE }: Options,
  required: boolean,
): Promise<Map<string, Pin>> {
  const label = { what: `the lock file ${file}`, hint: 'restore it, for example with git' };
  const text = await readTextFile(path.resolve(io.cwd, file), label.what, io);
  if (text !== undefined) return parseLockFile(text, label);
  if (!required) return new Map();
  throw new ImgctlError('config', `${label.what} does not exist`, {
    hint: 'create it with: imgctl images lock add NAME TEXT',
  });
}

/**
 * Replaces the pins by those that `change` returns; one process at a time.
 * @throws ImgctlError config, failed, timeout, and whatever `change` throws
 */
async function changePins(
  context: Context,
  options: Options,
  required: boolean,
  change: (pins: Pins) => Promise<Pins>,
): Promise<void> {
  const { io } = context;
  const { file = DEFAULT_LOCK_FILE } = options;
  const what = `the lock file ${file}`;
  try {
    const target = followLinks(path.resolve(io.cwd, file));
    const update = async (confirm: () => void) => {
      const pins = await readPins(context, options, required);
      const changed = await change(pins);
      if (changed === pins) return;
      await replaceUserFile(target, escapeInJson(formatLockFile(changed)), what, confirm);
    };
    // withLock would create the folder.
    fs.accessSync(path.dirname(target));
    await withLock(target, LOCK_PATIENCE, io, update);
  } catch (error) {
    throw cannotWrite(what, error);
  }
}

/** @throws ImgctlError not-found */
function requirePin(pins: Pins, name: string): Pin {
  const pin = pins.get(name);
  if (pin !== undefined) return pin;
  throw new ImgctlError('not-found', `no image is locked as ${quoted(name)}`, {
    hint: suggest(name, [...pins.keys()], 'imgctl images lock list'),
  });
}

/** Returns the image that a name pins. @throws ImgctlError not-found: it is gone; pin-broken: it was replaced */
export async function readPinned(
  context: Context,
  source: Source,
  options: Options,
  name: string,
): Promise<ReceivedImage> {
  const pin = requirePin(await readPins(context, options, true), name);
  const image = await source.getImage(pin.id);
  const hint = `lock the newest one instead: imgctl images lock update ${name}`;
  if (image === undefined) {
    throw new ImgctlError('not-found', `${name} is gone: image ${pin.id} does not exist`, { hint });
  }
  const state = stateOf(pin, image, undefined);
  if (state === 'replaced') {
    const message = `${name} was replaced: image ${pin.id} was updated on ${image.updated_on}`;
    throw new ImgctlError('pin-broken', message, { hint });
  }
  if (state === 'moved') {
    context.console.warn(`${name} was moved from ${pin.path} to ${image.path}`, hint);
  }
  return image;
}

/** Format of lock files. */
const VERSION = 1;

/** A type, since an interface has no index signature. */
type Pin = {
  readonly text: readonly string[];
  readonly filters: readonly string[];
  readonly id: number;
  readonly name: string | null;
  readonly path: string | null;
  readonly created_on: string | null;
  readonly updated_on: string | null;
};

type Pins = ReadonlyMap<string, Pin>;

/** @throws ImgctlError bad-answer: the image has no id */
function pinOf(
  { text, filters }: Pick<Pin, 'text' | 'filters'>,
  { id, ...image }: ReceivedImage,
): Pin {
  if (typeof id !== 'number') {
    throw new ImgctlError('bad-answer', 'the image cannot be locked without a numeric id');
  }
  const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    text,
    filters,
    id,
    name: textOrNull(image.name),
    path: textOrNull(image.path),
    created_on: textOrNull(image.created_on),
    updated_on: textOrNull(image.updated_on),
  };
}

function formatLockFile(pins: Pins): string {
  const images = [...pins].sort(([left], [right]) => compareText(left, right));
  const content = { version: VERSION, images: Object.fromEntries(images) };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** @throws ImgctlError config: damaged, newer or not a lock file */
function parseLockFile(text: string, { what, hint }: FileLabel): Map<string, Pin> {
  const invalid = (problem: string) => new ImgctlError('config', `${what} ${problem}`, { hint });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw invalid('is not valid JSON');
  }
  const { version, images } = isObject(content) ? content : {};
  if (typeof version === 'number' && version > VERSION) {
    throw new ImgctlError('config', `${what} has the newer format ${version}`, {
      hint: 'upgrade imgctl to read it',
    });
  }
  if (version !== VERSION || !isObject(images)) throw invalid('has an unknown format');
  return new Map(
    Object.entries(images).map(([name, pin]) => {
      // Without members of other programs.
      if (isPin(pin)) return [name, pinOf(pin, pin)];
      throw invalid(`is damaged at ${name}`);
    }),
  );
}

function isPin(pin: unknown): pin is Pin {
  if (!isObject(pin) || !Number.isSafeInteger(pin.id)) return false;
  const isText = (value: unknown) => typeof value === 'string';
  const isList = (value: unknown) => Array.isArray(value) && value.every(isText);
  const texts = [pin.name, pin.path, pin.created_on, pin.updated_on];
  return [pin.text, pin.filters].every(isList) && texts.every((it) => it === null || isText(it));
}

type PinState = 'ok' | 'newer' | 'moved' | 'replaced' | 'gone';

/** The states of a pin that no longer holds. */
const BROKEN_STATES: readonly PinState[] = ['gone', 'replaced', 'moved'];

/**
 * Compares a pin with the image of its id.
 * @param newest the newest image of its series
 */
function stateOf(
  pin: Pin,
  live: ReceivedImage | undefined,
  newest: ReceivedImage | undefined,
): PinState {
  if (live === undefined) return 'gone';
  if ((live.updated_on ?? null) !== pin.updated_on) return 'replaced';
  if ((live.path ?? null) !== pin.path || (live.name ?? null) !== pin.name) return 'moved';
  return newest !== undefined && isNewer(newest, pin) ? 'newer' : 'ok';
}

/** The same order as that of images latest; a tie is not newer. */
function isNewer(image: ReceivedImage, pin: Pin): boolean {
  const [version, pinned] = [versionOf(image), versionOf(pin)];
  if (version === undefined || pinned === undefined) return false;
  const order = compareVersions(version, pinned);
  const created = parseTimestamp(`${image.created_on}`) ?? Number.NaN;
  const before = parseTimestamp(`${pin.created_on}`) ?? Number.NaN;
  return order > 0 || (order === 0 && created > before);
}
