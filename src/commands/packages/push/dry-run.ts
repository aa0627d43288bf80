// The rows of push --dry-run: what would be uploaded, and what the sync would do.

import type { Row } from '../../../output/columns.ts';
import { isSent } from '../../../upload/actions.ts';
import type { PlannedPackage } from '../../../upload/plan.ts';
import type { Storage } from '../../../upload/storage.ts';

/** Returns the files of the complete packages, and the conflicts of those that would fail. */
export function uploadRows(
  plan: readonly PlannedPackage[],
  complete: readonly PlannedPackage[],
): Row[] {
  const all = plan.flatMap((each) => each.files);
  const conflicts = all.filter(({ action }) => action === 'conflict');
  const files = [...complete.flatMap((each) => each.files), ...conflicts];
  return files.map(({ action, name, size }) => ({ step: 'upload', action, name, size }));
}

/** Returns what a sync would do: it makes the images equal to the packages in the storage. */
export async function syncRows(
  storage: Storage,
  packages: readonly PlannedPackage[],
  images: readonly Row[],
): Promise<Row[]> {
  const sent = packages.filter(({ files }) => files.some(isSent)).map(({ name }) => name);
  const stored = (await storage.list()).filter((name) => /\.(ova|ovf)$/i.test(name));
  const expected = [...new Set([...stored, ...sent])];
  const known = images.map(({ id, name }) => String(name ?? id));
  const changes = {
    add: expected.filter((name) => !known.includes(name)),
    update: sent.filter((name) => known.includes(name)),
    delete: known.filter((name) => !expected.includes(name)),
  };
  return Object.entries(changes).flatMap(([action, names]) =>
    names.sort().map((name) => ({ step: 'sync', action, name, size: null })),
  );
}
