// Writes rows as csv (RFC 4180) and tsv.

import { cellText, printable } from './sanitize.ts';

// Spreadsheets run these as formulas; the last four are full-width forms of the first four.
// They drop a byte order mark at the beginning of a file, where --no-header puts a name.
const FORMULA = /^\ufeff*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** Puts a `'` before formulas; escapes control characters on a terminal only. */
export function csvText(rows: readonly (readonly unknown[])[], onTerminal: boolean): string {
  return rows.map((row) => `${csvLine(row, onTerminal)}\r\n`).join('');
}

export function tsvText(rows: readonly (readonly unknown[])[], onTerminal: boolean): string {
  const cell = (value: unknown) => {
    const text = cellText(value).replace(/[\t\r\n]/g, ' ');
    return onTerminal ? printable(text) : text;
  };
  return rows.map((row) => `${row.map(cell).join('\t')}\n`).join('');
}

function csvLine(row: readonly unknown[], onTerminal: boolean): string {
  const line = row.map((value) => csvCell(value, onTerminal)).join(',');
  // Parsers skip empty lines, and a row with one empty cell would be one.
  return line === '' ? '""' : line;
}

function csvCell(value: unknown, onTerminal: boolean): string {
  const text = cellText(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  const cell = onTerminal ? printable(safe) : safe;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
