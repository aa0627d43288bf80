// imgctl images lock: pins images by name in a file, and checks them.

import type { ReceivedImage } from '../api/types.ts';
import { findSeries, onlyNewest } from '../catalogue/latest.ts';
import {
  BROKEN_STATES,
  type Pin,
  type PinState,
  type Pins,
  pinOf,
  stateOf,
} from '../catalogue/lock-file.ts';
import type { Context } from '../context.ts';
import { CHANGES_EXIT_CODE, ImgctlError } from '../errors.ts';
import { DEFAULT_LOCK_FILE } from '../files/paths.ts';
import { counted } from '../output/messages.ts';
import type { Row } from '../output/writers.ts';
import { TIME_FIELDS } from '../query/fields.ts';
import { planQuery } from '../query/plan.ts';
import { versionOf } from '../query/series.ts';
import { seriesKey } from '../query/version.ts';
import { type Reading, WordReader } from '../query/words.ts';
import { listCommand } from './images-latest.ts';
import { changePins, type LockFileOptions, readPins, requirePin } from './lock-files.ts';
import { type GetOptions, readGet, timesOfTable } from './shared-options.ts';
import { openSource, readAll, type Source } from './source.ts';

type Options = LockFileOptions & GetOptions;

const FIELDS = ['lock', 'id', 'name', 'path', ...TIME_FIELDS];

export async function add(
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
  if (added)
    await context.printRecord(rowOf(name, added), { columns: FIELDS, ...viewOf(context, get) });
  context.console.success(`Locked as ${name} in ${options.file ?? DEFAULT_LOCK_FILE}`);
}

export async function list(context: Context, options: Options): Promise<void> {
  const get = readGet(context, options, [...FIELDS, 'text', 'filters']);
  const pins = await readPins(context, options, true);
  const rows = [...pins].map(([name, pin]) => rowOf(name, pin));
  await context.printList(rows, FIELDS, viewOf(context, get));
  if (rows.length === 0 && context.format === 'table') context.console.note('no images are locked');
}

function viewOf(context: Context, get: string | undefined) {
  return { idField: 'lock', get, times: timesOfTable(context, TIME_FIELDS, get) };
}

interface CheckedPin extends Row {
  readonly lock: string;
  readonly state: PinState;
}

const CHECK_COLUMNS = ['lock', 'state', 'id', 'name', 'newest_id', 'newest_name'];

export async function check(
  context: Context,
  options: Options & { exitCode?: boolean },
  names: readonly string[],
): Promise<void> {
  const get = readGet(context, options, [...CHECK_COLUMNS, 'path']);
  const pins = selectPins(await readPins(context, options, true), names);
  const source = await openSource(context, {});
  const rows: CheckedPin[] = [];
  for (const [name, pin] of pins) {
    const { live, newest, matchesQuery } = await findPinned(context, source, pin);
    if (!matchesQuery) {
      context.console.warn(
        `${name}: its image ${pin.name} does not match ${pin.text.join(' ')}`,
        `lock one that does: imgctl images lock update ${name}`,
      );
    }
    const state = stateOf(pin, live, newest);
    const newer = state === 'newer' ? newest : undefined;
    const [newest_id, newest_name] = [newer?.id ?? null, newer?.name ?? null];
    rows.push({
      lock: name,
      state,
      id: pin.id,
      name: pin.name,
      path: pin.path,
      newest_id,
      newest_name,
    });
  }
  await context.printList(rows, CHECK_COLUMNS, { idField: 'lock', get });
  const having = (states: readonly PinState[]) =>
    rows.filter(({ state }) => states.includes(state));
  const broken = having(BROKEN_STATES);
  if (broken.length > 0) {
    const message = `${counted(broken.length, 'locked image')} of ${rows.length} changed`;
    throw new ImgctlError('pin-broken', message, {
      details: broken.map(({ lock, state }) => `${lock}: ${state}`),
      hint: `lock the newest images instead: imgctl images lock update ${broken.map(({ lock }) => lock).join(' ')}`,
    });
  }
  if (options.exitCode && having(['newer']).length > 0) context.exitCode = CHANGES_EXIT_CODE;
}

const UPDATE_COLUMNS = ['lock', 'change', 'old_name', 'name'];

export async function update(
  context: Context,
  options: Options,
  names: readonly string[],
): Promise<void> {
  const get = readGet(context, options, [...UPDATE_COLUMNS, 'old_id', 'old_path', 'id', 'path']);
  const source = await openSource(context, {});
  const rows: Row[] = [];
  await changePins(context, options, true, async (pins) => {
    const changed = new Map(pins);
    for (const [lock, old] of selectPins(pins, names)) {
      const pin = pinOf(old, await resolve(context, source, old, lock));
      const isSame = JSON.stringify(pin) === JSON.stringify(pinOf(old, old));
      if (!isSame) changed.set(lock, pin);
      rows.push({
        lock,
        change: isSame ? 'unchanged' : 'updated',
        old_id: old.id,
        old_name: old.name,
        old_path: old.path,
        id: pin.id,
        name: pin.name,
        path: pin.path,
      });
    }
    return rows.some(({ change }) => change === 'updated') ? changed : pins;
  });
  await context.printList(rows, UPDATE_COLUMNS, { idField: 'lock', get });
}

export async function remove(context: Context, options: LockFileOptions, name: string) {
  await changePins(context, options, true, async (pins) => {
    requirePin(pins, name);
    return new Map([...pins].filter(([each]) => each !== name));
  });
  context.console.success(`Unlocked ${name}`);
}

function rowOf(lock: string, { text, filters, id, name, path, created_on, updated_on }: Pin) {
  return { lock, text, filters, id, name, path, created_on, updated_on };
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
    const found = await findSeries(readAll(context, source, planOf(context, query)), query.text);
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
  // Earlier versions of imgctl found 8 in x86_64 too: such a pin is compared as it was made.
  const reading = version && new WordReader(pin.text).read(`${pin.name}`, version);
  let live: ReceivedImage | undefined;
  async function* watched() {
    for await (const images of readAll(context, source, planOf(context, pin))) {
      live = images.find(({ id }) => id === pin.id) ?? live;
      yield images;
    }
  }
  const { all } = await findSeries(watched(), reading === undefined ? [] : pin.text);
  const key = version && seriesKey(version);
  const newest = all
    .find((series) => series.key === key)
    ?.readings.find((each) => isSameReading(each.reading, reading))?.newest[0];
  return {
    live: live ?? (await source.getImage(pin.id)),
    newest,
    matchesQuery: version === undefined || reading !== undefined,
  };
}

function isSameReading(left: Reading, right: Reading = []): boolean {
  return left.every(([, index], at) => index === right[at]?.[1]);
}
