// Measures the columns of a table, and decides how they share a terminal.

import type { Column, Row } from './columns.ts';
import type { Output } from './output.ts';
import { type Style, stateStyle, type Terminal } from './terminal.ts';
import { ASCII, cellText, printable } from './text.ts';
import { cutMiddle, displayWidth, usualHead } from './width.ts';

/** Between two columns. */
export const GAP = '  ';

/** Fewer cells of a name do not tell images apart. */
const MIN_CUT_WIDTH = 16;

/** If fewer cells of the last column fit, it goes below each row. */
const MIN_LAST_WIDTH = 24;

/** Narrower tables become records. */
const MIN_TABLE_WIDTH = 40;

/** Narrower terminals show names rather than times: they hide columns up to LAST_LEVEL. */
const MIN_TIMES_WIDTH = 64;

/** The highest `hides` of a column that any table hides if it is too wide. */
const USUAL_LEVEL = 3;
/** Hides the times too. */
const LAST_LEVEL = 4;

export type TableColumn = ReturnType<typeof measureColumn>;

/** Returns the columns of the rows with their texts. */
export function measureColumns(output: Output, rows: readonly Row[], style: Style) {
  const columns = output.columns.length > 0 ? output.columns : undeclared(rows[0]);
  return columns.map((column, at) => {
    const cells = rows.map((row) => output.cell(column, row));
    const isLast = at === columns.length - 1;
    return measureColumn(column, cells, output, isLast, style);
  });
}

/** Returns columns for all that a row has. */
function undeclared(row: Row = {}): readonly Column[] {
  return Object.keys(row).map((name) => ({ name, type: '', meaning: '' }));
}

function measureColumn(
  column: Column,
  cells: readonly unknown[],
  { options: { header = true, wrap } }: Output,
  isLast: boolean,
  style: Style,
) {
  const { name, isId, isTime, isState, cut } = column;
  const title = printable(name);
  const titleWidth = displayWidth(title);
  const texts = cells.map(shownText);
  const width = widest(texts, header ? titleWidth : 0);
  const values = cells.filter((value) => value !== null && value !== undefined);
  const isNumeric = values.length > 0 && values.every((value) => typeof value === 'number');
  const isFixed = isNumeric || isTime || isState || (isId && cut === undefined);
  const mayCut = wrap ? isLast : !isFixed;
  const color = isId ? style.id : isTime ? style.faint : String;
  const paint = (text: string) => {
    if (text === '-') return style.faint(text);
    if (wrap && text.startsWith(HINT)) return style.hint(HINT) + text.slice(HINT.length);
    return isState ? stateStyle(text, style)(text) : color(text);
  };
  // When it is cut: cells that the column keeps, and cells of its texts that stay at their start.
  const words = wrap && mayCut ? texts.flatMap((text) => text.split(' ')) : [];
  const minWidth = mayCut ? widest(words, Math.max(MIN_CUT_WIDTH, titleWidth)) : width;
  const head = usualHead(width);
  return { ...column, title, titleWidth, texts, width, minWidth, head, isNumeric, paint };
}

function widest(texts: readonly string[], atLeast: number): number {
  return texts.reduce((width, text) => Math.max(width, displayWidth(text)), atLeast);
}

/** Begins a hint in a wrapped column. */
const HINT = 'hint:';

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = cellText(value);
  return ASCII.test(text) ? text : printable(text);
}

interface Table {
  readonly kind: 'table';
  /** The columns beside each other. */
  readonly shown: readonly TableColumn[];
  /** The last column, if it goes below each row. */
  readonly below?: TableColumn;
}

/** Records are keys and values of each row: a table has no room. */
type Layout = Table | { readonly kind: 'records' };

const RECORDS: Layout = { kind: 'records' };

/**
 * Decides how the columns share a terminal. Those of images (id 4 cells, name 44, folder 8, data_store 10,
 * updated_on 16) need 90; in 89 cells data_store is hidden, in 77 folder too, in 64 the name is cut to 40, in 63
 * updated_on is hidden, and in 39 they become records.
 */
export function layoutOf(
  columns: readonly TableColumn[],
  output: Output,
  terminal: Terminal,
): Layout {
  const { trunc = true, wrap } = output.options;
  const { width } = terminal;
  const last = columns.at(-1);
  if (last === undefined) return RECORDS;
  if (!trunc || width === undefined) return { kind: 'table', shown: columns };
  if (width < MIN_TABLE_WIDTH) {
    return cellsOf(columns) <= width ? { kind: 'table', shown: columns } : RECORDS;
  }
  const fitted = (some: readonly TableColumn[], level: number) =>
    fitColumns(hideColumns(some, width, level), width, terminal.unicode);
  const level = width < MIN_TIMES_WIDTH ? LAST_LEVEL : USUAL_LEVEL;
  const beside = fitted(columns, level);
  if (beside && (wrap || !isCramped(last, beside))) return { kind: 'table', shown: beside };
  const above = fitted(columns.slice(0, -1), beside ? level : LAST_LEVEL);
  return above ? { kind: 'table', shown: above, below: last } : RECORDS;
}

/** True if the last column is shown, but cut to a few cells. */
function isCramped(last: TableColumn, shown: readonly TableColumn[]): boolean {
  const fitted = shown.find(({ name }) => name === last.name);
  return fitted !== undefined && fitted.width < Math.min(last.width, MIN_LAST_WIDTH);
}

/** Hides the columns that say least, up to this level, until the others fit uncut. */
function hideColumns(
  columns: readonly TableColumn[],
  width: number,
  level: number,
): readonly TableColumn[] {
  const shown = [...columns];
  const hideable = columns.filter((column) => levelOf(column) <= level);
  for (const column of hideable.sort((one, other) => levelOf(one) - levelOf(other))) {
    if (cellsOf(shown) <= width) break;
    const told = columns.find(({ name }) => name === column.distinguishes)?.texts ?? [];
    const tellsApart = new Set(told).size < told.length;
    if (!tellsApart) shown.splice(shown.indexOf(column), 1);
  }
  return shown;
}

function levelOf({ hides = Number.POSITIVE_INFINITY }: TableColumn): number {
  return hides;
}

/** Cuts the widest columns to one maximum, the largest that fits. @returns undefined if there is no room */
function fitColumns(
  columns: readonly TableColumn[],
  width: number,
  unicode: boolean,
): readonly TableColumn[] | undefined {
  if (columns.length === 0) return undefined;
  if (cellsOf(columns) <= width) return columns;
  for (let max = width; max >= MIN_CUT_WIDTH; max -= 1) {
    if (cellsOf(columns, max) > width) continue;
    return columns.map((column) => cutColumn(column, cutWidth(column, max), unicode));
  }
  return undefined;
}

/** Returns the cells of a line if no column that may be cut is wider than the maximum. */
function cellsOf(columns: readonly TableColumn[], max = Number.POSITIVE_INFINITY): number {
  const gaps = GAP.length * (columns.length - 1);
  return columns.reduce((cells, column) => cells + cutWidth(column, max), gaps);
}

function cutWidth({ width, minWidth }: TableColumn, max: number): number {
  return Math.min(width, Math.max(max, minWidth));
}

function cutColumn(column: TableColumn, width: number, unicode: boolean): TableColumn {
  const head = column.cut === 'end' ? width : headFor(column.texts, width, unicode);
  return { ...column, width, head };
}

/** Texts that are compared to find out where to cut. */
const MAX_COMPARED = 200;

/**
 * Returns how much of the start of each text stays when it is cut, so that as many texts as possible differ; or else
 * as many without their numbers. In 21 cells, debian-12-generic-amd64-20250501.ova and the same of genericcloud are
 * both debian-1…20250501.ova with the usual 8 cells, and differ from 18 cells on.
 */
function headFor(texts: readonly string[], width: number, unicode: boolean): number {
  const usual = usualHead(width);
  const distinct = [...new Set(texts.slice(0, MAX_COMPARED))];
  if (distinct.every((text) => displayWidth(text) <= width)) return usual;
  const series = (text: string) => text.replace(/\d+/g, '#');
  const countWith = (head: number) => {
    const shown = distinct.map((text) => cutMiddle(text, width, unicode, head));
    return new Set(shown).size + new Set(shown.map(series)).size;
  };
  const most = distinct.length + new Set(distinct.map(series)).size;
  let best = { head: usual, count: countWith(usual) };
  for (let head = usual + 1; head < width && best.count < most; head += 1) {
    const count = countWith(head);
    if (count > best.count) best = { head, count };
  }
  return best.head;
}
