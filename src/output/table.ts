// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records.

import type { Sink } from '../io.ts';
import { namesOf, type Row } from './columns.ts';
import { GAP, layoutOf, measureColumns, type Table, type TableColumn } from './layout.ts';
import type { Output } from './output.ts';
import { loadStyle, type Style } from './style.ts';
import type { Terminal } from './terminal.ts';
import { cellText, printable, wrapWords, writeText } from './text.ts';
import { cutMiddle, displayWidth } from './width.ts';

/** Wider cells stick out, so that one of a megabyte does not pad every other line. */
const MAX_ALIGNED = 1_000;

/** Rows to draw at a time: the time of cli-table3 grows with their square. */
const BATCH = 50;

/** What decides how lines look. */
interface Look {
  readonly output: Output;
  readonly terminal: Terminal;
  readonly style: Style;
}

/**
 * Writes rows, uncut in a pipe. With `groupBy`, writes each value of that column, and below it its
 * rows.
 * @returns the columns that the terminal has no room for
 */
export async function writeTable(
  sink: Sink,
  output: Output,
  rows: readonly Row[],
  terminal: Terminal,
): Promise<readonly string[]> {
  const look = { output, terminal, style: await loadStyle(terminal) };
  const columns = measureColumns(output, rows, look.style);
  const layout = layoutOf(columns, output.table, terminal);
  const linesOf = await chooseLines(layout, look);
  const table = layout ?? { beside: columns };
  for (const { heading, at } of groupsOf(rows, output.table.groupBy)) {
    await writeText(sink, [heading]);
    await writeText(sink, linesOf(onlyRows(table, at)));
  }
  const shown = namesOf(table.below ? [...table.beside, table.below] : table.beside);
  return namesOf(columns).filter((name) => !shown.includes(name));
}

/**
 * Returns what makes the lines of a table:
 *
 *     the terminal has no room for columns     recordLines
 *     a pipe, a column below the rows, or      alignedLines, which pads and never wraps a cell
 *     one wider than MAX_ALIGNED
 *     otherwise                                drawnLines, by cli-table3
 */
async function chooseLines(
  layout: Table | undefined,
  look: Look,
): Promise<(table: Table) => Iterable<string>> {
  if (!layout) return ({ beside }) => recordLines(beside, look);
  const { beside, below } = layout;
  const isPipe = look.terminal.width === undefined;
  if (isPipe || below || beside.some(({ width }) => width > MAX_ALIGNED)) {
    return (table) => alignedLines(table, look);
  }
  const { default: CliTable } = await import('cli-table3');
  return (table) => drawnLines(CliTable, table.beside, look);
}

interface Group {
  /** A line with the value that its rows share. */
  readonly heading: string;
  /** The indexes of its rows. */
  readonly at: number[];
}

/** Divides rows that were measured together, so that the columns of all groups are aligned. */
function groupsOf(rows: readonly Row[], groupBy: string | undefined): Iterable<Group> {
  if (groupBy === undefined) return [{ heading: '', at: [...rows.keys()] }];
  const groups = new Map<unknown, Group>();
  for (const [index, { [groupBy]: value }] of rows.entries()) {
    const gap = groups.size > 0 ? '\n' : '';
    const group = groups.get(value) ?? { heading: `${gap}${printable(cellText(value))}\n`, at: [] };
    groups.set(value, group);
    group.at.push(index);
  }
  return groups.values();
}

/** Returns the table with only the rows at these indexes. */
function onlyRows({ beside, below }: Table, at: readonly number[]): Table {
  const reduce = (column: TableColumn): TableColumn => ({
    ...column,
    texts: at.map((index) => column.texts[index] ?? ''),
    isMissing: at.map((index) => column.isMissing[index] === true),
  });
  return { beside: beside.map(reduce), ...(below ? { below: reduce(below) } : {}) };
}

/** Writes a row as keys and values. */
export async function writeRecord(
  sink: Sink,
  output: Output,
  row: Row,
  terminal: Terminal,
): Promise<void> {
  const look = { output, terminal, style: await loadStyle(terminal) };
  await writeText(sink, recordLines(measureColumns(output, [row], look.style), look));
}

function* alignedLines({ beside, below }: Table, look: Look): Generator<string> {
  const { output, style } = look;
  const pad = ({ width, isNumeric }: TableColumn, text: string, painted: string) => {
    const padding = ' '.repeat(Math.max(0, Math.min(width, MAX_ALIGNED) - displayWidth(text)));
    return isNumeric ? padding + painted : painted + padding;
  };
  const line = (cells: readonly string[]) => `${cells.join(GAP).trimEnd()}\n`;
  if (output.hasHeader) {
    yield line(beside.map((each) => pad(each, each.title, style.faint(each.title))));
  }
  for (let row = 0; row < rowsOf(beside); row += 1) {
    const cells = beside.map((column) => {
      const text = column.texts[row] ?? '';
      return pad(column, text, column.paint(text));
    });
    // A row may have nothing but a hint, which goes below.
    if (!below || cells.some((cell) => cell.trim() !== '')) yield line(cells);
    if (below) yield* linesBelow(below, row, look);
  }
}

function rowsOf(columns: readonly TableColumn[]): number {
  return columns[0]?.texts.length ?? 0;
}

/** Returns each row as keys and values, with an empty line between two rows. */
function* recordLines(
  columns: readonly TableColumn[],
  { output, terminal, style }: Look,
): Generator<string> {
  const { hasSentences, omitsMissing } = output.table;
  for (let row = 0; row < rowsOf(columns); row += 1) {
    if (row > 0) yield '\n';
    const shown = columns.filter(({ isMissing }) => !(omitsMissing && isMissing[row]));
    const keyWidth = Math.max(0, ...shown.map(({ title }) => displayWidth(title)));
    const indent = ' '.repeat(keyWidth + GAP.length);
    const room = (terminal.width ?? Number.POSITIVE_INFINITY) - indent.length;
    for (const { title, texts, paint } of shown) {
      const key = style.faint(title) + ' '.repeat(keyWidth - displayWidth(title));
      const text = texts[row] ?? '';
      const lines = hasSentences ? wrapWords(text, room, { cellsOf: displayWidth }) : [text];
      const value = lines.map((line) => paint(line)).join(`\n${indent}`);
      yield `${(key + GAP + value).trimEnd()}\n`;
    }
  }
}

const INDENT = '    ';

/** Returns the column below a row, if it has a value there. */
function linesBelow(
  { title, texts, isMissing, paint, wraps }: TableColumn,
  row: number,
  { terminal, style }: Look,
): string[] {
  if (isMissing[row]) return [];
  const text = texts[row] ?? '';
  const label = wraps ? '' : `${title}: `;
  const room = Math.max(
    0,
    (terminal.width ?? Number.POSITIVE_INFINITY) - INDENT.length - displayWidth(label),
  );
  const lines = wraps ? wrapWords(text, room, { cellsOf: displayWidth }) : [text];
  return lines.map((line) => {
    const shown = paint(cutMiddle(line, room, terminal.unicode));
    return `${(INDENT + style.faint(label) + shown).trimEnd()}\n`;
  });
}

type TableClass = typeof import('cli-table3');

/** Returns the lines of the table in batches. */
function* drawnLines(
  CliTable: TableClass,
  columns: readonly TableColumn[],
  { output, style }: Look,
): Generator<string> {
  const draw = (rows: string[][]) => drawRows(CliTable, columns, rows);
  if (output.hasHeader) yield* draw([columns.map(({ title }) => style.faint(title))]);
  const count = rowsOf(columns);
  for (let start = 0; start < count; start += BATCH) {
    const rows = Array.from({ length: Math.min(BATCH, count - start) }, (_, at) =>
      columns.map(({ texts, paint }) => paint(texts[start + at] ?? '')),
    );
    yield* draw(rows);
  }
}

/** Draws rows without a frame. A line each, unless a cell is wrapped. */
function drawRows(CliTable: TableClass, columns: readonly TableColumn[], rows: string[][]) {
  const table = new CliTable({
    // By default cli-table3 colours borders and headers, even with NO_COLOR.
    style: { border: [], head: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
    chars: NO_FRAME,
    colWidths: columns.map(({ width }) => width),
    colAligns: columns.map(({ isNumeric }) => (isNumeric ? 'right' : 'left')),
    wordWrap: columns.some(({ wraps }) => wraps),
  });
  table.push(...rows);
  return `${table}`.split('\n').map((line) => `${line.trimEnd()}\n`);
}

const NO_FRAME = {
  ...{ top: '', 'top-left': '', 'top-mid': '', 'top-right': '' },
  ...{ bottom: '', 'bottom-left': '', 'bottom-mid': '', 'bottom-right': '' },
  ...{ left: '', middle: GAP, right: '' },
};
