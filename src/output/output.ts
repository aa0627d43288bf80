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
  /** Only the column `url`. */
  readonly urls?: boolean | undefined;
  /** The columns that tables show [all]; none: those of each row. */
  readonly shown?: readonly string[];
  /** The columns of csv and tsv [those of tables]. */
  readonly cells?: readonly string[];
  /** Shows each row of a table as keys and values. */
  readonly isRecord?: boolean;
  /** Leaves out of such records what is missing or false. */
  readonly omitsMissing?: boolean;
  /** Shows a table for each value of this column, below that value. */
  readonly groupBy?: string | undefined;
  /** Cuts no table, and wraps its last column between words. */
  readonly wrap?: boolean;
}

/** What the run says about it. */
interface OutputSettings {
  readonly format: Format;
  readonly quiet: boolean;
  /** Returns the setting for the format of times in tables. */
  readonly time: () => TimeStyle | undefined;
  readonly now: () => number;
}

const URL_COLUMN: Column = { name: 'url', type: 'string', meaning: 'URL of the image' };

export class Output {
  /** The format that was asked for; -q and --get print bare values instead. */
  readonly format: Format;
  /** How rows are written. */
  readonly shape: Shape;
  /** The columns of tables, csv and tsv in this order, and of every format if -c has chosen them. */
  readonly columns: readonly Column[];
  readonly isChosen: boolean;
  readonly id: Column | undefined;
  /** -q or --urls: the only column. Formats of data print its bare values. */
  readonly only: Column | undefined;
  readonly options: OutputOptions;
  readonly #now: () => number;
  readonly #time: TimeStyle;
  readonly #times: readonly Column[];

  /** @throws ImgctlError usage: options that contradict each other or name no column */
  constructor(columns: readonly Column[], options: OutputOptions, settings: OutputSettings) {
    const { format, quiet, now } = settings;
    const { shown, cells = shown, urls } = options;
    if (options.meta && FORMATS[format].shape.kind !== 'document') {
      throw new ImgctlError('usage', `--meta cannot be used with the format ${format}`, {
        facts: `add ${DOCUMENT_OPTION_LIST}, or omit --meta`,
      });
    }
    if (quiet && options.columns !== undefined) throw incompatible('--quiet', '--columns');
    const valid = namesOf(columns);
    const stored = namesOf(columns.filter(({ value }) => !value));
    const where = `--get '${options.get}'`;
    const get = options.get && parseChoice(options.get, { noun: 'field', valid, where });
    const chosen =
      options.columns && parseColumns(options.columns.join(','), '--columns', valid, stored);
    const named = (name: string) => {
      const found = columns.find((each) => each.name === name);
      if (!found) throw new Error(`the column ${name} is not declared`);
      return found;
    };
    const usual = format === 'table' ? shown : cells;
    const times = columns.filter(({ isTime }) => isTime);
    this.options = options;
    this.format = format;
    this.id = columns.find(({ isId }) => isId);
    this.only = urls ? URL_COLUMN : quiet ? this.id : undefined;
    this.shape = get ? { kind: 'values', column: named(get) } : shapeOf(format, this.only);
    this.isChosen = chosen !== undefined;
    this.columns = this.only ? [this.only] : (chosen ?? usual ?? stored).map(named);
    this.#now = now;
    this.#time = times.length > 0 ? timeStyle(settings, options.time, get) : 'raw';
    this.#times = this.#time === 'raw' ? [] : times;
  }

  /** True if a person reads a table or records, not bare values. */
  get isTable(): boolean {
    return this.shape.kind === 'table';
  }

  /** True if every field is printed: not in a table, nor with --get, -q or --urls. */
  get isWhole(): boolean {
    return this.format !== 'table' && this.shape.kind !== 'values' && !this.only;
  }

  /** True if notes are printed: other formats than a table show that nothing was found. */
  get hasNotes(): boolean {
    return this.format === 'table';
  }

  /** Returns the columns of a table; of a row whose fields nobody has declared, all that it has. */
  columnsOf(row: Row = {}): readonly Column[] {
    if (this.columns.length > 0) return this.columns;
    return Object.keys(row).map((name) => ({ name, type: '', meaning: '' }));
  }

  readonly timeText = (time: string): string => formatTimestamp(time, this.#time, this.#now());

  /** Returns what is printed of a row in a column; null if it has no value. */
  cell(column: Column, row: Row): unknown {
    const value = column.value?.(row, this.#now()) ?? heldBy(row, column);
    if (value === null) return null;
    if (column.text && this.isTable) return column.text(value, this.#now(), row);
    return column.isTime && typeof value === 'string' ? this.timeText(value) : value;
  }

  /** Returns what formats of data print of a row, such as json. */
  data(row: Row): unknown {
    if (this.only) return this.cell(this.only, row);
    if (this.isChosen) {
      return Object.fromEntries(this.columns.map((each) => [each.name, this.cell(each, row)]));
    }
    if (this.#times.length === 0) return row;
    const data = { ...row };
    for (const each of this.#times) {
      if (Object.hasOwn(row, each.name)) data[each.name] = this.cell(each, row);
    }
    return data;
  }
}

/** Returns the shape of a format, or of the only column in it. */
function shapeOf(format: Format, only: Column | undefined): Shape {
  const { shape } = FORMATS[format];
  // Bare lines instead of csv and tsv too, as scripts loop over identifiers; but --urls has a header there.
  const isBare = shape.kind === 'table' || (shape.kind === 'lines' && only !== URL_COLUMN);
  return only && isBare ? { kind: 'bare', column: only } : shape;
}

function heldBy(row: Row, { name }: Column): unknown {
  return (Object.hasOwn(row, name) ? row[name] : null) ?? null;
}

/** Tables show times for people; all other formats, and --get, for programs. @throws ImgctlError usage */
function timeStyle(
  { format, time: setting }: OutputSettings,
  time: TimeStyle | undefined,
  get: string | undefined,
): TimeStyle {
  if (get !== undefined) return time ?? 'iso';
  if (format === 'table') return time ?? setting() ?? 'local';
  const isReadable = time === 'local' ? FORMATS[format].takesLocalTimes : time !== 'age';
  if (isReadable) return time ?? 'iso';
  throw new ImgctlError('usage', `--time ${time} cannot be used with the format ${format}`, {
    facts: 'use --time iso, or -o table',
  });
}
