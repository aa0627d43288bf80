// The history of sync requests submitted from this machine, newest last.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import { readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import type { Io } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';

export interface HistoryEntry {
  readonly profile: string;
  readonly base_url: string;
  readonly id: number | string;
  /** ISO 8601, UTC. */
  readonly submitted_on: string;
  readonly status: string | null;
}

const MAX_ENTRIES = 200;
const LOCK_PATIENCE = 10_000;

function historyFile(directory: string): string {
  return path.join(directory, 'sync-history.json');
}

/** Returns the entries of a profile at a base URL, oldest first; none if the history is unreadable. */
export function readHistory(
  directory: string | undefined,
  profile: string,
  baseUrl: string,
): HistoryEntry[] {
  if (directory === undefined) return [];
  const result = readJsonFile(historyFile(directory));
  const entries = result.state === 'read' ? entriesOf(result.value) : [];
  return entries.filter((entry) => entry.profile === profile && entry.base_url === baseUrl);
}

/**
 * Adds a request, or updates its status.
 * @throws ImgctlError config (an unreadable history is not overwritten), timeout; the file system's error
 */
export async function remember(
  directory: string | undefined,
  io: Io,
  entry: HistoryEntry,
): Promise<void> {
  if (directory === undefined) return;
  const file = historyFile(directory);
  await withLock(file, LOCK_PATIENCE, io, async (confirm) => {
    const entries = entriesOf(readForUpdate(file));
    const index = entries.findIndex(
      (known) =>
        known.profile === entry.profile &&
        known.base_url === entry.base_url &&
        String(known.id) === String(entry.id),
    );
    const known = entries[index];
    if (known) entries[index] = { ...known, status: entry.status };
    else entries.push(entry);
    const requests = entries.slice(-MAX_ENTRIES);
    await writeJsonFile(file, { requests }, io.system, { confirm });
  });
}

function readForUpdate(file: string): JsonObject {
  const result = readJsonFile(file);
  if (result.state === 'absent') return {};
  if (result.state === 'read') return result.value;
  throw new ImgctlError('config', `cannot read the history ${file}: ${result.reason}`, {
    hint: 'move it elsewhere; imgctl does not overwrite it',
  });
}

function entriesOf({ requests }: JsonObject): HistoryEntry[] {
  return Array.isArray(requests) ? requests.filter(isEntry) : [];
}

function isEntry(entry: unknown): entry is HistoryEntry {
  return (
    isObject(entry) &&
    typeof entry.profile === 'string' &&
    typeof entry.base_url === 'string' &&
    (typeof entry.id === 'number' || typeof entry.id === 'string') &&
    typeof entry.submitted_on === 'string' &&
    (typeof entry.status === 'string' || entry.status === null)
  );
}
