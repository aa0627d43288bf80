// Writes aligned tables for pipes, and records as keys and values.

import { turn } from '../json.ts';
import { type Paint, PLAIN, type Style, stateStyle } from './terminal.ts';
import { type ChunkWriter, cellText, inPieces, MAX_PIECE, printable } from './text.ts';
import { ASCII, displayWidth } from './width.ts';

export const GAP = '  ';

/** Wider cells stick out, so that one of a megabyte does not pad every other line. */
export const MAX_ALIGNED = 1_000;

/** Longer texts are not measured. Few characters have so many UTF-16 units for each cell. */
const MAX_MEASURED = 4 * MAX_ALIGNED;

/** What a column holds, which decides about its colour, and whether its values may be cut. */
export type ColumnKind = 'id' | 'time' | 'state' | 'text';

export interface Column {
  /** Of the widest cell. */
  width: number;
  numbers: number;
  /** Values that are neither numbers nor null. */
  others: number;
}

/** Aligns numbers to the right and shows null as `-`. Nothing is cut. */
export async function writeTable(
  out: ChunkWriter,
  header: readonly string[] | undefined,
  rows: Iterable<readonly unknown[]>,
  kinds: readonly ColumnKind[],
  style: Style,
): Promise<void> {
  const columns: Column[] = [];
  const body = await cellsOf(rows, columns);
  const numeric = columns.map(isNumeric);
  const names = header && (await cellsOf([header], columns))[0];
  const widths = columns.map(({ width }) => Math.min(width, MAX_ALIGNED));
  const line = (cells: readonly string[], paints: readonly Paint[] | undefined) => {
    const aligned = cells.map((cell, column) => {
      const padding = ' '.repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell)));
      const text = paints?.[column]?.(cell) ?? cell;
      return numeric[column] ? padding + text : text + padding;
    });
    return `${withoutTrailingSpace(aligned.join(GAP))}\n`;
  };
  const colors = style === PLAIN ? undefined : kinds.map((kind) => cellPaint(kind, style));
  if (names)
    await out.add(
      line(
        names,
        colors?.map(() => style.faint),
      ),
    );
  await out.addAll(body, (cells) => line(cells, colors));
}

/** Writes a field per line. */
export async function writeRecordTable(
  out: ChunkWriter,
  record: Readonly<Record<string, unknown>>,
  kindOf: (name: string) => ColumnKind,
  style: Style,
): Promise<void> {
  const columns: Column[] = [];
  const keys = Object.keys(record);
  const fields = await cellsOf(Object.entries(record), columns);
  const width = columns[0]?.width ?? 0;
  for (const [index, [name = '', value = '']] of fields.entries()) {
    const padding = ' '.repeat(width - widthOf(name));
    const text = cellPaint(kindOf(keys[index] ?? ''), style)(value);
    await out.add(`${withoutTrailingSpace(`${style.faint(name)}${padding}${GAP}${text}`)}\n`);
  }
}

export function cellPaint(kind: ColumnKind, style: Style): Paint {
  return (text) => {
    if (text === '' || style === PLAIN) return text;
    if (text === '-' || kind === 'time') return style.faint(text);
    if (kind === 'id') return style.id(text);
    return kind === 'state' ? stateStyle(text, style)(text) : text;
  };
}

/** The bar protects the start of the line: numbers begin with spaces. */
function withoutTrailingSpace(line: string): string {
  return line.slice(0, `|${line}`.trim().length - 1);
}

export function isNumeric({ numbers, others }: Column): boolean {
  return numbers > 0 && others === 0;
}

/** Formats all cells and adds them up in `columns`; the event loop turns meanwhile. */
export async function cellsOf(
  rows: Iterable<readonly unknown[]>,
  columns: Column[],
): Promise<string[][]> {
  const body: string[][] = [];
  let length = 0;
  for (const row of rows) {
    const texts = row.map(rawText);
    const isPlain = texts.every(isAscii);
    const cells = isPlain ? texts : await allPrintable(texts);
    body.push(cells);
    length += addUp(columns, row, cells, isPlain);
    if (length > MAX_PIECE) {
      length = 0;
      await turn();
    }
  }
  return body;
}

function rawText(value: unknown): string {
  return value === null || value === undefined ? '-' : cellText(value);
}

function isAscii(text: string): boolean {
  return ASCII.test(text);
}

async function allPrintable(texts: readonly string[]): Promise<string[]> {
  const cells: string[] = [];
  for (const text of texts) cells.push(isAscii(text) ? text : await inPieces(text, printable));
  return cells;
}

/** Returns the length of the cells in UTF-16 units. */
function addUp(
  columns: Column[],
  row: readonly unknown[],
  cells: readonly string[],
  isPlain: boolean,
): number {
  let length = 0;
  for (let at = 0; at < cells.length; at += 1) {
    const text = cells[at] ?? '';
    const column = columns[at] ?? { width: 0, numbers: 0, others: 0 };
    columns[at] = column;
    addTo(column, row[at], isPlain ? text.length : widthOf(text));
    length += text.length;
  }
  return length;
}

/** Returns the number of cells; of a long text just more than is aligned. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return text.length > MAX_MEASURED ? MAX_ALIGNED + 1 : displayWidth(text);
}

function addTo(column: Column, value: unknown, width: number): void {
  column.width = Math.max(column.width, width);
  if (typeof value === 'number') column.numbers += 1;
  else if (value !== null) column.others += 1;
}
