// Writes the rows of a result in every format.

import { ImgctlError } from '../errors.ts';
import type { Sink } from '../io.ts';
import { type Column, namesOf, type Row } from './columns.ts';
import { FORMATS, type Line, tsvLine } from './formats.ts';
import type { Output } from './output.ts';
import type { Terminal } from './terminal.ts';
import { cellText, escapeInJson, printable, writeText } from './text.ts';

/** Where rows are written. */
export interface Place {
  readonly sink: Sink;
  /** Read when something is printed, as a window may change its width meanwhile. */
  readonly terminal: () => Terminal;
  /** Called after a table on a terminal, with the columns that it has no room for. */
  readonly footer: (hidden: readonly string[]) => void;
}

interface ListWriter {
  /** Writes a format that is streamed at once; the others are written by `end`. */
  write(rows: readonly Row[]): Promise<void>;
  /** With meta, a document becomes `{"data": [...], "meta": ...}`; the other formats ignore it. */
  end(meta?: unknown): Promise<void>;
}

/**
 * Returns a writer of rows. A table without rows is empty: the command prints a note instead.
 * @param isOne one row is a record: keys and values in a table, an object in a document; bare values are a list
 */
export function listWriter(output: Output, place: Place, isOne = false): ListWriter {
  const { format, get, only, isTable } = output;
  const { entry, document, line } = FORMATS[format];
  const { sink } = place;
  const all: Row[] = [];
  const data = (row: Row) => output.data(row);
  const hasRecords = isTable && (isOne || output.options.isRecord === true);
  const asRecord = async (row: Row) => {
    const { writeRecord } = await import('./table.ts');
    await writeRecord(sink, output, row, place.terminal());
  };
  return {
    async write(rows) {
      if (entry && !get) {
        const lines = mapped(rows, (row) => entry(data(row)));
        return writeText(sink, lines, escapeInJson);
      }
      for (const row of rows) {
        if (hasRecords && all.length > 0) await sink.write('\n');
        all.push(row);
        if (hasRecords) await asRecord(row);
      }
    },
    async end(meta) {
      const [first] = all;
      // The order matters: --get, then -q, and only then the format.
      if (hasRecords || (isOne && !first)) return;
      if (get) return writeBare(get, all, output, sink);
      if (format === 'table' && only) {
        const bare = (row: Row) => `${printable(cellText(output.cell(only, row)))}\n`;
        return writeText(sink, mapped(all, bare));
      }
      if (format === 'table') return writeTables(all, output, place);
      if (line) return writeText(sink, linesOf(line, all, output, sink.isTTY));
      const one = isOne && !only ? first : undefined;
      if (one && document) return writeText(sink, [await document.record(data(one))]);
      if (document) await writeText(sink, await document.list(mapped(all, data), meta));
    },
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
async function writeBare(column: Column, rows: readonly Row[], output: Output, sink: Sink) {
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
    // These options come together.
    const hasColumns = output.options.trunc !== undefined;
    throw new ImgctlError('not-found', message, {
      facts: hasColumns ? `use -c ${name} -o tsv --no-header` : 'omit --get to see all fields',
    });
  }
  await writeText(
    sink,
    values.map((value) => tsvLine([value], sink.isTTY)),
  );
}

function* linesOf(line: Line, rows: readonly Row[], output: Output, onTerminal: boolean) {
  const columns = output.only ? [output.only] : output.columns;
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
