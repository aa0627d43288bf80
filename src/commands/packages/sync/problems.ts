// The errors and warnings of a sync request: which ones count, and how they are reported.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';
import type { Row } from '../../../output/columns.ts';
import { normalize } from '../../../query/fold-case.ts';
import { counted } from '../../../words.ts';

/** Which problems of a sync count for a command. */
interface Rules {
  /** True if warnings, unknown errors and errors of other files count too. */
  readonly strict?: boolean | undefined;
  /** Names of the files whose errors count [all]. */
  readonly files?: readonly string[];
}

/**
 * Decides whether a sync counts as failed, by the first row that holds:
 *
 *     it has not finished            | no
 *     its status says so             | failed (status: ERROR)
 *     --strict: any problem          | succeeded with 1 error and 2 warnings (--strict)
 *     --strict: errors are not known | succeeded, but its errors are unknown (--strict)
 *     an error of the files          | succeeded with 1 error
 *     otherwise                      | no
 */
export function failureOf(
  { id, state, status, errors, warnings }: SyncRequest,
  { strict = false, files }: Rules,
): ImgctlError | undefined {
  const failed = (how: string, facts?: Facts) =>
    new ImgctlError('sync-failed', `sync request ${id} ${how}`, { facts });
  const fix = hint`fix the files named above, upload them again, then run: ${imgctl('sync')}`;
  const look = hint`show what the service sent: ${imgctl('sync-status', `${id}`, '--json')}`;
  if (state === 'waiting') return undefined;
  if (state === 'failed')
    return failed(`failed (status: ${status})`, errors?.length ? fix : undefined);
  const problems = describeProblems({ errors, warnings });
  if (strict && problems) return failed(`succeeded with ${problems} (--strict)`, fix);
  if (strict && errors === null)
    return failed('succeeded, but its errors are unknown (--strict)', look);
  const ownErrors = describeProblems({ errors: byFile(errors, files).own });
  return ownErrors ? failed(`succeeded with ${ownErrors}`, fix) : undefined;
}

/**
 * Reports each problem of the files, and counts the others. With -q, warnings and problems of other
 * files are only reported if `strict` makes them count.
 */
export function reportProblems(
  { console, quiet }: Context,
  { id, ...request }: Pick<SyncRequest, 'id' | 'errors' | 'warnings'>,
  { strict = false, files }: Rules,
): void {
  const errors = byFile(request.errors, files);
  const warnings = byFile(request.warnings, files);
  const messageOf = (text: string) => `sync ${id}: ${text.replace(/^(error|warning) in /, '')}`;
  const reportsAll = strict || !quiet;
  if (reportsAll) for (const text of warnings.own) console.warnOfPart(messageOf(text));
  for (const text of errors.own) console.failureOfPart({ message: messageOf(text) });
  const others = describeProblems({ errors: errors.others, warnings: warnings.others });
  if (!reportsAll || !others) return;
  const show = hint`show them with: ${imgctl('sync-status', `${id}`)}`;
  console.warnOfPart(`sync ${id}: ${others} naming no pushed file`, show);
}

/**
 * Returns `1 error and 2 warnings`; undefined if there are none, or if the service did not say.
 * Both are lists, or how many they are.
 */
export function describeProblems({ errors, warnings }: { errors?: unknown; warnings?: unknown }) {
  const countOf = (problems: unknown) =>
    Array.isArray(problems) ? problems.length : Number(problems ?? 0);
  const counts = Object.entries({ error: countOf(errors), warning: countOf(warnings) });
  const texts = counts.filter(([, count]) => count > 0);
  return texts.map(([noun, count]) => counted(count, noun)).join(' and ') || undefined;
}

/** Returns what a table shows of a state, such as `succeeded with 3 errors`. */
export function describeState(state: unknown, row: Row): unknown {
  const problems = describeProblems(row);
  return state === 'succeeded' && problems ? `${state} with ${problems}` : state;
}

/** True if an error names one of the files. */
export function hasErrorOf(
  { errors }: Pick<SyncRequest, 'errors'>,
  files: readonly string[],
): boolean {
  return byFile(errors, files).own.length > 0;
}

/** Divides texts into those that name one of the files, and the others. */
function byFile(texts: readonly string[] | null, files: readonly string[] | undefined) {
  const names = files?.map((file) => wholeName(normalize(file)));
  const isOwn = (text: string) =>
    names === undefined || names.some((name) => name.test(normalize(text)));
  const all = texts ?? [];
  return { own: all.filter(isOwn), others: all.filter((text) => !isOwn(text)) };
}

/** Before a name: no more of a name, as in `data.ova`. */
const START = '(?<![\\p{L}\\p{N}_.-])';
/** After a name: no more of a name, as in `a.ova.sig`; but a full stop may end the sentence. */
const END = '(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])';

/**
 * Matches a text with the whole name of a file: `a.ova` is not in `data.ova` or `a.ova.sig`. It is
 * in `my a.ova`, as words before a name look the same: rather one error too many than one unseen.
 */
function wholeName(name: string): RegExp {
  const exact = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`${START}${exact}${END}`, 'u');
}
