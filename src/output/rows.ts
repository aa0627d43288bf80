// Reads the fields of a row and writes values as cells and JSON.

import { stringify } from '../json.ts';
import { escapeInJson } from './sanitize.ts';

export type Row = Readonly<Record<string, unknown>>;

export interface TimeFields {
  readonly fields: readonly string[];
  readonly format: (timestamp: string) => string;
}

export interface RowFields {
  /** Columns of tables, csv and tsv, in this order [all fields of the record]. */
  readonly columns?: readonly string[] | undefined;
  /** Shows all fields instead of `columns` in json, ndjson and yaml [true]. */
  readonly allFields?: boolean | undefined;
  readonly times?: TimeFields | undefined;
}

export function fieldOf(row: Row, name: string, times?: TimeFields): unknown {
  const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
  return typeof value === 'string' && times?.fields.includes(name) ? times.format(value) : value;
}

export function pickFields(row: Row, names: readonly string[], times?: TimeFields): Row {
  return Object.fromEntries(names.map((name) => [name, fieldOf(row, name, times)]));
}

export function dataOf(row: Row, { columns, allFields = true, times }: RowFields): Row {
  if (columns && !allFields) return pickFields(row, columns, times);
  return times ? pickFields(row, Object.keys(row), times) : row;
}

export function cellText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? jsonText(value, 0) : String(value);
}

/** Returns JSON that is safe for a terminal, without a final newline. */
export function jsonText(value: unknown, indent: number): string {
  return escapeInJson(stringify(value, indent));
}

/** Still to be escaped as one text: V8 copies each line to search it. */
export function ndjsonText(values: readonly unknown[]): string {
  return values.map((value) => `${stringify(value)}\n`).join('');
}
