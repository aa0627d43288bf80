// What was asked of the output: decided once, before anything is sent.
//
// A command returns an Output with rows, and listWriter (writers.ts) writes them by its shape:
//
//     lines       csv, tsv, --get   formats.ts
//     stream      ndjson            formats.ts
//     document    json, yaml        formats.ts, yaml.ts
//     table                         table.ts writes the columns that layout.ts measures and fits

import { incompatible, parseChoice } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { formatTimestamp, type TimeStyle } from '../query/time-format.ts';
import { type Column, namesOf, parseColumns, type Row } from './columns.ts';
import { DOCUMENT_OPTION_LIST, FORMATS, type Format, type Shape } from './formats.ts';

/** What the command line and the command say about the output. */
export interface OutputOptions {
  readonly get?: string | undefined;
  readonly columns?: readonly string[] | undefined;
  /** False with --no-header. */
  readonly header?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly time?: TimeStyle | undefined;
  /** False with --no-trunc, true without; undefined if the command has neither that nor -c. */
  readonly trunc?: boolean | undefined;
  /** Prints only the URL of each image. */
  readonly urls?: boolean | undefined;
  /** The columns of a table. All that are not computed if undefined. */
  readonly shown?: readonly string[];
  /** The columns of csv and tsv. Those of a table if undefined. */
  readonly lineColumns?: readonly string[];
  /** A table shows each row as a record: a key and its value per line. */
  readonly asRecords?: boolean;
  /** Records leave out what is missing. */
  readonly omitsMissing?: boolean;
  /** There is a table for each value of this column, below that value. */
  readonly groupBy?: string | undefined;
  /**
   * The last column has sentences, which are wrapped between words. The other columns are never
   * cut, and records leave out what is missing.
   */
  readonly hasSentences?: boolean;
}

/** What the run says about the output. */
interface OutputSettings {
  readonly format: Format;
  readonly quiet: boolean;
  /** Returns the setting for the format of times in tables. */
  readonly time: () => TimeStyle | undefined;
  readonly now: () => number;
}

const URL_COLUMN: Column = { name: 'url', type: 'string', meaning: 'URL of the image' };

/** What is printed of a row: what is usual, the fields that were named, or the bare value of one. */
type Printed =
  | {
      readonly kind: 'usual';
      /** Those of tables, csv and tsv; documents and streams have every field. */
      readonly columns: readonly Column[];
    }
  | { readonly kind: 'named'; readonly columns: readonly Column[] }
  | {
      readonly kind: 'bare';
      readonly columns: readonly [Column];
      /** True if a row without a value is an error. */
      readonly isRequired: boolean;
    };

/** What the options say about a table. */
interface TableOptions {
  readonly asRecords: boolean;
  readonly omitsMissing: boolean;
  readonly groupBy: string | undefined;
  readonly hasSentences: boolean;
  /** True if it is made to fit a terminal. */
  readonly mayCut: boolean;
}

/**
 * What a run prints of its rows. Commands and Output refuse most pairs of these options; of --get or
 * --urls with -q, the first one counts:
 *
 *     asked     table                 csv, tsv              json, ndjson, yaml
 *     --get a   a value per line      a value per line      a value per line
 *     --urls    a URL per line        a URL per line        bare URLs
 *     -q        an id per line        an id per line        bare ids: [7, 12]
 *     -c a,b    a and b               a and b               a and b
 *     nothing   the columns `shown`   those of `lineColumns`  every field
 *
 * Rows without ids are printed as without -q.
 */
export class Output {
  /** How rows are written. */
  readonly shape: Shape;
  readonly printed: Printed;
  readonly table: TableOptions;
  /** True if tables, csv and tsv begin with the names of their columns. */
  readonly hasHeader: boolean;
  /** True if the format is table, also with --get: other formats show that nothing was found. */
  readonly isTableFormat: boolean;
  /** True if the command has -c and --no-trunc. */
  readonly takesColumns: boolean;
  readonly #now: () => number;
  readonly #timeStyle: TimeStyle;
  /** The columns with times, if those are formatted. */
  readonly #times: readonly Column[];

  /**
   * @param columns if there are none, a table has all that its rows have
   * @throws ImgctlError usage: options that contradict each other or name no column
   */
  constructor(columns: readonly Column[], options: OutputOptions, settings: OutputSettings) {
    refuseContradictions(options, settings);
    const { shape, printed } = printedOf(columns, options, settings);
    const { trunc, header, groupBy, asRecords = false, hasSentences = false } = options;
    const { omitsMissing = hasSentences } = options;
    const times = columns.filter(({ isTime }) => isTime);
    this.shape = shape;
    this.printed = printed;
    this.table = { asRecords, omitsMissing, groupBy, hasSentences, mayCut: trunc !== false };
    this.hasHeader = header !== false && printed.kind !== 'bare';
    this.isTableFormat = settings.format === 'table';
    this.takesColumns = trunc !== undefined;
    this.#now = settings.now;
    // An invalid format of times fails only a command that has times.
    this.#timeStyle = times.length > 0 ? timeStyle(settings, options) : 'raw';
    this.#times = this.#timeStyle === 'raw' ? [] : times;
  }

  /** True if a person reads a table or records, not bare values. */
  get isTable(): boolean {
    return this.shape.kind === 'table';
  }

  /** True if the field is printed whole. The texts of a table may leave something out. */
  printsWhole(field: string): boolean {
    const { shape, printed } = this;
    if (shape.kind === 'table') return false;
    if (shape.kind !== 'lines' && printed.kind === 'usual') return true;
    return namesOf(printed.columns).includes(field);
  }

  readonly timeText = (time: string): string => formatTimestamp(time, this.#timeStyle, this.#now());

  /** Returns what is printed of a row in a column; null if it has no value. */
  cell(column: Column, row: Row): unknown {
    const value = column.value ? column.value(row, this.#now()) : heldBy(row, column);
    if (value === null || value === undefined) return null;
    if (column.text && this.isTable) return column.text(value, row, this.#now());
    return column.isTime && typeof value === 'string' ? this.timeText(value) : value;
  }

  /** Returns what a document or a stream has of a row. */
  data(row: Row): unknown {
    const { printed } = this;
    if (printed.kind === 'usual') return this.#withTimes(row);
    if (printed.kind === 'bare') return this.cell(printed.columns[0], row);
    return Object.fromEntries(
      printed.columns.map((column) => [column.name, this.cell(column, row)]),
    );
  }

  #withTimes(row: Row): Row {
    if (this.#times.length === 0) return row;
    const formatted = { ...row };
    for (const column of this.#times) {
      if (Object.hasOwn(row, column.name)) formatted[column.name] = this.cell(column, row);
    }
    return formatted;
  }
}

function heldBy(row: Row, { name }: Column): unknown {
  return Object.hasOwn(row, name) ? row[name] : null;
}

/** @throws ImgctlError usage */
function refuseContradictions(
  { meta, columns }: OutputOptions,
  { format, quiet }: OutputSettings,
): void {
  if (meta && FORMATS[format].shape.kind !== 'document') {
    throw new ImgctlError('usage', `--meta cannot be used with the format ${format}`, {
      facts: `add ${DOCUMENT_OPTION_LIST}, or omit --meta`,
    });
  }
  if (quiet && columns !== undefined) throw incompatible('--quiet', '--columns');
}

/** Follows the table of Output. @throws ImgctlError usage */
function printedOf(
  columns: readonly Column[],
  options: OutputOptions,
  { format, quiet }: OutputSettings,
): Pick<Output, 'shape' | 'printed'> {
  const { get, urls, columns: chosen, shown, lineColumns = shown } = options;
  const { shape } = FORMATS[format];
  const bareLines = FORMATS.tsv.shape;
  const valid = namesOf(columns);
  if (get !== undefined) {
    const name = parseChoice(get, { noun: 'field', valid, where: `--get '${get}'` });
    const asked = [named(columns, name)] as const;
    return { shape: bareLines, printed: { kind: 'bare', columns: asked, isRequired: true } };
  }
  const id = quiet ? columns.find(({ isId }) => isId) : undefined;
  const only = urls ? URL_COLUMN : id;
  if (only) {
    // csv has no quotes either, as scripts loop over ids and URLs.
    const isText = shape.kind === 'table' || shape.kind === 'lines';
    const printed = { kind: 'bare', columns: [only], isRequired: false } as const;
    return { shape: isText ? bareLines : shape, printed };
  }
  const stored = namesOf(columns.filter(({ value }) => !value));
  if (chosen) {
    const names = parseColumns(chosen.join(','), '--columns', valid, stored);
    // A table hides nothing that was asked for by name.
    const asked = names.map((name) => ({ ...named(columns, name), hides: undefined }));
    return { shape, printed: { kind: 'named', columns: asked } };
  }
  const names = (format === 'table' ? shown : lineColumns) ?? stored;
  const usual = names.map((name) => named(columns, name));
  return { shape, printed: { kind: 'usual', columns: usual } };
}

function named(columns: readonly Column[], name: string): Column {
  const column = columns.find((each) => each.name === name);
  if (!column) throw new Error(`the column ${name} is not declared`);
  return column;
}

/**
 * Returns the style of times:
 *
 *     format   without --time          refused
 *     --get    iso
 *     table    the setting, or local
 *     csv      iso                     age
 *     others   iso                     age, local
 *
 * @throws ImgctlError usage
 */
function timeStyle(
  { format, time: setting }: OutputSettings,
  { time, get }: OutputOptions,
): TimeStyle {
  if (get !== undefined) return time ?? 'iso';
  if (format === 'table') return time ?? setting() ?? 'local';
  const isRefused = time === 'local' ? !FORMATS[format].takesLocalTimes : time === 'age';
  if (!isRefused) return time ?? 'iso';
  throw new ImgctlError('usage', `--time ${time} cannot be used with the format ${format}`, {
    facts: 'use --time iso, or -o table',
  });
}
