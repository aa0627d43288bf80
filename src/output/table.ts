// Formats aligned tables without borders, and single records as keys and values.
// cli-table3 takes quadratic time (5 s for 10,000 rows) and miscounts combining marks.

import { cellText, printable } from './sanitize.ts';
import { cutToWidth, displayWidth, type Terminal } from './terminal.ts';

const GAP = '  ';

type Paint = (text: string) => string;

/** Aligns numbers to the right and shows null as `-`. On a terminal the widest text columns are cut first. */
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
    const joined = withoutTrailingSpace(aligned.join(GAP));
    return available === undefined ? joined : cutToWidth(joined, available, unicode);
  };
  return [...(names ? [paint(line(names))] : []), ...body.map(line), ''].join('\n');
}

export function recordText(record: Readonly<Record<string, unknown>>, paint: Paint): string {
  const fields = Object.entries(record).map(([key, value]) => [printable(key), tableCell(value)]);
  const width = Math.max(0, ...fields.map(([name = '']) => displayWidth(name)));
  const line = ([name = '', value = '']: string[]) =>
    withoutTrailingSpace(`${paint(name)}${' '.repeat(width - displayWidth(name))}${GAP}${value}`);
  return fields.map((field) => `${line(field)}\n`).join('');
}

/** The bar protects the start of the line: numbers begin with spaces. */
function withoutTrailingSpace(line: string): string {
  return line.slice(0, `|${line}`.trim().length - 1);
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
