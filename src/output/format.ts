// The formats, and what a command says about what it wants to show in one of them.

import type { Sink } from '../io.ts';
import type { RowFields } from './cells.ts';
import type { Terminal } from './terminal.ts';

export const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'] as const;

export type Format = (typeof FORMATS)[number];

export function isFormat(text: string): text is Format {
  return FORMATS.some((format) => format === text);
}

/** The style of `--time` where none is asked for. */
export function defaultTimeStyle(format: Format): 'local' | 'wire' {
  return format === 'table' ? 'local' : 'wire';
}

export interface ValueOptions {
  readonly sink: Sink;
  /** What `sink` can show. */
  readonly terminal: Terminal;
  readonly format: Format;
  /** Whether tables of rows, csv and tsv begin with a line of names; true if not given. */
  readonly header?: boolean | undefined;
}

export interface RecordOptions extends ValueOptions, RowFields {
  /** Identifiers only, as a list of values. */
  readonly quiet?: boolean | undefined;
  /** The field that holds the identifier; `id` if not given. */
  readonly idField?: string | undefined;
}

export interface ListOptions extends RecordOptions {
  readonly columns: readonly string[];
}
