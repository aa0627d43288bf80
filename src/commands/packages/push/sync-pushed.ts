// Syncs what a push has uploaded, and shows the images and the summary.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import type { Parsed } from '../../../cli/declarations.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { errorReason, ImgctlError } from '../../../errors.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';
import type { Row } from '../../../output/columns.ts';
import type { Output } from '../../../output/output.ts';
import { isSent } from '../../../upload/actions.ts';
import type { Storage } from '../../../upload/storage.ts';
import type { PlannedFile, PlannedPackage, TransferOptions } from '../../../upload/transfer.ts';
import { counted } from '../../../words.ts';
import { elementNames, follow, type POLL_OPTIONS } from '../follow.ts';
import { describeProblems, failureOf, hasError, reportProblems } from '../show-request.ts';
import { submit, submittedResult } from '../sync.ts';
import type { SyncedMark } from './synced-mark.ts';

interface SyncOptions extends Parsed<typeof POLL_OPTIONS> {
  readonly wait: boolean;
  readonly strict?: boolean;
  readonly syncIfSent?: boolean;
}

const NOTHING_SENT = 'Nothing sent, no sync submitted';

/** Milliseconds: the list of own images may be late after a sync. */
const MAX_DELAY = 10_000;
const PAUSE = 1_000;

/** What was pushed, or would be with --dry-run. */
export interface Pushed {
  readonly plan: readonly PlannedPackage[];
  readonly before: readonly Row[];
  readonly transfer: TransferOptions;
  readonly mark: SyncedMark;
}

type Images = readonly Row[];

/** Returns how the images of a package differ from those before the sync. */
function imageChange({ name, files }: PlannedPackage, before: Images, after: Images) {
  const timesOf = (images: Images) => {
    const named = images.filter((image) => image.name === name);
    return named.map(({ updated_on }) => `${updated_on}`).join();
  };
  const [earlier, later] = [timesOf(before), timesOf(after)];
  const isSkipped = files.some(({ action }) => action === 'skip');
  const changed = earlier === later ? 'unchanged' : 'updated';
  const outcome = earlier === '' ? 'added' : changed;
  return {
    outcome: isSkipped ? 'skipped' : outcome,
    isMissing: later === '',
    /** As before, although files of it were sent. */
    isStale: later !== '' && earlier === later && files.some(isSent),
  } as const;
}

/** Returns `2 images added, 1 unchanged`. */
function summaryOf({ plan, before }: Pushed, after: Images): string {
  const counts = { added: 0, updated: 0, unchanged: 0, skipped: 0 };
  for (const each of plan) counts[imageChange(each, before, after).outcome] += 1;
  const outcomes = Object.entries(counts).filter(([, count]) => count > 0);
  const words = outcomes.map(([outcome, count], index) => {
    return `${index === 0 ? counted(count, 'image') : count} ${outcome}`;
  });
  return words.join(', ');
}

/** Submits one sync for all packages if it is needed, and follows it. @returns their images, and the summary */
export async function syncPushed(
  context: Context,
  output: Output,
  pushed: Pushed,
  options: SyncOptions,
): Promise<Result> {
  const { before, transfer } = pushed;
  const isSkipped = ({ action }: PlannedFile) => action === 'skip';
  const packages = pushed.plan.filter(({ files }) => !files.some(isSkipped));
  const unsynced = resultWithoutSync(context, output, packages, pushed, options);
  if (unsynced) return unsynced;
  await requireUnchanged(context, packages, transfer);
  const submitted = await submit(context);
  if (!options.wait) return submittedResult(context, output, submitted);
  const request = await follow(context, submitted.id, options, 0);
  const files = packages.flatMap((each) => each.files.map(({ name }) => name));
  const rules = { files, strict: options.strict };
  reportProblems(context, request, rules);
  const failure = failureOf(request, rules);
  if (failure && request.state === 'failed') throw failure;
  const images = await listWhenDone(context, packages, before, request);
  const { lost, warnings } = doubtsOf(packages, pushed, request, images);
  const isFine = lost === undefined && warnings.length === 0 && !request.errors?.length;
  if (isFine) await rememberSync(context, pushed, options);
  const unseen = lost ?? (options.strict ? warnings[0] : undefined);
  const error = unseen
    ? new ImgctlError('sync-failed', unseen.message, { facts: unseen.hint })
    : failure;
  const afterwards = () => {
    if (!unseen) for (const each of warnings) context.tell({ kind: 'warning', ...each });
    if (!error) reportSynced(context, pushed, request, images, warnings.length > 0);
  };
  const rows = imagesOf(packages, images);
  return { output, rows, afterwards, error, done: submitted.done };
}

/** Returns the result if every package is skipped, or with --sync-if-sent if nothing was sent since the last good sync. */
function resultWithoutSync(
  { tell }: Context,
  output: Output,
  packages: readonly PlannedPackage[],
  pushed: Pushed,
  { wait, syncIfSent }: SyncOptions,
): Result | undefined {
  const isNeeded = () => !pushed.mark.isThere() || packages.some(({ files }) => files.some(isSent));
  let afterwards: () => void;
  if (packages.length === 0) {
    const message = summaryOf(pushed, []);
    afterwards = () => tell({ kind: 'success', message, elsewhere: null });
  } else if (syncIfSent && !isNeeded()) {
    afterwards = () => tell({ kind: 'success', message: NOTHING_SENT });
  } else return undefined;
  return wait ? { output, rows: imagesOf(packages, pushed.before), afterwards } : { afterwards };
}

function imagesOf(packages: readonly PlannedPackage[], images: Images): Images {
  const names = packages.map(({ name }) => name);
  return images.filter(({ name }) => names.includes(String(name)));
}

async function rememberSync({ tell }: Context, pushed: Pushed, { syncIfSent }: SyncOptions) {
  await pushed.mark.write(pushed.transfer.assertHeld).catch((cause: unknown) => {
    // The next push submits a sync that is not needed.
    const message = `cannot remember this sync: ${errorReason(cause)}`;
    if (syncIfSent) tell({ kind: 'warning', message });
  });
}

function reportSynced(
  { tell }: Context,
  pushed: Pushed,
  request: SyncRequest,
  images: Images,
  isDoubtful: boolean,
): void {
  const problems = describeProblems(request);
  const hasWarnings = problems !== undefined || isDoubtful;
  const how = problems ? `sync ${request.id} succeeded with ${problems}: ` : '';
  const message = `${how}${summaryOf(pushed, images)}`;
  tell({ kind: 'success', message, elsewhere: null, hasWarnings });
}

/** Returns what the images do not show of a sync that succeeded. */
function doubtsOf(
  packages: readonly PlannedPackage[],
  { before, transfer }: Pushed,
  request: SyncRequest,
  images: Images,
) {
  const named = (is: 'isMissing' | 'isStale') =>
    packages.filter((each) => imageChange(each, before, images)[is]).map(({ name }) => name);
  const added = Array.isArray(request.added) ? elementNames(request.added) : [];
  const missing = named('isMissing');
  const gone = missing.filter((name) => !added.includes(name));
  const late = missing.filter((name) => added.includes(name)).join(', ');
  const stale = named('isStale').join(', ');
  const warnings: { message: string; hint: Facts }[] = [];
  if (late) {
    const message = `added, but not in your list yet: ${late}`;
    warnings.push({ message, hint: hint`list them later with: ${imgctl('my-images')}` });
  }
  if (stale) {
    const message = `unchanged after the upload to ${transfer.storage.address}: ${stale}`;
    warnings.push({ message, hint: hint`check that the service reads this storage` });
  }
  if (gone.length === 0) return { warnings };
  const message = `your list has no ${gone.length === 1 ? 'image' : 'images'} named ${gone.join(', ')}`;
  const see = hint`see what the sync reported: ${imgctl('sync-status', `${request.id}`)}`;
  return { warnings, lost: { message, hint: see } };
}

/** @throws ImgctlError conflict: the storage has another file than this push compared or sent */
async function requireUnchanged(
  { tell }: Context,
  packages: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<void> {
  const { findChanged } = await import('../../../upload/transfer.ts');
  const { address } = transfer.storage;
  const describe = () => `looking at the files in ${address} before the sync`;
  tell({ kind: 'begin' });
  tell({ kind: 'progress', text: '', describe });
  const changed = await findChanged(packages, transfer).finally(() => tell({ kind: 'end' }));
  if (changed.length === 0) return;
  const message = `no sync was submitted: ${address} has changed: ${changed.join(', ')}`;
  const facts = 'another program changed or removed them; run the same command again';
  throw new ImgctlError('conflict', message, { facts });
}

/** Returns the user's images, also if the list shows some seconds late what the sync has done. */
async function listWhenDone(
  context: Context,
  packages: readonly PlannedPackage[],
  before: Images,
  request: SyncRequest,
): Promise<Images> {
  const { io, tell } = context;
  const { client } = await context.session();
  const expected = packages.filter(({ files }) => {
    const names = files.map(({ name }) => name);
    return !hasError(request, names);
  });
  tell({ kind: 'begin' });
  const started = io.elapsed();
  try {
    for (;;) {
      const { images } = await client.listUserImages();
      const changes = expected.map((each) => imageChange(each, before, images));
      const isDone = !changes.some(({ isMissing, isStale }) => isMissing || isStale);
      if (isDone || io.elapsed() - started >= MAX_DELAY) return images;
      const describe = () => 'waiting until the list of your images has changed';
      tell({ kind: 'progress', text: '', describe });
      await io.sleep(PAUSE, io.signal);
    }
  } catch (error) {
    if (!(error instanceof ImgctlError) || io.signal.aborted) throw error;
    throw error.with({ message: `sync ${request.id} succeeded, but ${error.message}` });
  } finally {
    await tell({ kind: 'end' });
  }
}

/** A sync makes the images equal to the packages in the storage: what it would add, update and delete. */
export async function syncChanges(
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[],
): Promise<readonly Row[]> {
  const sent = plan.filter(({ files }) => files.some(isSent)).map(({ name }) => name);
  const stored = (await storage.list()).filter((name) => /\.(ova|ovf)$/i.test(name));
  const packages = [...new Set([...stored, ...sent])];
  const known = images.map(({ name }) => String(name));
  const changes = {
    add: packages.filter((name) => !known.includes(name)),
    update: sent.filter((name) => known.includes(name)),
    delete: known.filter((name) => !packages.includes(name)),
  };
  const rows: Row[] = [];
  for (const [action, names] of Object.entries(changes)) {
    for (const name of names.sort()) rows.push({ step: 'sync', action, name, size: null });
  }
  return rows;
}
