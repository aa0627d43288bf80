// Rows as csv (RFC 4180) and tsv.

import { cellText } from './cells.ts';
import { printable } from './sanitize.ts';

// A spreadsheet runs these; the last four are the full-width forms of the first four.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * csv: lines end with CRLF, null is an empty cell, a text that a spreadsheet would run gets a leading `'`.
 * On a terminal control characters are escaped; elsewhere the cells hold exactly the values.
 */
export function csvText(rows: readonly (readonly unknown[])[], onTerminal: boolean): string {
  return rows.map((row) => `${csvLine(row, onTerminal)}\r\n`).join('');
}

/** tsv: lines end with LF, null is an empty cell, tab, CR and LF inside a cell become a space. */
export function tsvText(rows: readonly (readonly unknown[])[], onTerminal: boolean): string {
  const cell = (value: unknown) => {
    const text = cellText(value).replace(/[\t\r\n]/g, ' ');
    return onTerminal ? printable(text) : text;
  };
  return rows.map((row) => `${row.map(cell).join('\t')}\n`).join('');
}

function csvLine(row: readonly unknown[], onTerminal: boolean): string {
  const line = row.map((value) => csvCell(value, onTerminal)).join(',');
  // Readers skip an empty line, but a row whose only cell is empty is a row.
  return line === '' ? '""' : line;
}

function csvCell(value: unknown, onTerminal: boolean): string {
  const text = cellText(value);
  const guarded = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  const cell = onTerminal ? printable(guarded) : guarded;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
