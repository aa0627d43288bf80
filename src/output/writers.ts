// Writes the rows of a result in every format.

import { ImgctlError } from '../errors.ts';
import type { Sink } from '../io.ts';
import { type Column, namesOf, type Row } from './columns.ts';
import { type Line, tsvLine } from './formats.ts';
import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';
import { cellText, escapeInJson, printable, writeText } from './text.ts';

/** Where rows are written. */
interface Place {
  readonly sink: Sink;
  /** Read when something is printed, as a window may change its width meanwhile. */
  readonly terminal: () => Terminal;
  /** Called after a table on a terminal, with the columns that it has no room for. */
  readonly footer: (hidden: readonly string[]) => void;
}

interface ListWriter {
  /** Writes streams and records at once; the other shapes are written by `end`. */
  write(rows: readonly Row[]): Promise<void>;
  /** With meta, a document becomes `{"data": [...], "meta": ...}`; the other shapes ignore it. */
  end(meta?: unknown): Promise<void>;
}

/**
 * Returns a writer of rows. A table without rows is empty: the command prints a note instead.
 * @param isOne one row is a record: keys and values in a table, an object in a document; bare values are a list
 */
export function listWriter(output: Output, place: Place, isOne = false): ListWriter {
  const { shape, options } = output;
  const { sink } = place;
  if (shape.kind === 'stream') {
    const entry = (row: Row) => shape.entry(output.data(row));
    return { write: (rows) => writeText(sink, mapped(rows, entry), escapeInJson), async end() {} };
  }
  if (shape.kind === 'table' && (isOne || options.isRecord)) return recordWriter(output, place);
  const all: Row[] = [];
  return {
    async write(rows) {
      for (const row of rows) all.push(row);
    },
    async end(meta) {
      const [first] = all;
      if (isOne && !first) return;
      switch (shape.kind) {
        case 'table':
          return writeTables(all, output, place);
        case 'lines':
          return writeText(sink, linesOf(shape.line, all, output, sink.isTTY));
        case 'bare': {
          const line = (row: Row) => tsvLine([output.cell(shape.column, row)], sink.isTTY);
          return writeText(sink, mapped(all, line));
        }
        case 'values':
          return writeValues(shape.column, all, output, sink);
        case 'document': {
          const data = (row: Row) => output.data(row);
          if (isOne && first && !output.isBare)
            return writeText(sink, [await shape.record(data(first))]);
          return writeText(sink, await shape.list(mapped(all, data), meta));
        }
      }
    },
  };
}

/** Returns a writer of keys and values, with an empty line between two rows. */
function recordWriter(output: Output, { sink, terminal }: Place): ListWriter {
  let count = 0;
  return {
    async write(rows) {
      const { writeRecord } = await import('./table.ts');
      for (const row of rows) {
        if (count > 0) await sink.write('\n');
        await writeRecord(sink, output, row, terminal());
        count += 1;
      }
    },
    async end() {},
  };
}

async function writeTables(rows: readonly Row[], output: Output, place: Place): Promise<void> {
  const { groupBy } = output.options;
  if (rows.length === 0) return;
  if (groupBy === undefined) return writeTable(rows, output, place);
  let gap = '';
  for (const value of new Set(rows.map((row) => row[groupBy]))) {
    await place.sink.write(`${gap}${printable(cellText(value))}\n`);
    const group = rows.filter((row) => row[groupBy] === value);
    await writeTable(group, output, place);
    gap = '\n';
  }
}

async function writeTable(rows: readonly Row[], output: Output, place: Place): Promise<void> {
  const table = await import('./table.ts');
  const terminal = place.terminal();
  const hidden = await table.writeTable(place.sink, output, rows, terminal);
  if (terminal.width !== undefined) place.footer(hidden);
}

/** Writes nothing if a value is missing. @throws ImgctlError not-found */
async function writeValues(column: Column, rows: readonly Row[], output: Output, sink: Sink) {
  const { name, type } = column;
  // A list that is null counts as empty.
  const isList = type.includes('array');
  const values = rows.flatMap((row) =>
    isList && row[name] === null ? [] : output.cell(column, row),
  );
  const missing = values.filter((value) => value === null).length;
  if (missing > 0) {
    const { length } = rows;
    const message =
      length === 1 ? `${name} has no value` : `${missing} of ${length} results have no ${name}`;
    throw new ImgctlError('not-found', message, {
      facts: output.hasColumnOptions
        ? `use -c ${name} -o tsv --no-header`
        : 'omit --get to see all fields',
    });
  }
  await writeText(
    sink,
    values.map((value) => tsvLine([value], sink.isTTY)),
  );
}

function* linesOf(line: Line, rows: readonly Row[], output: Output, onTerminal: boolean) {
  const { columns } = output;
  if (output.options.header !== false) yield line(namesOf(columns), onTerminal);
  for (const row of rows) {
    const cells = columns.map((column) => output.cell(column, row));
    yield line(cells, onTerminal);
  }
}

/** Maps each row when it is needed, so that the text of a long list is never in memory as a whole. */
function* mapped<Result>(rows: readonly Row[], map: (row: Row) => Result) {
  for (const row of rows) yield map(row);
}
