// What the commands for locks share: their columns, arguments and options.

import { argument, GET_OPTION } from '../../../cli/declare.ts';
import { column, pick } from '../../../output/columns.ts';
import { CATALOGUE_OPTIONS, IMAGE_COLUMNS } from '../options.ts';
import { LOCK_FILE_OPTION, suggestLocks } from './lock-file.ts';

export const LOCK_NAME = column('lock', 'string', 'name of the lock', { isId: true });

export const LOCK_COLUMNS = [
  LOCK_NAME,
  column('text', 'array', 'words that the name must match'),
  column('filters', 'array', 'filters of the query, as given'),
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path', 'created_on', 'updated_on'),
];

/** The columns that a table of locks shows. */
export const SHOWN_COLUMNS = ['lock', 'id', 'name', 'updated_on'];

export const NAMES = argument('name', 'names of locked images (all)', {
  variadic: true,
  suggest: suggestLocks,
});

/** Options of a command that only reads the lock file. */
export const LOCK_OPTIONS = [LOCK_FILE_OPTION, GET_OPTION] as const;

/** Options of a command that reads the catalogue too. */
export const LOCK_CATALOGUE_OPTIONS = [...LOCK_OPTIONS, ...CATALOGUE_OPTIONS] as const;
