// Aligned tables without borders, and single records as keys and values.
// Not by cli-table3: it takes time by the square of the rows (5 s for 10,000) and misjudges combining marks.

import { cellText, type Row } from './cells.ts';
import { printable } from './sanitize.ts';
import type { Terminal } from './terminal.ts';
import { cutToWidth, displayWidth } from './width.ts';

const GAP = '  ';

export type Paint = (text: string) => string;

/**
 * One line a row, columns of numbers to the right, null as `-`; the header, where there is one, painted.
 * A terminal's width is kept to: the widest columns of text are cut first, numbers only by the end of the line.
 */
export function tableText(
  header: readonly string[] | undefined,
  rows: readonly (readonly unknown[])[],
  terminal: Terminal,
  paint: Paint,
): string {
  const { width: available, unicode } = terminal;
  const body = rows.map((row) => row.map(tableCell));
  const names = header?.map(printable);
  const natural = naturalWidths(names ? [names, ...body] : body);
  const numeric = natural.map((_, column) => isNumeric(rows, column));
  const widths = fitWidths(natural, numeric, available);
  const line = (cells: readonly string[]) => {
    const aligned = cells.map((cell, column) => {
      const width = widths[column] ?? 0;
      const text = cutToWidth(cell, width, unicode);
      const padding = ' '.repeat(width - displayWidth(text));
      return numeric[column] ? padding + text : text + padding;
    });
    const joined = aligned.join(GAP).trimEnd();
    return available === undefined ? joined : cutToWidth(joined, available, unicode);
  };
  return [...(names ? [paint(line(names))] : []), ...body.map(line), ''].join('\n');
}

/** A line for each field: its name and its value, never cut. */
export function recordText(record: Row, paint: Paint): string {
  const fields = Object.entries(record).map(([key, value]) => [printable(key), tableCell(value)]);
  const width = Math.max(0, ...fields.map(([name = '']) => displayWidth(name)));
  const line = ([name = '', value = '']: string[]) =>
    `${paint(name)}${' '.repeat(width - displayWidth(name))}${GAP}${value}`.trimEnd();
  return fields.map((field) => `${line(field)}\n`).join('');
}

function tableCell(value: unknown): string {
  return value === null || value === undefined ? '-' : printable(cellText(value));
}

function isNumeric(rows: readonly (readonly unknown[])[], column: number): boolean {
  const values = rows.map((row) => row[column]).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

function naturalWidths(lines: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [column, cell] of line.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell));
    }
  }
  return widths;
}

/**
 * The widths, those of text above a common cap lowered to it until all fit; never below 1 cell. Numbers stay
 * whole: a part of an id is another id.
 */
function fitWidths(
  widths: readonly number[],
  numeric: readonly boolean[],
  available: number | undefined,
): readonly number[] {
  if (available === undefined) return widths;
  const room = available - GAP.length * (widths.length - 1);
  const cut = (width: number, column: number, cap: number) =>
    numeric[column] ? width : Math.min(width, cap);
  const total = (cap: number) =>
    widths.reduce((sum, width, column) => sum + cut(width, column, cap), 0);
  let cap = Math.max(1, ...widths);
  while (cap > 1 && total(cap) > room) cap -= 1;
  // What the cap leaves over goes to the columns that it cuts, a cell each from the left.
  let spare = room - total(cap);
  return widths.map((width, column) => {
    const kept = cut(width, column, cap);
    if (kept === width || spare <= 0) return kept;
    spare -= 1;
    return kept + 1;
  });
}
