// Image sync requests and the user images that they make of the files in an upload folder (sections 2.5, 4.5 to 4.7).
// Submitting a request scans the folder. The request ends once the scan is done and the delay has passed:
// PENDING for the first third of the delay, then IN_PROGRESS, then PROCESSED, or ERROR without a good package.

import { randomUUID } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Image, SyncRequestRecord } from '../api/types.ts';
import { readPackage } from '../ovf/package.ts';
import type { EmulatorSettings } from './service-options.ts';
import { serviceTimestamp } from './service-time.ts';

/** Far above the ids of the catalogue. */
const FIRST_IMAGE_ID = 1_000_001;
const DATA_STORE = 'user-images-01';
const A_LINK = 'links are not followed';

export type ImageSync = ReturnType<typeof createImageSync>;

interface SyncRequest {
  readonly id: number;
  readonly taskId: string;
  readonly created: number;
  /** Undefined while the folder is being scanned. */
  scanned: { readonly scan: Scan; readonly at: number } | undefined;
  ended: { readonly scan: Scan; readonly changes: Changes; readonly at: number } | undefined;
}

/** File names of images. */
interface Changes {
  readonly added: string[];
  readonly deleted: string[];
}

interface Account {
  /** By file name; the version changes whenever one of the package's files does. */
  readonly images: Map<string, { readonly image: Image; readonly version: string }>;
  readonly requests: SyncRequest[];
  /** Settles after the last scan: a user's scans run one after the other. */
  scanning: Promise<void>;
}

export function createImageSync(settings: EmulatorSettings, signal: AbortSignal) {
  const { now, syncDelay, uploads } = settings;
  const accounts = new Map<string, Account>();
  let lastRequestId = 0;
  let nextImageId = FIRST_IMAGE_ID;

  /** Keeps an image unchanged if its file is now invalid, and deletes it if the file is missing. */
  const applyScan = (images: Account['images'], scan: Scan, at: number): Changes => {
    const deleted = [...images.keys()].filter((name) => scan.present?.has(name) === false);
    for (const name of deleted) images.delete(name);
    const added: string[] = [];
    for (const { name, version } of scan.packages) {
      const known = images.get(name);
      if (known?.version === version) continue;
      const time = serviceTimestamp(at);
      const image = known?.image ?? newImage(nextImageId++, name, time);
      images.set(name, { image: { ...image, updated_on: time }, version });
      if (!known) added.push(name);
    }
    return { added, deleted };
  };

  /** Returns the account after applying every request that is due. */
  const accountOf = (user: string): Account => {
    const account = accounts.get(user) ?? {
      images: new Map(),
      requests: [],
      scanning: Promise.resolve(),
    };
    accounts.set(user, account);
    for (const request of account.requests.filter(({ ended }) => ended === undefined)) {
      if (request.scanned === undefined) break;
      const { scan, at: scannedAt } = request.scanned;
      const at = Math.max(scannedAt, request.created + syncDelay);
      if (now() < at) break;
      request.ended = { scan, at, changes: applyScan(account.images, scan, at) };
    }
    return account;
  };

  const scanFor = async (user: string, request: SyncRequest): Promise<void> => {
    const scan = await scanUploads(uploads && join(uploads, user), signal);
    request.scanned = { scan, at: now() };
  };

  const recordOf = (user: string, request: SyncRequest): SyncRequestRecord => {
    const { id, taskId, created, ended } = request;
    const { status, updated } = progressOf(request, now(), syncDelay);
    return {
      id,
      status,
      type: 'image_sync',
      added: ended?.changes.added ?? null,
      deleted: ended?.changes.deleted ?? null,
      created_on: serviceTimestamp(created),
      updated_on: serviceTimestamp(updated),
      task_id: taskId,
      user: { username: user },
      message: { errors: ended?.scan.errors ?? [], warnings: ended?.scan.warnings ?? [] },
    };
  };

  return {
    submit: (user: string): SyncRequestRecord => {
      const account = accountOf(user);
      lastRequestId += 1;
      const request: SyncRequest = {
        id: lastRequestId,
        taskId: randomUUID(),
        created: now(),
        scanned: undefined,
        ended: undefined,
      };
      account.requests.push(request);
      account.scanning = account.scanning.then(() => scanFor(user, request));
      return recordOf(user, request);
    },
    get: (user: string, id: string): SyncRequestRecord | undefined => {
      const request = accountOf(user).requests.find((candidate) => String(candidate.id) === id);
      return request === undefined ? undefined : recordOf(user, request);
    },
    /** Returns the user's images as of the last finished request. */
    images: (user: string): Image[] => {
      return [...accountOf(user).images.values()].map(({ image }) => image);
    },
  };
}

function progressOf({ created, ended }: SyncRequest, now: number, delay: number) {
  if (ended !== undefined) {
    const failed = ended.scan.errors.length > 0 && ended.scan.packages.length === 0;
    return { status: failed ? 'ERROR' : 'PROCESSED', updated: ended.at };
  }
  const begun = created + delay / 3;
  return now < begun
    ? { status: 'PENDING', updated: created }
    : { status: 'IN_PROGRESS', updated: begun };
}

function newImage(id: number, name: string, time: string): Image {
  return {
    id,
    name,
    path: `[${DATA_STORE}] ${name}`,
    label: name,
    folder: null,
    data_store: DATA_STORE,
    public: false,
    created_on: time,
    updated_on: time,
  };
}

interface Scan {
  /** Names of all packages, valid or not; undefined if the folder cannot be read. */
  present: ReadonlySet<string> | undefined;
  readonly packages: { readonly name: string; readonly version: string }[];
  readonly errors: string[];
  readonly warnings: string[];
}

/** Reads every OVA and OVF of a folder in full. Never rejects: every failure is one of the errors. */
async function scanUploads(folder: string | undefined, signal: AbortSignal): Promise<Scan> {
  const scan: Scan = { present: new Set(), packages: [], errors: [], warnings: [] };
  const { errors, warnings } = scan;
  if (folder === undefined) {
    warnings.push('this service was started without an uploads folder');
    return scan;
  }
  const names = await fileNames(folder).catch((error: unknown) => {
    errors.push(`the upload folder cannot be read (${reasonOf(error)})`);
  });
  if (names === undefined) return { ...scan, present: undefined };
  const present = names.filter((name) => /\.(ova|ovf)$/i.test(name));
  const referenced = new Set<string>();
  for (const name of present) {
    try {
      await scanPackage(folder, name, scan, referenced, signal);
    } catch (error) {
      errors.push(`${name}: cannot be read (${reasonOf(error)})`);
    }
  }
  for (const name of names) {
    if (/\.vmdk$/i.test(name) && !referenced.has(name)) {
      warnings.push(`${name}: ignored, because no OVF file references it`);
    }
  }
  return { ...scan, present: new Set(present) };
}

async function scanPackage(
  folder: string,
  name: string,
  { packages, errors, warnings }: Scan,
  referenced: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  const path = join(folder, name);
  if ((await lstat(path)).isSymbolicLink()) throw new Error(A_LINK);
  const { kind, files, findings } = await readPackage(path, { signal });
  for (const { severity, code, place, message } of findings) {
    const lines = severity === 'error' ? errors : warnings;
    const where = place.startsWith(name) ? place : `${name}, ${place}`;
    lines.push(`${severity} in ${where.replace(/, (byte|line)/, ' at $1')}: ${message} (${code})`);
  }
  const own = kind === 'ova' ? [name] : files.map((file) => file.name);
  for (const file of own) referenced.add(file);
  if (findings.some(({ severity }) => severity === 'error')) return;
  const states = await Promise.all(own.map((file) => lstat(join(folder, file))));
  if (states.some((stats) => stats.isSymbolicLink())) throw new Error(A_LINK);
  const version = states.map(({ mtimeMs, size }) => `${mtimeMs}:${size}`).join(' ');
  packages.push({ name, version });
}

/** Returns all files but hidden ones; none if there is no folder, as before the first upload. */
async function fileNames(folder: string): Promise<string[]> {
  try {
    if ((await lstat(folder)).isSymbolicLink()) throw new Error(A_LINK);
    const names = await readdir(folder);
    return names.filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    if (reasonOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
