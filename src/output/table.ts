// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records as keys and values.

import type { Sink } from '../io.ts';
import type { Column, Row } from './columns.ts';
import type { Output } from './output.ts';
import { loadStyle, type Style, stateStyle, type Terminal } from './terminal.ts';
import { ASCII, cellText, printable, wrapWords, writeText } from './text.ts';
import { cutMiddle, displayWidth, usualHead } from './width.ts';

const GAP = '  ';

/** Wider cells stick out, so that one of a megabyte does not pad every other line. */
const MAX_ALIGNED = 1_000;

/** Fewer cells of a name do not tell images apart. */
const MIN_CUT_WIDTH = 16;

/** If fewer cells of the last column fit, it goes below each row. */
const MIN_LAST_WIDTH = 24;

/** Narrower tables become records. */
const MIN_TABLE_WIDTH = 40;

/** Narrower terminals show names rather than times. */
const MIN_TIMES_WIDTH = 64;

/** `hides` of a column that only a narrow table hides, or one whose last column has no room beside the others either. */
const LAST_HIDDEN = 4;

/** Rows to draw at a time: the time of cli-table3 grows with their square. */
const BATCH = 50;

/** Writes aligned lines, uncut in a pipe, and fitted to a terminal. @returns the columns that it has no room for */
export async function writeTable(
  sink: Sink,
  output: Output,
  rows: readonly Row[],
  terminal: Terminal,
): Promise<readonly string[]> {
  const style = await loadStyle(terminal);
  const columns = measured(output, rows, style);
  const layout = layoutOf(columns, output, terminal);
  if (layout === undefined) {
    await writeText(sink, recordLines(columns, output, terminal, style));
    return [];
  }
  const { shown, below } = layout;
  const isDrawn = terminal.width !== undefined && shown.every((each) => each.width <= MAX_ALIGNED);
  const lines = isDrawn
    ? drawnLines((await import('cli-table3')).default, shown, below, output, terminal, style)
    : alignedLines(shown, style, output.options.header);
  await writeText(sink, lines);
  const names = [...shown, below].map((column) => column?.name);
  return output.columns.map(({ name }) => name).filter((name) => !names.includes(name));
}

/** Writes a row as keys and values. */
export async function writeRecord(sink: Sink, output: Output, row: Row, terminal: Terminal) {
  const style = await loadStyle(terminal);
  const columns = measured(output, [row], style);
  await writeText(sink, recordLines(columns, output, terminal, style));
}

type TableColumn = ReturnType<typeof measureColumn>;

interface Layout {
  /** The columns beside each other. */
  readonly shown: readonly TableColumn[];
  /** The last column, if it goes below each row. */
  readonly below?: TableColumn;
}

/** Returns undefined if a table has no room. */
function layoutOf(
  columns: readonly TableColumn[],
  output: Output,
  terminal: Terminal,
): Layout | undefined {
  const { trunc = true, wrap } = output.options;
  const beside = trunc ? fitColumns(columns, output, terminal) : columns;
  const last = columns.at(-1);
  const isNarrow = terminal.width !== undefined && terminal.width < MIN_TABLE_WIDTH;
  const hasRoom = beside && (wrap || !isCramped(last, beside));
  if (last === undefined || isNarrow || hasRoom) return beside && { shown: beside };
  const shown = fitColumns(columns.slice(0, -1), output, terminal, !beside);
  return shown && { shown, below: last };
}

/** True if the last column is shown, but cut to a few cells. */
function isCramped(last: TableColumn | undefined, shown: readonly TableColumn[]): boolean {
  const fitted = shown.at(-1);
  if (!last || !fitted || fitted.name !== last.name) return false;
  return fitted.width < Math.min(last.width, MIN_LAST_WIDTH);
}

function measured(output: Output, rows: readonly Row[], style: Style) {
  const columns = output.columnsOf(rows[0]);
  return columns.map((column, at) => {
    const cells = rows.map((row) => output.cell(column, row));
    const isLast = at === columns.length - 1;
    return measureColumn(column, cells, output, isLast, style);
  });
}

function measureColumn(
  column: Column,
  cells: readonly unknown[],
  { options: { header = true, wrap }, id }: Output,
  isLast: boolean,
  style: Style,
) {
  const { name, isTime, isState, cut } = column;
  const isId = column === id;
  const title = printable(name);
  const titleWidth = displayWidth(title);
  const texts = cells.map(shownText);
  const width = texts.reduce(
    (widest, text) => Math.max(widest, displayWidth(text)),
    header ? titleWidth : 0,
  );
  const values = cells.filter((value) => value !== null && value !== undefined);
  const isNumeric = values.length > 0 && values.every((value) => typeof value === 'number');
  const isFixed = isNumeric || isTime || isState || (isId && cut === undefined);
  const mayCut = wrap ? isLast : !isFixed;
  const color = isId ? style.id : isTime ? style.faint : String;
  const paint = (text: string) => {
    if (text === '-') return style.faint(text);
    if (wrap && text.startsWith(HINT)) return style.hint(HINT) + text.slice(HINT.length);
    return isState ? stateStyle(text, style)(text) : color(text);
  };
  // Cells of its texts that stay at their start when they are cut.
  const head = usualHead(width);
  return { ...column, title, titleWidth, texts, width, head, isNumeric, mayCut, paint };
}

/** Begins a hint in a wrapped column. */
const HINT = 'hint:';

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = cellText(value);
  return ASCII.test(text) ? text : printable(text);
}

function* alignedLines(columns: readonly TableColumn[], style: Style, header = true) {
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
function* recordLines(
  columns: readonly TableColumn[],
  { options: { wrap, omitsMissing = wrap } }: Output,
  terminal: Terminal,
  style: Style,
): Generator<string> {
  const count = columns[0]?.texts.length ?? 0;
  for (let row = 0; row < count; row += 1) {
    if (row > 0) yield '\n';
    const shown = columns.filter(({ texts }) => !(omitsMissing && texts[row] === '-'));
    const width = Math.max(0, ...shown.map(({ titleWidth }) => titleWidth));
    for (const { title, titleWidth, texts, paint } of shown) {
      const key = style.faint(title) + ' '.repeat(width - titleWidth);
      const room = (terminal.width ?? Number.POSITIVE_INFINITY) - width - GAP.length;
      const text = texts[row] ?? '';
      const lines = wrap ? wrapWords(text, room) : [text];
      const indent = ' '.repeat(width + GAP.length);
      const value = lines.map((line) => paint(line)).join(`\n${indent}`);
      yield `${(key + GAP + value).trimEnd()}\n`;
    }
  }
}

/** Drops columns that say little, then limits long ones to a common maximum. @returns undefined if there is no room */
function fitColumns(
  columns: readonly TableColumn[],
  { isChosen, options: { wrap } }: Output,
  terminal: Terminal,
  hidesAll = false,
): readonly TableColumn[] | undefined {
  const { width: available = Number.POSITIVE_INFINITY } = terminal;
  const last = hidesAll || available < MIN_TIMES_WIDTH ? LAST_HIDDEN : LAST_HIDDEN - 1;
  let shown = columns;
  const limited = ({ width, titleWidth, mayCut }: TableColumn, max: number) =>
    mayCut ? Math.min(width, Math.max(max, titleWidth)) : width;
  /** The cells that remain if no column that may be cut is wider than this. */
  const spareWith = (max: number) => {
    const gaps = GAP.length * (shown.length - 1);
    return shown.reduce((room, column) => room - limited(column, max), available - gaps);
  };
  const fits = () => spareWith(Number.POSITIVE_INFINITY) >= 0;
  if (columns.length === 0 || (!fits() && available < MIN_TABLE_WIDTH)) return undefined;
  const hiding = isChosen ? [] : columns.filter(({ hides = last + 1 }) => hides <= last);
  for (const each of hiding.sort((one, other) => (one.hides ?? 0) - (other.hides ?? 0))) {
    const told = columns.find(({ name }) => name === each.distinguishes)?.texts ?? [];
    const tellsApart = new Set(told).size < told.length;
    if (!fits() && !tellsApart) shown = shown.filter((column) => column !== each);
  }
  if (fits()) return shown;
  const words = wrap ? columns.at(-1)?.texts.flatMap((text) => text.split(' ')) : undefined;
  let max = Math.max(MIN_CUT_WIDTH, ...(words ?? []).map(displayWidth));
  if (spareWith(max) < 0) return undefined;
  while (spareWith(max + 1) >= 0) max += 1;
  return shown.map((column) => {
    const width = limited(column, max);
    const head = column.cut === 'end' ? width : headFor(column.texts, width, terminal.unicode);
    return { ...column, width, head };
  });
}

/** Texts that are compared to find out where to cut. */
const MAX_COMPARED = 200;

/** Returns how much of the start of each text stays when it is cut, so that as many as possible differ. */
function headFor(texts: readonly string[], width: number, unicode: boolean): number {
  const usual = usualHead(width);
  const distinct = [...new Set(texts.slice(0, MAX_COMPARED))];
  if (distinct.every((text) => displayWidth(text) <= width)) return usual;
  const series = (text: string) => text.replace(/\d+/g, '#');
  const countWith = (head: number) => {
    const cut = distinct.map((text) => cutMiddle(text, width, unicode, head));
    return new Set(cut).size + new Set(cut.map(series)).size;
  };
  const most = distinct.length + new Set(distinct.map(series)).size;
  let best = { head: usual, count: countWith(usual) };
  for (let head = usual + 1; head < width && best.count < most; head += 1) {
    const count = countWith(head);
    if (count > best.count) best = { head, count };
  }
  return best.head;
}

const INDENT = '    ';

function linesBelow(
  { title, texts, paint, cut: cutAt }: TableColumn,
  row: number,
  { options: { wrap } }: Output,
  terminal: Terminal,
  style: Style,
): string[] {
  const text = texts[row] ?? '-';
  if (text === '-') return [];
  const label = wrap ? '' : `${title}: `;
  const room = Math.max(0, (terminal.width ?? 0) - INDENT.length - displayWidth(label));
  const lines = wrap ? wrapWords(text, room) : [text];
  const cut = (line: string) =>
    paint(cutMiddle(line, room, terminal.unicode, cutAt === 'end' ? room : undefined));
  return lines.map((line) => `${INDENT}${style.faint(label)}${cut(line)}`.trimEnd().concat('\n'));
}

/** Returns the lines of the table in batches. @param below a column below each row */
function* drawnLines(
  Table: typeof import('cli-table3'),
  columns: readonly TableColumn[],
  below: TableColumn | undefined,
  output: Output,
  terminal: Terminal,
  style: Style,
): Generator<string> {
  const { header = true, wrap = false } = output.options;
  const count = columns[0]?.texts.length ?? 0;
  const cut = (text: string, { width, head }: TableColumn) =>
    wrap ? text : cutMiddle(text, width, terminal.unicode, head);
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
      table.push(columns.map((column) => column.paint(cut(column.texts[row] ?? '', column))));
    }
    const lines = `${table}`.split('\n');
    const first = header && start === 0 ? -1 : start;
    for (const [at, line] of lines.entries()) {
      // A hint has a row of its own, which is empty if its only cell goes below.
      if (!below || line.trim() !== '') yield `${line.trimEnd()}\n`;
      if (below) yield* linesBelow(below, first + at, output, terminal, style);
    }
  }
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
