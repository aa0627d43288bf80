// Plans and uploads the packages of a push one by one, and reports each file.

import type { Context } from '../../../context.ts';
import { attempt, hasCode } from '../../../errors.ts';
import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedFile, PlannedPackage, Transfer, UploadPackage } from '../../../upload/plan.ts';
import { describeBytes, describeRate } from '../../../words.ts';
import type { PackageBatch } from '../package-batch.ts';

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
    const sent = this.complete.filter(({ files }) => files.some(isSent)).length;
    const skipped = this.complete.filter(({ files }) => files.some(isSkipped)).length;
    const unchanged = this.complete.length - sent - skipped;
    return { [uploaded]: sent, unchanged, skipped, 'not tried': this.untried };
  }
}

/** Compares the packages with the storage. What cannot be pushed fails. */
export async function planWithProgress(
  { tell }: Context,
  batch: PackageBatch,
  packages: readonly UploadPackage[],
  transfer: Transfer,
): Promise<PlannedPackage[]> {
  const { planPackages } = await import('../../../upload/plan.ts');
  tell({ kind: 'begin' });
  const planned = planPackages(packages, transfer, (name) => {
    const describe = () => `${name}: comparing with ${transfer.storage.address}`;
    tell({ kind: 'progress', text: '', describe });
  });
  const plan = await planned.finally(() => tell({ kind: 'end' }));
  for (const { name, error } of plan) if (error) batch.addFailure(name, error);
  return plan;
}

/** Uploads the packages that can be pushed; one that fails leaves the others alone. */
export async function uploadAll(
  context: Context,
  batch: PackageBatch,
  plan: readonly PlannedPackage[],
  transfer: Transfer,
): Promise<UploadOutcome> {
  const { isOfPackage, withoutSent } = await import('../../../upload/plan.ts');
  const { storage, dryRun } = transfer;
  const outcome = new UploadOutcome();
  // What cannot be removed now does no harm, and an error of the storage shows up below.
  if (!dryRun) await storage.removeDeadParts(false).catch(() => {});
  let isFull = false;
  for (const planned of plan) {
    // A file that several packages share is sent with the first of them.
    const each = withoutSent(planned, transfer);
    const isLeftOut = isFull && each.files.some(isSent);
    if (planned.error || isLeftOut) {
      outcome.incomplete.set(each, undefined);
      if (!planned.error) outcome.untried += 1;
      continue;
    }
    try {
      await transferWithProgress(context, each, transfer);
      outcome.complete.push(each);
    } catch (error) {
      outcome.incomplete.set(each, error);
      if (hasCode(error, 'storage-full')) isFull = true;
      else if (!isOfPackage(error)) {
        outcome.fatal = error;
        return outcome;
      }
      batch.addFailure(each.name, error);
    }
  }
  // Again: a server may have finished a part of a killed push meanwhile.
  if (!dryRun) await storage.removeDeadParts(true).catch(() => {});
  // Another push that took over may have changed what this one stored.
  outcome.fatal = attempt(transfer.assertHeld).error;
  return outcome;
}

async function transferWithProgress(
  context: Context,
  each: PlannedPackage,
  transfer: Transfer,
): Promise<void> {
  const { transferPackage } = await import('../../../upload/transfer.ts');
  const { io, tell } = context;
  const { storage, proofs, dryRun } = transfer;
  tell({ kind: 'begin' });
  const started = new Map<PlannedFile, { at: number; bytes: number }>();
  const onProgress = (file: PlannedFile, bytes: number) => {
    // The first call has the bytes that the storage had before.
    const start = started.get(file) ?? { at: io.elapsed(), bytes };
    started.set(file, start);
    const from = start.bytes === 0 ? '' : ` from ${describeBytes(start.bytes)}`;
    const doing = isSent(file) && !dryRun ? `uploading${from}` : 'reading';
    const text = `${file.name}: ${doing}`;
    const describe = (stalled = 'waiting for the storage') => {
      if (bytes === file.size && !dryRun) return `${file.name}: ${stalled}`;
      return `${text} ${describeRate(bytes, file.size, io.elapsed() - start.at, start.bytes)}`;
    };
    tell({ kind: 'progress', text: dryRun ? '' : text, describe });
  };
  const transferred = transferPackage(each, transfer, onProgress);
  await transferred.finally(() => tell({ kind: 'end' })).finally(proofs.save);
  if (!dryRun) for (const file of each.files) reportFile(context, file, storage.address);
}

function reportFile({ tell }: Context, file: PlannedFile, address: string): void {
  const { name, size, note, action } = file;
  if (action === 'skip') {
    const why = note ?? `${address} has a different file with that name`;
    tell({ kind: 'warning', message: `${name}: skipped, ${why}`, isPart: true });
    return;
  }
  const unchanged = note === undefined ? 'already there' : `already there (${note})`;
  const done = action === 'unchanged' ? unchanged : `uploaded, ${describeBytes(size)}`;
  const message = `${name}: ${done}`;
  tell({ kind: 'success', message, elsewhere: message });
}
