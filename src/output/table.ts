// Writes tables: padded lines in a pipe, drawn by cli-table3 on a terminal, and records as keys and values.

import type { TableConstructorOptions } from 'cli-table3';
import type { Sink } from '../io.ts';
import { loadStyle, type Paint, PLAIN, type Style, stateStyle, type Terminal } from './terminal.ts';
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

export interface TableData {
  readonly columns: readonly string[];
  /** The values of each row, in the order of the columns. */
  readonly rows: readonly (readonly unknown[])[];
  readonly idField: string;
  readonly timeFields: readonly string[];
  readonly terminal: Terminal;
}

export interface TableOptions extends TableData {
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
  const { header, terminal, trunc, mayDrop, boxed } = options;
  const style = await loadStyle(terminal);
  const { columns, measure } = await measureColumns(options, style, header);
  const { width = Number.POSITIVE_INFINITY } = terminal;
  const shown = trunc ? fitColumns(columns, width, boxed, mayDrop) : columns;
  if (shown === undefined) {
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

/** Writes the fields of one row below each other. */
export async function writeRecordTable(sink: Sink, data: TableData): Promise<void> {
  const style = await loadStyle(data.terminal);
  const { columns } = await measureColumns(data, style, false);
  await writeText(sink, recordLines(columns, style));
}

async function measureColumns(data: TableData, style: Style, header: boolean) {
  const titles = data.columns.map(printable);
  const cells = titles.map((_, at) => data.rows.map((row) => shownText(row[at])));
  const isPlain = [titles, ...cells].every((texts) => texts.every((text) => ASCII.test(text)));
  const measure: Measure = isPlain
    ? (text) => text.length
    : (await import('./width.ts')).displayWidth;
  const columns = data.columns.map((name, at): Column => {
    const kind = kindOf(name, data);
    const values = data.rows.map((row) => row[at] ?? null).filter((value) => value !== null);
    const isNumeric = values.length > 0 && values.every((value) => typeof value === 'number');
    const { [at]: title = '' } = titles;
    const { [at]: texts = [] } = cells;
    const titleWidth = measure(title);
    const width = texts.reduce(
      (widest, text) => Math.max(widest, measure(text)),
      header ? titleWidth : 0,
    );
    const mayCut = kind === 'text' && !isNumeric;
    return {
      ...{ name, title, titleWidth, texts, width, isNumeric, mayCut },
      paint: paintOf(kind, style),
    };
  });
  return { columns, measure };
}

function shownText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = cellText(value);
  return ASCII.test(text) ? text : printable(text);
}

type Kind = 'id' | 'time' | 'state' | 'text';

const STATES = ['state', 'status', 'token', 'severity', 'change'];

function kindOf(name: string, { idField, timeFields }: TableData): Kind {
  if (name === idField) return 'id';
  if (timeFields.includes(name) || name.endsWith('_on')) return 'time';
  return STATES.includes(name) ? 'state' : 'text';
}

function paintOf(kind: Kind, style: Style): Paint {
  if (style === PLAIN) return String;
  return (text) => {
    if (text === '') return text;
    if (text === '-' || kind === 'time') return style.faint(text);
    if (kind === 'id') return style.id(text);
    return kind === 'state' ? stateStyle(text, style)(text) : text;
  };
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
  available: number,
  boxed: boolean,
  mayDrop: boolean,
): readonly Column[] | undefined {
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
  // The cells that remain go to the columns that are cut, from the left.
  let spare = spareWith(max);
  return shown.map((column) => {
    const width = limited(column, max);
    if (width === column.width || spare === 0) return { ...column, width };
    spare -= 1;
    return { ...column, width: width + 1 };
  });
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
  const padding = boxed ? 1 : 0;
  const options: TableConstructorOptions = {
    // By default cli-table3 colours borders and headers, even with NO_COLOR.
    style: {
      border: [],
      head: [],
      compact: true,
      'padding-left': padding,
      'padding-right': padding,
    },
    colWidths: columns.map(({ width }) => width + 2 * padding),
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
