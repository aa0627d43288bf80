// The output formats: their names and meanings. src/output/writers.ts writes them.

export const FORMATS = {
  table: 'the default: one line per row, cut to fit a terminal, uncut in a pipe',
  json: 'one array, or one object for a single record',
  ndjson: 'one JSON object per line, written as pages arrive',
  yaml: 'the same values as json',
  csv: "RFC 4180; text that a spreadsheet would run as a formula gets a leading '",
  tsv: 'a tab, CR or LF inside a cell becomes a space',
} as const;

export type Format = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as Format[];

/** For sentences. */
export const FORMAT_LIST = FORMAT_NAMES.join(', ').replace(/, (\w+)$/, ' or $1');
