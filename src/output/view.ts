// What a command prints and how: decided once, before anything is sent.

import { incompatible, parseChoice } from '../choices.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { BrokenPipeError } from '../io.ts';
import { FIELDS } from '../query/fields.ts';
import { formatTimestamp, type TimeStyle } from '../query/timestamp.ts';
import { parseColumns } from './columns.ts';
import { isLineFormat } from './formats.ts';
import { createListWriter, fieldOf, type Row, type WriterOptions, writeRecord } from './writers.ts';

export type { Row };

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

export function column(name: string, type: string, meaning: string, traits?: Traits): Column {
  return { name, type, meaning, ...traits };
}

export function namesOf(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}

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
  /** Prints even if the format in the settings is invalid: the command says what is wrong. */
  readonly isTolerant?: boolean;
}

/** What the run says about its output. */
export interface Surface extends Pick<WriterOptions, 'sink' | 'terminal' | 'format'> {
  readonly quiet: boolean;
  /** Returns the setting for the format of times in tables. */
  time(): TimeStyle | undefined;
  now(): number;
  footer(summary: string | undefined, hidden: readonly string[], hasNoTrunc: boolean): void;
  note(message: string, hint?: string | Facts): void;
}

export class View {
  /** True if a person reads a table, not bare values. */
  readonly isTable: boolean;
  /** True if cells are texts: in tables, csv and tsv. */
  readonly isText: boolean;
  /** True if every field is printed: not in a table, nor with --get or -q. */
  readonly isWhole: boolean;
  /** True if notes are printed: other formats than a table show that nothing was found. */
  readonly hasNotes: boolean;
  readonly note: Surface['note'];
  readonly get: string | undefined;
  readonly timeText: (time: string) => string;
  readonly #writer: WriterOptions;

  /** @throws ImgctlError usage: options that contradict each other or name no column */
  constructor(
    surface: Surface,
    columns: readonly Column[],
    options: ViewOptions = {},
    { shown, cells = shown, wrap, summary }: Layout = {},
  ) {
    const { format, quiet, now } = surface;
    if (options.meta && format !== 'json' && format !== 'yaml') {
      throw new ImgctlError('usage', `--meta cannot be used with the format ${format}`, {
        hint: 'add -o json or -o yaml, or omit --meta',
      });
    }
    if (quiet && options.columns !== undefined) throw incompatible('--quiet', '--columns');
    const valid = namesOf(columns);
    const stored = namesOf(columns.filter(({ value }) => !value));
    const where = `--get '${options.get}'`;
    const get = options.get && parseChoice(options.get, { noun: 'field', valid, where });
    const chosen =
      options.columns && parseColumns(options.columns.join(','), '--columns', valid, stored);
    const isBare = quiet || get !== undefined;
    this.get = get;
    this.hasNotes = format === 'table';
    this.note = this.hasNotes ? surface.note : () => {};
    this.isText = format === 'table' || isLineFormat(format);
    this.isTable = format === 'table' && !isBare;
    this.isWhole = format !== 'table' && !isBare;
    const times = namesOf(columns.filter(({ isTime }) => isTime));
    const style = times.length === 0 ? 'raw' : timeStyle(surface, options.time, get);
    this.timeText = (time) => formatTimestamp(time, style, now());
    const timed = (time: unknown) => (typeof time === 'string' ? this.timeText(time) : time);
    const values = new Map<string, (row: Row) => unknown>();
    for (const { name, isTime, text, value } of columns) {
      const isAsked = get === name || chosen?.includes(name);
      const own = this.isTable && text;
      const shownText = own || (isTime && style !== 'raw' && timed);
      if (!shownText && !(value && isAsked)) continue;
      values.set(name, (row) => {
        const computed = (isAsked ? value?.(row, now()) : null) ?? fieldOf(row, name);
        return computed === null || !shownText ? computed : shownText(computed, now());
      });
    }
    const idField = columns.find(({ isId }) => isId)?.name ?? 'id';
    const { header, trunc, urls } = options;
    this.#writer = {
      ...surface,
      // Bare lines in csv and tsv too, as scripts loop over identifiers.
      format: quiet && !urls && isLineFormat(format) ? 'table' : format,
      columns: chosen ?? (format === 'table' ? shown : cells) ?? stored,
      // Without --columns json, ndjson and yaml show every field.
      allFields: chosen === undefined,
      idField,
      times,
      values,
      hasChoice: FIELDS.every((field) => valid.some((name) => name === field)),
      get,
      isList: columns.some(({ name, type }) => name === get && type.includes('array')),
      only: urls ? 'url' : quiet ? idField : undefined,
      header,
      trunc,
      wrap,
      footer: (hidden) => surface.footer(summary?.(), hidden, trunc !== undefined),
    };
  }

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
}

/** Tables show times for people; all other formats, and --get, for programs. @throws ImgctlError usage */
function timeStyle(
  { format, time: setting }: Surface,
  time: TimeStyle | undefined,
  get: string | undefined,
): TimeStyle {
  if (get !== undefined) return time ?? 'iso';
  if (format === 'table') return time ?? setting() ?? 'local';
  // Spreadsheets read local times too.
  const isReadable = time === 'local' ? format === 'csv' : time !== 'age';
  if (isReadable) return time ?? 'iso';
  throw new ImgctlError('usage', `--time ${time} cannot be used with the format ${format}`, {
    hint: 'use --time iso, or -o table',
  });
}

/** @param isFailing an error follows, which neither a missing value of --get nor a reader that is gone must replace */
export async function printBefore(isFailing: boolean, printed: Promise<void>): Promise<void> {
  await printed.catch((error: unknown) => {
    const isMinor = hasCode(error, 'not-found') || error instanceof BrokenPipeError;
    if (!(isFailing && isMinor)) throw error;
  });
}
