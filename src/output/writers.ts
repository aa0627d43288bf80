// Writes lists and records in every format.

import type { Sink } from '../io.ts';
import { stringify, turn } from '../json.ts';
import { cellText, escapeInJson, ndjsonText, printable } from './sanitize.ts';
import { loadStyle } from './style.ts';
import type { ColumnKind } from './table.ts';
import type { Terminal } from './terminal.ts';

export const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'] as const;

export type Format = (typeof FORMATS)[number];

export function isFormat(text: string): text is Format {
  return FORMATS.some((format) => format === text);
}

export function defaultTimeStyle(format: Format): 'local' | 'wire' {
  return format === 'table' ? 'local' : 'wire';
}

export type Row = Readonly<Record<string, unknown>>;

interface TimeFields {
  readonly fields: readonly string[];
  readonly format: (timestamp: string) => string;
}

interface ValueOptions {
  readonly sink: Sink;
  /** Read when something is printed, as a window may change its width meanwhile. */
  readonly terminal: () => Terminal;
  readonly format: Format;
  /** Starts tables of rows, csv and tsv with a header line [true]. */
  readonly header?: boolean | undefined;
}

export interface RecordOptions extends ValueOptions {
  /** Columns of tables, csv and tsv, in this order [all fields of the record]. */
  readonly columns?: readonly string[] | undefined;
  /** Shows all fields instead of `columns` in json, ndjson and yaml [true]. */
  readonly allFields?: boolean | undefined;
  readonly times?: TimeFields | undefined;
  readonly quiet?: boolean | undefined;
  /** The field of the identifier [id]. */
  readonly idField?: string | undefined;
}

export interface ListOptions extends RecordOptions {
  readonly columns: readonly string[];
  /** Cuts nothing of a table on a terminal [false]. */
  readonly whole?: boolean | undefined;
  /** Draws frames around a table on a terminal [false]. */
  readonly boxed?: () => boolean;
  /** Called after a table on a terminal, with the columns that it has no room for. */
  readonly footer?: (hidden: readonly string[]) => void;
}

/** How a command's data is printed; overrides options and settings. */
export interface PrintOptions
  extends Partial<
    Pick<ListOptions, 'allFields' | 'columns' | 'format' | 'header' | 'idField' | 'times'>
  > {
  /** True to cut nothing of a table on a terminal; undefined if the command has no --no-trunc. */
  readonly whole?: boolean | undefined;
  /** Returns how many rows there are, for the line below a table on a terminal. */
  readonly summary?: () => string;
}

export interface ListWriter<Item> {
  /** Writes ndjson at once; the other formats are written by `end`. */
  write(items: readonly Item[]): Promise<void>;
  /** With meta, json and yaml become `{"data": [...], "meta": ...}`; the others ignore it. */
  end(meta?: unknown): Promise<void>;
}

/** Writes rows. A table without rows is empty: the command prints a note instead. */
export function createListWriter(options: ListOptions): ListWriter<Row> {
  if (options.quiet) return createIdWriter(options);
  const { columns, times } = options;
  const cells = (row: Row) => columns.map((name) => fieldOf(row, name, times));
  return createWriter(options, {
    columns,
    cells,
    data: (row) => dataOf(row, options),
    table: (rows) => writeTable(options, rows.map(cells)),
  });
}

async function writeTable(options: ListOptions, rows: readonly unknown[][]): Promise<void> {
  const { sink, columns, header = true, whole = false, boxed, footer } = options;
  const terminal = options.terminal();
  if (rows.length === 0) return;
  const style = await loadStyle(terminal);
  const kinds = columns.map(kindsOf(options));
  if (terminal.width === undefined) {
    const { tableText } = await import('./table.ts');
    return writeText(sink, tableText(header ? columns : undefined, rows, kinds, style));
  }
  const { drawTable } = await import('./screen-table.ts');
  const table = { columns, kinds, header, rows, terminal, style, whole, boxed: boxed?.() === true };
  const { hidden, parts } = drawTable(table);
  for (const part of parts) {
    await writeText(sink, part);
    await turn();
  }
  footer?.(hidden);
}

const STATES = ['state', 'status', 'token', 'severity', 'change'];

function kindsOf({ idField = 'id', times }: RecordOptions): (name: string) => ColumnKind {
  return (name) => {
    if (name === idField) return 'id';
    if (times?.fields.includes(name) || name.endsWith('_on')) return 'time';
    return STATES.includes(name) ? 'state' : 'text';
  };
}

/** Writes single values, such as URLs: one per line in a table, a column `name` in csv and tsv. */
export function createValueWriter(name: string, options: ValueOptions): ListWriter<unknown> {
  return createWriter(options, {
    columns: [name],
    cells: (value) => [value],
    data: (value) => value,
    table: (values) =>
      writeText(options.sink, values.map((value) => `${printable(cellText(value))}\n`).join('')),
  });
}

/** Writes a record: keys and values in a table, one object in json and yaml, one line in the others. */
export async function writeRecord(options: RecordOptions, record: Row): Promise<void> {
  const { sink, format, quiet, times, columns = Object.keys(record) } = options;
  if (!quiet && (format === 'json' || format === 'ndjson' || format === 'yaml')) {
    await writeDocument(sink, format, dataOf(record, options));
  } else if (!quiet && format === 'table') {
    const { recordText } = await import('./table.ts');
    const fields = pickFields(record, columns, times);
    const style = await loadStyle(options.terminal());
    await writeText(sink, recordText(fields, kindsOf(options), style));
  } else {
    const list = createListWriter({ ...options, columns });
    await list.write([record]);
    await list.end();
  }
}

/** Writes bare lines in csv and tsv too, as scripts loop over identifiers. */
function createIdWriter(options: ListOptions): ListWriter<Row> {
  const { idField = 'id', format } = options;
  const lineFormat = format === 'csv' || format === 'tsv' ? 'table' : format;
  const ids = createValueWriter(idField, { ...options, format: lineFormat });
  return {
    write: (rows) => ids.write(rows.map((row) => fieldOf(row, idField))),
    end: (meta) => ids.end(meta),
  };
}

function fieldOf(row: Row, name: string, times?: TimeFields): unknown {
  const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
  return typeof value === 'string' && times?.fields.includes(name) ? times.format(value) : value;
}

function pickFields(row: Row, names: readonly string[], times?: TimeFields): Row {
  return Object.fromEntries(names.map((name) => [name, fieldOf(row, name, times)]));
}

function dataOf(row: Row, { columns, allFields = true, times }: RecordOptions): Row {
  if (columns && !allFields) return pickFields(row, columns, times);
  return times ? pickFields(row, Object.keys(row), times) : row;
}

interface View<Item> {
  readonly columns: readonly string[];
  cells(item: Item): readonly unknown[];
  data(item: Item): unknown;
  table(items: readonly Item[]): Promise<void>;
}

function createWriter<Item>(options: ValueOptions, view: View<Item>): ListWriter<Item> {
  const { sink, format } = options;
  const all: Item[] = [];
  return {
    async write(items) {
      if (format === 'ndjson')
        await writeText(sink, ndjsonText(items.map(view.data)), escapeInJson);
      else for (const item of items) all.push(item);
    },
    async end(meta) {
      if (format !== 'ndjson') await writeList(all, meta, options, view);
    },
  };
}

async function writeList<Item>(
  items: readonly Item[],
  meta: unknown,
  { format, sink, header = true }: ValueOptions,
  view: View<Item>,
): Promise<void> {
  if (format === 'table') return view.table(items);
  if (format === 'csv' || format === 'tsv') {
    const { csvText, tsvText } = await import('./delimited.ts');
    const lines = [...(header ? [view.columns] : []), ...items.map(view.cells)];
    return writeText(sink, (format === 'csv' ? csvText : tsvText)(lines, sink.isTTY));
  }
  const data = items.map(view.data);
  return writeDocument(sink, format, meta === undefined ? data : { data, meta });
}

async function writeDocument(
  sink: Sink,
  format: Extract<Format, 'json' | 'ndjson' | 'yaml'>,
  value: unknown,
): Promise<void> {
  if (format === 'yaml') {
    const { yamlText } = await import('./yaml.ts');
    return writeText(sink, yamlText(value));
  }
  return writeText(sink, `${stringify(value, format === 'json' ? 2 : 0)}\n`, escapeInJson);
}

const CHUNK_LENGTH = 64 * 1024;

/**
 * Writes chunk by chunk, each after the sink has accepted the one before.
 * @param prepare changes each chunk, which takes long for a long text
 */
async function writeText(
  sink: Sink,
  text: string,
  prepare = (chunk: string): string => chunk,
): Promise<void> {
  let start = 0;
  while (start < text.length) {
    // Without a turn of the event loop, Ctrl-C would have no effect before the end.
    if (start > 0) await turn();
    let end = start + CHUNK_LENGTH;
    if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end += 1;
    await sink.write(prepare(text.slice(start, end)));
    start = end;
  }
}
