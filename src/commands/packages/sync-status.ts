// imgctl sync-status: shows a sync request, by default the last one submitted here, or lists them.

import {
  argument,
  command,
  GET_OPTION,
  option,
  type Parsed,
  SERVICE_CODES,
} from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import { type Suggest, suggestRows } from '../../cli/suggestions.ts';
import { requireBaseUrl } from '../../config/addresses.ts';
import { findPaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { ImgctlError, tryOr } from '../../errors.ts';
import { hint, imgctl } from '../../facts.ts';
import { column } from '../../output/columns.ts';
import { formatTimestamp } from '../../query/time-format.ts';
import { follow, isRecent, LIST_REQUESTS, readRequest } from './follow.ts';
import { type HistoryEntry, readHistory, rememberRequest } from './history.ts';
import { requestResult } from './show-request.ts';
import {
  AS_TIME,
  STATUS_COLUMNS,
  STATUS_LAYOUT,
  STRICT_OPTION,
  WAIT_OPTIONS,
} from './sync-columns.ts';

/** Columns of a request that is read which --list has too, as last checked. */
const LISTED = ['id', 'status', 'state', 'added', 'deleted'];

const LIST_ONLY = [
  column('submitted_on', 'string', 'with --list: when submitted, in UTC (ISO 8601)', AS_TIME),
  column('checked', 'string', 'with --list: when last checked, in UTC (ISO 8601)', {
    ...AS_TIME,
    text: (time, now) => formatTimestamp(`${time}`, 'age', now),
    hides: 1,
  }),
  column('base_url', 'string', 'with --list: address of the service'),
];

const ERRORS = column('errors', 'array, number or null', 'reported errors; with --list, how many');

const LIST_COLUMNS = [
  ...STATUS_COLUMNS.filter(({ name }) => LISTED.includes(name)),
  ERRORS,
  ...LIST_ONLY,
];

const OPTIONS = [
  ...WAIT_OPTIONS,
  option('--list', 'list requests of this profile and machine, newest first', {
    conflicts: ['wait', 'pollInterval', 'waitTimeout', 'strict'],
  }),
  STRICT_OPTION,
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

const suggestIds: Suggest = async ({ context, settings }) => {
  const { syncState } = await import('../../api/sync-requests.ts');
  const newestFirst = tryOr(() => ownRequests({ io: context.io, settings }), []).reverse();
  return suggestRows(
    newestFirst.map(({ id, status }) => [`${id}`, syncState(status ?? undefined)]),
  );
};

export const syncStatus = command({
  name: 'sync-status',
  summary: 'show or follow a sync request',
  description: [
    'Exits with 1 if the request failed or has errors. --list works offline: it shows each state as last checked.',
  ],
  examples: [
    'imgctl sync-status',
    'imgctl sync-status 1 --wait --json',
    'imgctl sync-status --list',
  ],
  seeAlso: ['sync'],
  arguments: [
    argument('id', 'id of the sync request (the last of this profile)', { suggest: suggestIds }),
  ],
  options: OPTIONS,
  fields: [...STATUS_COLUMNS.filter(({ name }) => name !== 'errors'), ERRORS, ...LIST_ONLY],
  exitCodes: [...SERVICE_CODES, 7],
  run,
});

async function run(context: Context, options: Options, argument?: string): Promise<Result> {
  if (options.list) return list(context, options, argument);
  const output = context.output(STATUS_COLUMNS, { ...options, ...STATUS_LAYOUT });
  if (argument !== undefined && !/^\w[\w.-]{0,99}$/.test(argument)) {
    const message = `invalid sync request id: ${argument}`;
    throw new ImgctlError('usage', message, { facts: LIST_REQUESTS });
  }
  const { parseId } = await import('../../api/responses.ts');
  const read = () => ownRequests(context);
  // With an id, the history only tells how young the request may be.
  const entries = argument === undefined ? read() : tryOr(read, []);
  const id = argument === undefined ? entries.at(-1)?.id : parseId(argument);
  if (id === undefined) {
    throw new ImgctlError('not-found', NO_REQUESTS, { facts: hint`provide an id, or ${SUBMIT}` });
  }
  // A service may send the id as a number or as text.
  const entry = entries.find((each) => `${each.id}` === `${id}`);
  const age = entry ? context.io.now() - Date.parse(entry.checked_on) : Infinity;
  // A clock that was set back since makes an age negative.
  const known = { id, isStored: entry !== undefined, age: Math.max(age, 0) };
  if (options.wait) {
    const started = context.io.elapsed();
    const request = await follow(context, known, options);
    return requestResult(context, output, request, { ...options, started });
  }
  const request = await readRequest(context, id, isRecent(known));
  if (known.isStored) await rememberRequest(context, id, request);
  return requestResult(context, output, request, options);
}

async function list(context: Context, options: Options, id?: string): Promise<Result> {
  const output = context.output(LIST_COLUMNS, {
    ...options,
    shown: ['id', 'state', 'submitted_on', 'checked', 'added', 'deleted'],
    cells: ['id', 'status', 'state', 'submitted_on', 'checked', 'errors', 'added', 'deleted'],
  });
  if (id !== undefined) {
    const show = hint`show one request with: ${imgctl('sync-status', id)}`;
    throw new ImgctlError('usage', `--list cannot be used with an id (got ${id})`, { facts: show });
  }
  const { syncState } = await import('../../api/sync-requests.ts');
  const entries = ownRequests(context).reverse();
  const stateOf = ({ status }: HistoryEntry) => syncState(status ?? undefined);
  const afterwards = () => {
    if (!output.isTable) return;
    if (entries.length === 0) context.tell({ kind: 'note', message: NO_REQUESTS, hint: SUBMIT });
    const waiting = entries.filter((each) => stateOf(each) === 'waiting').map(({ id }) => id);
    if (waiting.length === 0) return;
    const check = hint`check with: ${imgctl('sync-status', `${waiting[0]}`)}`;
    const message = `waiting when last checked: ${waiting.join(', ')}`;
    context.tell({ kind: 'note', message, hint: check });
  };
  const rows = entries.map((entry) => {
    const { id, status, added = null, deleted = null, errors = null, submitted_on } = entry;
    const { checked_on: checked, base_url } = entry;
    return {
      id,
      status,
      state: stateOf(entry),
      added,
      deleted,
      errors,
      submitted_on,
      checked,
      base_url,
    };
  });
  return { output, rows, afterwards };
}

const NO_REQUESTS = 'this profile has submitted no sync request from this machine';
const SUBMIT = hint`submit one with: ${imgctl('sync')}`;

/** Returns the requests of this profile and service, oldest first. @throws ImgctlError config */
function ownRequests({ io, settings }: Pick<Context, 'io' | 'settings'>): HistoryEntry[] {
  requireBaseUrl(settings);
  const { profile, baseUrl } = settings.account;
  return readHistory(findPaths(io).state, profile, baseUrl);
}
