// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records as keys and values.

import type { Sink } from '../io.ts';
import type { Row } from './columns.ts';
import { GAP, layoutOf, measureColumns, type TableColumn } from './layout.ts';
import type { Output, OutputOptions } from './output.ts';
import { loadStyle, type Style, type Terminal } from './terminal.ts';
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

/** Writes aligned lines, uncut in a pipe, and fitted to a terminal. @returns the columns that it has no room for */
export async function writeTable(
  sink: Sink,
  output: Output,
  rows: readonly Row[],
  terminal: Terminal,
): Promise<readonly string[]> {
  const look: Look = { options: output.options, terminal, style: await loadStyle(terminal) };
  const columns = measureColumns(output, rows, look.style);
  const layout = layoutOf(columns, output, terminal);
  if (layout.kind === 'records') {
    await writeText(sink, recordLines(columns, look));
    return [];
  }
  const { shown, below } = layout;
  const isDrawn = terminal.width !== undefined && shown.every((each) => each.width <= MAX_ALIGNED);
  const lines = isDrawn
    ? drawnLines((await import('cli-table3')).default, shown, below, look)
    : alignedLines(shown, look);
  await writeText(sink, lines);
  const names = [...shown, below].map((column) => column?.name);
  return output.columns.map(({ name }) => name).filter((name) => !names.includes(name));
}

/** Writes a row as keys and values. */
export async function writeRecord(sink: Sink, output: Output, row: Row, terminal: Terminal) {
  const look: Look = { options: output.options, terminal, style: await loadStyle(terminal) };
  const columns = measureColumns(output, [row], look.style);
  await writeText(sink, recordLines(columns, look));
}

function* alignedLines(columns: readonly TableColumn[], { options, style }: Look) {
  const { header = true } = options;
  const count = columns[0]?.texts.length ?? 0;
  for (let row = header ? -1 : 0; row < count; row += 1) {
    const cells = columns.map(({ title, texts, width, isNumeric, paint }) => {
      const text = row < 0 ? title : (texts[row] ?? '');
      const painted = row < 0 ? style.faint(text) : paint(text);
      const padding = ' '.repeat(Math.max(0, Math.min(width, MAX_ALIGNED) - displayWidth(text)));
      return isNumeric ? padding + painted : painted + padding;
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

/** Returns each row as keys and values, with an empty line between two rows. */
function* recordLines(columns: readonly TableColumn[], { options, terminal, style }: Look) {
  const { wrap, omitsMissing = wrap } = options;
  const count = columns[0]?.texts.length ?? 0;
  for (let row = 0; row < count; row += 1) {
    if (row > 0) yield '\n';
    const shown = columns.filter(({ texts }) => !(omitsMissing && texts[row] === '-'));
    const width = Math.max(0, ...shown.map(({ titleWidth }) => titleWidth));
    for (const { title, titleWidth, texts, paint } of shown) {
      const key = style.faint(title) + ' '.repeat(width - titleWidth);
      const room = (terminal.width ?? Number.POSITIVE_INFINITY) - width - GAP.length;
      const text = texts[row] ?? '';
      const lines = wrap ? wrapWords(text, room, '', displayWidth) : [text];
      const indent = ' '.repeat(width + GAP.length);
      const value = lines.map((line) => paint(line)).join(`\n${indent}`);
      yield `${(key + GAP + value).trimEnd()}\n`;
    }
  }
}

/** Returns the lines of the table in batches. @param below a column below each row */
function* drawnLines(
  Table: typeof import('cli-table3'),
  columns: readonly TableColumn[],
  below: TableColumn | undefined,
  look: Look,
): Generator<string> {
  const { style, terminal } = look;
  const { header = true, wrap = false } = look.options;
  const count = columns[0]?.texts.length ?? 0;
  const cell = ({ texts, width, head, paint }: TableColumn, row: number) => {
    const text = texts[row] ?? '';
    return paint(wrap ? text : cutMiddle(text, width, terminal.unicode, head));
  };
  for (let start = 0; start < count; start += BATCH) {
    const table = new Table({
      // By default cli-table3 colours borders and headers, even with NO_COLOR.
      style: { border: [], head: [], compact: true, 'padding-left': 0, 'padding-right': 0 },
      chars: NO_FRAME,
      colWidths: columns.map(({ width }) => width),
      colAligns: columns.map(({ isNumeric }) => (isNumeric ? 'right' : 'left')),
      wordWrap: wrap,
      head: header && start === 0 ? columns.map(({ title }) => style.faint(title)) : [],
    });
    for (let row = start; row < Math.min(start + BATCH, count); row += 1) {
      table.push(columns.map((column) => cell(column, row)));
    }
    const lines = `${table}`.split('\n');
    const first = header && start === 0 ? -1 : start;
    for (const [at, line] of lines.entries()) {
      // A hint has a row of its own, which is empty if its only cell goes below.
      if (!below || line.trim() !== '') yield `${line.trimEnd()}\n`;
      if (below) yield* linesBelow(below, first + at, look);
    }
  }
}

const INDENT = '    ';

/** Returns the column below a row, if it has a value there; row -1 is the header. */
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
