// Shows a sync request that was read: its record, what the record lacks, and its changes.

import type { SyncRequest } from '../../api/sync-requests.ts';
import type { Result } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { stringify } from '../../json.ts';
import type { Output } from '../../output/output.ts';
import { describeDuration, shorten } from '../../words.ts';
import { describeProblems, failureOf, reportProblems } from './sync-problems.ts';

const MAX_RECORD = 1_000;

/**
 * Returns the record, its problems and the failure.
 * @param options `started` is when the wait began
 */
export function requestResult(
  context: Context,
  output: Output,
  request: SyncRequest,
  { started, strict = false }: { strict?: boolean; started?: number },
): Result {
  // If the service sent no list: --get would take null as an empty one.
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
  const problems = describeProblems(row as Parameters<typeof describeProblems>[0]);
  return state === 'succeeded' && problems ? `${state} with ${problems}` : state;
}

/** Returns `added a.ova; deleted 2`, or an empty text. */
function describeChanges(request: { added?: unknown; deleted?: unknown }): string {
  const changes: string[] = [];
  for (const name of ['added', 'deleted'] as const) {
    const what = describeNames(request[name]);
    if (what && what !== 'none') changes.push(`${name} ${what}`);
  }
  return changes.join('; ');
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
