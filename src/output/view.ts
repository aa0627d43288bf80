// What a command prints and how: decided once, before anything is sent.

import { hasCode, ImgctlError } from '../errors.ts';
import { BrokenPipeError } from '../io.ts';
import { FIELDS } from '../query/fields.ts';
import { formatTimestamp, type TimeStyle } from '../query/timestamp.ts';
import { incompatible, parseChoice, parseColumns } from '../suggest.ts';
import { isLineFormat } from './formats.ts';
import { createListWriter, type Row, type WriterOptions, writeRecord } from './writers.ts';

/** A field of JSON output, which is a column of tables. */
export interface Column extends Traits {
  readonly name: string;
  /** Its JSON types, such as `string or null`. */
  readonly type: string;
  readonly meaning: string;
}

interface Traits {
  /** -q prints it alone. */
  readonly isId?: boolean;
  /** --time formats it. */
  readonly isTime?: boolean;
  /** Computes the value from the row. It is shown only if -c or --get asks for it. */
  readonly value?: (row: Row, now: number) => unknown;
  /** Returns what a table shows instead of the value. */
  readonly text?: (value: unknown, now: number) => unknown;
}

/** Declares a column. */
export function column(name: string, type: string, meaning: string, traits?: Traits): Column {
  return { name, type, meaning, ...traits };
}

export function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}

/** Returns the columns with these names. */
export function pick(columns: readonly Column[], ...names: readonly string[]): Column[] {
  return columns.filter(({ name }) => names.includes(name));
}

/** Options that change what is printed, as commander parses them. */
export interface ViewOptions {
  get?: string;
  columns?: readonly string[];
  header?: boolean;
  meta?: boolean;
  time?: TimeStyle;
  trunc?: boolean;
  urls?: boolean;
}

/** What a command decides about its output. */
export interface Layout {
  /** The columns that tables show [all]. */
  readonly shown?: readonly string[];
  /** The columns of csv and tsv [those of tables]. */
  readonly cells?: readonly string[];
  /** Cuts no table, and wraps its last column between words. */
  readonly wrap?: boolean;
  /** Returns how many rows there are, for the line below a table on a terminal. */
  readonly summary?: () => string | undefined;
}

/** What the run says about its output. */
export interface Surface {
  readonly writer: Pick<WriterOptions, 'sink' | 'terminal' | 'quiet' | 'format'>;
  /** The option that chose the format, if one did. */
  readonly formatOption: '--json' | '--output' | undefined;
  /** Returns the setting for the format of times in tables. */
  time(): TimeStyle | undefined;
  now(): number;
  footer(summary: string | undefined, hidden: readonly string[], hasNoTrunc: boolean): void;
  note(message: string, hint?: string): void;
}

export class View {
  /** True if a person reads a table, not bare values. */
  readonly isTable: boolean;
  /** True if cells are texts: in tables, csv and tsv. */
  readonly isText: boolean;
  /** True if every field is printed: not in a table, nor with --get or -q. */
  readonly isWhole: boolean;
  readonly isNdjson: boolean;
  /** Formats a time as the columns of times. */
  readonly timeText: (time: string) => string;
  readonly #surface: Surface;
  readonly #writer: WriterOptions & { readonly columns: readonly string[] };

  /** @throws ImgctlError usage: options that contradict each other or name no column */
  constructor(
    surface: Surface,
    columns: readonly Column[],
    options: ViewOptions = {},
    { shown, cells = shown, wrap, summary }: Layout = {},
  ) {
    const { formatOption, now } = surface;
    const { format, quiet = false } = surface.writer;
    if (options.meta && format !== 'json' && format !== 'yaml') {
      throw new ImgctlError('usage', `--meta cannot be used with the format ${format}`, {
        hint: 'add -o json or -o yaml, or omit --meta',
      });
    }
    if (quiet && options.columns !== undefined) throw incompatible('--quiet', '--columns');
    if (options.get !== undefined && formatOption) throw incompatible('--get', formatOption);
    const valid = namesOf(columns);
    const stored = namesOf(columns.filter(({ value }) => !value));
    const where = `--get '${options.get}'`;
    const get =
      options.get === undefined
        ? undefined
        : parseChoice(options.get, { noun: 'field', valid, where });
    const chosen =
      options.columns && parseColumns(options.columns.join(','), '--columns', valid, stored);
    this.#surface = surface;
    this.isText = format === 'table' || isLineFormat(format);
    this.isNdjson = format === 'ndjson';
    const isBare = quiet || get !== undefined;
    this.isTable = format === 'table' && !isBare;
    this.isWhole = format !== 'table' && !isBare;
    const style = this.#timeStyle(options, get);
    this.timeText = (time) => formatTimestamp(time, style, now());
    const texts = new Map<string, (value: unknown) => unknown>();
    const computed = new Map<string, (row: Row) => unknown>();
    for (const { name, isTime, text, value } of columns) {
      if (value && (get === name || chosen?.includes(name))) {
        computed.set(name, (row: Row) => value(row, now()));
      }
      const { timeText } = this;
      const timed = (value: unknown) => (typeof value === 'string' ? timeText(value) : value);
      if (isTime && style !== 'raw') texts.set(name, timed);
      else if (text && this.isTable) texts.set(name, (value) => text(value, now()));
    }
    this.#writer = {
      ...surface.writer,
      columns: chosen ?? (format === 'table' ? shown : cells) ?? stored,
      // Without --columns json, ndjson and yaml show every field.
      allFields: chosen === undefined,
      idField: columns.find(({ isId }) => isId)?.name,
      times: namesOf(columns.filter(({ isTime }) => isTime)),
      texts,
      hasChoice: FIELDS.every((field) => valid.some((name) => name === field)),
      lists: namesOf(columns.filter(({ type }) => type.includes('array'))),
      computed,
      get,
      only: options.urls ? 'url' : undefined,
      header: options.header,
      trunc: options.trunc,
      wrap,
      footer: (hidden) => surface.footer(summary?.(), hidden, options.trunc !== undefined),
    };
  }

  /** A bare value of --get is data, whatever the format. @throws ImgctlError usage */
  #timeStyle({ time }: ViewOptions, get: string | undefined): TimeStyle {
    const { format } = this.#surface.writer;
    if (format === 'table' || get !== undefined) {
      return time ?? (get === undefined ? (this.#surface.time() ?? 'local') : 'raw');
    }
    // Spreadsheets read both, but not the service's own times.
    if (format === 'csv' && time !== 'age') return time ?? 'iso';
    if (time !== 'local' && time !== 'age') return time ?? 'raw';
    throw new ImgctlError('usage', `--time ${time} cannot be used with the format ${format}`, {
      hint: 'use --time iso, or -o table',
    });
  }

  /** Opens a list whose rows arrive gradually; the caller ends it. */
  openList() {
    return createListWriter(this.#writer);
  }

  async printList(rows: readonly Row[]): Promise<void> {
    const list = this.openList();
    await list.write(rows);
    await list.end();
  }

  /** @param columns of tables, csv and tsv [those of the view] */
  async printRecord(record: Row, columns = this.#writer.columns): Promise<void> {
    await writeRecord({ ...this.#writer, columns }, record);
  }

  /** True if notes are printed: other formats than a table show that nothing was found. */
  get hasNotes(): boolean {
    return this.#surface.writer.format === 'table';
  }

  /** Explains a table without rows. */
  readonly note = (message: string, hint?: string): void => {
    if (this.hasNotes) this.#surface.note(message, hint);
  };
}

/** Prints before an error is thrown, which neither a missing value of --get nor a reader that is gone must replace. */
export async function printBeforeError(printed: Promise<void>): Promise<void> {
  await printed.catch((error: unknown) => {
    if (!hasCode(error, 'not-found') && !(error instanceof BrokenPipeError)) throw error;
  });
}
