// The result of push --dry-run: what would be uploaded, and what the sync would do.

import type { Result } from '../../../cli/result.ts';
import type { Row } from '../../../output/columns.ts';
import { isPackageName } from '../../../ovf/names.ts';
import { normalize } from '../../../query/fold-case.ts';
import type { PlannedPackage } from '../../../upload/plan.ts';
import { comparedName } from '../sync/image-names.ts';
import { brokenPackages } from './broken.ts';
import { needsSync, wasSent } from './packages-sent.ts';
import type { Push } from './push-state.ts';
import type { UploadOutcome } from './upload.ts';

/** @param outcome of uploads that sent nothing, but read and checked every file */
export async function dryRunResult(
  push: Push,
  plan: readonly PlannedPackage[],
  outcome: UploadOutcome,
): Promise<Result> {
  const { context, options, output, batch, transfer } = push;
  const { complete, incomplete, fatal } = outcome;
  if (fatal) throw fatal;
  const broken = [...brokenPackages(incomplete, transfer).keys()];
  const isWithheld = options.sync && broken.length > 0;
  const willSync = options.sync && !isWithheld && needsSync(push, complete);
  const rows = [...uploadRows(plan, complete), ...(willSync ? await syncRows(push, complete) : [])];
  const why = `no sync would be submitted: ${broken.join(', ')} would be broken`;
  const afterwards = () => {
    if (isWithheld) context.console.failure(why);
    context.console.note('nothing was uploaded or submitted');
  };
  const error = batch.error(outcome.counts('to upload'));
  return { output, rows, afterwards, error };
}

/** Returns the files of the complete packages, and the conflicts of those that would fail. */
function uploadRows(plan: readonly PlannedPackage[], complete: readonly PlannedPackage[]): Row[] {
  const planned = plan.flatMap((each) => each.files);
  const conflicts = planned.filter(({ action }) => action === 'conflict');
  const files = [...complete.flatMap((each) => each.files), ...conflicts];
  return files.map(({ action, name, size }) => ({ step: 'upload', action, name, size }));
}

/** Returns what a sync would do: it makes the images equal to the packages in the storage. */
async function syncRows(
  { transfer, before }: Push,
  complete: readonly PlannedPackage[],
): Promise<Row[]> {
  const sent = complete.filter(wasSent).map(comparedName);
  const stored = (await transfer.storage.list()).filter(isPackageName);
  const expected = [...new Set([...stored.map(normalize), ...sent])];
  const images = before.map(({ id, name }) => comparedName({ name: name ?? id }));
  const changes = {
    add: expected.filter((name) => !images.includes(name)),
    update: sent.filter((name) => images.includes(name)),
    delete: images.filter((name) => !expected.includes(name)),
  };
  return Object.entries(changes).flatMap(([action, names]) =>
    names.sort().map((name) => ({ step: 'sync', action, name, size: null })),
  );
}
