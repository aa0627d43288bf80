// How a command wants its data printed; overrides options and settings.

import type { ListOptions } from './writers.ts';

type Overrides = 'allFields' | 'columns' | 'format' | 'get' | 'header' | 'idField' | 'times';

export interface PrintOptions extends Partial<Pick<ListOptions, Overrides>> {
  /** False to cut nothing of a table on a terminal; undefined if the command has no --no-trunc. */
  readonly trunc?: boolean | undefined;
  /** Returns how many rows there are, for the line below a table on a terminal. */
  readonly summary?: () => string;
}
