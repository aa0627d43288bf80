// Pushes packages that were checked: uploads them, syncs once, and returns what became of them.

import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { asImgctlError, type ImgctlError } from '../../../errors.ts';
import type { AssertHeld } from '../../../files/atomic-file.ts';
import type { Output } from '../../../output/output.ts';
import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedPackage, Transfer, UploadPackage } from '../../../upload/plan.ts';
import type { Storage } from '../../../upload/storage.ts';
import type { StorageFiles } from '../../upload-storage.ts';
import type { PackageBatch } from '../package-batch.ts';
import { brokenPackages } from './broken.ts';
import { syncRows, uploadRows } from './dry-run.ts';
import {
  needsSync,
  type PushState,
  reportUnsynced,
  type SyncOptions,
  syncPushed,
} from './sync-pushed.ts';
import { syncedMark } from './synced-mark.ts';
import { planWithProgress, type UploadOutcome, uploadAll } from './upload.ts';

/** What a push works with, once it has the storage for itself. */
interface PushJob {
  readonly output: Output;
  readonly batch: PackageBatch;
  readonly packages: readonly UploadPackage[];
  readonly storage: Storage;
  readonly storageFiles: StorageFiles;
  readonly assertHeld: AssertHeld;
}

interface PushOptions extends SyncOptions, Pick<Transfer, 'onConflict'> {
  readonly sync: boolean;
  readonly dryRun?: boolean;
}

/** Plans, uploads and syncs, or says what it would do. */
export async function pushChecked(
  context: Context,
  job: PushJob,
  options: PushOptions,
): Promise<Result> {
  const state = await prepare(context, job, options);
  const plan = await planWithProgress(context, job.batch, job.packages, state.transfer);
  const outcome = await uploadAll(context, job.batch, plan, state.transfer);
  return options.dryRun
    ? dryRunResult(context, job, plan, outcome, state, options)
    : finish(context, job, outcome, state, options);
}

/** Returns the files that would be sent, and what a sync would do if `finish` submitted one. */
async function dryRunResult(
  { tell }: Context,
  { output, batch }: PushJob,
  plan: readonly PlannedPackage[],
  outcome: UploadOutcome,
  state: PushState,
  options: PushOptions,
): Promise<Result> {
  const { complete, incomplete, fatal } = outcome;
  if (fatal) throw fatal;
  const isBroken = brokenPackages(incomplete, state.transfer).size > 0;
  const willSync = options.sync && !isBroken && needsSync(complete, state, options);
  const changes = willSync ? await syncRows(state.transfer.storage, complete, state.before) : [];
  const rows = [...uploadRows(plan, complete), ...changes];
  const note = { kind: 'note', message: 'nothing was uploaded or submitted' } as const;
  const error = batch.error(outcome.counts('to upload'));
  return { output, rows, afterwards: () => tell(note), error };
}

/**
 * Decides how a push ends after its uploads, by the first row that holds:
 *
 *     an error concerns all packages     | that error; nothing is synced
 *     no package is complete             | the error of those that failed
 *     --no-sync                          | the files, and the error of packages that failed
 *     a broken package is in the storage | the error of those that failed; nothing is synced
 *     otherwise                          | a sync of the complete ones, and the error of the others
 */
async function finish(
  context: Context,
  job: PushJob,
  outcome: UploadOutcome,
  state: PushState,
  options: PushOptions,
): Promise<Result> {
  const { output, batch } = job;
  const { complete, incomplete, fatal } = outcome;
  const { sync } = options;
  const broken = brokenPackages(incomplete, state.transfer);
  for (const [name, files] of broken) {
    const message = `${name} failed after these files became visible: ${files.join(', ')}`;
    context.tell({ kind: 'failure', message });
  }
  if (sync && (fatal || broken.size > 0)) reportUnsynced(context, complete);
  if (fatal) throw context.io.signal.aborted ? resumable(fatal, sync) : fatal;
  const error = batch.error(outcome.counts());
  if (complete.length === 0) return { error };
  if (!sync) return { output, rows: fileRows(complete), error };
  if (broken.size > 0) return { error };
  const synced = await syncAndCount(context, job, outcome, state, options);
  return { ...synced, error: synced.error ?? error };
}

/** Returns how to transfer the files, the mark of the last sync, and the images before the push. */
async function prepare(
  context: Context,
  { storage, storageFiles, assertHeld }: PushJob,
  { sync, onConflict, dryRun = false }: PushOptions,
): Promise<PushState> {
  const { loadProofs } = await import('../../../upload/proofs.ts');
  const { io } = context;
  const proofs = loadProofs(storageFiles.proofs, io);
  const session = sync ? await context.session() : undefined;
  const { baseUrl = '', username = '' } = session?.account ?? {};
  const { state, key } = storageFiles;
  const mark = syncedMark(state, [...key, baseUrl, username], io.system.uid);
  const before = session ? (await session.client.listUserImages()).images : [];
  const transfer = {
    storage,
    proofs,
    clock: io,
    onConflict,
    dryRun,
    assertHeld,
    beforeVisible: mark.remove,
    visible: new Map(),
  };
  return { before, transfer, mark };
}

/** Syncs. If that fails, the packages that failed before are counted behind its errors. */
async function syncAndCount(
  context: Context,
  { output, batch }: PushJob,
  outcome: UploadOutcome,
  state: PushState,
  options: SyncOptions,
): Promise<Result> {
  const syncing = syncPushed(context, output, outcome.complete, state, options);
  const synced = await syncing.catch((error: unknown): Result => ({ error }));
  const afterwards = async () => {
    await synced.afterwards?.();
    if (synced.error === undefined || !batch.hasFailed) return;
    const message = batch.summary(outcome.counts());
    context.tell({ kind: 'failure', message, hint: batch.hintForEnd });
  };
  return { ...synced, afterwards };
}

/** Returns the error of an interrupt, which says what the next run does. */
function resumable(error: unknown, sync: boolean): ImgctlError {
  const rest = sync ? 'sends what is missing, then syncs' : 'sends what is missing';
  return asImgctlError(error).with({ facts: `run the same command again: it ${rest}` });
}

/** The rows of --no-sync. */
function fileRows(packages: readonly PlannedPackage[]) {
  const files = packages.flatMap((each) => each.files);
  return files.map((file) => {
    const unsent = isSkipped(file) ? 'skipped' : 'unchanged';
    return { name: file.name, size: file.size, state: isSent(file) ? 'uploaded' : unsent };
  });
}
