// Describes the images that a sync added and deleted.

import type { SyncRequest } from '../api/sync.ts';
import { stringify } from '../json.ts';

/** Returns `added a.ova; deleted 2`. */
export function describeChanges({ added, deleted }: SyncRequest): string {
  const changes = [
    ['added', describeNames(added)],
    ['deleted', describeNames(deleted)],
  ].filter(([, what]) => what !== null && what !== 0 && what !== 'none');
  return changes.map((words) => words.join(' ')).join('; ') || 'nothing changed';
}

/** Joins a list of names for people; returns anything else unchanged. */
export function describeNames(value: SyncRequest['added']): number | string | null {
  if (typeof value === 'number' || value === null) return value;
  return value.length === 0 ? 'none' : value.map(nameOf).join(', ');
}

function nameOf(element: unknown): string {
  if (typeof element === 'string') return element;
  const { name } = Object(element) as { name?: unknown };
  return typeof name === 'string' ? name : stringify(element);
}
