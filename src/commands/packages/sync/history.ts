// The history of sync requests submitted from this machine, in a file, the newest last.

import path from 'node:path';
import type { SyncRequest } from '../../../api/sync-requests.ts';
import { requireBaseUrl } from '../../../config/addresses.ts';
import { findPaths } from '../../../config/paths.ts';
import type { Context } from '../../../context.ts';
import { errorReason, ImgctlError, permissionAdvice } from '../../../errors.ts';
import { advice } from '../../../facts.ts';
import { readJsonFile, writeJsonFile } from '../../../files/atomic-file.ts';
import { holdMutex, withMutex } from '../../../files/mutex.ts';
import type { Io } from '../../../io.ts';
import type { JsonObject } from '../../../json.ts';
import { shorten } from '../../../words.ts';
import { namesOfImages } from './image-names.ts';

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
/** With these limits an entry has at most 10 kB, and the file can be read (MAX_FILE_SIZE). */
const MAX_ENTRIES = 400;
/** Characters of the names of images, as JSON; longer lists are only counted. */
const MAX_NAMES = 1_000;
const MAX_STATUS = 100;
/** Milliseconds. */
const MUTEX_PATIENCE = 10_000;

/**
 * Returns the requests of this profile at its base URL, oldest first.
 * @throws ImgctlError config: no base URL, or the history is unreadable
 */
export function readHistory({ io, settings }: Pick<Context, 'io' | 'settings'>): HistoryEntry[] {
  requireBaseUrl(settings);
  const { profile, baseUrl } = settings.account;
  return entriesOf(findPaths(io).state, profile, baseUrl);
}

/** @param directory of the history; without one, there is none */
export function entriesOf(directory: string | undefined, profile: string, baseUrl: string) {
  if (directory === undefined) return [];
  const entries = readEntries(path.join(directory, FILE));
  return entries.filter((entry) => entry.profile === profile && entry.base_url === baseUrl);
}

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
  event: 'submitted' | 'checked',
  request: Pick<SyncRequest, 'id' | 'status'> & Partial<SyncRequest>,
): Promise<void> {
  const { io, console } = context;
  const { account, files } = await context.session();
  const now = new Date(io.now()).toISOString();
  const entry = {
    profile: account.profile,
    base_url: account.baseUrl,
    id: request.id,
    submitted_on: now,
    checked_on: now,
    status: request.status === undefined ? null : shorten(request.status, MAX_STATUS),
    errors: request.errors?.length,
    added: namesOrCount(request.added),
    deleted: namesOrCount(request.deleted),
  };
  const storing = storeEntry(findPaths(io).state, io, event, entry);
  return storing.catch((error: unknown) => {
    // If the token could not be stored either, a warning has already said so.
    if (files.writeFailed) return;
    const known = error instanceof ImgctlError ? error : undefined;
    const message = known?.message ?? `cannot store the sync history: ${errorReason(error)}`;
    console.warn(message, known?.facts);
  });
}

function namesOrCount(images: SyncRequest['added']): HistoryEntry['added'] {
  if (!Array.isArray(images)) return typeof images === 'number' ? images : undefined;
  const names = namesOfImages(images);
  return JSON.stringify(names).length > MAX_NAMES ? names.length : names;
}

/**
 * Stores an entry:
 *
 *     submitted | as the last one. An older one with its id is removed: the service began anew
 *     checked   | in place of the one with its id, which keeps id and submit; if there is one
 *
 * @throws ImgctlError config (unreadable: it is not overwritten), locked
 */
export async function storeEntry(
  directory: string | undefined,
  io: Io,
  event: 'submitted' | 'checked',
  entry: HistoryEntry,
): Promise<void> {
  if (directory === undefined) return;
  const file = path.join(directory, FILE);
  const keyOf = ({ profile, base_url, id }: HistoryEntry) => [profile, base_url, id].join('\0');
  const isSame = (each: HistoryEntry) => keyOf(each) === keyOf(entry);
  const withEntry = (entries: readonly HistoryEntry[]) => {
    if (event === 'submitted') return [...entries.filter((each) => !isSame(each)), entry];
    return entries.map((each) => {
      return isSame(each) ? { ...entry, id: each.id, submitted_on: each.submitted_on } : each;
    });
  };
  await withMutex(holdMutex(file, MUTEX_PATIENCE, io), async (assertHeld) => {
    const requests = withEntry(readEntries(file)).slice(-MAX_ENTRIES);
    await writeJsonFile(file, { requests }, { assertHeld });
  });
}
