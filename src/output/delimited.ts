// Writes rows as csv (RFC 4180) and tsv.

import { type ChunkWriter, cellText, inPieces, printable } from './text.ts';

// Spreadsheets run these as formulas; the last four are full-width forms of the first four.
// They drop a byte order mark at the beginning of a file, where --no-header puts a name.
const FORMULA = /^\ufeff*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

// Functions, since V8 takes ten times as long to write what it replaced by a constant text a million times.
const toSpace = () => ' ';
const twice = (quote: string) => quote + quote;

type Cells = readonly unknown[];
type Cell = string | Promise<string>;

/** Puts a `'` before formulas; escapes control characters on a terminal only. */
export function writeCsv(out: ChunkWriter, rows: Iterable<Cells>, onTerminal: boolean) {
  // Parsers skip empty lines, and a row with one empty cell would be one.
  const line = (cells: readonly string[]) => `${cells.join(',') || '""'}\r\n`;
  return writeRows(out, rows, (value) => csvCell(value, onTerminal), line);
}

export function writeTsv(out: ChunkWriter, rows: Iterable<Cells>, onTerminal: boolean) {
  const change = (text: string) => {
    const cell = text.replace(/[\t\r\n]/g, toSpace);
    return onTerminal ? printable(cell) : cell;
  };
  const line = (cells: readonly string[]) => `${cells.join('\t')}\n`;
  return writeRows(out, rows, (value) => inPieces(cellText(value), change), line);
}

async function writeRows(
  out: ChunkWriter,
  rows: Iterable<Cells>,
  format: (value: unknown) => Cell,
  line: (cells: readonly string[]) => string,
): Promise<void> {
  for (const row of rows) {
    const cells: string[] = [];
    for (const value of row) {
      const cell = format(value);
      cells.push(typeof cell === 'string' ? cell : await cell);
    }
    const written = out.add(line(cells));
    if (written) await written;
  }
}

function csvCell(value: unknown, onTerminal: boolean): Cell {
  const text = cellText(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  const needsQuotes = (onTerminal ? /[",]/ : /[",\r\n]/).test(safe);
  const cell = inPieces(safe, (piece) => {
    const shown = onTerminal ? printable(piece) : piece;
    return needsQuotes ? shown.replace(/"/g, twice) : shown;
  });
  if (!needsQuotes) return cell;
  return typeof cell === 'string' ? `"${cell}"` : cell.then((long) => `"${long}"`);
}
