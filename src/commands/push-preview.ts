// Shows what a push would upload, and what its sync would add, update and delete.

import type { Context } from '../context.ts';
import type { Row } from '../output/writers.ts';
import type { Storage } from '../upload/storage.ts';
import { isSent, type PlannedPackage } from '../upload/transfer.ts';
import { describeBytes } from './packages.ts';

const PACKAGE = /\.(ova|ovf)$/i;

/** @param images the user's images, or undefined if nothing will be synced */
export async function previewPush(
  context: Context,
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[] | undefined,
): Promise<void> {
  const size = (bytes: number) => (context.format === 'table' ? describeBytes(bytes) : bytes);
  const uploads = plan.flatMap(({ files }) =>
    files.map((file) => ({
      step: 'upload',
      action: file.action,
      name: file.name,
      size: size(file.size),
    })),
  );
  const changes = images === undefined ? [] : await syncChanges(storage, plan, images);
  const syncs = changes.map((change) => ({ step: 'sync', ...change, size: null }));
  const columns = ['step', 'action', 'name', 'size'];
  await context.printList([...uploads, ...syncs], columns, { idField: 'name' });
  context.console.note('nothing was uploaded or submitted');
}

/** A sync makes the images equal to the packages in the storage. */
async function syncChanges(
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[],
) {
  const sent = new Set(plan.filter(({ files }) => files.some(isSent)).map(({ name }) => name));
  const stored = [...(await storage.list()).keys()].filter((name) => PACKAGE.test(name));
  const packages = new Set([...stored, ...sent]);
  const known = new Set(images.map(({ name }) => String(name)));
  const changes = (action: string, names: Iterable<string>) =>
    [...names].sort().map((name) => ({ action, name }));
  return [
    ...changes(
      'add',
      [...packages].filter((name) => !known.has(name)),
    ),
    ...changes(
      'update',
      [...sent].filter((name) => known.has(name)),
    ),
    ...changes(
      'delete',
      [...known].filter((name) => !packages.has(name)),
    ),
  ];
}
