// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records.

import type { Sink } from '../io.ts';
import { namesOf, type Row } from './columns.ts';
import { GAP, type Layout, layoutOf, measureColumns, type TableColumn } from './layout.ts';
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
  for (const { heading, at } of groupsOf(rows, output.table.groupBy)) {
    await writeText(sink, [heading]);
    await writeText(sink, linesOf(at ? onlyRows(layout, at) : layout));
  }
  const shown = namesOf(layout.below ? [...layout.beside, layout.below] : layout.beside);
  return namesOf(columns).filter((name) => !shown.includes(name));
}

/**
 * Returns what makes the lines of a layout:
 *
 *     records                                recordLines
 *     a table in a pipe, with a column       alignedLines, which pads and never wraps a cell beside
 *     below, or with one wider than          others
 *     MAX_ALIGNED
 *     another table                          drawnLines, by cli-table3
 */
async function chooseLines(
  { kind, beside, below }: Layout,
  look: Look,
): Promise<(layout: Layout) => Iterable<string>> {
  if (kind === 'records') return (layout) => recordLines(layout.beside, look);
  const isPipe = look.terminal.width === undefined;
  if (isPipe || below || beside.some(({ width }) => width > MAX_ALIGNED)) {
    return (layout) => alignedLines(layout, look);
  }
  const { default: CliTable } = await import('cli-table3');
  return (layout) => drawnLines(CliTable, layout.beside, look);
}

interface Group {
  /** A line with the value that its rows share; empty if all rows are one group. */
  readonly heading: string;
  /** The indexes of its rows; undefined if it has all. */
  readonly at?: number[];
}

/** Divides rows that were measured together, so that the columns of all groups are aligned. */
function groupsOf(rows: readonly Row[], groupBy: string | undefined): readonly Group[] {
  if (groupBy === undefined) return [{ heading: '' }];
  const groups = new Map<unknown, number[]>();
  for (const [index, { [groupBy]: value }] of rows.entries()) {
    const at = groups.get(value);
    if (at) at.push(index);
    else groups.set(value, [index]);
  }
  return Array.from(groups, ([value, at], index) => {
    return { heading: `${index > 0 ? '\n' : ''}${printable(cellText(value))}\n`, at };
  });
}

/** Returns the layout with only the rows at these indexes. */
function onlyRows({ kind, beside, below }: Layout, at: readonly number[]): Layout {
  const reduce = (column: TableColumn): TableColumn => ({
    ...column,
    texts: at.map((index) => column.texts[index] ?? ''),
    isMissing: at.map((index) => column.isMissing[index] === true),
  });
  return { kind, beside: beside.map(reduce), below: below && reduce(below) };
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

function* alignedLines({ beside, below }: Layout, look: Look): Generator<string> {
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
    const room = roomBeside(indent.length, terminal);
    for (const { title, texts, paint } of shown) {
      const key = style.faint(title) + ' '.repeat(keyWidth - displayWidth(title));
      const text = texts[row] ?? '';
      const value = linesWithin(text, room, hasSentences)
        .map((line) => paint(line))
        .join(`\n${indent}`);
      yield `${(key + GAP + value).trimEnd()}\n`;
    }
  }
}

/** Returns the cells that are left of a line. */
function roomBeside(used: number, { width = Number.POSITIVE_INFINITY }: Terminal): number {
  return Math.max(0, width - used);
}

function linesWithin(text: string, room: number, wraps: boolean): readonly string[] {
  return wraps ? wrapWords(text, room, { measure: displayWidth }) : [text];
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
  const room = roomBeside(INDENT.length + displayWidth(label), terminal);
  return linesWithin(text, room, wraps).map((line) => {
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
    // By default cli-table3 colours borders, even with NO_COLOR.
    style: { border: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
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
