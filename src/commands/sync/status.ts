// imgctl sync-status: shows a sync request, by default the last one submitted here, or lists them. Sync and push follow
// theirs in the same way.

import type { SyncRequest } from '../../api/sync-requests.ts';
import { command, GET_OPTION, option, SERVICE_CODES } from '../../cli/command.ts';
import type { Parsed } from '../../cli/declarations.ts';
import { anyText, duration } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { errorReason, hasCode, ImgctlError } from '../../errors.ts';
import { stringify } from '../../json.ts';
import { column, type Layout, pick, printBefore, type View } from '../../output/view.ts';
import { formatTimestamp } from '../../query/timestamp.ts';
import { type HistoryEntry, readHistory, remember } from '../../session/history.ts';
import { counted, describeDuration } from '../../words.ts';

export const POLL_OPTIONS = [
  option('--poll-interval <duration>', 'check this often (default: every 2s, slowing to 15s)', {
    value: duration(),
  }),
  option('--wait-timeout <duration>', 'stop waiting after this time and exit with 7', {
    default: '1h',
    value: duration(),
  }),
] as const;

export const WAIT_OPTIONS = [
  option('--wait', 'wait until the sync finishes; exit with 1 if it fails'),
  ...POLL_OPTIONS.map((option) => ({
    ...option,
    description: `${option.description}; implies --wait`,
    implies: { wait: true },
  })),
] as const;

export const STRICT_OPTION = option('--strict', 'exit with 1 if the sync has errors or warnings');

const ID_AND_STATUS = [
  column('id', 'number or string', 'identifier of the sync request, as the service sent it'),
  column('status', 'string or null', 'status that the service reports, such as PENDING'),
];

/** Of a sync request that was submitted, without --wait. */
export const SUBMITTED_COLUMNS = [
  ...ID_AND_STATUS,
  column('url', 'string', 'URL of the sync request'),
  column('message', 'string or null', 'message from the service'),
  column('response', 'object, array, string or null', 'the body that the service sent'),
];

const NAMES = { text: describeNames };
const TIME = { isTime: true };

/** Of a sync request that was read. */
export const STATUS_COLUMNS = [
  ...ID_AND_STATUS,
  column('state', 'string', 'waiting, succeeded or failed'),
  column('added', 'array, number or null', 'added images: their names, or how many', NAMES),
  column('deleted', 'array, number or null', 'deleted images: their names, or how many', NAMES),
  column('errors', 'array', 'errors that the service reports'),
  column('warnings', 'array', 'warnings that the service reports'),
  column('created_on', 'string or null', 'when it was submitted, as the service writes it', TIME),
  column('updated_on', 'string or null', 'when it last changed, as the service writes it', TIME),
  column('response', 'object', 'the body that the service sent'),
];

const CHANGES_AND_TIMES = ['state', 'added', 'deleted', 'created_on', 'updated_on'];

export const STATUS_LAYOUT: Layout = {
  shown: ['id', ...CHANGES_AND_TIMES],
  // A table has no room for errors and warnings.
  cells: ['id', 'status', ...CHANGES_AND_TIMES, 'errors', 'warnings'],
};

const LIST_ONLY = [
  column('submitted_on', 'string', 'with --list: when it was submitted, in UTC (ISO 8601)', TIME),
  column('checked', 'string', 'with --list: when its status was last read, in UTC (ISO 8601)', {
    text: (time, now) => formatTimestamp(`${time}`, 'age', now),
  }),
  column('base_url', 'string', 'with --list: address of the service'),
];

const ANY_ERRORS = column(
  'errors',
  'array, number or null',
  'errors that the service reports; with --list, how many',
);

const LIST_COLUMNS = [
  ...pick(STATUS_COLUMNS, 'id', 'status', 'state'),
  column('errors', 'number or null', 'how many errors it had then; null if unknown'),
  ...LIST_ONLY,
];

const OPTIONS = [
  ...WAIT_OPTIONS,
  option('--list', 'list what this profile submitted from this machine, newest first', {
    conflicts: ['wait', 'pollInterval', 'waitTimeout', 'strict'],
  }),
  STRICT_OPTION,
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const syncStatus = command({
  name: 'sync-status',
  summary: 'show or follow a sync request',
  description: [
    'Exits with 1 if the request failed. --list works offline: it shows each state as last checked.',
  ],
  examples: [
    'imgctl sync-status',
    'imgctl sync-status 1 --wait --json',
    'imgctl sync-status --list',
  ],
  seeAlso: ['sync'],
  arguments: [
    {
      name: 'id',
      description: 'id of the sync request (the last of this profile)',
      value: anyText({ from: 'sync-ids' }),
    },
  ],
  options: OPTIONS,
  fields: [...STATUS_COLUMNS.filter(({ name }) => name !== 'errors'), ANY_ERRORS, ...LIST_ONLY],
  exitCodes: [...SERVICE_CODES, 7],
  run,
});

async function run(context: Context, options: Options, argument: string | undefined) {
  if (options.list) return list(context, options, argument);
  const view = context.view(STATUS_COLUMNS, options, STATUS_LAYOUT);
  if (argument !== undefined && !/^\w[\w.-]{0,99}$/.test(argument)) {
    throw new ImgctlError('usage', `invalid sync request id: ${argument}`, { hint: LIST_REQUESTS });
  }
  const { parseId } = await import('../../api/responses.ts');
  const known = await localRequests(context);
  const id = argument === undefined ? known.at(-1)?.id : parseId(argument);
  if (id === undefined) {
    throw new ImgctlError('not-found', NO_REQUESTS, { hint: `provide an id, or ${SUBMIT}` });
  }
  // A service may send the id as a number or as text.
  const entry = known.find((each) => `${each.id}` === `${id}`);
  if (options.wait) {
    const started = context.io.now();
    const submittedAt = entry && Date.parse(entry.submitted_on);
    const request = await follow(context, id, options, submittedAt);
    return showRequest(context, view, request, { ...options, started });
  }
  const request = await readRequest(context, id);
  if (entry) await rememberRequest(context, id, request);
  await showRequest(context, view, request, options);
}

async function list(context: Context, options: Options, id: string | undefined): Promise<void> {
  const view = context.view(LIST_COLUMNS, options, {
    shown: ['id', 'state', 'errors', 'submitted_on', 'checked'],
    cells: ['id', 'status', 'state', 'submitted_on', 'checked', 'errors'],
  });
  if (id !== undefined) {
    throw new ImgctlError('usage', `--list cannot be used with an id (got ${id})`, {
      hint: `show one request with: imgctl sync-status ${id}`,
    });
  }
  const { syncState } = await import('../../api/sync-requests.ts');
  const entries = (await localRequests(context)).reverse();
  const rows = entries.map(({ id, status, submitted_on, checked_on, base_url, errors = null }) => {
    const state = syncState(status ?? undefined);
    const checked = checked_on ?? submitted_on;
    return { id, status, state, errors, submitted_on, checked, base_url };
  });
  await view.printList(rows);
  if (!view.isTable) return;
  const waiting = rows.find(({ state }) => state === 'waiting');
  if (entries.length === 0) context.console.note(NO_REQUESTS, SUBMIT);
  else if (waiting) {
    const hint = `check it with: ${statusCommand(context, waiting.id)}`;
    context.console.note(`sync request ${waiting.id} was waiting when last checked`, hint);
  }
}

const NO_REQUESTS = 'this profile has submitted no sync request from this machine';
const SUBMIT = 'submit one with: imgctl sync';
const LIST_REQUESTS = 'list your requests with: imgctl sync-status --list';

/**
 * Prints the request.
 * @param options `started` is when the wait for the request began
 * @throws ImgctlError sync-failed
 */
export async function showRequest(
  context: Context,
  view: View,
  request: SyncRequest,
  options: { strict?: boolean; started?: number },
): Promise<void> {
  const { started, strict = false } = options;
  // Not sent is a missing value of --get, null an empty list.
  const absent = view.isWhole ? null : undefined;
  const { id, status = null, state, added = absent, deleted = absent, errors, warnings } = request;
  const { createdOn: created_on, updatedOn: updated_on, response } = request;
  const times = { created_on, updated_on };
  const record = { id, status, state, added, deleted, errors, warnings, ...times, response };
  // The reasons for a failure may repeat the token.
  const shown = state === 'failed' ? context.console.redaction.applyWithin(record) : record;
  await printBefore(failureOf(request, strict) !== undefined, view.printRecord(shown));
  // What the output shows is not reported again.
  const isShown = (field: string) => view.isWhole || view.get === field;
  reportProblems(context, {
    id,
    errors: isShown('errors') ? [] : errors,
    warnings: isShown('warnings') ? [] : warnings,
  });
  requireSynced(request, strict);
  if (started === undefined) return;
  const duration = context.io.now() - started;
  // `added a.ova; deleted 2`
  const changed = (['added', 'deleted'] as const)
    .map((name) => [name, describeNames(request[name])])
    .filter(([, what]) => what && what !== 'none')
    .map((words) => words.join(' '));
  const problems = describeProblems(request);
  const time = duration < 1_000 ? '' : ` in ${describeDuration(duration)}`;
  const how = problems ? ` with ${problems}` : time;
  const summary = changed.join('; ') || 'nothing changed';
  const more = { hasWarnings: problems !== undefined };
  context.console.success(`sync ${id} ${state}${how}: ${summary}`, null, more);
}

/** Returns `1 error and 2 warnings`: a sync that succeeded may have errors too. undefined if there are none. */
export function describeProblems({
  errors,
  warnings,
}: Pick<SyncRequest, 'errors' | 'warnings'>): string | undefined {
  const counts = [counted(errors.length, 'error'), counted(warnings.length, 'warning')];
  return counts.filter((text) => !text.startsWith('0 ')).join(' and ') || undefined;
}

/** Joins a list of names for people; returns anything else unchanged. */
export function describeNames(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const names = value.map((element: unknown) => {
    const { name = element } = Object(element) as { name?: unknown };
    return typeof name === 'string' ? name : stringify(element);
  });
  return names.join(', ') || 'none';
}

/**
 * Reports errors and warnings: a request that succeeds may have them in some files.
 * @param files report only what names one of these, and count the rest
 */
export function reportProblems(
  context: Context,
  { id, errors, warnings }: Pick<SyncRequest, 'id' | 'errors' | 'warnings'>,
  files: readonly string[] = [''],
): void {
  const { console } = context;
  const isOwn = (text: string) => files.some((name) => text.includes(name));
  const isOther = (text: string) => !isOwn(text);
  const bare = (text: string) => text.replace(/^(error|warning) in /, '');
  for (const text of warnings.filter(isOwn)) console.warn(`sync ${id}: ${bare(text)}`);
  for (const text of errors.filter(isOwn)) console.failure(`sync ${id}: ${bare(text)}`);
  const others = { errors: errors.filter(isOther), warnings: warnings.filter(isOther) };
  const more = describeProblems(others);
  const hint = `show them with: ${statusCommand(context, id)}`;
  if (more) console.warn(`sync ${id}: ${more} of other files`, hint);
}

/** @param strict makes warnings and errors a failure. @throws ImgctlError sync-failed */
export function requireSynced(request: SyncRequest, strict = false): void {
  const failure = failureOf(request, strict);
  if (failure) throw failure;
}

function failureOf(request: SyncRequest, strict: boolean): ImgctlError | undefined {
  const { id, state, status, errors } = request;
  const problems = describeProblems(request);
  if (state === 'waiting' || (state === 'succeeded' && !(strict && problems))) return undefined;
  const how =
    state === 'failed' ? `failed (status: ${status})` : `succeeded with ${problems} (--strict)`;
  const fix = 'fix the files named above, upload them again, then run: imgctl sync';
  return new ImgctlError('sync-failed', `sync request ${id} ${how}`, {
    hint: errors.length > 0 ? fix : undefined,
  });
}

export function statusCommand({ settings }: Context, id: number | string): string {
  return `imgctl sync-status ${id}${settings.serviceFlags}`;
}

export async function rememberRequest(
  context: Context,
  id: number | string,
  { status, errors }: { status: string | undefined; errors?: readonly string[] },
): Promise<void> {
  const { account, cache } = await context.session();
  const now = new Date(context.io.now()).toISOString();
  const { profile, baseUrl: base_url } = account;
  const times = { submitted_on: now, checked_on: now };
  const entry = { profile, base_url, id, ...times, status: status ?? null, errors: errors?.length };
  await remember(context.paths.state, context.io, entry).catch((error: unknown) => {
    // One warning is enough if the token could not be stored either.
    if (cache.writeFailed) return;
    if (error instanceof ImgctlError) context.console.warn(error.message, error.hint);
    else context.console.warn(`cannot store the sync history: ${errorReason(error)}`);
  });
}

/** Returns what this profile submitted to this service from this machine, oldest first. */
async function localRequests(context: Context): Promise<HistoryEntry[]> {
  const { account } = await context.session();
  return readHistory(context.paths.state, account.profile, account.baseUrl);
}

/** Errors of a status check that say nothing about the request. */
const TRANSIENT = ['unreachable', 'timeout', 'locked', 'server-error', 'bad-answer', 'proxy'];

/** A service may accept a request and show it only later, once its queue or another replica knows it. */
const MAX_UNSEEN = 60_000;

/**
 * Checks the status until the request finishes, and remembers it at the end of the wait.
 * @param submittedAt when it was submitted, if it was from this machine
 * @throws ImgctlError still-waiting, interrupted, or a lasting failure, with the command that resumes
 */
export async function follow(
  context: Context,
  id: number | string,
  options: Parsed<typeof POLL_OPTIONS>,
  submittedAt: number | undefined,
): Promise<SyncRequest> {
  const { io } = context;
  const { pollInterval, waitTimeout: timeout } = options;
  const started = io.now();
  const mayBeUnseen = (time: number) =>
    submittedAt !== undefined && time - submittedAt < MAX_UNSEEN;
  const progress = context.console.startProgress({ lines: true });
  const report = (text: string) =>
    progress.update(`sync ${id}: ${text}`, () => {
      const elapsed = io.now() - started;
      const time = describeDuration(elapsed);
      return elapsed < 30_000
        ? `sync ${id}: ${text} ${time}`
        : `sync ${id}: still ${text} after ${time}`;
    });
  let interval = pollInterval ?? 2_000;
  let last: SyncRequest | undefined;
  // The service continues with the request, whatever ended the wait.
  const hint = `follow it with: ${statusCommand(context, id)} --wait`;
  const continues = (error: ImgctlError) => {
    const message = `${error.message}; sync request ${id} continues`;
    return error.with({ message, hint: error.hint ? `${error.hint}; then ${hint}` : hint });
  };
  try {
    for (;;) {
      // The last check may take 2 s, even beyond the limit.
      const deadline = AbortSignal.timeout(Math.max(started + timeout - io.now(), 2_000));
      const request = await readRequest(context, id, deadline).catch((error: unknown) => {
        if (deadline.aborted) return undefined;
        if (!(error instanceof ImgctlError)) throw error;
        const isUnseen = error.code === 'not-found' && mayBeUnseen(io.now());
        if (!isUnseen && !TRANSIENT.includes(error.code)) throw error;
        const failing = error.status ? `still failing (${error.status})` : error.message;
        const next = io.now() + interval;
        const what = `sync ${id}: ${isUnseen ? 'not found yet' : failing}`;
        progress.update(`${what}; retrying`, () => {
          return `${what}; next try in ${describeDuration(next - io.now())}`;
        });
        return undefined;
      });
      if (request) {
        last = request;
        report(request.status ?? describeStatus(request));
        if (request.state !== 'waiting') return request;
      }
      const left = started + timeout - io.now();
      if (left <= 0) break;
      await io.sleep(Math.min(interval, left), io.signal);
      if (pollInterval === undefined) interval = Math.min(interval * 1.5, 15_000);
    }
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    if (error.code !== 'not-found') throw continues(error);
    const message = `sync request ${id} was submitted, but cannot be found`;
    throw mayBeUnseen(started) ? error.with({ message, hint }) : error;
  } finally {
    await progress.stop();
    if (last && submittedAt !== undefined) await rememberRequest(context, id, last);
  }
  if (io.signal.aborted) throw continues(io.signal.reason);
  const within = timeout < 1_000 ? `${timeout} ms` : describeDuration(timeout);
  const message = `sync request ${id} did not finish within ${within} (${describeStatus(last)})`;
  throw new ImgctlError('still-waiting', message, {
    hint: `keep waiting with: ${statusCommand(context, id)} --wait`,
  });
}

function describeStatus(request: SyncRequest | undefined): string {
  return request && request.status === undefined
    ? `no status in ${stringify(request.response).slice(0, 200)}`
    : `status: ${request?.status ?? 'unknown'}`;
}

async function readRequest(context: Context, id: number | string, signal?: AbortSignal) {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!hasCode(error, 'not-found')) throw error;
    throw error.with({ message: `sync request ${id} does not exist`, hint: LIST_REQUESTS });
  });
}
