// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records.

import type { Sink } from '../io.ts';
import { namesOf, type Row } from './columns.ts';
import { GAP, layoutOf, measureColumns, type Table, type TableColumn } from './layout.ts';
import type { Output, OutputOptions } from './output.ts';
import { loadStyle, type Style } from './style.ts';
import type { Terminal } from './terminal.ts';
import { wrapWords, writeText } from './text.ts';
import { cutMiddle, displayWidth } from './width.ts';

/** Wider cells stick out, so that one of a megabyte does not pad every other line. */
const MAX_ALIGNED = 1_000;

/** Rows to draw at a time: the time of cli-table3 grows with their square. */
const BATCH = 50;

/** What decides how lines look. */
interface Look {
  readonly options: OutputOptions;
  readonly terminal: Terminal;
  readonly style: Style;
}

/** Writes rows, in a pipe uncut. @returns the columns that the terminal has no room for */
export async function writeTable(
  sink: Sink,
  output: Output,
  rows: readonly Row[],
  terminal: Terminal,
): Promise<readonly string[]> {
  const look = await lookOf(output, terminal);
  const columns = measureColumns(output, rows, look.style);
  const layout = layoutOf(columns, output.options, terminal);
  if (layout.kind === 'records') {
    await writeText(sink, recordLines(columns, look, true));
    return [];
  }
  const { beside, below } = layout;
  const isDrawn = terminal.width !== undefined && beside.every(({ width }) => width <= MAX_ALIGNED);
  const lines = isDrawn
    ? drawnLines((await import('cli-table3')).default, layout, look)
    : alignedLines(beside, look);
  await writeText(sink, lines);
  const shown = namesOf(below ? [...beside, below] : beside);
  return namesOf(output.columns).filter((name) => !shown.includes(name));
}

/** Writes rows as keys and values. @param isFirst nothing is above that needs an empty line */
export async function writeRecords(
  sink: Sink,
  output: Output,
  rows: readonly Row[],
  terminal: Terminal,
  isFirst: boolean,
): Promise<void> {
  const look = await lookOf(output, terminal);
  await writeText(sink, recordLines(measureColumns(output, rows, look.style), look, isFirst));
}

async function lookOf({ options }: Output, terminal: Terminal): Promise<Look> {
  return { options, terminal, style: await loadStyle(terminal) };
}

function* alignedLines(columns: readonly TableColumn[], { options, style }: Look) {
  const pad = ({ width, isNumeric }: TableColumn, text: string, painted: string) => {
    const padding = ' '.repeat(Math.max(0, Math.min(width, MAX_ALIGNED) - displayWidth(text)));
    return isNumeric ? padding + painted : painted + padding;
  };
  const line = (cells: readonly string[]) => `${cells.join(GAP).trimEnd()}\n`;
  const { header = true } = options;
  if (header) yield line(columns.map((each) => pad(each, each.title, style.faint(each.title))));
  for (let row = 0; row < rowsOf(columns); row += 1) {
    const cells = columns.map((column) => {
      const text = column.texts[row] ?? '';
      return pad(column, text, column.paint(text));
    });
    yield line(cells);
  }
}

function rowsOf(columns: readonly TableColumn[]): number {
  return columns[0]?.texts.length ?? 0;
}

/** Returns each row as keys and values, with an empty line between two rows. */
function* recordLines(
  columns: readonly TableColumn[],
  { options, terminal, style }: Look,
  isFirst: boolean,
): Generator<string> {
  const { wrap, omitsMissing = wrap } = options;
  for (let row = 0; row < rowsOf(columns); row += 1) {
    if (row > 0 || !isFirst) yield '\n';
    const shown = columns.filter(({ texts }) => !(omitsMissing && texts[row] === '-'));
    const keyWidth = Math.max(0, ...shown.map(({ titleWidth }) => titleWidth));
    const indent = ' '.repeat(keyWidth + GAP.length);
    const room = (terminal.width ?? Number.POSITIVE_INFINITY) - indent.length;
    for (const { title, titleWidth, texts, paint } of shown) {
      const key = style.faint(title) + ' '.repeat(keyWidth - titleWidth);
      const text = texts[row] ?? '';
      const lines = wrap ? wrapWords(text, room, '', displayWidth) : [text];
      const value = lines.map((line) => paint(line)).join(`\n${indent}`);
      yield `${(key + GAP + value).trimEnd()}\n`;
    }
  }
}

/** Returns the lines of the table in batches. */
function* drawnLines(
  CliTable: typeof import('cli-table3'),
  { beside, below }: Table,
  look: Look,
): Generator<string> {
  const { header = true, wrap = false } = look.options;
  const draw = (rows: string[][]) => {
    const table = new CliTable({
      // By default cli-table3 colours borders and headers, even with NO_COLOR.
      style: { border: [], head: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
      chars: NO_FRAME,
      colWidths: beside.map(({ width }) => width),
      colAligns: beside.map(({ isNumeric }) => (isNumeric ? 'right' : 'left')),
      wordWrap: wrap,
    });
    table.push(...rows);
    return `${table}`.split('\n').map((line) => `${line.trimEnd()}\n`);
  };
  if (header) yield* draw([beside.map(({ title }) => look.style.faint(title))]);
  for (let start = 0; start < rowsOf(beside); start += BATCH) {
    const rows: string[][] = [];
    for (let row = start; row < Math.min(start + BATCH, rowsOf(beside)); row += 1) {
      rows.push(beside.map(({ texts, paint }) => paint(texts[row] ?? '')));
    }
    const lines = draw(rows);
    if (!below) {
      yield* lines;
      continue;
    }
    // Only the last column is ever wrapped, so without it each line is a row.
    for (const [row, line] of lines.entries()) {
      // A hint has a row of its own, which is empty if its only cell goes below.
      if (line !== '\n') yield line;
      yield* linesBelow(below, start + row, look);
    }
  }
}

const INDENT = '    ';

/** Returns the column below a row, if it has a value there. */
function linesBelow(
  { title, texts, paint, cut }: TableColumn,
  row: number,
  { options: { wrap }, terminal, style }: Look,
): string[] {
  const text = texts[row] ?? '-';
  if (text === '-') return [];
  const label = wrap ? '' : `${title}: `;
  const room = Math.max(0, (terminal.width ?? 0) - INDENT.length - displayWidth(label));
  const head = cut === 'end' ? room : undefined;
  const lines = wrap ? wrapWords(text, room, '', displayWidth) : [text];
  return lines.map((line) => {
    const shown = paint(cutMiddle(line, room, terminal.unicode, head));
    return `${`${INDENT}${style.faint(label)}${shown}`.trimEnd()}\n`;
  });
}

const EDGES = [
  ...['top', 'top-left', 'top-mid', 'top-right', 'mid', 'left-mid', 'mid-mid', 'right-mid'],
  ...['bottom', 'bottom-left', 'bottom-mid', 'bottom-right'],
];

const NO_FRAME = {
  ...Object.fromEntries(EDGES.map((part) => [part, ''])),
  left: '',
  middle: GAP,
  right: '',
};
