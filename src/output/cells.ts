// The fields of a row, and what a field is as the text of one cell.

import { jsonText } from './json.ts';

/** A record as it came: its keys are data, whatever their names. */
export type Row = Readonly<Record<string, unknown>>;

/** How the fields that hold time stamps show. */
export interface TimeFields {
  readonly fields: readonly string[];
  readonly format: (timestamp: string) => string;
}

/** Which fields of a row are shown, and how. */
export interface RowFields {
  /** Those of tables, csv and tsv, in this order; those of a record itself if not given. */
  readonly columns?: readonly string[] | undefined;
  /** Whether json, ndjson and yaml show every field there is instead of `columns`; true if not given. */
  readonly allFields?: boolean | undefined;
  /** Time stamps show as they were sent if not given. */
  readonly times?: TimeFields | undefined;
}

/** A field of a row; null where the row has none. */
export function fieldOf(row: Row, name: string, times?: TimeFields): unknown {
  const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
  return typeof value === 'string' && times?.fields.includes(name) ? times.format(value) : value;
}

/** Exactly these fields, in this order. */
export function pickFields(row: Row, names: readonly string[], times?: TimeFields): Row {
  return Object.fromEntries(names.map((name) => [name, fieldOf(row, name, times)]));
}

/** A row as json, ndjson and yaml show it: with all its fields, also unknown ones, or with `columns` only. */
export function dataOf(row: Row, shown: RowFields): Row {
  const { columns, allFields = true, times } = shown;
  if (columns && !allFields) return pickFields(row, columns, times);
  return times ? pickFields(row, Object.keys(row), times) : row;
}

/** null is empty, a list or map is JSON on one line. */
export function cellText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? jsonText(value, 0) : String(value);
}
