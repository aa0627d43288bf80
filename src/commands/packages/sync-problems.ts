// The errors and warnings of a sync request: which ones count, and how they are reported.

import type { SyncRequest } from '../../api/sync-requests.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { counted } from '../../words.ts';

/** Which problems of a sync count for a command. */
interface Rules {
  /** True if warnings, unknown errors and errors of other files count too. */
  readonly strict?: boolean | undefined;
  /** Files whose errors count [all]. */
  readonly files?: readonly string[];
}

/** Returns why the sync counts as failed, by the first rule that holds; undefined if none does. */
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
  const message = `sync ${id}: ${problems} naming no pushed file`;
  const show = hint`show them with: ${imgctl('sync-status', `${id}`)}`;
  tell({ kind: 'warning', message, hint: show, isPart: true });
}

/** True if an error is about one of the files. */
export function hasError({ errors }: SyncRequest, files: readonly { name: string }[]): boolean {
  const names = files.map(({ name }) => name);
  return errors?.some((text) => concerns(text, names)) === true;
}

/** Errors or warnings, or how many they are; nothing if the service did not say. */
type Problems = readonly unknown[] | number | null | undefined;

/** Returns `1 error and 2 warnings`; undefined if there are none. */
export function describeProblems(request: { errors?: Problems; warnings?: Problems }) {
  const texts = (['error', 'warning'] as const).flatMap((noun) => {
    const problems = request[`${noun}s`] ?? 0;
    const count = typeof problems === 'number' ? problems : problems.length;
    return count > 0 ? [counted(count, noun)] : [];
  });
  return texts.join(' and ') || undefined;
}

/** True if a text has the whole name of a file: `a.ova` is not in `data.ova` or `a.ova.sig`. */
function concerns(text: string, files: readonly string[] | undefined): boolean {
  return files === undefined || files.some((name) => wholeName(name).test(text));
}

/** Before a name: no more of a name, as in `data.ova`. */
const START = '(?<![\\p{L}\\p{N}_.-])';
/** After a name: no more of a name, as in `a.ova.sig`; but a full stop may end the sentence. */
const END = '(?![\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}])';

function wholeName(name: string): RegExp {
  const exact = name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`${START}${exact}${END}`, 'u');
}
