// The output formats: their names and meanings. src/output/writers.ts writes them.

/** One line for each row, below a header line. */
const LINE_FORMATS = {
  csv: "RFC 4180; text that a spreadsheet would run as a formula gets a leading '",
  tsv: 'a tab, CR or LF inside a cell becomes a space',
};

export const FORMATS = {
  table: 'the default: one line per row, cut to fit a terminal, uncut in a pipe',
  json: 'one array, or one object for a single record',
  ndjson: 'one JSON object per line, written as pages arrive',
  yaml: 'the same values as json',
  ...LINE_FORMATS,
};

export type Format = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as Format[];

/** For sentences: `table, … or tsv`, and `csv and tsv`. */
export const FORMAT_LIST = FORMAT_NAMES.join(', ').replace(/, (\w+)$/, ' or $1');
export const LINE_FORMAT_LIST = Object.keys(LINE_FORMATS)
  .join(', ')
  .replace(/, (\w+)$/, ' and $1');

export type LineFormat = keyof typeof LINE_FORMATS;

export function isLineFormat(format: Format): format is LineFormat {
  return Object.hasOwn(LINE_FORMATS, format);
}

/** Returns what to use instead of a format of another program, such as `columns=id,name`. */
export function formatElsewhere(word: string): string | undefined {
  const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(word) ?? [];
  const columns = /^\w+(,\w+)*$/.test(value) ? value : 'a,b';
  return FORMATS_ELSEWHERE.get(name)?.replace('a,b', columns);
}

const JQ = 'use --json, and select with jq';

const FORMATS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['wide', 'use -c all'],
  ['name', 'use --get name'],
  ['id', 'use --get id'],
  ['path', 'use --get path'],
  ['text', 'use -o tsv'],
  ['noheader', 'use --no-header'],
  ['columns', 'use -c a,b'],
  ['custom-columns', 'use -c a,b'],
  ['jsonpath', JQ],
  ['go-template', JQ],
  ['template', JQ],
]);
