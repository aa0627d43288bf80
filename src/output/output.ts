// What was asked of the output: decided once, before anything is sent.

import { incompatible, parseChoice } from '../choices.ts';
import { ImgctlError } from '../errors.ts';
import { formatTimestamp, type TimeStyle } from '../query/time-format.ts';
import { type Column, namesOf, parseColumns, type Row } from './columns.ts';
import { DOCUMENT_OPTION_LIST, FORMATS, type Format, type Shape } from './formats.ts';

/** What the command line and the command say about the output. */
export interface OutputOptions {
  readonly get?: string | undefined;
  readonly columns?: readonly string[] | undefined;
  readonly header?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly time?: TimeStyle | undefined;
  /** False to cut nothing of a table on a terminal; undefined if the command has no --no-trunc. */
  readonly trunc?: boolean | undefined;
  /** Prints only the URL of each image. */
  readonly urls?: boolean | undefined;
  /** The columns that tables show [all]; none: those of each row. */
  readonly shown?: readonly string[];
  /** The columns of csv and tsv [those of tables]. */
  readonly cells?: readonly string[];
  /** Shows each row of a table as keys and values. */
  readonly isRecord?: boolean;
  /** Leaves out of records what is missing [as `wrap`]. */
  readonly omitsMissing?: boolean;
  /** Shows a table for each value of this column, below that value. */
  readonly groupBy?: string | undefined;
  /** Wraps the last column of a table between words; the others are never cut. */
  readonly wrap?: boolean;
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

/** What a document or a stream holds of each row: all fields, those of -c, or one bare value. */
type Part = 'row' | 'fields' | 'value';

/**
 * What a run prints of its rows:
 *
 *     asked     table                 csv, tsv              json, ndjson, yaml
 *     nothing   the columns `shown`   the columns `cells`   every field
 *     -c a,b    a and b               a and b               a and b
 *     -q        an id per line        an id per line        bare ids: [7, 12]
 *     --urls    a URL per line        a URL per line        bare URLs
 *     --get a   a value per line      a value per line      a value per line
 */
export class Output {
  /** How rows are written. */
  readonly shape: Shape;
  /** The columns that are printed, unless every field is. None: those of each row. */
  readonly columns: readonly Column[];
  /** True if notes are printed: other formats than a table show that nothing was found. */
  readonly hasNotes: boolean;
  readonly options: OutputOptions;
  readonly #part: Part;
  readonly #now: () => number;
  readonly #time: TimeStyle;
  readonly #times: readonly Column[];

  /** @throws ImgctlError usage: options that contradict each other or name no column */
  constructor(columns: readonly Column[], options: OutputOptions, settings: OutputSettings) {
    refuseContradictions(options, settings);
    const { shape, printed, part } = choose(columns, options, settings);
    const times = columns.filter(({ isTime }) => isTime);
    this.shape = shape;
    this.columns = printed;
    this.hasNotes = settings.format === 'table';
    this.options = part === 'value' ? { ...options, header: false } : options;
    this.#part = part;
    this.#now = settings.now;
    // An invalid format of times fails only a command that has times.
    this.#time = times.length > 0 ? timeStyle(settings, options) : 'raw';
    this.#times = this.#time === 'raw' ? [] : times;
  }

  /** True if a person reads a table or records, not bare values. */
  get isTable(): boolean {
    return this.shape.kind === 'table';
  }

  /** True if bare values are printed, not rows. */
  get isBare(): boolean {
    return this.#part === 'value';
  }

  /** True if the command has -c and --no-trunc, which come together. */
  get hasColumnOptions(): boolean {
    return this.options.trunc !== undefined;
  }

  /** True if the field is printed whole. The texts of a table may leave something out. */
  shows(field: string): boolean {
    const { kind } = this.shape;
    if (kind === 'table') return false;
    const isWhole = this.#part === 'row' && kind !== 'lines';
    return isWhole || namesOf(this.columns).includes(field);
  }

  readonly timeText = (time: string): string => formatTimestamp(time, this.#time, this.#now());

  /** Returns what is printed of a row in a column; null if it has no value. */
  cell(column: Column, row: Row): unknown {
    const value = column.value?.(row, this.#now()) ?? heldBy(row, column);
    if (value === null) return null;
    if (column.text && this.isTable) return column.text(value, this.#now(), row);
    return column.isTime && typeof value === 'string' ? this.timeText(value) : value;
  }

  /** Returns what a document or a stream holds of a row. */
  data(row: Row): unknown {
    const { columns } = this;
    const [first] = columns;
    if (this.isBare && first) return this.cell(first, row);
    if (this.#part === 'fields') {
      return Object.fromEntries(columns.map((each) => [each.name, this.cell(each, row)]));
    }
    if (this.#times.length === 0) return row;
    const data = { ...row };
    for (const each of this.#times) {
      if (Object.hasOwn(row, each.name)) data[each.name] = this.cell(each, row);
    }
    return data;
  }
}

function heldBy(row: Row, { name }: Column): unknown {
  return (Object.hasOwn(row, name) ? row[name] : null) ?? null;
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

interface Choice {
  readonly shape: Shape;
  readonly printed: readonly Column[];
  readonly part: Part;
}

/** Reads the table of Output from below: the first row that was asked for. @throws ImgctlError */
function choose(
  columns: readonly Column[],
  options: OutputOptions,
  { format, quiet }: OutputSettings,
): Choice {
  const { shape } = FORMATS[format];
  const { get, urls, columns: chosen, shown, cells = shown } = options;
  const valid = namesOf(columns);
  const stored = namesOf(columns.filter(({ value }) => !value));
  const named = (name: string) => {
    const found = columns.find((each) => each.name === name);
    if (!found) throw new Error(`the column ${name} is not declared`);
    return found;
  };
  if (get !== undefined) {
    const column = named(parseChoice(get, { noun: 'field', valid, where: `--get '${get}'` }));
    return { shape: { kind: 'values', column }, printed: [column], part: 'value' };
  }
  const id = quiet ? columns.find(({ isId }) => isId) : undefined;
  const only = urls ? URL_COLUMN : id;
  if (only) {
    // No quotes of csv either, as scripts loop over ids and URLs.
    const isText = shape.kind === 'table' || shape.kind === 'lines';
    return { shape: isText ? FORMATS.tsv.shape : shape, printed: [only], part: 'value' };
  }
  if (chosen) {
    const names = parseColumns(chosen.join(','), '--columns', valid, stored);
    // A table hides nothing that was asked for by name.
    const printed = names.map(named).map((each) => ({ ...each, hides: undefined }));
    return { shape, printed, part: 'fields' };
  }
  const usual = format === 'table' ? shown : cells;
  return { shape, printed: (usual ?? stored).map(named), part: 'row' };
}

/** Tables have times for people, other formats and --get for programs. @throws ImgctlError usage */
function timeStyle(
  { format, time: setting }: OutputSettings,
  { time, get }: OutputOptions,
): TimeStyle {
  if (get !== undefined) return time ?? 'iso';
  if (format === 'table') return time ?? setting() ?? 'local';
  const isReadable = time === 'local' ? FORMATS[format].takesLocalTimes : time !== 'age';
  if (isReadable) return time ?? 'iso';
  throw new ImgctlError('usage', `--time ${time} cannot be used with the format ${format}`, {
    facts: 'use --time iso, or -o table',
  });
}
