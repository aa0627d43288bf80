// Shows a sync request that was read, and says if it failed: for sync, sync-status and push.

import type { SyncRequest } from '../../api/sync-requests.ts';
import type { Result } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { stringify } from '../../json.ts';
import type { Output } from '../../output/output.ts';
import { counted, describeDuration, shorten } from '../../words.ts';

const MAX_RECORD = 1_000;

/** Returns the record, with its problems and the failure. @param options `started` is when the wait began */
export function requestResult(
  context: Context,
  output: Output,
  request: SyncRequest,
  { started, strict = false }: { strict?: boolean; started?: number },
): Result {
  // If the service sent no list. --get takes null as an empty list, and says of undefined that it is missing.
  const absent = output.shape.kind === 'values' ? undefined : null;
  const { id, status = null, state, added = absent, deleted = absent, errors, warnings } = request;
  const record = {
    id,
    status,
    state,
    added,
    deleted,
    errors,
    warnings,
    created_on: request.createdOn,
    updated_on: request.updatedOn,
    response: request.response,
  };
  const error = failureOf(request, { strict });
  const duration = started === undefined ? undefined : context.io.elapsed() - started;
  const afterwards = () => {
    reportUnshown(context, output, request, strict);
    if (error === undefined && duration !== undefined) reportSuccess(context, request, duration);
  };
  return { output, rows: [record], isOne: true, afterwards, error };
}

/** Reports the problems that the output does not show. */
function reportUnshown(context: Context, output: Output, request: SyncRequest, strict: boolean) {
  const { id, state, response } = request;
  const errors = output.shows('errors') ? [] : request.errors;
  const warnings = output.shows('warnings') ? [] : request.warnings;
  reportProblems(context, { id, errors, warnings }, { strict });
  if (state !== 'failed' || request.errors?.length || output.shows('response')) return;
  const text = shorten(stringify(response), MAX_RECORD);
  context.tell({ kind: 'failure', message: `sync ${id} gives no reason: ${text}` });
}

function reportSuccess({ tell }: Context, request: SyncRequest, duration: number): void {
  const problems = describeProblems(request);
  const time = duration < 1_000 ? '' : ` in ${describeDuration(duration)}`;
  const how = problems ? ` with ${problems}` : time;
  const summary = describeChanges(request) || 'nothing changed';
  const message = `sync ${request.id} ${request.state}${how}: ${summary}`;
  tell({ kind: 'success', message, elsewhere: null, hasWarnings: problems !== undefined });
}

/** Returns the state for people: what succeeded with errors did not just succeed. */
export function describeState(state: unknown, _now: number, row: object): unknown {
  const problems = describeProblems(row as Pick<SyncRequest, 'errors' | 'warnings'>);
  return state === 'succeeded' && problems ? `${state} with ${problems}` : state;
}

/** Returns `added a.ova; deleted 2`, or an empty text. */
export function describeChanges(request: { added?: unknown; deleted?: unknown }): string {
  const changes: string[] = [];
  for (const name of ['added', 'deleted'] as const) {
    const what = describeNames(request[name]);
    if (what && what !== 'none') changes.push(`${name} ${what}`);
  }
  return changes.join('; ');
}

/** Returns `1 error and 2 warnings`: a sync that succeeded may have errors too. undefined if there are none. */
export function describeProblems(request: Pick<SyncRequest, 'errors' | 'warnings'>) {
  const { errors, warnings } = request;
  const counts = [counted(errors?.length ?? 0, 'error'), counted(warnings?.length ?? 0, 'warning')];
  return counts.filter((text) => !text.startsWith('0 ')).join(' and ') || undefined;
}

/** Returns the names of what a sync changed; an element without one is printed as JSON. */
export function elementNames(elements: readonly unknown[]): string[] {
  return elements.map((element) => {
    const { name = element } = Object(element) as { name?: unknown };
    return typeof name === 'string' ? name : stringify(element);
  });
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

/** Reports errors, and warnings unless -q is set; counts those that name none of the files. */
export function reportProblems(
  context: Context,
  request: Pick<SyncRequest, 'id' | 'errors' | 'warnings'>,
  { strict = false, files }: Rules,
): void {
  const { tell, quiet } = context;
  const { id } = request;
  const errors = request.errors ?? [];
  const warnings = request.warnings ?? [];
  const warns = strict || !quiet;
  const isOwn = (text: string) => concerns(text, files);
  const reportOwn = (kind: 'warning' | 'failure', texts: readonly string[]) => {
    for (const text of texts.filter(isOwn)) {
      const bare = text.replace(/^(error|warning) in /, '');
      tell({ kind, message: `sync ${id}: ${bare}`, isPart: true });
    }
  };
  if (warns) reportOwn('warning', warnings);
  reportOwn('failure', errors);
  if (!warns) return;
  const isOther = (text: string) => !isOwn(text);
  const others = { errors: errors.filter(isOther), warnings: warnings.filter(isOther) };
  const problems = describeProblems(others);
  if (!problems) return;
  const message = `sync ${id}: ${problems} that name no pushed file`;
  const show = hint`show them with: ${imgctl('sync-status', `${id}`)}`;
  tell({ kind: 'warning', message, hint: show, isPart: true });
}

/** True if an error is about one of the files. */
export function hasError({ errors }: SyncRequest, files: readonly { name: string }[]): boolean {
  const names = files.map(({ name }) => name);
  return errors?.some((text) => concerns(text, names)) === true;
}

/** True if a text has the name of one of the files as a whole: `a.ova` is not in `data.ova` or `a.ova.sig`. */
function concerns(text: string, files: readonly string[] | undefined): boolean {
  return files === undefined || files.some((name) => wholeName(name).test(text));
}

function wholeName(name: string): RegExp {
  const exact = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  // A name may stand at the end of a sentence.
  return new RegExp(`(?<![\\p{L}\\p{N}_.-])${exact}(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])`, 'u');
}

/** Returns why the sync counts as failed, by the first rule that holds; undefined while it waits. */
export function failureOf(
  request: SyncRequest,
  { strict = false, files }: Rules,
): ImgctlError | undefined {
  const { id, state, status, errors } = request;
  const failure = (how: string, facts?: Facts) =>
    new ImgctlError('sync-failed', `sync request ${id} ${how}`, { facts });
  const fix = hint`fix the files named above, upload them again, then run: ${imgctl('sync')}`;
  if (state === 'waiting') return undefined;
  if (state === 'failed') {
    return failure(`failed (status: ${status})`, errors?.length ? fix : undefined);
  }
  const problems = describeProblems(request);
  if (strict && problems) return failure(`succeeded with ${problems} (--strict)`, fix);
  if (strict && errors === null) {
    const look = hint`show what the service sent: ${imgctl('sync-status', `${id}`, '--json')}`;
    return failure('succeeded, but its errors are unknown (--strict)', look);
  }
  const count = errors?.filter((text) => concerns(text, files)).length ?? 0;
  return count > 0 ? failure(`succeeded with ${counted(count, 'error')}`, fix) : undefined;
}
