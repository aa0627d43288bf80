// Writes the rows of a result in every format.

import { ImgctlError } from '../errors.ts';
import type { Sink } from '../io.ts';
import { type Column, namesOf, type Row } from './columns.ts';
import type { Line } from './formats.ts';
import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';
import { escapeInJson, writeText } from './text.ts';

/** Where rows are written. */
interface Place {
  readonly sink: Sink;
  /** Read when something is printed, as a window may change its width meanwhile. */
  readonly terminal: () => Terminal;
  /** Called after a table on a terminal, with the columns that it has no room for. */
  readonly footer: (hidden: readonly string[]) => void;
}

interface ListWriter {
  /** Writes ndjson and records at once; the other shapes are written by `end`. */
  write(rows: readonly Row[]): Promise<void>;
  /** With meta, a document of a list becomes `{"data": [...], "meta": ...}`; others ignore it. */
  end(meta?: unknown): Promise<void>;
}

/**
 * Returns a writer of rows. A table without rows is empty: the command prints a note instead.
 * @param isOne one row is a record: keys and values in a table, an object in a document
 */
export function listWriter(output: Output, place: Place, isOne = false): ListWriter {
  const { shape, table, printed } = output;
  const { sink } = place;
  switch (shape.kind) {
    case 'stream':
      return streamWriter(shape.entry, output, sink);
    case 'table':
      if (isOne || table.asRecords) return recordWriter(output, place);
      return collected(false, (rows) => writeRowsOfTable(rows, output, place));
    case 'lines':
      return collected(isOne, (rows) =>
        writeText(sink, linesOf(shape.line, rows, output, sink.isTTY)),
      );
    case 'document':
      return collected(isOne, async (rows, meta) => {
        const data = mapped(rows, (row) => output.data(row));
        // With -q or --urls also a record is a list.
        const isList = !isOne || printed.kind === 'bare';
        if (isList) return writeText(sink, await shape.list(data, meta));
        const [record] = data;
        return writeText(sink, [await shape.record(record)]);
      });
  }
}

/** Returns a writer that writes all rows at the end, and nothing of a record that is missing. */
function collected(
  isOne: boolean,
  writeAll: (rows: readonly Row[], meta: unknown) => Promise<void>,
): ListWriter {
  const all: Row[] = [];
  return {
    async write(rows) {
      for (const row of rows) all.push(row);
    },
    async end(meta) {
      if (all.length > 0 || !isOne) await writeAll(all, meta);
    },
  };
}

function streamWriter(entry: (value: unknown) => string, output: Output, sink: Sink): ListWriter {
  const entryOf = (row: Row) => entry(output.data(row));
  return {
    write: (rows) => writeText(sink, mapped(rows, entryOf), escapeInJson),
    async end() {},
  };
}

/** Returns a writer of keys and values. Each row may have other keys. */
function recordWriter(output: Output, { sink, terminal }: Place): ListWriter {
  let isFirst = true;
  return {
    async write(rows) {
      const { writeRecord } = await import('./table.ts');
      for (const row of rows) {
        if (!isFirst) await sink.write('\n');
        await writeRecord(sink, output, row, terminal());
        isFirst = false;
      }
    },
    async end() {},
  };
}

async function writeRowsOfTable(rows: readonly Row[], output: Output, place: Place) {
  if (rows.length === 0) return;
  const { writeTable } = await import('./table.ts');
  const terminal = place.terminal();
  const hidden = await writeTable(place.sink, output, rows, terminal);
  if (terminal.width !== undefined) place.footer(hidden);
}

function* linesOf(line: Line, rows: readonly Row[], output: Output, onTerminal: boolean) {
  const { printed, hasHeader } = output;
  if (hasHeader) yield line(namesOf(printed.columns), onTerminal);
  if (printed.kind === 'bare' && printed.isRequired) {
    const values = valuesOf(printed.columns[0], rows, output);
    return yield* values.map((value) => line([value], onTerminal));
  }
  for (const row of rows) {
    const cells = printed.columns.map((column) => output.cell(column, row));
    yield line(cells, onTerminal);
  }
}

/** Returns the value of each row, or the items of a list. @throws ImgctlError not-found */
function valuesOf(column: Column, rows: readonly Row[], output: Output): readonly unknown[] {
  const { name, nullIsEmpty } = column;
  const isEmptyList = (row: Row) => nullIsEmpty && row[name] === null;
  const values = rows.map((row) => (isEmptyList(row) ? [] : output.cell(column, row)));
  const isMissing = (value: unknown) =>
    Array.isArray(value) ? value.includes(null) : value === null;
  const missing = values.filter(isMissing).length;
  if (missing === 0) return values.flat();
  const { length } = rows;
  const message =
    length === 1 ? `${name} has no value` : `${missing} of ${length} results have no ${name}`;
  const facts = output.takesColumns
    ? `use -c ${name} -o tsv --no-header`
    : 'omit --get to see all fields';
  throw new ImgctlError('not-found', message, { facts });
}

/** Maps each row when it is needed: the text of a long list is never in memory as a whole. */
function* mapped<Result>(rows: readonly Row[], map: (row: Row) => Result) {
  for (const row of rows) yield map(row);
}
