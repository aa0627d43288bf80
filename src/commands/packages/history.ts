// The history of sync requests submitted from this machine, newest last.

import path from 'node:path';
import type { SyncId, SyncRequest } from '../../api/sync-requests.ts';
import { findPaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { errorReason, ImgctlError, permissionAdvice } from '../../errors.ts';
import { advice } from '../../facts.ts';
import { MAX_FILE_SIZE, readJsonFile, writeJsonFile } from '../../files/atomic-file.ts';
import { withMutex } from '../../files/mutex.ts';
import type { Io } from '../../io.ts';
import type { JsonObject } from '../../json.ts';
import { elementNames } from './show-request.ts';

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
  /** Names of the images that it added, or how many; undefined if the service did not say. */
  readonly added?: readonly string[] | number | undefined;
  /** The images that it deleted, in the same form. */
  readonly deleted?: readonly string[] | number | undefined;
}

const FILE = 'sync-history.json';
const MAX_ENTRIES = 2_000;
const MUTEX_PATIENCE = 10_000;
const MAX_NAMES = 20;

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

/**
 * Returns the entries of a profile at a base URL, oldest first.
 * @throws ImgctlError config: the history is unreadable
 */
export function readHistory(directory: string | undefined, profile: string, baseUrl: string) {
  if (directory === undefined) return [];
  const entries = readEntries(path.join(directory, FILE));
  return entries.filter((entry) => entry.profile === profile && entry.base_url === baseUrl);
}

/**
 * Adds a request, or updates its status.
 * @param event if submitted, an older request with this id is of a service that began anew
 * @throws ImgctlError config (unreadable: it is not overwritten), locked
 */
export async function remember(
  directory: string | undefined,
  io: Io,
  entry: HistoryEntry,
  event: 'submitted' | 'checked',
): Promise<void> {
  if (directory === undefined) return;
  const file = path.join(directory, FILE);
  const keyOf = ({ profile, base_url, id }: HistoryEntry) => [profile, base_url, id].join('\0');
  await withMutex(file, MUTEX_PATIENCE, io, async (assertHeld) => {
    const entries = readEntries(file);
    const index = entries.findIndex((each) => keyOf(each) === keyOf(entry));
    const earlier = entries[index];
    if (earlier && event === 'checked') {
      entries[index] = { ...entry, id: earlier.id, submitted_on: earlier.submitted_on };
    } else {
      if (earlier) entries.splice(index, 1);
      entries.push(entry);
    }
    await writeJsonFile(file, { requests: withinLimits(entries) }, { assertHeld });
  });
}

/** Returns the entries without the oldest ones, if they are too many or too large for a file. */
function withinLimits(entries: readonly HistoryEntry[]): HistoryEntry[] {
  const requests = entries.slice(-MAX_ENTRIES);
  const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value, null, 2));
  while (sizeOf({ requests }) >= MAX_FILE_SIZE) requests.shift();
  return requests;
}

function isEntry(entry: unknown): entry is HistoryEntry {
  const { profile, base_url, id, submitted_on, checked_on, status }: JsonObject = Object(entry);
  const hasId = typeof id === 'number' || typeof id === 'string';
  const hasStatus = status === null || typeof status === 'string';
  const texts = [profile, base_url, submitted_on, checked_on];
  return hasId && hasStatus && texts.every((text) => typeof text === 'string');
}

/** Remembers what the service says of a request now. A failure is only a warning. */
export async function rememberRequest(
  context: Context,
  id: SyncId,
  request: Partial<Pick<SyncRequest, 'status' | 'errors' | 'added' | 'deleted'>>,
  event: 'submitted' | 'checked' = 'checked',
): Promise<void> {
  const { account, files } = await context.session();
  const now = new Date(context.io.now()).toISOString();
  const entry = {
    profile: account.profile,
    base_url: account.baseUrl,
    id,
    submitted_on: now,
    checked_on: now,
    status: request.status ?? null,
    errors: request.errors?.length,
    added: shortened(request.added),
    deleted: shortened(request.deleted),
  };
  const { state } = findPaths(context.io);
  await remember(state, context.io, entry, event).catch((error: unknown) => {
    // If the token could not be stored either, a warning has already said so.
    if (files.writeFailed) return;
    const known = error instanceof ImgctlError ? error : undefined;
    const message = known?.message ?? `cannot store the sync history: ${errorReason(error)}`;
    context.tell({ kind: 'warning', message, hint: known?.facts });
  });
}

/** Returns the names of the images, or how many they are if they are many. */
function shortened(images: SyncRequest['added']): HistoryEntry['added'] {
  if (!Array.isArray(images)) return typeof images === 'number' ? images : undefined;
  return images.length > MAX_NAMES ? images.length : elementNames(images);
}
