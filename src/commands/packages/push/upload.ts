// Plans and uploads the packages of a push one by one, and reports each file.

import type { Context } from '../../../context.ts';
import { hasCode } from '../../../errors.ts';
import { isSent } from '../../../upload/actions.ts';
import type {
  OnVisible,
  PlannedFile,
  PlannedPackage,
  TransferOptions,
  UploadPackage,
} from '../../../upload/transfer.ts';
import { describeBytes, describeRate } from '../../../words.ts';
import type { PackageBatch } from '../package-batch.ts';

/** What became of the packages of a push. */
export class UploadOutcome {
  /** The packages that the storage has as a whole, or that were skipped. */
  readonly complete: PlannedPackage[] = [];
  /** What became visible, also of packages that failed. */
  readonly visible: PlannedFile[] = [];
  /**
   * Packages that failed too late, by name, with the names of their visible files: one of these had replaced another,
   * or is the descriptor.
   */
  readonly broken = new Map<string, readonly string[]>();
  untried = 0;

  counts(uploaded = 'uploaded'): Record<string, number> {
    const counts = { [uploaded]: 0, unchanged: 0, skipped: 0 };
    for (const { files } of this.complete) {
      const isSkipped = files.some(({ action }) => action === 'skip');
      const unsent = isSkipped ? 'skipped' : 'unchanged';
      const what = files.some(isSent) ? uploaded : unsent;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    return { ...counts, 'not tried': this.untried };
  }
}

/** Compares the packages with the storage. What cannot be pushed fails. */
export async function planAll(
  { tell }: Context,
  batch: PackageBatch,
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
): Promise<PlannedPackage[]> {
  const { planPackages } = await import('../../../upload/transfer.ts');
  tell({ kind: 'begin' });
  const planned = planPackages(packages, transfer, (name) => {
    const describe = () => `${name}: comparing with ${transfer.storage.address}`;
    tell({ kind: 'progress', text: '', describe });
  });
  const plan = await planned.finally(() => tell({ kind: 'end' }));
  for (const { name, error } of plan) if (error) batch.addFailure(name, error);
  return plan;
}

/**
 * Uploads the packages that can be pushed; one that fails leaves the others alone. A full storage ends the uploads.
 * @param outcome receives what was done, also if an error that concerns all packages is thrown
 */
export async function uploadAll(
  context: Context,
  batch: PackageBatch,
  plan: readonly PlannedPackage[],
  transfer: TransferOptions,
  outcome: UploadOutcome,
): Promise<void> {
  const { isOfPackage, withoutSent } = await import('../../../upload/transfer.ts');
  const { storage, onConflict } = transfer;
  // What cannot be removed now does no harm, and an error of the storage shows up below.
  if (!transfer.dryRun) await storage.removeDeadParts(false).catch(() => {});
  let isFull = false;
  for (const planned of plan.filter(({ error }) => error === undefined)) {
    const each = withoutSent(planned);
    const { name, files } = each;
    if (isFull && files.some(isSent)) {
      outcome.untried += 1;
      continue;
    }
    const visible: PlannedFile[] = [];
    const names: string[] = [];
    try {
      await uploadPackage(context, each, transfer, (file, isSure) => {
        visible.push(file);
        names.push(isSure ? file.name : `${file.name} (perhaps)`);
        outcome.visible.push(file);
      });
    } catch (error) {
      // With replace, a conflict means that another push has replaced a file that was visible.
      const isReplaced = hasCode(error, 'conflict') && onConflict === 'replace';
      const isBroken = visible.some((file) => file.action === 'replace' || file.name === name);
      const sent = files.filter(isSent).map((file) => file.name);
      if (isReplaced) outcome.broken.set(name, sent);
      else if (isBroken) outcome.broken.set(name, names);
      isFull ||= hasCode(error, 'storage-full');
      if (!isOfPackage(error) && !hasCode(error, 'storage-full')) throw error;
      batch.addFailure(name, error);
      continue;
    }
    outcome.complete.push(each);
  }
  // Again: a server may have finished a part of a killed push meanwhile.
  if (!transfer.dryRun) await storage.removeDeadParts(true).catch(() => {});
}

async function uploadPackage(
  { io, tell }: Context,
  each: PlannedPackage,
  transfer: TransferOptions,
  onVisible: OnVisible,
): Promise<void> {
  const { transferPackage } = await import('../../../upload/transfer.ts');
  const { storage, proofs, dryRun } = transfer;
  tell({ kind: 'begin' });
  const started = new Map<PlannedFile, { at: number; bytes: number }>();
  const onProgress = (file: PlannedFile, bytes: number) => {
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
  const transferred = transferPackage(each, transfer, onProgress, onVisible);
  await transferred.finally(() => tell({ kind: 'end' })).finally(proofs.save);
  if (dryRun) return;
  for (const { name, size, note, action } of each.files) {
    if (action === 'skip') {
      const different = `${storage.address} has a different file with that name`;
      tell({ kind: 'warning', message: `${name}: skipped, ${note ?? different}`, isPart: true });
      continue;
    }
    const there = note === undefined ? 'already there' : `already there (${note})`;
    const done = action === 'unchanged' ? there : `uploaded, ${describeBytes(size)}`;
    const message = `${name}: ${done}`;
    tell({ kind: 'success', message, elsewhere: message });
  }
}
