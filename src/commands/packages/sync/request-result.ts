// The result of a command that has read a sync request: its record, problems and failure.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import type { Parsed } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { stringify } from '../../../json.ts';
import type { Output } from '../../../output/output.ts';
import { describeDuration, shorten } from '../../../words.ts';
import { type Followed, follow, type POLL_OPTIONS } from './follow.ts';
import { describeImages } from './image-names.ts';
import { describeProblems, failureOf, reportProblems } from './problems.ts';

const MAX_RECORD = 1_000;

/** Waits until a request finishes. */
export async function followedResult(
  context: Context,
  output: Output,
  followed: Followed,
  options: Parsed<typeof POLL_OPTIONS> & { readonly strict?: boolean },
): Promise<Result> {
  const started = context.io.elapsed();
  const request = await follow(context, followed, options);
  const waited = context.io.elapsed() - started;
  const result = requestResult(context, output, request, options.strict);
  const afterwards = () => {
    result.afterwards();
    if (result.error === undefined) reportSuccess(context, request, waited);
  };
  return { ...result, afterwards };
}

/** Returns the record of a request, its failure, and what reports its problems. */
export function requestResult(
  context: Context,
  output: Output,
  request: SyncRequest,
  strict = false,
) {
  // If the service sent no list: --get prints null as an empty one, and fails if it is missing.
  const missing = output.printed.kind === 'bare' ? undefined : null;
  const { id, status = null, state, added = missing, deleted = missing } = request;
  const { errors, warnings, createdOn: created_on, updatedOn: updated_on, response } = request;
  const outcome = { id, status, state, added, deleted, errors, warnings };
  const record = { ...outcome, created_on, updated_on, response };
  const error = failureOf(request, { strict });
  const afterwards = () => reportUnshown(context, output, request, strict);
  return { output, rows: [record], isOne: true, afterwards, error };
}

/** Reports the problems that the output does not show, or what was sent instead of a reason. */
function reportUnshown(context: Context, output: Output, request: SyncRequest, strict: boolean) {
  const { id, state, response } = request;
  const errors = output.printsWhole('errors') ? [] : request.errors;
  const warnings = output.printsWhole('warnings') ? [] : request.warnings;
  reportProblems(context, { id, errors, warnings }, { strict });
  const hasReason = (request.errors ?? []).length > 0 || output.printsWhole('response');
  if (state !== 'failed' || hasReason) return;
  const text = shorten(stringify(response), MAX_RECORD);
  context.console.failure(`sync ${id} gives no reason: ${text}`);
}

/** Reports `sync 41 succeeded in 40 s: added a.ova; deleted 2`. @param waited milliseconds */
function reportSuccess({ console }: Context, request: SyncRequest, waited: number): void {
  const { id, state } = request;
  const problems = describeProblems(request);
  const time = waited < 1_000 ? '' : ` in ${describeDuration(waited)}`;
  const how = problems ? ` with ${problems}` : time;
  const changes = (['added', 'deleted'] as const).flatMap((change) => {
    const images = describeImages(request[change]);
    return images && images !== 'none' ? [`${change} ${images}`] : [];
  });
  const message = `sync ${id} ${state}${how}: ${changes.join('; ') || 'nothing changed'}`;
  console.success(message, { withoutMark: null, hasWarnings: problems !== undefined });
}
