// Fits a table into a width: which columns are shown, how wide they are, and how long names are cut.

import { clustersOf, displayWidth, endOf, startOf } from './width.ts';

/** Fewer cells of a name do not tell images apart. */
const MIN_CUT_WIDTH = 16;

/** Narrower tables become records. */
const MIN_TABLE_WIDTH = 40;

/** Dropped in this order if every other column has values of its own. */
const LOW_PRIORITY = ['data_store', 'folder'];

export interface ColumnSize {
  readonly name: string;
  /** Cells of the widest value or the header. */
  readonly width: number;
  readonly headerWidth: number;
  /** False for ids, times and numbers: part of an id is another id. */
  readonly mayCut: boolean;
  /** True if all of several rows hold the same value; never for ids, names and states. */
  readonly isConstant: boolean;
}

interface Layout {
  /** Indexes of the columns that are shown. */
  readonly shown: readonly number[];
  /** Their widths in cells. */
  readonly widths: readonly number[];
}

/**
 * Drops columns that say little, then limits long ones to a common maximum.
 * @param frame cells that the table needs besides its columns, for a number of columns
 * @returns undefined if the rows are better shown as records
 */
export function fitColumns(
  columns: readonly ColumnSize[],
  available: number,
  frame: (count: number) => number,
): Layout | undefined {
  const shown = columns.map((_, index) => index);
  const sizes = () => shown.flatMap((index) => columns[index] ?? []);
  const room = () => available - frame(shown.length);
  const total = () => sizes().reduce((sum, { width }) => sum + width, 0);
  if (total() > room() && available < MIN_TABLE_WIDTH) return undefined;
  for (const name of columnsToDrop(columns)) {
    if (total() <= room() || shown.length === 1) break;
    const at = shown.findIndex((index) => columns[index]?.name === name);
    if (at >= 0) shown.splice(at, 1);
  }
  const widths = limitWidths(sizes(), room());
  return widths && { shown, widths };
}

function columnsToDrop(columns: readonly ColumnSize[]): readonly string[] {
  const constant = columns.filter(({ isConstant }) => isConstant).map(({ name }) => name);
  const isLow = (name: string) => LOW_PRIORITY.includes(name);
  return [
    ...LOW_PRIORITY.filter((name) => constant.includes(name)),
    ...constant.filter((name) => !isLow(name)).reverse(),
    ...LOW_PRIORITY,
  ];
}

function limitWidths(columns: readonly ColumnSize[], room: number): readonly number[] | undefined {
  const limit = ({ width, headerWidth, mayCut }: ColumnSize, max: number) =>
    mayCut ? Math.min(width, Math.max(max, headerWidth)) : width;
  const total = (max: number) => columns.reduce((sum, column) => sum + limit(column, max), 0);
  if (total(MIN_CUT_WIDTH) > room) return undefined;
  const widest = Math.max(...columns.map(({ width, mayCut }) => (mayCut ? width : 0)));
  let max = MIN_CUT_WIDTH;
  while (max < widest && total(max + 1) <= room) max += 1;
  // The cells that remain go to the columns that are cut, from the left.
  let spare = room - total(max);
  return columns.map((column) => {
    const limited = limit(column, max);
    if (limited === column.width || spare <= 0) return limited;
    spare -= 1;
    return limited + 1;
  });
}

/** Where a text is cut: cells of its beginning and of its end. */
interface Cut {
  readonly head: number;
  readonly tail: number;
}

/** More attempts would take longer than the listing. */
const MAX_CUTS = 40;

/**
 * Cuts texts in the middle to a width in cells, so that as many as possible stay different. The end of a name
 * holds its release and build, so it gets more room if nothing speaks against it.
 */
export function cutTexts(texts: readonly string[], width: number, unicode: boolean): string[] {
  const ellipsis = unicode ? '…' : '...';
  const room = Math.max(0, width - ellipsis.length);
  const long = texts.map((text) => displayWidth(text) > width);
  const wanted = new Set(texts).size;
  const cutAll = ({ head, tail }: Cut) =>
    texts.map((text, index) =>
      long[index] ? startOf(text, head) + ellipsis + endOf(text, tail) : text,
    );
  let best: string[] = [];
  let most = 0;
  for (const cut of cutsOf(room)) {
    const result = cutAll(cut);
    const count = new Set(result).size;
    if (count > most) [best, most] = [result, count];
    if (most === wanted) return best;
  }
  const groups = sameLooking(texts, best);
  for (const each of [groups, [groups.flat()]]) {
    const result = showDifferences(texts, best, each, { width, ellipsis });
    const count = new Set(result).size;
    if (count > most) [best, most] = [result, count];
  }
  return best;
}

/** Returns ways to divide the room, the preferred one first. */
function cutsOf(room: number): Cut[] {
  const preferred = Math.ceil(room / 3);
  return Array.from({ length: room + 1 }, (_, head) => ({ head, tail: room - head }))
    .sort((left, right) => Math.abs(left.head - preferred) - Math.abs(right.head - preferred))
    .slice(0, MAX_CUTS);
}

/** Returns the groups of different texts that look the same when they are cut. */
function sameLooking(texts: readonly string[], cut: readonly string[]): string[][] {
  const groups = new Map<string, Set<string>>();
  for (const [index, shown] of cut.entries()) {
    const group = groups.get(shown) ?? new Set();
    groups.set(shown, group.add(texts[index] ?? ''));
  }
  return [...groups.values()].filter(({ size }) => size > 1).map((group) => [...group]);
}

/** Cuts the texts of each group so that the part in which they differ is visible. */
function showDifferences(
  texts: readonly string[],
  cut: readonly string[],
  groups: readonly (readonly string[])[],
  { width, ellipsis }: { width: number; ellipsis: string },
): string[] {
  const room = width - ellipsis.length;
  const replaced = new Map<string, string>();
  for (const group of groups) {
    const members = group.map((text) => ({ text, clusters: [...clustersOf(text)] }));
    const start = commonStart(members.map(({ clusters }) => clusters));
    for (const { text, clusters } of members) {
      const rest = clusters.slice(start).join('');
      // A quarter is enough to recognise what they have in common, if the rest is long.
      const cells = Math.max(Math.ceil(room / 4), room - displayWidth(rest));
      const head = startOf(clusters.slice(0, start).join(''), cells);
      const left = room - displayWidth(head);
      const fits = displayWidth(rest) <= left;
      const tail = fits ? rest : startOf(rest, left - ellipsis.length) + ellipsis;
      replaced.set(text, head + ellipsis + tail);
    }
  }
  return texts.map((text, index) => replaced.get(text) ?? cut[index] ?? text);
}

/** Returns the number of clusters that all texts begin with. */
function commonStart(texts: readonly (readonly string[])[]): number {
  const [first = [], ...others] = texts;
  const at = first.findIndex((cluster, index) => others.some((other) => other[index] !== cluster));
  return at < 0 ? first.length : at;
}
