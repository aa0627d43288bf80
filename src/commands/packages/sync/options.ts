// The options and columns that sync, sync-status and push share.

import type { OptionDeclaration } from '../../../cli/command-types.ts';
import { option } from '../../../cli/declare.ts';
import { column } from '../../../output/columns.ts';
import type { OutputOptions } from '../../../output/output.ts';
import { POLL_OPTIONS } from './follow.ts';
import { describeImages } from './image-names.ts';
import { describeState } from './problems.ts';

export function implyingWait<Declared extends OptionDeclaration>(declared: Declared) {
  const description = `${declared.description}; implies --wait`;
  return { ...declared, description, implies: { wait: true } };
}

export const WAIT_OPTIONS = [
  option('--wait', 'wait until the sync finishes; exit with 1 if it fails'),
  ...POLL_OPTIONS.map((each) => implyingWait(each)),
] as const;

export const STRICT_OPTION = option('--strict', 'exit with 1 also for warnings and unknown errors');

const ID_AND_STATUS = [
  column('id', 'number or string', 'sync request id, as the service sent it', { isId: true }),
  column('status', 'string or null', 'status of the service, such as PENDING', { isState: true }),
];

/** Columns of a sync request that was submitted, without --wait. */
export const SUBMITTED_COLUMNS = [
  ...ID_AND_STATUS,
  column('url', 'string', 'URL of the sync request'),
  column('message', 'string or null', 'message from the service'),
  column('response', 'object, array, string or null', 'the body that the service sent'),
];

/** Older services send null for no images. */
const AS_NAMES = { text: describeImages, nullIsEmpty: true };
export const AS_TIME = { isTime: true };

/** The id, and how the request ended; the list of requests has these too. */
export const OUTCOME_COLUMNS = [
  ...ID_AND_STATUS,
  column('state', 'string', 'waiting, succeeded or failed', { isState: true, text: describeState }),
  column('added', 'array, number or null', 'added images: their names, or how many', AS_NAMES),
  column('deleted', 'array, number or null', 'deleted images: their names, or how many', AS_NAMES),
];

/** Columns of a sync request that was read. */
export const STATUS_COLUMNS = [
  ...OUTCOME_COLUMNS,
  column('errors', 'array or null', 'reported errors; null if unknown'),
  column('warnings', 'array or null', 'reported warnings; null if unknown'),
  column('created_on', 'string or null', 'when submitted, in UTC (ISO 8601)', AS_TIME),
  column('updated_on', 'string or null', 'when last changed, in UTC (ISO 8601)', AS_TIME),
  column('response', 'object', 'the body that the service sent'),
];

const CHANGES_AND_TIMES = ['state', 'added', 'deleted', 'created_on', 'updated_on'];

export const STATUS_LAYOUT: OutputOptions = {
  shown: ['id', ...CHANGES_AND_TIMES],
  // A table has no room for errors and warnings.
  lineColumns: ['id', 'status', ...CHANGES_AND_TIMES, 'errors', 'warnings'],
};
