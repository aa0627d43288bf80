// sync-status --list: the requests submitted from this machine, as last checked.

import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { hint, imgctl } from '../../../facts.ts';
import { column } from '../../../output/columns.ts';
import type { OutputOptions } from '../../../output/output.ts';
import { formatTimestamp } from '../../../query/time-format.ts';
import { readHistory } from './history.ts';
import { AS_TIME, OUTCOME_COLUMNS } from './options.ts';

export const NO_REQUESTS = 'this profile has submitted no sync request from this machine';
export const SUBMIT = hint`submit one with: ${imgctl('sync')}`;

const ONLY_TIME = { ...AS_TIME, needs: '--list' };

/** Columns that only --list has. */
export const LIST_ONLY = [
  column('submitted_on', 'string', 'when submitted, in UTC (ISO 8601)', ONLY_TIME),
  column('checked', 'string', 'when last checked, in UTC (ISO 8601)', {
    ...ONLY_TIME,
    text: (time, _, now) => formatTimestamp(`${time}`, 'age', now),
    hides: 'first',
  }),
  column('base_url', 'string', 'address of the service', { needs: '--list' }),
];

/** The errors of a request that is read; in the list, their number. */
export const ERRORS = column(
  'errors',
  'array, number or null',
  'reported errors; with --list, how many',
);

const COLUMNS = [...OUTCOME_COLUMNS, ERRORS, ...LIST_ONLY];

/** Lists the requests of this profile, the newest first. */
export async function listRequests(context: Context, options: OutputOptions): Promise<Result> {
  const output = context.output(COLUMNS, {
    ...options,
    shown: ['id', 'state', 'submitted_on', 'checked', 'added', 'deleted'],
    lineColumns: ['id', 'status', 'state', 'submitted_on', 'checked', 'errors', 'added', 'deleted'],
  });
  const { syncState } = await import('../../../api/sync-requests.ts');
  const newestFirst = readHistory(context).reverse();
  const rows = newestFirst.map((entry) => {
    const { id, status, added = null, deleted = null, errors = null, submitted_on } = entry;
    const { checked_on: checked, base_url } = entry;
    const state = syncState(status ?? undefined);
    return { id, status, state, added, deleted, errors, submitted_on, checked, base_url };
  });
  const waiting = rows.filter(({ state }) => state === 'waiting').map(({ id }) => id);
  const afterwards = () => {
    if (!output.isTable) return;
    if (rows.length === 0) context.console.note(NO_REQUESTS, SUBMIT);
    if (waiting.length === 0) return;
    const check = hint`check with: ${imgctl('sync-status', `${waiting[0]}`)}`;
    context.console.note(`waiting when last checked: ${waiting.join(', ')}`, check);
  };
  return { output, rows, afterwards };
}
