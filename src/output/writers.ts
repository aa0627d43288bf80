// Writes lists and records in every format.

import { ImgctlError } from '../errors.ts';
import type { Sink } from '../io.ts';
import { type Format, isLineFormat, type LineFormat } from './formats.ts';
import type { TableLayout } from './table.ts';
import type { Terminal } from './terminal.ts';
import { cellText, jsonText, printable, writeText } from './text.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface WriterOptions extends TableLayout {
  readonly sink: Sink;
  /** Read when something is printed, as a window may change its width meanwhile. */
  readonly terminal: () => Terminal;
  readonly format: Format;
  /** Columns of tables, csv and tsv, in this order. */
  readonly columns: readonly string[];
  /** Returns what is shown of a row, by column [the value that it holds]. */
  readonly values?: ReadonlyMap<string, (row: Row) => unknown>;
  readonly hasChoice?: boolean;
  /** Writes only the bare values of this field. */
  readonly get?: string | undefined;
  /** That field holds lists: null is an empty one. */
  readonly isList?: boolean;
  /** Writes only this field: bare values in a table, json, ndjson and yaml, a column in csv and tsv. */
  readonly only?: string | undefined;
  /** Called after a table on a terminal, with the columns that it has no room for. */
  readonly footer?: (hidden: readonly string[]) => void;
}

interface ListWriter {
  /** Writes ndjson at once; the other formats are written by `end`. */
  write(rows: readonly Row[]): Promise<void>;
  /** With meta, json and yaml become `{"data": [...], "meta": ...}`; the others ignore it. */
  end(meta?: unknown): Promise<void>;
}

/** Writes rows. A table without rows is empty: the command prints a note instead. */
export function createListWriter(options: WriterOptions): ListWriter {
  const { get, only } = options;
  if (get !== undefined) return createBareWriter(get, options);
  if (only !== undefined) return createColumnWriter(only, options);
  const data = (row: Row) => dataOf(row, options);
  return createWriter(options, data, async (rows) => {
    if (rows.length > 0) await writeTableOf(rows, options, false);
  });
}

function createColumnWriter(name: string, options: WriterOptions): ListWriter {
  const value = (row: Row) => fieldOf(row, name, options);
  const line = (row: Row) => `${printable(cellText(value(row)))}\n`;
  const write = (rows: readonly Row[]) => writeText(options.sink, mapped(rows, line));
  return createWriter({ ...options, columns: [name] }, value, write);
}

async function writeTableOf(rows: readonly Row[], options: WriterOptions, asRecords: boolean) {
  const { writeTable } = await import('./table.ts');
  const terminal = options.terminal();
  const cells = rows.map((row) => cellsOf(row, options));
  const hidden = await writeTable(options.sink, { ...options, rows: cells, asRecords, terminal });
  if (terminal.width !== undefined && !asRecords) options.footer?.(hidden);
}

/** Writes a record: keys and values in a table, one object in json and yaml, one line in the others. */
export async function writeRecord(options: WriterOptions, record: Row): Promise<void> {
  const { sink, format, get, only } = options;
  if (get !== undefined || only !== undefined || isLineFormat(format)) {
    const list = createListWriter(options);
    await list.write([record]);
    await list.end();
  } else if (format === 'table') {
    await writeTableOf([record], options, true);
  } else if (format === 'yaml') {
    const { yamlText } = await import('./yaml.ts');
    await sink.write(yamlText(dataOf(record, options)));
  } else {
    await sink.write(`${jsonText(dataOf(record, options), format === 'json' ? 2 : 0)}\n`);
  }
}

export function fieldOf(row: Row, name: string, { values }: Partial<WriterOptions> = {}): unknown {
  const value = values?.get(name);
  if (value) return value(row);
  return (Object.hasOwn(row, name) ? row[name] : null) ?? null;
}

function cellsOf(row: Row, options: WriterOptions): unknown[] {
  return options.columns.map((name) => fieldOf(row, name, options));
}

function dataOf(row: Row, options: WriterOptions): Row {
  const { columns, allFields = true, values } = options;
  if (allFields && !values?.size) return row;
  const names = allFields ? Object.keys(row) : columns;
  return Object.fromEntries(names.map((name) => [name, fieldOf(row, name, options)]));
}

/** Reads all rows first, so that nothing is written if a value is missing. @throws ImgctlError not-found, at the end */
function createBareWriter(field: string, options: WriterOptions): ListWriter {
  const { sink, isList } = options;
  return createWriter({ ...options, format: 'table' }, String, async (rows) => {
    const values = rows.flatMap((row) =>
      isList && row[field] === null ? [] : fieldOf(row, field, options),
    );
    const missing = values.filter((value) => value === null).length;
    if (missing > 0) {
      const message =
        rows.length === 1
          ? `${field} has no value`
          : `${missing} of ${rows.length} results have no ${field}`;
      const hint = options.hasChoice
        ? `use -c ${field} -o tsv --no-header`
        : 'omit --get to see all fields';
      throw new ImgctlError('not-found', message, { hint });
    }
    const lines = values.map((value) => tsvLine([value], sink.isTTY));
    await writeText(sink, lines);
  });
}

/** @param dataOfRow returns what json, ndjson and yaml show of a row */
function createWriter(
  options: WriterOptions,
  dataOfRow: (row: Row) => unknown,
  writeAsTable: (rows: readonly Row[]) => Promise<void>,
): ListWriter {
  const { sink, format, header = true, columns } = options;
  const all: Row[] = [];
  return {
    async write(rows) {
      const lines = mapped(rows, (row) => `${jsonText(dataOfRow(row), 0)}\n`);
      if (format === 'ndjson') await writeText(sink, lines);
      else for (const row of rows) all.push(row);
    },
    async end(meta) {
      if (format === 'table') await writeAsTable(all);
      if (format === 'json') await writeText(sink, jsonList(mapped(all, dataOfRow), meta));
      if (format === 'yaml') {
        const { yamlList } = await import('./yaml.ts');
        await writeText(sink, yamlList(all.map(dataOfRow), meta));
      }
      if (isLineFormat(format)) {
        const line = LINES[format];
        const lines = function* () {
          if (header) yield line(columns, sink.isTTY);
          for (const row of all) yield line(cellsOf(row, options), sink.isTTY);
        };
        await writeText(sink, lines());
      }
    },
  };
}

const LINES: Record<LineFormat, (row: readonly unknown[], onTerminal: boolean) => string> = {
  csv: csvLine,
  tsv: tsvLine,
};

/** Maps each row when it is needed, so that the text of a long list is never in memory as a whole. */
function* mapped<Result>(rows: readonly Row[], map: (row: Row) => Result) {
  for (const row of rows) yield map(row);
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
  const safe = typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text;
  const cell = onTerminal ? printable(safe) : safe;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

function tsvLine(row: readonly unknown[], onTerminal: boolean): string {
  const line = row.map((value) => cellText(value).replace(/[\t\r\n]/g, ' ')).join('\t');
  return `${onTerminal ? line.replace(/[^\t]+/g, printable) : line}\n`;
}
