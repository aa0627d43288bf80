// The history of sync requests submitted from this machine, newest last.

import path from 'node:path';
import { ImgctlError, valueOr } from '../errors.ts';
import { errorReason, readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import { withLock } from '../files/lock.ts';
import type { Io } from '../io.ts';
import type { JsonObject } from '../json.ts';

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
  const entries = valueOr(() => entriesOf(readJsonFile(historyFile(directory))), []);
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
    const entries = readForUpdate(file);
    const keyOf = ({ profile, base_url, id }: HistoryEntry) => [profile, base_url, id].join('\0');
    const index = entries.findIndex((known) => keyOf(known) === keyOf(entry));
    const known = entries[index];
    if (known) entries[index] = { ...known, status: entry.status };
    else entries.push(entry);
    const requests = entries.slice(-MAX_ENTRIES);
    await writeJsonFile(file, { requests }, { confirm });
  });
}

function readForUpdate(file: string): HistoryEntry[] {
  try {
    return entriesOf(readJsonFile(file));
  } catch (error) {
    throw new ImgctlError('config', `cannot read the history ${file}: ${errorReason(error)}`, {
      hint: 'move it elsewhere; imgctl does not overwrite it',
    });
  }
}

function entriesOf({ requests }: JsonObject = {}): HistoryEntry[] {
  return Array.isArray(requests) ? requests.filter(isEntry) : [];
}

function isEntry(entry: unknown): entry is HistoryEntry {
  const { profile, base_url, id, submitted_on, status }: JsonObject = Object(entry);
  const texts = [profile, base_url, submitted_on, status ?? '', typeof id === 'number' ? '' : id];
  return status !== undefined && texts.every((text) => typeof text === 'string');
}
