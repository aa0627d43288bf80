// Formats aligned tables without borders, and single records as keys and values.
// cli-table3 takes quadratic time (5 s for 10,000 rows) and miscounts combining marks.

import { turn } from '../json.ts';
import { type ChunkWriter, inPieces, MAX_PIECE } from './chunks.ts';
import { cellText, printable } from './sanitize.ts';
import { cutText, cutToWidth, displayWidth, measureWidth, type Terminal } from './terminal.ts';

const GAP = '  ';

/** Wider cells stick out, so that one of a megabyte does not pad every other line. */
const MAX_ALIGNED = 1_000;

type Paint = (text: string) => string;

interface Cell {
  readonly text: string;
  readonly width: number;
}

interface Column {
  /** Of the widest cell. */
  width: number;
  numbers: number;
  /** Values that are neither numbers nor null. */
  others: number;
}

/** Aligns numbers to the right and shows null as `-`. On a terminal the widest text columns are cut first. */
export async function writeTable(
  out: ChunkWriter,
  header: readonly string[] | undefined,
  rows: Iterable<readonly unknown[]>,
  terminal: Terminal,
  paint: Paint,
): Promise<void> {
  const { width: available, unicode } = terminal;
  const columns: Column[] = [];
  const body = await cellsOf(rows, columns);
  const numeric = columns.map(({ numbers, others }) => numbers > 0 && others === 0);
  const names = header && (await cellsOf([header], columns))[0];
  const natural = columns.map(({ width }) => Math.min(width, MAX_ALIGNED));
  const widths = fitWidths(natural, numeric, available);
  const total = widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const line = (cells: readonly Cell[]) => {
    const aligned = cells.map((cell, column) => {
      const max = widths[column] ?? 0;
      const isCut = available !== undefined && cell.width > max;
      const text = isCut ? cutText(cell.text, max, unicode) : cell.text;
      const width = isCut ? displayWidth(text) : cell.width;
      const padding = ' '.repeat(Math.max(0, max - width));
      return numeric[column] ? padding + text : text + padding;
    });
    const joined = withoutTrailingSpace(aligned.join(GAP));
    const fits = available === undefined || total <= available;
    return fits ? joined : cutToWidth(joined, available, unicode);
  };
  if (names) await out.add(`${paint(line(names))}\n`);
  for (const cells of body) {
    const written = out.add(`${line(cells)}\n`);
    if (written) await written;
  }
}

export async function writeRecordTable(
  out: ChunkWriter,
  record: Readonly<Record<string, unknown>>,
  paint: Paint,
): Promise<void> {
  const columns: Column[] = [];
  const fields = await cellsOf(Object.entries(record), columns);
  const width = columns[0]?.width ?? 0;
  for (const [name = NO_CELL, value = NO_CELL] of fields) {
    const padding = ' '.repeat(width - name.width);
    const line = withoutTrailingSpace(`${paint(name.text)}${padding}${GAP}${value.text}`);
    await out.add(`${line}\n`);
  }
}

const NO_CELL: Cell = { text: '', width: 0 };

/** The bar protects the start of the line: numbers begin with spaces. */
function withoutTrailingSpace(line: string): string {
  return line.slice(0, `|${line}`.trim().length - 1);
}

/** Formats all cells and adds them up in `columns`; the event loop turns meanwhile. */
async function cellsOf(rows: Iterable<readonly unknown[]>, columns: Column[]): Promise<Cell[][]> {
  const body: Cell[][] = [];
  let length = 0;
  for (const row of rows) {
    const cells: Cell[] = [];
    for (const [at, value] of row.entries()) {
      const shown = tableCell(value);
      const text = typeof shown === 'string' ? shown : await shown;
      const width = text.length > MAX_PIECE ? await measureWidth(text) : displayWidth(text);
      cells.push({ text, width });
      columns[at] ??= { width: 0, numbers: 0, others: 0 };
      addTo(columns[at], value, width);
      length += text.length;
    }
    body.push(cells);
    if (length > MAX_PIECE) {
      length = 0;
      await turn();
    }
  }
  return body;
}

function addTo(column: Column, value: unknown, width: number): void {
  column.width = Math.max(column.width, width);
  if (typeof value === 'number') column.numbers += 1;
  else if (value !== null) column.others += 1;
}

function tableCell(value: unknown): string | Promise<string> {
  return value === null || value === undefined ? '-' : inPieces(cellText(value), printable);
}

/** Limits text columns to a common maximum, at least 1. Never cuts numbers: part of an id is another id. */
function fitWidths(
  widths: readonly number[],
  numeric: readonly boolean[],
  available: number | undefined,
): readonly number[] {
  if (available === undefined) return widths;
  const room = available - GAP.length * (widths.length - 1);
  const limit = (width: number, column: number, max: number) =>
    numeric[column] ? width : Math.min(width, max);
  const total = (max: number) =>
    widths.reduce((sum, width, column) => sum + limit(width, column, max), 0);
  let max = Math.max(1, Math.min(room, Math.max(...widths)));
  while (max > 1 && total(max) > room) max -= 1;
  // The cells that remain go to the columns that are cut, from the left.
  let spare = room - total(max);
  return widths.map((width, column) => {
    const limited = limit(width, column, max);
    if (limited === width || spare <= 0) return limited;
    spare -= 1;
    return limited + 1;
  });
}
