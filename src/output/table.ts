// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records as keys and values.

import type { TableConstructorOptions } from 'cli-table3';
import type { Sink } from '../io.ts';
import { loadStyle, type Paint, type Style, stateStyle, type Terminal } from './terminal.ts';
import { ASCII, cellText, printable, writeText } from './text.ts';

const GAP = '  ';

/** Wider cells stick out, so that one of a megabyte does not pad every other line. */
const MAX_ALIGNED = 1_000;

/** Fewer cells of a name do not tell images apart. */
const MIN_CUT_WIDTH = 16;

/** Narrower tables become records. */
const MIN_TABLE_WIDTH = 40;

/** Dropped in this order if the terminal is too narrow. */
const LOW_PRIORITY = ['data_store', 'folder'];

/** Rows to draw at a time: the time of cli-table3 grows with their square. */
const BATCH = 50;

export interface TableOptions {
  readonly columns: readonly string[];
  /** The values of each row, in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[];
  /** Writes the fields of each row below each other. */
  readonly asRecords: boolean;
  readonly idField: string;
  readonly timeFields: readonly string[];
  readonly terminal: Terminal;
  readonly header: boolean;
  /** False if a terminal's width changes nothing. */
  readonly trunc: boolean;
  /** False if the user asked for these columns. */
  readonly mayDrop: boolean;
  /** Draws frames on a terminal. */
  readonly boxed: boolean;
}

interface Column {
  readonly name: string;
  readonly title: string;
  readonly titleWidth: number;
  readonly texts: readonly string[];
  /** Cells of the widest text, or the title if it is shown. */
  readonly width: number;
  readonly isNumeric: boolean;
  /** Ids, times and numbers are never cut: part of an id is another id. */
  readonly mayCut: boolean;
  readonly paint: Paint;
}

type Measure = (text: string) => number;

/**
 * Writes a row per line: aligned and uncut in a pipe, fitted to the width of a terminal.
 * @returns the columns that the terminal has no room for
 */
export async function writeTable(sink: Sink, options: TableOptions): Promise<readonly string[]> {
  const { header, terminal, trunc, asRecords } = options;
  const style = await loadStyle(terminal);
  const texts = options.columns.map((_, at) => options.rows.map((row) => shownText(row[at])));
  const isPlain = [options.columns, ...texts].every((each) =>
    each.every((text) => ASCII.test(text)),
  );
  const measure: Measure = isPlain
    ? (text) => text.length
    : (await import('./width.ts')).displayWidth;
  const columns = measureColumns(options, texts, measure, style);
  const shown = trunc ? fitColumns(columns, options) : columns;
  if (asRecords || shown === undefined) {
    await writeText(sink, recordLines(columns, style));
    return [];
  }
  const isDrawn = terminal.width !== undefined && shown.every((each) => each.width <= MAX_ALIGNED);
  const lines = isDrawn
    ? await drawnLines(shown, options, style)
    : alignedLines(shown, measure, style, header);
  await writeText(sink, lines);
  const names = shown.map(({ name }) => name);
  return options.columns.filter((name) => !names.includes(name));
}

function measureColumns(
  { columns, rows, header, idField, timeFields }: TableOptions,
  cells: readonly (readonly string[])[],
  measure: Measure,
  style: Style,
): Column[] {
  return cells.map((texts, at) => {
    const { [at]: name = '' } = columns;
    const title = printable(name);
    const titleWidth = measure(title);
    const width = texts.reduce(
      (widest, text) => Math.max(widest, measure(text)),
      header ? titleWidth : 0,
    );
    const values = rows.map((row) => row[at] ?? null).filter((value) => value !== null);
    const isNumeric = values.length > 0 && values.every((value) => typeof value === 'number');
    const isTime = timeFields.includes(name) || name.endsWith('_on');
    const isState = STATES.includes(name);
    const mayCut = !isNumeric && !isTime && !isState && name !== idField;
    const color = name === idField ? style.id : isTime ? style.faint : String;
    const paint = (text: string) => {
      if (text === '-') return style.faint(text);
      return isState ? stateStyle(text, style)(text) : color(text);
    };
    return { name, title, titleWidth, texts, width, isNumeric, mayCut, paint };
  });
}

const STATES = ['state', 'status', 'token', 'severity', 'change'];

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = cellText(value);
  return ASCII.test(text) ? text : printable(text);
}

function* alignedLines(
  columns: readonly Column[],
  measure: Measure,
  style: Style,
  header: boolean,
): Generator<string> {
  const count = columns[0]?.texts.length ?? 0;
  for (let row = header ? -1 : 0; row < count; row += 1) {
    const cells = columns.map(({ title, texts, width, isNumeric, paint }) => {
      const text = row < 0 ? title : (texts[row] ?? '');
      const painted = row < 0 ? style.faint(text) : paint(text);
      const padding = ' '.repeat(Math.max(0, Math.min(width, MAX_ALIGNED) - measure(text)));
      return isNumeric ? padding + painted : painted + padding;
    });
    yield `${cells.join(GAP).trimEnd()}\n`;
  }
}

/** Returns each row as keys and values, with an empty line between two rows. */
function* recordLines(columns: readonly Column[], style: Style): Generator<string> {
  const width = Math.max(0, ...columns.map(({ titleWidth }) => titleWidth));
  const count = columns[0]?.texts.length ?? 0;
  for (let row = 0; row < count; row += 1) {
    if (row > 0) yield '\n';
    for (const { title, titleWidth, texts, paint } of columns) {
      const key = style.faint(title) + ' '.repeat(width - titleWidth);
      yield `${(key + GAP + paint(texts[row] ?? '')).trimEnd()}\n`;
    }
  }
}

/**
 * Drops columns that say little, then limits long ones to a common maximum.
 * @returns undefined if the rows are better shown as records
 */
function fitColumns(
  columns: readonly Column[],
  { terminal, boxed, mayDrop }: TableOptions,
): readonly Column[] | undefined {
  const { width: available = Number.POSITIVE_INFINITY } = terminal;
  let shown = columns;
  const limited = ({ width, titleWidth, mayCut }: Column, max: number) =>
    mayCut ? Math.min(width, Math.max(max, titleWidth)) : width;
  /** The cells that remain if no column that may be cut is wider than this. */
  const spareWith = (max: number) => {
    const frame = boxed ? 3 * shown.length + 1 : GAP.length * (shown.length - 1);
    return shown.reduce((room, column) => room - limited(column, max), available - frame);
  };
  const fits = () => spareWith(Number.POSITIVE_INFINITY) >= 0;
  if (!fits() && available < MIN_TABLE_WIDTH) return undefined;
  for (const name of mayDrop ? LOW_PRIORITY : []) {
    if (!fits()) shown = shown.filter((column) => column.name !== name);
  }
  if (fits()) return shown;
  let max = MIN_CUT_WIDTH;
  if (spareWith(max) < 0) return undefined;
  while (spareWith(max + 1) >= 0) max += 1;
  return shown.map((column) => ({ ...column, width: limited(column, max) }));
}

/** Loads cli-table3, and returns the lines of the table in batches. */
async function drawnLines(
  columns: readonly Column[],
  { header, terminal, boxed }: TableOptions,
  style: Style,
): Promise<Iterable<string>> {
  const { default: Table } = await import('cli-table3');
  const { cutMiddle } = await import('./width.ts');
  const { unicode } = terminal;
  const count = columns[0]?.texts.length ?? 0;
  const pad = boxed ? 1 : 0;
  const options: TableConstructorOptions = {
    // By default cli-table3 colours borders and headers, even with NO_COLOR.
    style: { border: [], head: [], compact: true, 'padding-left': pad, 'padding-right': pad },
    colWidths: columns.map(({ width }) => width + 2 * pad),
    colAligns: columns.map(({ isNumeric }) => (isNumeric ? 'right' : 'left')),
  };
  function* batches() {
    for (let start = 0; start < count; start += BATCH) {
      const end = Math.min(start + BATCH, count);
      const hasHead = header && start === 0;
      const table = new Table({
        ...options,
        head: hasHead ? columns.map(({ title }) => style.faint(title)) : [],
        chars: boxed ? frameOf(start === 0, end === count, unicode) : NO_FRAME,
      });
      for (let row = start; row < end; row += 1) {
        const cut = ({ texts, width }: Column) => cutMiddle(texts[row] ?? '', width, unicode);
        table.push(columns.map((column) => column.paint(cut(column))));
      }
      yield boxed ? `${table}\n` : `${table}\n`.replace(/ +$/gm, '');
    }
  }
  return batches();
}

type Frame = NonNullable<TableConstructorOptions['chars']>;

const TOP = ['top', 'top-left', 'top-mid', 'top-right'] as const;
const MID = ['mid', 'left-mid', 'mid-mid', 'right-mid'] as const;
const BOTTOM = ['bottom', 'bottom-left', 'bottom-mid', 'bottom-right'] as const;

/** Gives the parts of an edge these four characters, or none. */
function edge(parts: readonly (keyof Frame)[], characters: string): Frame {
  return Object.fromEntries(parts.map((part, index) => [part, characters.charAt(index)]));
}

const NO_FRAME: Frame = {
  ...edge([...TOP, ...MID, ...BOTTOM], ''),
  left: '',
  middle: GAP,
  right: '',
};

/** Returns a frame, whose top is drawn with the first batch and its bottom with the last. */
function frameOf(isFirst: boolean, isLast: boolean, unicode: boolean): Frame {
  const bar = unicode ? '│' : '|';
  return {
    ...edge(TOP, isFirst ? (unicode ? '─┌┬┐' : '-+++') : ''),
    ...edge(MID, unicode ? '─├┼┤' : '-+++'),
    ...edge(BOTTOM, isLast ? (unicode ? '─└┴┘' : '-+++') : ''),
    ...{ left: bar, middle: bar, right: bar },
  };
}
