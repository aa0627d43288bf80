// A list of rows or of single values, in any format.

import { cellText, dataOf, fieldOf, type Row } from './cells.ts';
import { documentText, writeText } from './document.ts';
import type { ListOptions, ValueOptions } from './format.ts';
import { ndjsonText } from './json.ts';
import { printable } from './sanitize.ts';
import { loadBold } from './terminal.ts';

export interface ListWriter<Item> {
  /** ndjson shows the items at once, every other format keeps them for the end. */
  write(items: readonly Item[]): Promise<void>;
  /** With a meta, json and yaml become `{"data": [...], "meta": ...}`; the others pay it no regard. */
  end(meta?: unknown): Promise<void>;
}

/** Shows rows. A table of no rows is nothing at all: the command says so on stderr. */
export function createListWriter(options: ListOptions): ListWriter<Row> {
  if (options.quiet) return createIdWriter(options);
  const { columns, times, terminal, header = true } = options;
  const cells = (row: Row) => columns.map((name) => fieldOf(row, name, times));
  return createWriter(options, {
    columns,
    cells,
    data: (row) => dataOf(row, options),
    async table(rows) {
      if (rows.length === 0) return '';
      const { tableText } = await import('./table.ts');
      const names = header ? columns : undefined;
      return tableText(names, rows.map(cells), terminal, await loadBold(terminal));
    },
  });
}

/** Shows single values, such as URLs: a table has one a line, csv and tsv one column of that name. */
export function createValueWriter(name: string, options: ValueOptions): ListWriter<unknown> {
  return createWriter(options, {
    columns: [name],
    cells: (value) => [value],
    data: (value) => value,
    table: async (values) => values.map((value) => `${printable(cellText(value))}\n`).join(''),
  });
}

/** Scripts loop over identifiers, so that csv and tsv give bare lines too. */
function createIdWriter(options: ListOptions): ListWriter<Row> {
  const { idField = 'id', format } = options;
  const bare = format === 'csv' || format === 'tsv' ? 'table' : format;
  const ids = createValueWriter(idField, { ...options, format: bare });
  return {
    write: (rows) => ids.write(rows.map((row) => fieldOf(row, idField))),
    end: (meta) => ids.end(meta),
  };
}

/** What the formats need to know of a kind of item. */
interface View<Item> {
  readonly columns: readonly string[];
  /** In the order of the columns. */
  cells(item: Item): readonly unknown[];
  /** As json, ndjson and yaml show it. */
  data(item: Item): unknown;
  table(items: readonly Item[]): Promise<string>;
}

function createWriter<Item>(options: ValueOptions, view: View<Item>): ListWriter<Item> {
  const { sink, format } = options;
  const kept: Item[] = [];
  return {
    async write(items) {
      if (format === 'ndjson') await writeText(sink, ndjsonText(items.map(view.data)));
      else for (const item of items) kept.push(item);
    },
    async end(meta) {
      if (format !== 'ndjson') await writeText(sink, await listText(kept, meta, options, view));
    },
  };
}

async function listText<Item>(
  items: readonly Item[],
  meta: unknown,
  { format, sink, header = true }: ValueOptions,
  view: View<Item>,
): Promise<string> {
  if (format === 'table') return view.table(items);
  if (format === 'csv' || format === 'tsv') {
    const { csvText, tsvText } = await import('./delimited.ts');
    const lines = [...(header ? [view.columns] : []), ...items.map(view.cells)];
    return (format === 'csv' ? csvText : tsvText)(lines, sink.isTTY);
  }
  const data = items.map(view.data);
  return documentText(format, meta === undefined ? data : { data, meta });
}
