// Draws tables on a terminal with cli-table3, in batches.

import Table from 'cli-table3';
import { turn } from '../json.ts';
import { type ColumnSize, cutTexts, fitColumns } from './fit.ts';
import {
  type Column,
  type ColumnKind,
  cellPaint,
  cellsOf,
  GAP,
  isNumeric,
  MAX_ALIGNED,
  widthOf,
  writeRecordTable,
  writeTable,
} from './table.ts';
import type { Style, Terminal } from './terminal.ts';
import { type ChunkWriter, printable } from './text.ts';
import { ASCII, displayWidth, endOf, startOf } from './width.ts';

export interface ScreenTable {
  readonly columns: readonly string[];
  readonly kinds: readonly ColumnKind[];
  readonly header: boolean;
  readonly rows: Iterable<readonly unknown[]>;
  readonly terminal: Terminal;
  readonly style: Style;
  /** False if nothing is cut or dropped. */
  readonly trunc: boolean;
  /** True for a table with frames. */
  readonly boxed: boolean;
}

/** The time of cli-table3 grows with the square of the rows. */
const BATCH = 50;

/** Returns the columns that the width has no room for. */
export async function drawTable(out: ChunkWriter, table: ScreenTable): Promise<readonly string[]> {
  const { columns, kinds, style, trunc, boxed, terminal } = table;
  const rows = [...table.rows];
  const totals: Column[] = [];
  const body = await cellsOf(rows, totals);
  const sizes = measure(table, body, totals);
  if (!trunc && sizes.some(({ width }) => width > MAX_ALIGNED)) {
    await writeTable(out, table.header ? columns : undefined, rows, kinds, style);
    return [];
  }
  const frame = (count: number) => (boxed ? 3 * count + 1 : GAP.length * (count - 1));
  const layout = trunc
    ? fitColumns(sizes, terminal.width ?? 0, frame)
    : { shown: sizes.map((_, index) => index), widths: sizes.map(({ width }) => width) };
  if (layout === undefined) {
    await writeRecords(out, table, rows);
    return [];
  }
  const fitted = layout.shown.map((column, index) => {
    const width = layout.widths[index] ?? 0;
    const cells = body.map((row) => row[column] ?? '');
    const fits = width >= (sizes[column]?.width ?? 0);
    const texts = fits ? cells : cutTexts(cells.map(shorten), width, terminal.unicode);
    const paint = cellPaint(kinds[column] ?? 'text', style);
    const alignment = totals[column] && isNumeric(totals[column]) ? 'right' : 'left';
    return { name: printable(columns[column] ?? ''), texts, width, paint, alignment } as const;
  });
  for (let start = 0; start < body.length; start += BATCH) {
    await out.add(drawBatch(table, fitted, start, body.length));
    // A batch is shown at once, and Ctrl-C works between two of them.
    await out.end();
    await turn();
  }
  return columns.filter((_, column) => !layout.shown.includes(column));
}

/** Returns the ends of a text that is far too wide: cutting it would take long. */
function shorten(text: string): string {
  return widthOf(text) <= MAX_ALIGNED
    ? text
    : startOf(text, MAX_ALIGNED) + endOf(text, MAX_ALIGNED);
}

function measure(
  { columns, kinds, header }: ScreenTable,
  body: readonly (readonly string[])[],
  totals: readonly Column[],
): ColumnSize[] {
  return columns.map((name, column) => {
    const headerWidth = header ? displayWidth(printable(name)) : 0;
    const total = totals[column] ?? { width: 0, numbers: 0, others: 0 };
    const [first] = body;
    return {
      name,
      width: Math.max(total.width, headerWidth),
      headerWidth,
      mayCut: kinds[column] === 'text' && !isNumeric(total),
      isConstant:
        body.length > 1 &&
        kinds[column] !== 'id' &&
        kinds[column] !== 'state' &&
        name !== 'name' &&
        body.every((row) => row[column] === first?.[column]),
    };
  });
}

async function writeRecords(
  out: ChunkWriter,
  { columns, kinds, style }: ScreenTable,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const kindOf = (name: string) => kinds[columns.indexOf(name)] ?? 'text';
  for (const [index, row] of rows.entries()) {
    const record = Object.fromEntries(columns.map((name, column) => [name, row[column]]));
    if (index > 0) await out.add('\n');
    await writeRecordTable(out, record, kindOf, style);
  }
}

interface FittedColumn {
  readonly name: string;
  readonly texts: readonly string[];
  readonly width: number;
  readonly paint: (text: string) => string;
  readonly alignment: 'left' | 'right';
}

function drawBatch(
  { header, style, boxed, terminal }: ScreenTable,
  columns: readonly FittedColumn[],
  start: number,
  count: number,
): string {
  const end = Math.min(start + BATCH, count);
  const isFirst = start === 0;
  const replaced: string[] = [];
  // cli-table3 misjudges the width of some texts, so it gets others of the right width.
  const stand = (text: string) => {
    if (ASCII.test(text)) return text;
    replaced.push(text);
    return STAND_IN.repeat(Math.max(1, displayWidth(text)));
  };
  const padding = boxed ? 1 : 0;
  const drawn = new Table({
    head: isFirst && header ? columns.map(({ name }) => style.faint(stand(name))) : [],
    chars: boxed ? frameOf(isFirst, end === count, terminal.unicode) : NO_FRAME,
    style: {
      'padding-left': padding,
      'padding-right': padding,
      head: [],
      border: [],
      compact: true,
    },
    colWidths: columns.map(({ width }) => width + 2 * padding),
    colAligns: columns.map(({ alignment }) => alignment),
  });
  for (let row = start; row < end; row += 1) {
    drawn.push(columns.map(({ texts, paint }) => paint(stand(texts[row] ?? ''))));
  }
  let next = 0;
  const text = `${drawn}\n`.replace(/\ue000+/g, () => replaced[next++] ?? '');
  return boxed ? text : text.replace(/ +$/gm, '');
}

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
