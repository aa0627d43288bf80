// Columns: fields of data, how tables show them, and their names as users choose them.

import { parseChoice } from '../choices.ts';

export type Row = Readonly<Record<string, unknown>>;

/**
 * In this order, a table hides columns while it is too wide. Only a narrow terminal has the last
 * step: it shows names rather than times.
 */
export const HIDING_STEPS = ['first', 'second', 'if narrow'] as const;

/** A field of data, which is a column of tables. */
export interface Column extends Traits {
  readonly name: string;
  /** Its JSON types, such as `string or null`. */
  readonly type: string;
  readonly meaning: string;
}

interface Traits {
  /** The options without which no record has it, such as `-c or --get`. */
  readonly needs?: string;
  /** -q prints the first id alone. */
  readonly isId?: boolean;
  /** False if a table must not cut it; default: an id is not cut. Times and states never are. */
  readonly isCuttable?: boolean;
  /** --time formats it. */
  readonly isTime?: boolean;
  /** Its words are coloured, as `stateStyle` says. */
  readonly isState?: boolean;
  /** Null is an empty list: --get prints nothing of it. Else null is unknown, which is an error. */
  readonly nullIsEmpty?: boolean;
  /** The column is never hidden if undefined. */
  readonly hides?: (typeof HIDING_STEPS)[number] | undefined;
  /** The column is not hidden if two rows have the same value in the column of this name. */
  readonly distinguishes?: string;
  /** Computes the value from the row. Such a column is shown only if it is named. */
  readonly value?: (row: Row, now: number) => unknown;
  /** Returns what a table shows instead of the value. */
  readonly text?: (value: unknown, row: Row, now: number) => unknown;
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

/**
 * Parses names of columns, such as `id,name`, `all` or `all,version`.
 * @param where the option, such as `--columns`
 * @param all what `all` stands for
 * @throws ImgctlError usage
 */
export function parseColumns<Name extends string>(
  text: string,
  where: string,
  valid: readonly Name[],
  all: readonly Name[] = valid,
): readonly Name[] {
  return text.split(',').flatMap((word) => {
    const name = word.trim();
    if (name.toLowerCase() === 'all') return all;
    return [parseChoice(name, { noun: 'field', valid, where: `${where} '${text}'` })];
  });
}
