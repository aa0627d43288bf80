// imgctl sync-status: shows a sync request, by default the last one submitted here, or lists them. Sync and push show
// theirs in the same way.

import type { SyncRequest } from '../../api/sync-requests.ts';
import {
  argument,
  command,
  GET_OPTION,
  option,
  type Parsed,
  SERVICE_CODES,
} from '../../cli/command.ts';
import type { OptionDeclaration } from '../../cli/declarations.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { stringify } from '../../json.ts';
import { column, type Layout, pick, printBefore, type View } from '../../output/view.ts';
import { formatTimestamp } from '../../query/timestamp.ts';
import { type HistoryEntry, readHistory } from '../../session/history.ts';
import { counted, describeDuration } from '../../words.ts';
import {
  elementNames,
  follow,
  LIST_REQUESTS,
  POLL_OPTIONS,
  readRequest,
  rememberRequest,
  statusCommand,
} from './follow.ts';

export function implyingWait<Declared extends OptionDeclaration>(declared: Declared) {
  const description = `${declared.description}; implies --wait`;
  return { ...declared, description, implies: { wait: true } };
}

export const WAIT_OPTIONS = [
  option('--wait', 'wait until the sync finishes; exit with 1 if it fails'),
  ...POLL_OPTIONS.map((each) => implyingWait(each)),
] as const;

export const STRICT_OPTION = option(
  '--strict',
  'exit with 1 also after warnings, and if errors are unknown',
);

const ID_AND_STATUS = [
  column('id', 'number or string', 'sync request id, as the service sent it'),
  column('status', 'string or null', 'status of the service, such as PENDING'),
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
  column('errors', 'array or null', 'reported errors; null if unknown'),
  column('warnings', 'array or null', 'reported warnings; null if unknown'),
  column('created_on', 'string or null', 'when submitted, as the service writes it', TIME),
  column('updated_on', 'string or null', 'when last changed, as the service writes it', TIME),
  column('response', 'object', 'the body that the service sent'),
];

const CHANGES_AND_TIMES = ['state', 'added', 'deleted', 'created_on', 'updated_on'];

export const STATUS_LAYOUT: Layout = {
  shown: ['id', ...CHANGES_AND_TIMES],
  // A table has no room for errors and warnings.
  cells: ['id', 'status', ...CHANGES_AND_TIMES, 'errors', 'warnings'],
};

const LIST_ONLY = [
  column('submitted_on', 'string', 'with --list: when submitted, in UTC (ISO 8601)', TIME),
  column('checked', 'string', 'with --list: when last checked, in UTC (ISO 8601)', {
    text: (time, now) => formatTimestamp(`${time}`, 'age', now),
  }),
  column('base_url', 'string', 'with --list: address of the service'),
];

const ANY_ERRORS = column(
  'errors',
  'array, number or null',
  'reported errors; with --list, how many',
);

const LIST_COLUMNS = [
  ...pick(STATUS_COLUMNS, 'id', 'status', 'state'),
  column('added', 'array, number or null', 'what it had added then; null if unknown', NAMES),
  column('errors', 'number or null', 'how many errors it had then; null if unknown'),
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
    argument('id', 'id of the sync request (the last of this profile)', { from: 'sync-ids' }),
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
  const { isTTY } = context.io.stdout;
  const view = context.view(LIST_COLUMNS, options, {
    shown: isTTY
      ? ['id', 'state', 'submitted_on', 'checked', 'changes']
      : ['id', 'state', 'errors', 'submitted_on', 'checked', 'added'],
    cells: ['id', 'status', 'state', 'submitted_on', 'checked', 'errors', 'added'],
  });
  if (id !== undefined) {
    throw new ImgctlError('usage', `--list cannot be used with an id (got ${id})`, {
      hint: `show one request with: imgctl sync-status ${id}`,
    });
  }
  const { syncState } = await import('../../api/sync-requests.ts');
  const entries = (await localRequests(context)).reverse();
  const rows = entries.map((entry) => {
    const { id, status, submitted_on, checked_on, base_url, errors = null, added = null } = entry;
    const state = syncState(status ?? undefined);
    return { id, status, state, added, errors, submitted_on, checked: checked_on, base_url };
  });
  const describe = (row: (typeof rows)[number], at: number) => {
    const { errors } = row;
    const state = row.state === 'succeeded' && errors ? counted(errors, 'error') : row.state;
    const changes = describeChanges({ ...row, deleted: entries[at]?.deleted }) || null;
    return { ...row, state, changes };
  };
  await view.printList(view.isTable && isTTY ? rows.map(describe) : rows);
  if (!view.isTable) return;
  const waiting = rows.filter(({ state }) => state === 'waiting').map(({ id }) => id);
  if (entries.length === 0) context.console.note(NO_REQUESTS, SUBMIT);
  else if (waiting[0] !== undefined) {
    const hint = `check with: ${statusCommand(context, waiting[0])}`;
    context.console.note(`waiting when last checked: ${waiting.join(', ')}`, hint);
  }
}

const NO_REQUESTS = 'this profile has submitted no sync request from this machine';
const SUBMIT = 'submit one with: imgctl sync';

/** @param options `started` is when the wait began. @throws ImgctlError sync-failed */
export async function showRequest(
  context: Context,
  view: View,
  request: SyncRequest,
  options: { strict?: boolean; started?: number },
): Promise<void> {
  const { started, strict = false } = options;
  // If the service sent no list: null in a whole record, undefined for --get, which then says it is missing.
  const absent = view.isWhole ? null : undefined;
  const { id, status = null, state, added = absent, deleted = absent, errors, warnings } = request;
  const { createdOn: created_on, updatedOn: updated_on, response } = request;
  const times = { created_on, updated_on };
  const record = { id, status, state, added, deleted, errors, warnings, ...times, response };
  const failure = failureOf(request, { strict });
  await printBefore(failure !== undefined, view.printRecord(record));
  // What the output shows is not reported again.
  const isShown = (field: string) => view.isWhole || view.get === field;
  const reported = {
    ...request,
    errors: isShown('errors') ? [] : errors,
    warnings: isShown('warnings') ? [] : warnings,
  };
  reportProblems(context, reported, { strict });
  const isUnexplained = state === 'failed' && (errors ?? []).length === 0 && !view.isWhole;
  if (isUnexplained) {
    const text = stringify(response).slice(0, MAX_RECORD);
    context.console.failure({ message: `sync ${id} gives no reason: ${text}` });
  }
  if (failure) throw failure;
  if (started === undefined) return;
  const duration = context.io.now() - started;
  const problems = describeProblems(request);
  const time = duration < 1_000 ? '' : ` in ${describeDuration(duration)}`;
  const how = problems ? ` with ${problems}` : time;
  const summary = describeChanges(request) || 'nothing changed';
  const more = { hasWarnings: problems !== undefined };
  context.console.success(`sync ${id} ${state}${how}: ${summary}`, null, more);
}

/** Returns `added a.ova; deleted 2`, or an empty text. */
function describeChanges(request: { added?: unknown; deleted?: unknown }): string {
  return (['added', 'deleted'] as const)
    .map((name) => [name, describeNames(request[name])])
    .filter(([, what]) => what && what !== 'none')
    .map((words) => words.join(' '))
    .join('; ');
}

const MAX_RECORD = 1_000;

/** Returns `1 error and 2 warnings`: a sync that succeeded may have errors too. undefined if there are none. */
export function describeProblems(request: Pick<SyncRequest, 'errors' | 'warnings'>) {
  const { errors, warnings } = request;
  const counts = [counted(errors?.length ?? 0, 'error'), counted(warnings?.length ?? 0, 'warning')];
  return counts.filter((text) => !text.startsWith('0 ')).join(' and ') || undefined;
}

export function describeNames(value: unknown): unknown {
  return Array.isArray(value) ? elementNames(value).join(', ') || 'none' : value;
}

interface Rules {
  /** True if warnings, unknown errors and errors of other files count too. */
  readonly strict?: boolean | undefined;
  /** Files whose errors count [all]. */
  readonly files?: readonly string[];
}

/** Reports errors, and warnings unless -q is set; counts those of other files. */
export function reportProblems(
  context: Context,
  request: Pick<SyncRequest, 'id' | 'errors' | 'warnings'>,
  { strict = false, files }: Rules,
): void {
  const { console, quiet } = context;
  const { id } = request;
  const errors = request.errors ?? [];
  const warnings = request.warnings ?? [];
  const isOwn = (text: string) => concerns(text, files);
  const isOther = (text: string) => !isOwn(text);
  const bare = (text: string) => text.replace(/^(error|warning) in /, '');
  const warns = strict || !quiet;
  const said = (text: string) => `sync ${id}: ${bare(text)}`;
  if (warns) for (const text of warnings.filter(isOwn)) console.warn(said(text), undefined, true);
  const mark = console.failureMark;
  for (const text of errors.filter(isOwn)) console.failure({ message: said(text) }, mark);
  const others = { errors: errors.filter(isOther), warnings: warnings.filter(isOther) };
  const more = describeProblems(others);
  const hint = `show them with: ${statusCommand(context, id)}`;
  if (more && warns) console.warn(`sync ${id}: ${more} in other files`, hint, true);
}

/** True if a text has the name of one of the files as a whole: `a.ova` is not in `data.ova`. */
function concerns(text: string, files: readonly string[] | undefined): boolean {
  return files === undefined || files.some((name) => hasName(text, name));
}

function hasName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const isStart = !/[\p{L}\p{N}_.-]$/u.test(text.slice(0, at));
    const isEnd = !/^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u.test(text.slice(at + name.length));
    if (isStart && isEnd) return true;
  }
  return false;
}

/** Returns why the sync counts as failed; undefined while it waits. */
export function failureOf(
  request: SyncRequest,
  { strict = false, files }: Rules,
): ImgctlError | undefined {
  const { id, state, status, errors } = request;
  const failed = (how: string, hint?: string) =>
    new ImgctlError('sync-failed', `sync request ${id} ${how}`, { hint });
  const fix = 'fix the files named above, upload them again, then run: imgctl sync';
  const own = errors?.filter((text) => concerns(text, files)) ?? [];
  if (state === 'waiting') return undefined;
  if (state === 'failed')
    return failed(`failed (status: ${status})`, errors?.length ? fix : undefined);
  const problems = describeProblems(request);
  if (strict && problems) return failed(`succeeded with ${problems} (--strict)`, fix);
  if (own.length > 0) return failed(`succeeded with ${counted(own.length, 'error')}`, fix);
  if (!strict || errors !== null) return undefined;
  const look = `show what the service sent: imgctl sync-status ${id} --json`;
  return failed('succeeded, but its errors are unknown (--strict)', look);
}

/** Returns what this profile submitted to this service from this machine, oldest first. */
async function localRequests(context: Context): Promise<HistoryEntry[]> {
  const { account } = await context.session();
  return readHistory(context.paths.state, account.profile, account.baseUrl);
}
