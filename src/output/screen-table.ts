// Draws tables on a terminal with cli-table3, in batches.

import Table from 'cli-table3';
import { type ColumnSize, cutTexts, fitColumns, type Layout } from './fit.ts';
import { printable } from './sanitize.ts';
import type { Style } from './style.ts';
import {
  type ColumnKind,
  cellPaint,
  GAP,
  isNumeric,
  naturalWidths,
  recordText,
  tableCell,
} from './table.ts';
import { displayWidth, type Terminal } from './terminal.ts';

export interface ScreenTable {
  readonly columns: readonly string[];
  readonly kinds: readonly ColumnKind[];
  readonly header: boolean;
  readonly rows: readonly (readonly unknown[])[];
  readonly terminal: Terminal;
  readonly style: Style;
  /** True if nothing is cut or dropped. */
  readonly whole: boolean;
  /** True for a table with frames. */
  readonly boxed: boolean;
}

export interface Drawing {
  /** Columns that the width has no room for. */
  readonly hidden: readonly string[];
  /** Parts of the text, drawn when they are needed. */
  readonly parts: Iterable<string>;
}

/** The time of cli-table3 grows with the square of the rows. */
const BATCH = 50;

export function drawTable(table: ScreenTable): Drawing {
  const { columns, rows, whole, boxed, terminal } = table;
  const cells = rows.map((row) => row.map(tableCell));
  const numeric = columns.map((_, column) => isNumeric(rows, column));
  const sizes = measure(table, cells, numeric);
  const frame = (count: number) => (boxed ? 3 * count + 1 : GAP.length * (count - 1));
  const layout: Layout | undefined = whole
    ? { shown: sizes.map((_, index) => index), widths: sizes.map(({ width }) => width) }
    : fitColumns(sizes, terminal.width ?? 0, frame);
  if (layout === undefined) return { hidden: [], parts: records(table) };
  const { shown, widths } = layout;
  const fitted = shown.map((column, index) => {
    const texts = cells.map((row) => row[column] ?? '');
    const width = widths[index] ?? 0;
    return width < (sizes[column]?.width ?? 0) ? cutTexts(texts, width, terminal.unicode) : texts;
  });
  return {
    hidden: columns.filter((_, column) => !shown.includes(column)),
    parts: batches(
      table,
      layout,
      fitted,
      shown.map((column) => numeric[column] === true),
    ),
  };
}

function measure(
  { columns, kinds, header }: ScreenTable,
  cells: readonly (readonly string[])[],
  numeric: readonly boolean[],
): ColumnSize[] {
  const headerWidths = columns.map((name) => (header ? displayWidth(printable(name)) : 0));
  const widths = naturalWidths(cells);
  return columns.map((name, column) => {
    const isText = kinds[column] === 'text';
    const [first] = cells;
    return {
      name,
      width: Math.max(widths[column] ?? 0, headerWidths[column] ?? 0),
      headerWidth: headerWidths[column] ?? 0,
      mayCut: isText && !numeric[column],
      isConstant:
        cells.length > 1 &&
        kinds[column] !== 'id' &&
        name !== 'name' &&
        cells.every((row) => row[column] === first?.[column]),
    };
  });
}

function* records({ columns, kinds, rows, style }: ScreenTable): Generator<string> {
  const kindOf = (name: string) => kinds[columns.indexOf(name)] ?? 'text';
  for (const [index, row] of rows.entries()) {
    const record = Object.fromEntries(columns.map((name, column) => [name, row[column]]));
    yield `${index === 0 ? '' : '\n'}${recordText(record, kindOf, style)}`;
  }
}

function* batches(
  { columns, kinds, header, style, boxed, terminal }: ScreenTable,
  { shown, widths }: Layout,
  texts: readonly (readonly string[])[],
  numeric: readonly boolean[],
): Generator<string> {
  const count = texts[0]?.length ?? 0;
  const paints = shown.map((column) => cellPaint(kinds[column] ?? 'text', style));
  for (let start = 0; start < count; start += BATCH) {
    const isFirst = start === 0;
    const isLast = start + BATCH >= count;
    const replaced: string[] = [];
    // cli-table3 misjudges the width of some texts, so it gets others of the right width.
    const stand = (text: string) => {
      if (ASCII.test(text)) return text;
      replaced.push(text);
      return STAND_IN.repeat(Math.max(1, displayWidth(text)));
    };
    const head = shown.map((column) => style.faint(stand(printable(columns[column] ?? ''))));
    const drawn = new Table({
      head: isFirst && header ? head : [],
      chars: boxed ? frameOf(isFirst, isLast, terminal.unicode) : NO_FRAME,
      style: {
        'padding-left': boxed ? 1 : 0,
        'padding-right': boxed ? 1 : 0,
        head: [],
        border: [],
        compact: true,
      },
      colWidths: widths.map((width) => (boxed ? width + 2 : width)),
      colAligns: numeric.map((isNumber) => (isNumber ? 'right' : 'left')),
    });
    for (let row = start; row < Math.min(start + BATCH, count); row += 1) {
      drawn.push(texts.map((column, index) => (paints[index] ?? String)(stand(column[row] ?? ''))));
    }
    let next = 0;
    const text = `${drawn}\n`.replace(/\ue000+/g, () => replaced[next++] ?? '');
    yield boxed ? text : text.replace(/ +$/gm, '');
  }
}

const ASCII = /^[ -~]*$/;
const STAND_IN = '\ue000';

type Frame = NonNullable<Table.TableConstructorOptions['chars']>;

const EDGES = {
  top: ['top', 'top-left', 'top-mid', 'top-right'],
  mid: ['mid', 'left-mid', 'mid-mid', 'right-mid'],
  bottom: ['bottom', 'bottom-left', 'bottom-mid', 'bottom-right'],
} as const;

/** Returns an edge drawn with these four characters, or none. */
function edge(kind: keyof typeof EDGES, characters: string): Frame {
  return Object.fromEntries(EDGES[kind].map((name, index) => [name, characters.charAt(index)]));
}

const NO_FRAME = {
  ...edge('top', ''),
  ...edge('mid', ''),
  ...edge('bottom', ''),
  ...{ left: '', middle: GAP, right: '' },
};

/** Returns the characters of a frame, whose top and bottom are in the first and the last batch. */
function frameOf(isFirst: boolean, isLast: boolean, unicode: boolean): Frame {
  const bar = unicode ? '│' : '|';
  return {
    ...edge('top', isFirst ? (unicode ? '─┌┬┐' : '-+++') : ''),
    ...edge('mid', unicode ? '─├┼┤' : '-+++'),
    ...edge('bottom', isLast ? (unicode ? '─└┴┘' : '-+++') : ''),
    ...{ left: bar, middle: bar, right: bar },
  };
}
