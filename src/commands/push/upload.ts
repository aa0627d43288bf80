// Plans and uploads the packages of a push, and reports each file.

import type { Context } from '../../context.ts';
import type {
  PlannedFile,
  PlannedPackage,
  TransferOptions,
  UploadPackage,
} from '../../upload/transfer.ts';
import { describeBytes, describeRate } from '../../words.ts';

/** Compares the packages with the storage. */
export async function planAll(
  { console }: Context,
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
): Promise<PlannedPackage[]> {
  const { planPackages } = await import('../../upload/transfer.ts');
  const { storage } = transfer;
  const progress = console.startProgress({ lines: true });
  const planned = planPackages(packages, transfer, (name) => {
    progress.update('', () => `${name}: comparing with ${storage.address}`);
  });
  return planned.finally(() => progress.stop());
}

export async function uploadAll(
  { io, console }: Context,
  plan: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<void> {
  const { isSent, transferPackage } = await import('../../upload/transfer.ts');
  const { storage, proofs } = transfer;
  // What cannot be removed now does no harm, and an error of the storage shows up below.
  await storage.removeDeadParts(false).catch(() => {});
  for (const each of plan) {
    const progress = console.startProgress({ lines: true });
    const started = new Map<PlannedFile, { at: number; bytes: number }>();
    const transferred = transferPackage(each, transfer, (file, bytes) => {
      const start = started.get(file) ?? { at: io.now(), bytes };
      started.set(file, start);
      const from = start.bytes === 0 ? '' : ` from ${describeBytes(start.bytes)}`;
      const text = `${file.name}: ${isSent(file) ? `uploading${from}` : 'reading'}`;
      progress.update(text, () => {
        if (bytes === file.size) return `${file.name}: waiting for the storage`;
        return `${text} ${describeRate(bytes, file.size, io.now() - start.at, start.bytes)}`;
      });
    });
    await transferred.finally(() => progress.stop()).finally(proofs.save);
    for (const { name, size, note, action } of each.files) {
      if (action === 'skip') {
        const different = `${storage.address} has a different file with that name`;
        console.warn(`${name}: skipped, ${note ?? different}`);
        continue;
      }
      const there = `already there${note === undefined ? '' : ` (${note})`}`;
      const line = `${name}: ${action === 'unchanged' ? there : `uploaded, ${describeBytes(size)}`}`;
      console.success(line, line);
    }
  }
  // A server may have written the part of a killed push until now.
  await storage.removeDeadParts(true).catch(() => {});
}
