// Syncs what a push has uploaded, and shows the images and the summary.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import type { Parsed } from '../../../cli/option-values.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { errorReason, ImgctlError } from '../../../errors.ts';
import type { Row } from '../../../output/columns.ts';
import type { Output } from '../../../output/output.ts';
import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedPackage, Transfer } from '../../../upload/plan.ts';
import { follow, type POLL_OPTIONS } from '../sync/follow.ts';
import { describeProblems, failureOf, hasErrorOf, reportProblems } from '../sync/problems.ts';
import { submit, submittedResult, wasSubmitted } from '../sync/sync.ts';
import { doubtsOf, imageChange, judge, summaryOf } from './image-changes.ts';
import type { syncedMark } from './synced-mark.ts';

export interface SyncOptions extends Parsed<typeof POLL_OPTIONS> {
  readonly wait: boolean;
  readonly strict?: boolean;
  readonly syncIfSent?: boolean;
}

/** Milliseconds: the list of own images may be late after a sync. */
const MAX_DELAY = 10_000;
const PAUSE = 1_000;

/** What a push knows before it uploads, and what a sync needs of it. */
export interface PushState {
  /** The user's images before the push. */
  readonly before: readonly Row[];
  readonly transfer: Transfer;
  readonly mark: ReturnType<typeof syncedMark>;
}

/**
 * Submits one sync for all packages if it is needed, and follows it.
 * @param packages those that the storage has as a whole, and those that were skipped
 * @returns their images, the summary, and the error if the sync failed
 * @throws ImgctlError if nothing was submitted, or nobody knows how the sync ended
 */
export async function syncPushed(
  context: Context,
  output: Output,
  packages: readonly PlannedPackage[],
  state: PushState,
  options: SyncOptions,
): Promise<Result> {
  const { tell } = context;
  const { before, transfer, mark } = state;
  const { wait, strict = false } = options;
  const toSync = withoutSkipped(packages);
  if (!needsSync(packages, state, options)) {
    const success =
      toSync.length === 0
        ? { message: summaryOf(packages, before, []), elsewhere: null }
        : { message: 'Nothing was uploaded, no sync was submitted' };
    const afterwards = () => tell({ kind: 'success', ...success });
    const rows = wait ? imagesOf(toSync, before) : [];
    return { output, rows, isOne: !wait, afterwards };
  }
  if (wait) await rememberSync(context, mark.begin(transfer.assertHeld), options);
  const submitted = await submitUnchanged(context, toSync, transfer);
  if (!wait) return submittedResult(context, output, submitted);
  const request = await follow(context, { id: submitted.id, age: 0 }, options);
  const rules = { files: toSync.flatMap((each) => each.files.map(({ name }) => name)), strict };
  reportProblems(context, request, rules);
  const failure = failureOf(request, rules);
  if (request.state === 'failed') return { error: failure };
  const after = await listWhenDone(context, toSync, before, request);
  const doubts = doubtsOf(toSync, before, after, request, transfer.storage.address);
  if (doubts.length === 0 && request.errors?.length === 0)
    await rememberSync(context, mark.complete(transfer.assertHeld), options);
  const { error, warnings } = judge(doubts, failure, strict);
  const afterwards = () => {
    for (const { message, hint } of warnings) tell({ kind: 'warning', message, hint });
    if (error) return;
    const summary = summaryOf(packages, before, after);
    reportSynced(context, request, summary, warnings.length > 0);
  };
  return {
    output,
    rows: imagesOf(toSync, after),
    afterwards,
    error,
    done: wasSubmitted(submitted.id),
  };
}

/**
 * False if all packages are skipped. With --sync-if-sent also if nothing was sent since the last
 * good sync, and the user has an image of each package.
 */
export function needsSync(
  packages: readonly PlannedPackage[],
  { mark, before }: PushState,
  { syncIfSent = false }: SyncOptions,
): boolean {
  const toSync = withoutSkipped(packages);
  const isDone = (each: PlannedPackage) =>
    !each.files.some(isSent) && before.some(({ name }) => name === each.name);
  const isSynced = toSync.every(isDone) && mark.isThere();
  return toSync.length > 0 && !(syncIfSent && isSynced);
}

function withoutSkipped(packages: readonly PlannedPackage[]): readonly PlannedPackage[] {
  return packages.filter(({ files }) => !files.some(isSkipped));
}

function imagesOf(packages: readonly PlannedPackage[], images: readonly Row[]): readonly Row[] {
  const names = packages.map(({ name }) => name);
  return images.filter(({ name }) => names.includes(String(name)));
}

async function rememberSync(
  { tell }: Context,
  writing: Promise<void>,
  { syncIfSent }: SyncOptions,
): Promise<void> {
  await writing.catch((cause: unknown) => {
    // The next push submits a sync that is not needed.
    const message = `cannot remember this sync: ${errorReason(cause)}`;
    if (syncIfSent) tell({ kind: 'warning', message });
  });
}

function reportSynced(
  { tell }: Context,
  request: SyncRequest,
  summary: string,
  isDoubtful: boolean,
): void {
  const problems = describeProblems(request);
  const hasWarnings = problems !== undefined || isDoubtful;
  const how = problems ? `sync ${request.id} succeeded with ${problems}: ` : '';
  tell({ kind: 'success', message: `${how}${summary}`, elsewhere: null, hasWarnings });
}

/** Submits a sync of what the storage still has. If it fails, reports what stays unsynced. */
async function submitUnchanged(
  context: Context,
  packages: readonly PlannedPackage[],
  transfer: Transfer,
) {
  try {
    await requireUnchanged(context, packages, transfer);
    return await submit(context);
  } catch (error) {
    const mayBeSubmitted = error instanceof ImgctlError && error.facts?.kind === 'sync-unknown';
    if (!mayBeSubmitted) reportUnsynced(context, packages);
    throw error;
  }
}

export function reportUnsynced({ tell }: Context, packages: readonly PlannedPackage[]): void {
  const uploaded = packages.filter(({ files }) => files.some(isSent));
  const names = uploaded.map(({ name }) => name).join(', ');
  if (names) tell({ kind: 'failure', message: `uploaded, but not synced: ${names}` });
}

/** @throws ImgctlError conflict: the storage has another file than this push compared or sent */
async function requireUnchanged(
  { tell }: Context,
  packages: readonly PlannedPackage[],
  transfer: Transfer,
): Promise<void> {
  const { findChanged } = await import('../../../upload/transfer.ts');
  const { address } = transfer.storage;
  const describe = () => `looking at the files in ${address} before the sync`;
  tell({ kind: 'begin' });
  tell({ kind: 'progress', text: '', describe });
  const changed = await findChanged(packages, transfer).finally(() => tell({ kind: 'end' }));
  if (changed.length === 0) return;
  const message = `no sync was submitted: ${address} has changed: ${changed.join(', ')}`;
  const advice = 'another program changed or removed them; run the same command again';
  throw new ImgctlError('conflict', message, { facts: advice });
}

/** Returns the user's images, also if the list shows some seconds late what the sync has done. */
async function listWhenDone(
  context: Context,
  packages: readonly PlannedPackage[],
  before: readonly Row[],
  request: SyncRequest,
): Promise<readonly Row[]> {
  const { io, tell } = context;
  const { client } = await context.session();
  const withoutErrors = packages.filter(({ files }) => !hasErrorOf(request, files));
  const isAwaited = (each: PlannedPackage, images: readonly Row[]) =>
    ['missing', 'stale'].includes(imageChange(each, before, images));
  tell({ kind: 'begin' });
  const started = io.elapsed();
  try {
    for (;;) {
      const { images } = await client.listUserImages();
      const isDone = !withoutErrors.some((each) => isAwaited(each, images));
      if (isDone || io.elapsed() - started >= MAX_DELAY) return images;
      const describe = () => 'waiting until the list of your images has changed';
      tell({ kind: 'progress', text: '', describe });
      await io.sleep(PAUSE, io.signal);
    }
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    const { message } = error;
    const succeeded = `sync ${request.id} succeeded`;
    const isInterrupt = io.signal.aborted;
    throw error.with({
      message: isInterrupt ? `${message}; ${succeeded}` : `${succeeded}, but ${message}`,
    });
  } finally {
    await tell({ kind: 'end' });
  }
}
