// The history of sync requests submitted from this machine, newest last.

import path from 'node:path';
import { errorReason, ImgctlError, permissionAdvice } from '../../errors.ts';
import { advice } from '../../facts.ts';
import { readJsonFile, writeJsonFile } from '../../files/atomic-file.ts';
import { withMutex } from '../../files/mutex.ts';
import type { Io } from '../../io.ts';
import type { JsonObject } from '../../json.ts';

export interface HistoryEntry {
  readonly profile: string;
  readonly base_url: string;
  readonly id: number | string;
  /** ISO 8601, UTC. */
  readonly submitted_on: string;
  /** When the status was read: ISO 8601, UTC. */
  readonly checked_on: string;
  readonly status: string | null;
  /** How many errors it had then; undefined if the service did not say. */
  readonly errors?: number | undefined;
  /** The names of the images that it added, or how many if they are many; undefined if the service did not say. */
  readonly added?: readonly string[] | number | undefined;
  /** The images that it deleted, in the same form. */
  readonly deleted?: readonly string[] | number | undefined;
}

const FILE = 'sync-history.json';
const MAX_ENTRIES = 200;
const MUTEX_PATIENCE = 10_000;

/** @throws ImgctlError config: the history is unreadable */
function readEntries(file: string): HistoryEntry[] {
  try {
    const { requests } = readJsonFile(file) ?? {};
    return Array.isArray(requests) ? requests.filter(isEntry) : [];
  } catch (error) {
    throw new ImgctlError('config', `cannot read the history ${file}: ${errorReason(error)}`, {
      facts: permissionAdvice(error, file) ?? advice('move it elsewhere; it is not overwritten'),
    });
  }
}

/** Returns the entries of a profile at a base URL, oldest first. @throws ImgctlError config: the history is unreadable */
export function readHistory(directory: string | undefined, profile: string, baseUrl: string) {
  if (directory === undefined) return [];
  const entries = readEntries(path.join(directory, FILE));
  return entries.filter((entry) => entry.profile === profile && entry.base_url === baseUrl);
}

/**
 * Adds a request, or updates its status.
 * @param isNew it was just submitted: an older one with its id is of a service that has started its ids again
 * @throws ImgctlError config (unreadable: it is not overwritten), locked
 */
export async function remember(
  directory: string | undefined,
  io: Io,
  entry: HistoryEntry,
  isNew = false,
) {
  if (directory === undefined) return;
  const file = path.join(directory, FILE);
  await withMutex(file, MUTEX_PATIENCE, io, async (assertHeld) => {
    const entries = readEntries(file);
    const keyOf = ({ profile, base_url, id }: HistoryEntry) => [profile, base_url, id].join('\0');
    const index = entries.findIndex((known) => keyOf(known) === keyOf(entry));
    if (isNew && index >= 0) entries.splice(index, 1);
    const known = isNew ? undefined : entries[index];
    if (known) entries[index] = { ...entry, id: known.id, submitted_on: known.submitted_on };
    else entries.push(entry);
    await writeJsonFile(file, { requests: entries.slice(-MAX_ENTRIES) }, { assertHeld });
  });
}

function isEntry(entry: unknown): entry is HistoryEntry {
  const { profile, base_url, id, submitted_on, checked_on, status }: JsonObject = Object(entry);
  const hasId = typeof id === 'number' || typeof id === 'string';
  const hasStatus = status === null || typeof status === 'string';
  const texts = [profile, base_url, submitted_on, checked_on];
  return hasId && hasStatus && texts.every((text) => typeof text === 'string');
}
