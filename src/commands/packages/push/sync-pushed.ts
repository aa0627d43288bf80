// Syncs what a push has uploaded, and shows the images and the summary.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { errorReason, ImgctlError } from '../../../errors.ts';
import type { Row } from '../../../output/columns.ts';
import type { PlannedPackage } from '../../../upload/plan.ts';
import { follow, justSubmitted } from '../sync/follow.ts';
import { comparedName } from '../sync/image-names.ts';
import { describeProblems, failureOf, hasErrorOf, reportProblems } from '../sync/problems.ts';
import { submit, submittedResult, wasSubmitted } from '../sync/sync.ts';
import { doubtsOf, imageChanges, judge, summaryOf } from './image-changes.ts';
import { needsSync, wasSent, wasSkipped, withoutSkipped } from './packages-sent.ts';
import type { Push } from './push-state.ts';

type Packages = readonly PlannedPackage[];

/**
 * Submits one sync for all packages if it is needed, and follows it.
 * @param complete the packages that the storage has as a whole, and those that were skipped
 * @throws ImgctlError if nothing was submitted, or nobody knows how the sync ended
 */
export async function syncPushed(push: Push, complete: Packages): Promise<Result> {
  const { context, options, output } = push;
  if (!needsSync(push, complete)) return nothingToSync(push, complete);
  const submitted = await submitUnchanged(push, withoutSkipped(complete));
  if (!options.wait) return submittedResult(context, output, submitted);
  const { id } = submitted;
  const request = await follow(context, justSubmitted(id, context), options);
  const result = await syncedResult(push, complete, request);
  return { ...result, done: wasSubmitted(id) };
}

/** Returns the images as they are, if a push waits for them. */
function nothingToSync({ context, options, output, before }: Push, complete: Packages): Result {
  const { console } = context;
  const afterwards = () => {
    if (complete.every(wasSkipped)) {
      console.success(summaryOf(imageChanges(complete, before, before)), { withoutMark: null });
    } else console.success('Nothing was uploaded, no sync was submitted');
  };
  const rows = options.wait ? imagesOf(withoutSkipped(complete), before) : [];
  return { output, rows, isOne: !options.wait, afterwards };
}

/** Submits a sync of what the storage still has. If it fails, reports what stays unsynced. */
async function submitUnchanged(push: Push, toSync: Packages) {
  const { mark, transfer } = push;
  try {
    // The mark of an earlier sync says nothing of this one, which may end with errors.
    mark.remove();
    await rememberSync(push, () => mark.begin(transfer.assertHeld));
    await requireUnchanged(push, toSync);
    // The files may be those of another push by now.
    transfer.assertHeld();
    return await submit(push.context);
  } catch (error) {
    const mayBeSubmitted = error instanceof ImgctlError && error.facts?.kind === 'sync-unknown';
    if (!mayBeSubmitted) reportUnsynced(push.context, toSync);
    throw error;
  }
}

export function reportUnsynced({ console }: Context, packages: Packages): void {
  const names = packages.filter(wasSent).map(({ name }) => name);
  const message = `uploaded, but not synced: ${names.join(', ')}`;
  if (names.length > 0) console.failure(message);
}

/** @throws ImgctlError conflict: the storage has another file than this push compared or sent */
async function requireUnchanged({ context, transfer }: Push, toSync: Packages): Promise<void> {
  const { findChanged } = await import('../../../upload/transfer.ts');
  const { console } = context;
  const { address } = transfer.storage;
  const describe = () => `looking at the files in ${address} before the sync`;
  const changed = await console.progress.during(() => {
    console.progress.show('', describe);
    return findChanged(toSync, transfer);
  });
  if (changed.length === 0) return;
  const message = `no sync was submitted: ${address} has changed: ${changed.join(', ')}`;
  const advice = 'another program changed or removed them; run the same command again';
  throw new ImgctlError('conflict', message, { facts: advice });
}

/**
 * Decides what a sync that has ended means for the push:
 *
 *     it failed | its error
 *     otherwise | the images; errors of the files and doubts about images, as `judge` decides
 *
 * Only if there are neither, the next push --sync-if-sent may do without a sync.
 */
async function syncedResult(push: Push, complete: Packages, request: SyncRequest): Promise<Result> {
  const { context, options, output, before, mark, transfer } = push;
  const { strict = false } = options;
  const toSync = withoutSkipped(complete);
  const files = fileNames(toSync);
  reportProblems(context, request, { files, strict });
  const failure = failureOf(request, { files, strict });
  if (request.state === 'failed') return { error: failure };
  const after = await listWhenDone(push, toSync, request);
  const changes = imageChanges(complete, before, after);
  const doubts = doubtsOf(changes, request, transfer.storage.address);
  const isClean = doubts.length === 0 && request.errors?.length === 0;
  if (isClean) await rememberSync(push, () => mark.makeWhole(transfer.assertHeld));
  const { error, warnings } = judge(doubts, failure, strict);
  const afterwards = () => {
    for (const { message, hint } of warnings) context.console.warn(message, hint);
    if (!error) reportSynced(context, request, summaryOf(changes), warnings.length > 0);
  };
  return { output, rows: imagesOf(toSync, after), afterwards, error };
}

/** Reports `2 images added`, or before it what the sync reported of other files. */
function reportSynced(
  { console }: Context,
  request: SyncRequest,
  summary: string,
  hasDoubts: boolean,
): void {
  const problems = describeProblems(request);
  const how = problems ? `sync ${request.id} succeeded with ${problems}: ` : '';
  const hasWarnings = problems !== undefined || hasDoubts;
  console.success(`${how}${summary}`, { withoutMark: null, hasWarnings });
}

/** @param write if it fails, the next push submits a sync that is not needed */
async function rememberSync({ context, options }: Push, write: () => Promise<void>): Promise<void> {
  await write().catch((cause: unknown) => {
    const message = `cannot remember this sync: ${errorReason(cause)}`;
    if (options.syncIfSent) context.console.warn(message);
  });
}

function fileNames(packages: Packages): string[] {
  return packages.flatMap(({ files }) => files.map(({ name }) => name));
}

function imagesOf(packages: Packages, images: readonly Row[]): readonly Row[] {
  const names = packages.map(comparedName);
  return images.filter((image) => names.includes(comparedName(image)));
}

/** Milliseconds: the list of own images may be late after a sync. */
const MAX_DELAY = 10_000;
const PAUSE = 1_000;

/** Returns the user's images, even if the list shows some seconds late what the sync has done. */
async function listWhenDone(
  { context, before }: Push,
  toSync: Packages,
  request: SyncRequest,
): Promise<readonly Row[]> {
  const { io, console } = context;
  const { client } = await context.session();
  // An image that an error is about will not change.
  const awaited = toSync.filter((each) => !hasErrorOf(request, fileNames([each])));
  const isDone = (images: readonly Row[]) => {
    const changes = [...imageChanges(awaited, before, images).values()];
    return !changes.includes('missing') && !changes.includes('stale');
  };
  const started = io.elapsed();
  const listing = async () => {
    for (;;) {
      const { images } = await client.listUserImages();
      if (isDone(images) || io.elapsed() - started >= MAX_DELAY) return images;
      const describe = () => 'waiting until the list of your images has changed';
      console.progress.show('', describe);
      await io.sleep(PAUSE, io.signal);
    }
  };
  try {
    return await console.progress.during(listing);
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    const succeeded = `sync ${request.id} succeeded`;
    const message = io.signal.aborted
      ? `${error.message}; ${succeeded}`
      : `${succeeded}, but ${error.message}`;
    throw error.with({ message });
  }
}
