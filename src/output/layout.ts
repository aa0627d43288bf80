// Measures the columns of a table, and decides how they share a terminal.

import { type Column, HIDING_STEPS, type Row } from './columns.ts';
import type { Output } from './output.ts';
import { type Style, stateStyle } from './style.ts';
import { MIN_TABLE_WIDTH, type Terminal } from './terminal.ts';
import { ASCII, cellText, printable } from './text.ts';
import { cutMiddle, displayWidth, usualHead } from './width.ts';

/** Between two columns. */
export const GAP = '  ';

/** Fewer cells of a name do not tell images apart. */
const MIN_CUT_WIDTH = 16;

/** If fewer cells of the last column fit, it goes below each row. */
const MIN_LAST_WIDTH = 24;

/** Narrower terminals are narrow for HIDING_STEPS. */
const MIN_TIMES_WIDTH = 64;

/** A column of the rows that a table shows. */
export interface TableColumn extends Column {
  readonly title: string;
  /** Of each row. */
  readonly texts: readonly string[];
  /** Of each row: true if there is no value, for which the text is `-`. */
  readonly isMissing: readonly boolean[];
  /** Cells of the widest text and the title, or what the terminal has for them. */
  readonly width: number;
  /** Minimum cells of a wider column that may be cut or wrapped; `width` of the others. */
  readonly minWidth: number;
  /** Wider texts are wrapped between words, not cut. */
  readonly wraps: boolean;
  readonly isNumeric: boolean;
  readonly paint: (text: string) => string;
}

/** Returns what the rows show in each column, uncut. */
export function measureColumns(
  output: Output,
  rows: readonly Row[],
  style: Style,
): readonly TableColumn[] {
  const { printed, table } = output;
  const { hasSentences } = table;
  const columns = printed.columns.length > 0 ? printed.columns : undeclared(rows[0]);
  const last = columns.length - 1;
  return columns.map((column, at) => {
    const wraps = hasSentences && at === last;
    const cells = rows.map((row) => output.cell(column, row));
    const isMissing = cells.map(hasNoValue);
    const isNumeric = areNumbers(cells);
    const title = printable(column.name);
    const texts = cells.map(shownText);
    const header = output.hasHeader ? [title] : [];
    const width = widest([...header, ...texts], 0);
    const shrinks = hasSentences ? wraps : !isNumeric && mayBeCut(column);
    const minWidth = shrinks ? minWidthOf(header, texts, wraps) : width;
    const paint = painterOf(column, wraps, style);
    return { ...column, title, texts, isMissing, width, minWidth, wraps, isNumeric, paint };
  });
}

/** Returns the fewest cells of a column that may be cut or wrapped. */
function minWidthOf(header: readonly string[], texts: readonly string[], wraps: boolean): number {
  // Neither a title is divided nor a word.
  const words = wraps ? texts.flatMap((text) => text.split(' ')) : [];
  return widest([...header, ...words], MIN_CUT_WIDTH);
}

/** True if a column has numbers, and nothing else but missing values. */
function areNumbers(cells: readonly unknown[]): boolean {
  const values = cells.filter((value) => !hasNoValue(value));
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

/** Returns columns for all that a row has. */
function undeclared(row: Row = {}): readonly Column[] {
  return Object.keys(row).map((name) => ({ name, type: '', meaning: '' }));
}

function mayBeCut({ isId, isTime, isState, isCuttable = !isId }: Column): boolean {
  return isCuttable && !isTime && !isState;
}

function hasNoValue(value: unknown): boolean {
  return value === null || value === undefined;
}

function shownText(value: unknown): string {
  if (hasNoValue(value)) return '-';
  const text = cellText(value);
  return ASCII.test(text) ? text : printable(text);
}

function widest(texts: readonly string[], atLeast: number): number {
  return texts.reduce((width, text) => Math.max(width, displayWidth(text)), atLeast);
}

/** Begins a sentence that is a hint. */
const HINT = 'hint:';

function painterOf({ isId, isTime, isState }: Column, wraps: boolean, style: Style) {
  return (text: string): string => {
    if (text === '-') return style.faint(text);
    if (wraps && text.startsWith(HINT)) return style.hint(HINT) + text.slice(HINT.length);
    if (isState) return stateStyle(text, style)(text);
    if (isId) return style.id(text);
    return isTime ? style.faint(text) : text;
  };
}

/** How rows are shown: as a table, or each as a record. */
export interface Layout {
  readonly kind: 'table' | 'records';
  /** The columns beside each other; those of records in this order. */
  readonly beside: readonly TableColumn[];
  /** The last column of a table, if it goes below each row. */
  readonly below?: TableColumn | undefined;
}

/**
 * Decides how the columns share a terminal: the first way that fits, from all of them to records.
 * Images with id (4 cells), name (44), folder (8), data_store (10) and updated_on (16):
 *
 *     90 cells and more   all columns
 *     78 to 89            data_store is hidden
 *     68 to 77            folder too, unless two names are the same
 *     64 to 67            the name is cut too; to 40 cells if the terminal has 64
 *     50 to 63            updated_on is hidden instead
 *     40 to 49            the name is cut too
 *     39 and fewer        records, unless all columns fit
 *
 * Changes end with what an image was before. If few cells of that fit, it goes below:
 *
 *     updated  1003  ubuntu-22.04-server-cloudimg-amd64-20241028.ova
 *         before: folder: linux
 */
export function layoutOf(
  columns: readonly TableColumn[],
  { mayCut }: Output['table'],
  { width: room = Number.POSITIVE_INFINITY, unicode }: Terminal,
): Layout {
  if (!mayCut || lineWidth(columns) <= room) return { kind: 'table', beside: columns };
  const records: Layout = { kind: 'records', beside: columns };
  if (room < MIN_TABLE_WIDTH) return records;
  const steps = room < MIN_TIMES_WIDTH ? HIDING_STEPS : USUAL_STEPS;
  const hiddenAndCut = (some: readonly TableColumn[]) =>
    cutColumns(hideColumns(some, room, steps), room, unicode);
  const last = columns.at(-1);
  const all = hiddenAndCut(columns);
  if (all && !isCramped(last, all)) return { kind: 'table', beside: all };
  // The last column is cramped, or they do not fit: it goes below.
  const others = hiddenAndCut(columns.slice(0, -1));
  return others ? { kind: 'table', beside: others, below: last } : records;
}

type HidingSteps = readonly Column['hides'][];

const USUAL_STEPS: HidingSteps = HIDING_STEPS.filter((step) => step !== 'if narrow');

/** True if the last column is cut to a few cells; false if it is hidden, wrapped or uncut. */
function isCramped(last: TableColumn | undefined, shown: readonly TableColumn[]): boolean {
  const cut = shown.find(({ name }) => name === last?.name);
  if (!last || !cut || cut.wraps) return false;
  return cut.width < Math.min(last.width, MIN_LAST_WIDTH);
}

/** Hides the columns that say least until the others fit uncut. */
function hideColumns(
  columns: readonly TableColumn[],
  room: number,
  steps: HidingSteps,
): readonly TableColumn[] {
  const mustStay = ({ distinguishes }: TableColumn) =>
    columns.some(({ name, texts }) => name === distinguishes && new Set(texts).size < texts.length);
  let shown = columns;
  for (const step of steps) {
    if (lineWidth(shown) <= room) return shown;
    shown = shown.filter((column) => column.hides !== step || mustStay(column));
  }
  return shown;
}

/** Cuts the widest columns to the largest maximum that fits. @returns undefined without room */
function cutColumns(
  columns: readonly TableColumn[],
  room: number,
  unicode: boolean,
): readonly TableColumn[] | undefined {
  let max = room;
  while (lineWidth(columns, max) > room && max >= MIN_CUT_WIDTH) max -= 1;
  if (columns.length === 0 || max < MIN_CUT_WIDTH) return undefined;
  return columns.map((column) => cutColumn(column, widthWithin(column, max), unicode));
}

/** Returns the width of a line if no column that may be cut is wider than the maximum. */
function lineWidth(columns: readonly TableColumn[], max = Number.POSITIVE_INFINITY): number {
  const gaps = GAP.length * (columns.length - 1);
  return columns.reduce((cells, column) => cells + widthWithin(column, max), gaps);
}

function widthWithin({ width, minWidth }: TableColumn, max: number): number {
  return Math.min(width, Math.max(max, minWidth));
}

function cutColumn(column: TableColumn, width: number, unicode: boolean): TableColumn {
  const { texts, wraps } = column;
  if (width === column.width || wraps) return { ...column, width };
  const head = headFor(texts, width, unicode);
  return { ...column, width, texts: texts.map((text) => cutMiddle(text, width, unicode, head)) };
}

/** Texts that are compared to find out where to cut. */
const MAX_COMPARED = 200;

/**
 * Returns how many cells of the start stay when texts are cut, so that most of them still differ,
 * also without their numbers. In 21 cells, debian-12-generic-amd64-20250501.ova and the same of
 * genericcloud are both debian-1…20250501.ova with the usual 8 cells, and differ from 18 cells on.
 */
function headFor(texts: readonly string[], width: number, unicode: boolean): number {
  const different = [...new Set(texts.slice(0, MAX_COMPARED))];
  const cutTo = (head: number) => different.map((text) => cutMiddle(text, width, unicode, head));
  const most = countDifferent(different);
  const usual = usualHead(width);
  let best = { head: usual, count: countDifferent(cutTo(usual)) };
  for (let head = usual + 1; head < width && best.count < most; head += 1) {
    const count = countDifferent(cutTo(head));
    if (count > best.count) best = { head, count };
  }
  return best.head;
}

/** Counts different texts, and once more without their numbers. */
function countDifferent(texts: readonly string[]): number {
  const withoutNumbers = texts.map((text) => text.replace(/\d+/g, '#'));
  return new Set(texts).size + new Set(withoutNumbers).size;
}
