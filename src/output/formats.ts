// The output formats: a row for each, with its meaning and how it is written (tables: by table.ts).

import { stringify } from '../json.ts';
import { cellText, jsonText, printable } from './text.ts';

/** Returns the line of a row, or of the header above all. */
export type Line = (cells: readonly unknown[], onTerminal: boolean) => string;

/** How rows are written. */
export type Shape =
  /** Padded columns, or keys and values of each row. */
  | { readonly kind: 'table' }
  | { readonly kind: 'lines'; readonly line: Line }
  /** The JSON of each row is escaped and written as soon as the row is read. */
  | { readonly kind: 'stream'; readonly entry: (value: unknown) => string }
  /** One text of all rows, with what --meta shows, or of the only row if that is a record. */
  | {
      readonly kind: 'document';
      list(values: Iterable<unknown>, meta: unknown): Iterable<string> | Promise<Iterable<string>>;
      record(value: unknown): string | Promise<string>;
    };

interface FormatDeclaration {
  readonly meaning: string;
  readonly shape: Shape;
  /** True if errors, notices and progress are JSON too. */
  readonly hasJsonErrors?: boolean;
  /** True if its readers understand times without a zone. */
  readonly takesLocalTimes?: boolean;
}

export type Format = 'table' | 'json' | 'ndjson' | 'yaml' | 'csv' | 'tsv';

export const FORMATS: Readonly<Record<Format, FormatDeclaration>> = {
  table: {
    meaning: 'the default: one line per row, cut to fit a terminal, uncut in a pipe',
    shape: { kind: 'table' },
  },
  json: {
    meaning: 'one array, or one object for a single record',
    shape: { kind: 'document', list: jsonList, record: (value) => `${jsonText(value, 2)}\n` },
    hasJsonErrors: true,
  },
  ndjson: {
    meaning: 'one JSON object per line, written as pages arrive',
    shape: { kind: 'stream', entry: (value) => `${stringify(value)}\n` },
    hasJsonErrors: true,
  },
  yaml: {
    meaning: 'the same values as json',
    shape: {
      kind: 'document',
      list: async (values, meta) => (await import('./yaml.ts')).yamlList([...values], meta),
      record: async (value) => (await import('./yaml.ts')).yamlText(value),
    },
  },
  csv: {
    meaning: "RFC 4180; text that a spreadsheet would run as a formula gets a leading '",
    shape: { kind: 'lines', line: csvLine },
    takesLocalTimes: true,
  },
  tsv: {
    meaning: 'a tab, CR or LF inside a cell becomes a space',
    shape: { kind: 'lines', line: tsvLine },
  },
};

export const FORMAT_NAMES = Object.keys(FORMATS) as Format[];

/** Returns names for a sentence: `csv and tsv`, or with `-o ` `-o csv and -o tsv`. */
function joinNames(names: readonly Format[], word = 'and', before = ''): string {
  const shown = names.map((name) => before + name);
  const last = shown.pop();
  return shown.length === 0 ? `${last}` : `${shown.join(', ')} ${word} ${last}`;
}

function ofKind(...kinds: readonly Shape['kind'][]): Format[] {
  return FORMAT_NAMES.filter((name) => kinds.includes(FORMATS[name].shape.kind));
}

export const FORMAT_LIST = joinNames(FORMAT_NAMES, 'or');
export const LINE_FORMAT_LIST = joinNames(ofKind('lines'));
export const STREAM_FORMAT_LIST = joinNames(ofKind('stream'));
export const DOCUMENT_FORMAT_LIST = joinNames(ofKind('document'));
export const DOCUMENT_OPTION_LIST = joinNames(ofKind('document'), 'or', '-o ');
/** Formats of data: they print every field. */
export const DATA_FORMAT_LIST = joinNames(ofKind('stream', 'document'));
export const JSON_ERRORS_LIST = joinNames(
  FORMAT_NAMES.filter((name) => FORMATS[name].hasJsonErrors),
  'or',
);

/** Returns the same as one call of JSON.stringify, item by item. */
function* jsonList(items: Iterable<unknown>, meta: unknown): Generator<string> {
  if (meta === undefined) {
    yield* jsonArray(items, '');
    return yield '\n';
  }
  yield '{\n  "data": ';
  yield* jsonArray(items, '  ');
  yield `,\n  "meta": ${indented(meta, '  ')}\n}\n`;
}

function* jsonArray(items: Iterable<unknown>, margin: string): Generator<string> {
  const itemMargin = `${margin}  `;
  let separator = '[';
  for (const item of items) {
    yield `${separator}\n${itemMargin}${indented(item, itemMargin)}`;
    separator = ',';
  }
  yield separator === '[' ? '[]' : `\n${margin}]`;
}

function indented(value: unknown, margin: string): string {
  return jsonText(value, 2).replaceAll('\n', `\n${margin}`);
}

// Spreadsheets run these as formulas; the last four are full-width forms of the first four.
// They drop a byte order mark at the beginning of a file, where --no-header puts a name. Text after
// a `;` is not guarded against spreadsheets that split cells there.
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
