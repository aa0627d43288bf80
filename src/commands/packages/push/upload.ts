// Plans and uploads the packages of a push one by one, and reports each file.

import type { Context } from '../../../context.ts';
import { attempt, hasCode } from '../../../errors.ts';
import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedFile, PlannedPackage, UploadPackage } from '../../../upload/plan.ts';
import { describeBytes, describeRate } from '../../../words.ts';
import { wasSent, wasSkipped } from './packages-sent.ts';
import type { Push } from './push-state.ts';

/** What became of the packages of a push. */
export class UploadOutcome {
  /** The packages that the storage has as a whole, or that were skipped. */
  readonly complete: PlannedPackage[] = [];
  /** The other packages, each with the error of its upload; undefined if it was not tried. */
  readonly incomplete = new Map<PlannedPackage, unknown>();
  /** How many packages were left out because the storage is full. */
  untried = 0;
  /** The error that ended the uploads, as it concerns all packages. */
  fatal: unknown;

  counts(uploaded = 'uploaded'): Record<string, number> {
    const sent = this.complete.filter(wasSent).length;
    const skipped = this.complete.filter(wasSkipped).length;
    const unchanged = this.complete.length - sent - skipped;
    return { [uploaded]: sent, unchanged, skipped, 'not tried': this.untried };
  }
}

/** Compares the packages with the storage. What cannot be pushed fails. */
export async function planAll(
  { context, batch, transfer }: Push,
  packages: readonly UploadPackage[],
): Promise<PlannedPackage[]> {
  const { planPackages } = await import('../../../upload/plan.ts');
  const { console } = context;
  const say = (name: string) => {
    const describe = () => `${name}: comparing with ${transfer.storage.address}`;
    console.progress.show('', describe);
  };
  const plan = await console.progress.during(() => planPackages(packages, transfer, say));
  for (const { name, error } of plan) if (error) batch.addFailure(name, error);
  return plan;
}

/**
 * Uploads the packages one by one. What becomes of each, by the first row that holds:
 *
 *     it failed in the plan                 | incomplete; its error was reported
 *     the storage is full, and it sends     | incomplete, not tried
 *     it is uploaded                        | complete
 *     an error of this package              | incomplete, failed; the next one is uploaded
 *     storage-full                          | the same, and the storage is full
 *     any other error                       | it and all that follow are incomplete
 */
export async function uploadAll(
  push: Push,
  plan: readonly PlannedPackage[],
): Promise<UploadOutcome> {
  const { isOfPackage, withoutSent } = await import('../../../upload/plan.ts');
  const { batch, transfer } = push;
  const { storage, dryRun } = transfer;
  const outcome = new UploadOutcome();
  // What cannot be removed now does no harm, and an error of the storage shows up below.
  if (!dryRun) await storage.removeDeadParts().catch(() => {});
  let isFull = false;
  for (const planned of plan) {
    // A file that several packages share is sent with the first of them.
    const each = withoutSent(planned, transfer);
    if (planned.error || outcome.fatal) {
      outcome.incomplete.set(each, undefined);
      continue;
    }
    if (isFull && wasSent(each)) {
      outcome.incomplete.set(each, undefined);
      outcome.untried += 1;
      continue;
    }
    try {
      await upload(push, each);
      outcome.complete.push(each);
    } catch (error) {
      outcome.incomplete.set(each, error);
      if (hasCode(error, 'storage-full')) isFull = true;
      else if (!isOfPackage(error)) {
        outcome.fatal = error;
        continue;
      }
      batch.addFailure(each.name, error);
    }
  }
  if (outcome.fatal) return outcome;
  // Another push that took over may have changed what this one stored, and has parts of its own.
  outcome.fatal = attempt(transfer.assertHeld).error;
  // Again: a server may have finished a part of a killed push meanwhile.
  if (!dryRun && !outcome.fatal) await storage.removeDeadParts().catch(() => {});
  return outcome;
}

async function upload(push: Push, each: PlannedPackage): Promise<void> {
  const { transferPackage } = await import('../../../upload/transfer.ts');
  const { context, transfer } = push;
  const { storage, proofs, dryRun } = transfer;
  const uploading = () => transferPackage(each, transfer, bytesReporter(push));
  await context.console.progress.during(uploading).finally(proofs.save);
  if (!dryRun) for (const file of each.files) reportFile(context, file, storage.address);
}

/** Returns what reports the bytes of a file that were read or sent. */
function bytesReporter({ context, transfer }: Push) {
  const { io, console } = context;
  const { dryRun } = transfer;
  const firsts = new Map<PlannedFile, { at: number; bytes: number }>();
  return (file: PlannedFile, bytes: number) => {
    const { name, size } = file;
    // The first call has the bytes that the storage had before.
    const first = firsts.get(file) ?? { at: io.elapsed(), bytes };
    firsts.set(file, first);
    const from = first.bytes === 0 ? '' : ` from ${describeBytes(first.bytes)}`;
    const text = `${name}: ${isSent(file) && !dryRun ? `uploading${from}` : 'reading'}`;
    const describe = (stalled = 'waiting for the storage') => {
      if (bytes === size && !dryRun) return `${name}: ${stalled}`;
      return `${text} ${describeRate(bytes, size, io.elapsed() - first.at, first.bytes)}`;
    };
    console.progress.show(dryRun ? '' : text, describe);
  };
}

function reportFile({ console }: Context, file: PlannedFile, address: string): void {
  const { name, size, note } = file;
  if (isSkipped(file)) {
    const why = note ?? `${address} has a different file with that name`;
    console.warnOfPart(`${name}: skipped, ${why}`);
    return;
  }
  const done = isSent(file) ? `uploaded, ${describeBytes(size)}` : 'already there';
  const message = `${name}: ${done}`;
  console.success(message, { withoutMark: message });
}
