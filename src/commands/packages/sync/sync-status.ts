// imgctl sync-status: shows a sync request, by default the last one submitted here, or lists them.

import {
  argument,
  command,
  GET_OPTION,
  option,
  type Parsed,
  SERVICE_CODES,
} from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import { type Suggest, suggestRows } from '../../../cli/suggestions.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError, tryOr } from '../../../errors.ts';
import { hint, imgctl } from '../../../facts.ts';
import type { Followed } from './follow.ts';
import { type HistoryEntry, readHistory, rememberRequest } from './history.ts';
import { ERRORS, LIST_ONLY, listRequests, NO_REQUESTS, SUBMIT } from './list-requests.ts';
import { STATUS_COLUMNS, STATUS_LAYOUT, STRICT_OPTION, WAIT_OPTIONS } from './options.ts';
import { isRecent, LIST_REQUESTS, readRequest } from './read-request.ts';
import { followedResult, requestResult } from './request-result.ts';

const OPTIONS = [
  ...WAIT_OPTIONS,
  option('--list', 'list requests of this profile and machine, newest first', {
    conflicts: ['wait', 'strict'],
  }),
  STRICT_OPTION,
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

const suggestIds: Suggest = async ({ context, settings }) => {
  const { syncState } = await import('../../../api/sync-requests.ts');
  const newestFirst = tryOr(() => readHistory({ io: context.io, settings }), []).reverse();
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

async function run(context: Context, options: Options, typedId?: string): Promise<Result> {
  if (!options.list) return showRequest(context, options, typedId);
  if (typedId === undefined) return listRequests(context, options);
  const show = hint`show one request with: ${imgctl('sync-status', typedId)}`;
  const message = `--list cannot be used with an id (got ${typedId})`;
  throw new ImgctlError('usage', message, { facts: show });
}

async function showRequest(context: Context, options: Options, typedId?: string): Promise<Result> {
  const output = context.output(STATUS_COLUMNS, { ...options, ...STATUS_LAYOUT });
  const found = await findRequest(context, typedId);
  if (options.wait) return followedResult(context, output, found, options);
  const wasSeen = isRecent(context.io.elapsed() - found.seenAt);
  const request = await readRequest(context, found.id, wasSeen);
  if (found.isInHistory) await rememberRequest(context, 'checked', request);
  return requestResult(context, output, request, options.strict);
}

/** Returns the request with the typed id, or the last one. */
async function findRequest(context: Context, typedId: string | undefined): Promise<Followed> {
  if (typedId === undefined) {
    const last = readHistory(context).at(-1);
    if (last) return { id: last.id, isInHistory: true, seenAt: seenAt(last, context) };
    throw new ImgctlError('not-found', NO_REQUESTS, { facts: hint`provide an id, or ${SUBMIT}` });
  }
  const { isSyncId } = await import('../../../api/sync-requests.ts');
  if (!isSyncId(typedId)) {
    const message = `invalid sync request id: ${typedId}`;
    throw new ImgctlError('usage', message, { facts: LIST_REQUESTS });
  }
  const { parseId } = await import('../../../api/responses.ts');
  const id = parseId(typedId);
  // With an id, the history only tells how young the request may be.
  const entries = tryOr(() => readHistory(context), []);
  // A service may send the id as a number or as text.
  const entry = entries.find((each) => `${each.id}` === `${id}`);
  if (!entry) return { id, isInHistory: false, seenAt: -Infinity };
  return { id, isInHistory: true, seenAt: seenAt(entry, context) };
}

function seenAt({ checked_on }: HistoryEntry, { io }: Context): number {
  // A clock that was set back since makes an age negative.
  return io.elapsed() - Math.max(io.now() - Date.parse(checked_on), 0);
}
