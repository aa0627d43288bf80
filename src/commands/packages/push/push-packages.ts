// Compares and uploads the packages of a push, and decides how it ends.

import type { Result } from '../../../cli/result.ts';
import { asImgctlError, type ImgctlError } from '../../../errors.ts';
import type { Row } from '../../../output/columns.ts';
import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedPackage, UploadPackage } from '../../../upload/plan.ts';
import { brokenPackages } from './broken.ts';
import { dryRunResult } from './dry-run.ts';
import type { Push } from './push-state.ts';
import { reportUnsynced, syncPushed } from './sync-pushed.ts';
import { planAll, type UploadOutcome, uploadAll } from './upload.ts';

export async function pushPackages(
  push: Push,
  packages: readonly UploadPackage[],
): Promise<Result> {
  const plan = await planAll(push, packages);
  const outcome = await uploadAll(push, plan);
  return push.options.dryRun ? dryRunResult(push, plan, outcome) : finish(push, outcome);
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
async function finish(push: Push, outcome: UploadOutcome): Promise<Result> {
  const { context, options, output, batch } = push;
  const { complete, fatal } = outcome;
  const isBroken = reportBroken(push, outcome);
  if (options.sync && (fatal || isBroken)) reportUnsynced(context, complete);
  if (fatal) throw context.io.signal.aborted ? resumable(fatal, options.sync) : fatal;
  const failed = batch.error(outcome.counts());
  if (complete.length === 0) return { error: failed };
  if (!options.sync) return { output, rows: fileRows(complete), error: failed };
  if (isBroken) return { error: failed };
  const synced = await syncPushed(push, complete).catch((error: unknown): Result => ({ error }));
  if (!synced.error || !failed) return { ...synced, error: synced.error ?? failed };
  // The error of the sync ends the run; a line before it counts the packages that failed.
  const afterwards = async () => {
    await synced.afterwards?.();
    const { console } = context;
    console.failure(batch.summary(outcome.counts()), console.hintForEnd);
  };
  return { ...synced, afterwards };
}

/** Names the files of the packages that are broken. Returns true if there are any. */
function reportBroken({ context, transfer }: Push, { incomplete }: UploadOutcome): boolean {
  const broken = brokenPackages(incomplete, transfer);
  for (const [name, files] of broken) {
    const seen = files.join(', ');
    context.console.failure(`${name} failed after these files became visible: ${seen}`);
  }
  return broken.size > 0;
}

/** Returns the error of an interrupt, which says what the next run does. */
function resumable(error: unknown, sync: boolean): ImgctlError {
  const rest = sync ? 'sends what is missing, then syncs' : 'sends what is missing';
  return asImgctlError(error).with({ facts: `run the same command again: it ${rest}` });
}

/** Returns the rows of --no-sync. */
function fileRows(packages: readonly PlannedPackage[]): Row[] {
  const files = packages.flatMap((each) => each.files);
  return files.map((file) => {
    const unsent = isSkipped(file) ? 'skipped' : 'unchanged';
    return { name: file.name, size: file.size, state: isSent(file) ? 'uploaded' : unsent };
  });
}
