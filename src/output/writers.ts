// Writes lists and records in every format.

import type { Sink } from '../io.ts';
import { stringify } from '../json.ts';
import { createBareWriter } from './bare-values.ts';
import { columnKind, showRecord, showTable, type TerminalLook } from './show-table.ts';
import type { Terminal } from './terminal.ts';
import { ChunkWriter, cellText, escapeInJson, printable } from './text.ts';

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
  /** Writes only the bare values of this field. */
  readonly get?: string | undefined;
  /** The field of the identifier [id]. */
  readonly idField?: string | undefined;
}

export interface ListOptions extends RecordOptions, TerminalLook {
  readonly columns: readonly string[];
}

export interface ListWriter<Item> {
  /** Writes ndjson at once; the other formats are written by `end`. */
  write(items: readonly Item[]): Promise<void>;
  /** With meta, json and yaml become `{"data": [...], "meta": ...}`; the others ignore it. */
  end(meta?: unknown): Promise<void>;
}

/** Writes rows. A table without rows is empty: the command prints a note instead. */
export function createListWriter(options: ListOptions): ListWriter<Row> {
  const { columns, times, get } = options;
  if (get !== undefined) {
    return createBareWriter(get, (row) => fieldOf(row, get, times), options.sink);
  }
  if (options.quiet) return createIdWriter(options);
  const cells = (row: Row) => columns.map((name) => fieldOf(row, name, times));
  return createWriter(options, {
    columns,
    cells,
    data: (row) => dataOf(row, options),
    async table(out, rows) {
      if (rows.length === 0) return;
      const kinds = columns.map(kindsOf(options));
      await showTable(out, { ...options, kinds, rows: mapped(rows, cells) });
    },
  });
}

function kindsOf({ idField = 'id', times }: RecordOptions) {
  return (name: string) => columnKind(name, idField, times?.fields ?? []);
}

/** Writes single values, such as URLs: one per line in a table, a column `name` in csv and tsv. */
export function createValueWriter(name: string, options: ValueOptions): ListWriter<unknown> {
  return createWriter(options, {
    columns: [name],
    cells: (value) => [value],
    data: (value) => value,
    table: (out, values) => out.addAll(values, (value) => `${printable(cellText(value))}\n`),
  });
}

/** Writes a record: keys and values in a table, one object in json and yaml, one line in the others. */
export async function writeRecord(options: RecordOptions, record: Row): Promise<void> {
  const { sink, format, times, columns = Object.keys(record) } = options;
  const isBare = options.quiet || options.get !== undefined;
  if (!isBare && (format === 'json' || format === 'ndjson' || format === 'yaml')) {
    await writeDocument(sink, format, dataOf(record, options));
  } else if (!isBare && format === 'table') {
    const out = new ChunkWriter(sink);
    await showRecord(out, pickFields(record, columns, times), kindsOf(options), options.terminal());
    await out.end();
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
  table(out: ChunkWriter, items: readonly Item[]): Promise<void>;
}

function createWriter<Item>(options: ValueOptions, view: View<Item>): ListWriter<Item> {
  const { sink, format } = options;
  const all: Item[] = [];
  return {
    async write(items) {
      if (format === 'ndjson') {
        const out = new ChunkWriter(sink, escapeInJson);
        await out.addAll(items, (item) => `${stringify(view.data(item))}\n`);
        await out.end();
      } else {
        for (const item of items) all.push(item);
      }
    },
    async end(meta) {
      if (format !== 'ndjson') await writeList(all, meta, { ...options, format }, view);
    },
  };
}

async function writeList<Item>(
  items: readonly Item[],
  meta: unknown,
  { format, sink, header = true }: ValueOptions & { format: Exclude<Format, 'ndjson'> },
  view: View<Item>,
): Promise<void> {
  const out = new ChunkWriter(sink, await loadEscape(format));
  if (format === 'json') {
    await writeJsonList(out, items, view.data, meta);
  } else if (format === 'yaml') {
    const { writeYamlList } = await import('./yaml.ts');
    await writeYamlList(out, mapped(items, view.data), meta);
  } else if (format === 'table') {
    await view.table(out, items);
  } else {
    const { writeCsv, writeTsv } = await import('./delimited.ts');
    const write = format === 'csv' ? writeCsv : writeTsv;
    if (header) await write(out, [view.columns], sink.isTTY);
    await write(out, mapped(items, view.cells), sink.isTTY);
  }
  await out.end();
}

/** Maps each item when it is needed, so that a long list takes many short steps. */
function* mapped<Item, Result>(items: readonly Item[], map: (item: Item) => Result) {
  for (const item of items) yield map(item);
}

/** Items that are turned into JSON at a time. */
const BATCH = 50;

/** Writes the same as one call of JSON.stringify, but batch by batch. */
async function writeJsonList<Item>(
  out: ChunkWriter,
  items: readonly Item[],
  map: (item: Item) => unknown,
  meta: unknown,
): Promise<void> {
  const wrap = (list: readonly unknown[]) => (meta === undefined ? list : { data: list });
  const whole = stringify(meta === undefined ? [] : { data: [], meta }, 2);
  const start = whole.indexOf('[') + 1;
  const ending = meta === undefined ? '\n' : '\n  ';
  const endLength = stringify(wrap([]), 2).length - start + ending.length;
  for (let at = 0; at < items.length; at += BATCH) {
    const batch = items.slice(at, at + BATCH).map(map);
    const before = at === 0 ? whole.slice(0, start) : ',';
    await out.add(before + stringify(wrap(batch), 2).slice(start, -endLength));
  }
  await out.add(items.length === 0 ? whole : ending + whole.slice(start));
  await out.add('\n');
}

/** Loads what the text of a format still needs, chunk by chunk, as it takes long for a long text. */
async function loadEscape(format: Format): Promise<((chunk: string) => string) | undefined> {
  if (format === 'json' || format === 'ndjson') return escapeInJson;
  return format === 'yaml' ? (await import('./yaml.ts')).escapeInYaml : undefined;
}

async function writeDocument(
  sink: Sink,
  format: Extract<Format, 'json' | 'ndjson' | 'yaml'>,
  value: unknown,
): Promise<void> {
  const out = new ChunkWriter(sink, await loadEscape(format));
  if (format === 'yaml') await (await import('./yaml.ts')).writeYaml(out, value);
  else await out.add(`${stringify(value, format === 'json' ? 2 : 0)}\n`);
  await out.end();
}

/** Writes JSON that may be long. */
export async function writeJsonText(sink: Sink, json: string): Promise<void> {
  const out = new ChunkWriter(sink, await loadEscape('json'));
  await out.add(json);
  await out.end();
}
