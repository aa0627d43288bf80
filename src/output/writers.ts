// Writes lists and records in every format.

import { ImgctlError } from '../errors.ts';
import type { Sink } from '../io.ts';
import type { Terminal } from './terminal.ts';
import { cellText, escapeInJson, jsonText, printable, writeText } from './text.ts';

export const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'] as const;

export type Format = (typeof FORMATS)[number];

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
  /** False to show only `columns` in json, ndjson and yaml too, and to drop none of them in a table [true]. */
  readonly allFields?: boolean | undefined;
  readonly times?: TimeFields | undefined;
  readonly quiet?: boolean | undefined;
  /** Writes only the bare values of this field. */
  readonly get?: string | undefined;
  /** The field of the identifier [id]. */
  readonly idField?: string | undefined;
}

export interface ListOptions extends RecordOptions {
  readonly columns: readonly string[];
  /** False to cut nothing of a table on a terminal [true]. */
  readonly trunc?: boolean | undefined;
  /** Draws frames around a table on a terminal [false]. */
  readonly boxed?: () => boolean;
  /** Called after a table on a terminal, with the columns that it has no room for. */
  readonly footer?: (hidden: readonly string[]) => void;
}

type Overrides = 'allFields' | 'columns' | 'format' | 'get' | 'header' | 'idField' | 'times';

/** How a command wants its data printed; overrides options and settings. */
export interface PrintOptions extends Partial<Pick<ListOptions, Overrides>> {
  /** False to cut nothing of a table on a terminal; undefined if the command has no --no-trunc. */
  readonly trunc?: boolean | undefined;
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
  const { columns, times, get, quiet, idField = 'id', format, sink } = options;
  if (get !== undefined) return createBareWriter(get, (row) => fieldOf(row, get, times), sink);
  if (quiet) {
    // Bare lines in csv and tsv too, as scripts loop over identifiers.
    const lineFormat = format === 'csv' || format === 'tsv' ? 'table' : format;
    const ids = createValueWriter(idField, { ...options, format: lineFormat });
    return { ...ids, write: (rows) => ids.write(rows.map((row) => fieldOf(row, idField))) };
  }
  const cells = (row: Row) => columns.map((name) => fieldOf(row, name, times));
  return createWriter(options, {
    columns,
    cells,
    data: (row) => dataOf(row, options),
    async table(rows) {
      const { header = true, trunc = true, allFields: mayDrop = true, boxed, footer } = options;
      if (rows.length === 0) return;
      const { writeTable } = await import('./table.ts');
      const terminal = options.terminal();
      const hidden = await writeTable(sink, {
        ...{ columns, rows: rows.map(cells), idField, timeFields: times?.fields ?? [] },
        ...{ terminal, header, trunc, mayDrop, boxed: boxed?.() === true },
      });
      if (terminal.width !== undefined) footer?.(hidden);
    },
  });
}

/** Writes single values, such as URLs: one per line in a table, a column `name` in csv and tsv. */
export function createValueWriter(name: string, options: ValueOptions): ListWriter<unknown> {
  return createWriter(options, {
    columns: [name],
    cells: (value) => [value],
    data: (value) => value,
    table(values) {
      const lines = mapped(values, (value) => `${printable(cellText(value))}\n`);
      return writeText(options.sink, lines);
    },
  });
}

/** Writes a record: keys and values in a table, one object in json and yaml, one line in the others. */
export async function writeRecord(options: RecordOptions, record: Row): Promise<void> {
  const { sink, format, times, quiet, get, idField = 'id' } = options;
  const columns = options.columns ?? Object.keys(record);
  if (quiet || get !== undefined || format === 'csv' || format === 'tsv') {
    const list = createListWriter({ ...options, columns });
    await list.write([record]);
    await list.end();
  } else if (format === 'table') {
    const { writeRecordTable } = await import('./table.ts');
    await writeRecordTable(sink, {
      ...{ columns, rows: [columns.map((name) => fieldOf(record, name, times))] },
      ...{ idField, timeFields: times?.fields ?? [], terminal: options.terminal() },
    });
  } else if (format === 'yaml') {
    const { yamlText } = await import('./yaml.ts');
    await sink.write(yamlText(dataOf(record, options)));
  } else {
    await sink.write(`${jsonText(dataOf(record, options), format === 'json' ? 2 : 0)}\n`);
  }
}

/** Writes JSON that may be long. */
export async function writeJsonText(sink: Sink, json: string): Promise<void> {
  await writeText(sink, [escapeInJson(json)]);
}

function fieldOf(row: Row, name: string, times?: TimeFields): unknown {
  const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
  return typeof value === 'string' && times?.fields.includes(name) ? times.format(value) : value;
}

function dataOf(row: Row, { columns, allFields = true, times }: RecordOptions): Row {
  if (allFields && times === undefined) return row;
  const names = columns && !allFields ? columns : Object.keys(row);
  return Object.fromEntries(names.map((name) => [name, fieldOf(row, name, times)]));
}

/**
 * Returns a writer of one line per row. All rows are read first, so that nothing is written if a value is missing.
 * @throws ImgctlError not-found, at the end
 */
function createBareWriter(
  field: string,
  valueIn: (row: Row) => unknown,
  sink: Sink,
): ListWriter<Row> {
  const lines: string[] = [];
  let missing = 0;
  return {
    async write(rows) {
      for (const row of rows) {
        const value = valueIn(row) ?? undefined;
        if (value === undefined) missing += 1;
        else lines.push(`${tsvCell(value, sink.isTTY)}\n`);
      }
    },
    async end() {
      if (missing === 0) return writeText(sink, lines);
      const count = missing + lines.length;
      const message =
        count === 1
          ? `there is no value of ${field}`
          : `${missing} of ${count} results have no ${field}`;
      throw new ImgctlError('not-found', message, { hint: 'omit --get to see all fields' });
    },
  };
}

interface View<Item> {
  readonly columns: readonly string[];
  cells(item: Item): readonly unknown[];
  data(item: Item): unknown;
  table(items: readonly Item[]): Promise<void>;
}

function createWriter<Item>(
  { sink, format, header = true }: ValueOptions,
  { columns, cells, data, table }: View<Item>,
): ListWriter<Item> {
  const all: Item[] = [];
  return {
    async write(items) {
      const lines = mapped(items, (item) => `${jsonText(data(item), 0)}\n`);
      if (format === 'ndjson') await writeText(sink, lines);
      else for (const item of items) all.push(item);
    },
    async end(meta) {
      if (format === 'table') await table(all);
      if (format === 'json') await writeText(sink, jsonList(mapped(all, data), meta));
      if (format === 'yaml') {
        const { yamlList } = await import('./yaml.ts');
        await writeText(sink, yamlList(all.map(data), meta));
      }
      if (format === 'csv' || format === 'tsv') {
        const line = format === 'csv' ? csvLine : tsvLine;
        const rows = function* () {
          if (header) yield line(columns, sink.isTTY);
          for (const item of all) yield line(cells(item), sink.isTTY);
        };
        await writeText(sink, rows());
      }
    },
  };
}

/** Maps each item when it is needed, so that the text of a long list is never in memory as a whole. */
function* mapped<Item, Result>(items: readonly Item[], map: (item: Item) => Result) {
  for (const item of items) yield map(item);
}

/** Returns the same as one call of JSON.stringify, item by item. */
function* jsonList(items: Iterable<unknown>, meta: unknown): Generator<string> {
  const hasMeta = meta !== undefined;
  const indented = (value: unknown, margin: string) =>
    jsonText(value, 2).replaceAll('\n', `\n${margin}`);
  const margin = hasMeta ? '    ' : '  ';
  let count = 0;
  yield hasMeta ? '{\n  "data": [' : '[';
  for (const item of items) {
    yield `${count === 0 ? '' : ','}\n${margin}${indented(item, margin)}`;
    count += 1;
  }
  if (count > 0) yield hasMeta ? '\n  ' : '\n';
  yield hasMeta ? `],\n  "meta": ${indented(meta, '  ')}\n}\n` : ']\n';
}

// Spreadsheets run these as formulas; the last four are full-width forms of the first four.
// They drop a byte order mark at the beginning of a file, where --no-header puts a name.
const FORMULA = /^\ufeff*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** RFC 4180; parsers skip empty lines, so a row with one empty cell becomes `""`. */
function csvLine(row: readonly unknown[], onTerminal: boolean): string {
  return `${row.map((value) => csvCell(value, onTerminal)).join(',') || '""'}\r\n`;
}

/** Puts a `'` before formulas; escapes control characters on a terminal only. */
function csvCell(value: unknown, onTerminal: boolean): string {
  const text = cellText(value);
  const safe = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text;
  const cell = onTerminal ? printable(safe) : safe;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function tsvLine(row: readonly unknown[], onTerminal: boolean): string {
  return `${row.map((value) => tsvCell(value, onTerminal)).join('\t')}\n`;
}

function tsvCell(value: unknown, onTerminal: boolean): string {
  const cell = cellText(value).replace(/[\t\r\n]/g, ' ');
  return onTerminal ? printable(cell) : cell;
}
