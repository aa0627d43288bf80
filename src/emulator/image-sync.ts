// Sync requests, and the user images that they make of uploaded files (sections 2.5, 4.5 to 4.7).
// A submit scans the upload folder. The request ends after the scan and the delay: it is PENDING
// for a third of the delay, then IN_PROGRESS, then PROCESSED, or ERROR without a good package.

import { randomUUID } from 'node:crypto';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Image } from '../api/types.ts';
import { isPackageName } from '../ovf/names.ts';
import { readPackage } from '../ovf/package.ts';
import { serviceTimestamp, toImage } from './sample-images.ts';
import type { EmulatorSettings } from './settings.ts';

/** Far above the ids of the catalogue. */
const FIRST_IMAGE_ID = 1_000_001;
const DATA_STORE = 'user-images-01';
const A_LINK = 'links are not followed';

export type ImageSync = ReturnType<typeof createImageSync>;

export interface SyncRequestRecord {
  readonly id: number;
  status: string;
  readonly type: string;
  readonly added: readonly string[] | null;
  readonly deleted: readonly string[] | null;
  readonly created_on: string;
  updated_on: string;
  readonly task_id: string;
  readonly user: { readonly username: string };
  message: { readonly errors: readonly string[]; readonly warnings: readonly string[] };
}

function newRecord(id: number, username: string, created: number): SyncRequestRecord {
  return {
    id,
    status: 'PENDING',
    type: 'image_sync',
    added: null,
    deleted: null,
    created_on: serviceTimestamp(created),
    updated_on: serviceTimestamp(created),
    task_id: randomUUID(),
    user: { username },
    message: { errors: [], warnings: [] },
  };
}

interface OpenRequest {
  readonly record: SyncRequestRecord;
  readonly created: number;
  scan?: Scan & { readonly at: number };
}

interface UserState {
  /** By file name; the version changes whenever one of the package's files does. */
  readonly images: Map<string, { readonly image: Image; readonly version: string }>;
  readonly records: SyncRequestRecord[];
  /** Those that have not ended, oldest first. */
  readonly open: OpenRequest[];
  /** Settles after the last scan: a user's scans run one after the other. */
  scanning: Promise<void>;
}

export function createImageSync(settings: EmulatorSettings, signal: AbortSignal) {
  const { now, syncDelay, uploads } = settings;
  const accounts = new Map<string, UserState>();
  let lastRequestId = 0;
  let nextImageId = FIRST_IMAGE_ID;

  /** Keeps an image unchanged if its file is now invalid, and deletes it if the file is missing. */
  const applyScan = (images: UserState['images'], scan: Scan, at: number) => {
    const deleted = [...images.keys()].filter((name) => scan.present?.has(name) === false);
    for (const name of deleted) images.delete(name);
    const added: string[] = [];
    for (const { name, version } of scan.packages) {
      const known = images.get(name);
      if (known?.version === version) continue;
      const file = { name, folder: null, dataStore: DATA_STORE, created: at, updated: at };
      const image = known?.image ?? toImage(nextImageId++, file, false);
      images.set(name, { image: { ...image, updated_on: serviceTimestamp(at) }, version });
      if (!known) added.push(name);
    }
    return { added, deleted };
  };

  /** Returns the account with every request as of now. */
  const accountOf = (user: string): UserState => {
    const fresh = { images: new Map(), records: [], open: [], scanning: Promise.resolve() };
    const account: UserState = accounts.get(user) ?? fresh;
    accounts.set(user, account);
    const { images, open } = account;
    for (const { record, created } of open) {
      const begun = created + syncDelay / 3;
      if (now() < begun) continue;
      record.status = 'IN_PROGRESS';
      record.updated_on = serviceTimestamp(begun);
    }
    for (const { record, created, scan } of [...open]) {
      const at = Math.max(scan?.at ?? 0, created + syncDelay);
      if (scan === undefined || now() < at) break;
      const { errors, warnings, packages } = scan;
      const failed = errors.length > 0 && packages.length === 0;
      Object.assign(record, applyScan(images, scan, at));
      record.status = failed ? 'ERROR' : 'PROCESSED';
      record.updated_on = serviceTimestamp(at);
      record.message = { errors, warnings };
      open.shift();
    }
    return account;
  };

  return {
    submit: (user: string): SyncRequestRecord => {
      const account = accountOf(user);
      const created = now();
      lastRequestId += 1;
      const record = newRecord(lastRequestId, user, created);
      const request: OpenRequest = { record, created };
      account.records.push(record);
      account.open.push(request);
      account.scanning = account.scanning.then(async () => {
        const scan = await scanUploads(uploads && join(uploads, user), signal);
        request.scan = { ...scan, at: now() };
      });
      return record;
    },
    get: (user: string, id: string) =>
      accountOf(user).records.find((record) => String(record.id) === id),
    /** Returns the user's images as of the last finished request. */
    images: (user: string) => [...accountOf(user).images.values()].map(({ image }) => image),
  };
}

interface Scan {
  /** Names of all packages, valid or not; undefined if the folder cannot be read. */
  readonly present: ReadonlySet<string> | undefined;
  readonly packages: { readonly name: string; readonly version: string }[];
  readonly errors: string[];
  readonly warnings: string[];
}

/** Reads every OVA and OVF of a folder in full. Never rejects: a failure is one of the errors. */
async function scanUploads(folder: string | undefined, signal: AbortSignal): Promise<Scan> {
  const scan: Scan = { present: new Set(), packages: [], errors: [], warnings: [] };
  const { errors, warnings } = scan;
  if (folder === undefined) {
    warnings.push('this service was started without an uploads folder');
    return scan;
  }
  let names: string[] = [];
  try {
    if ((await lstat(folder)).isSymbolicLink()) throw new Error(A_LINK);
    names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  } catch (error) {
    // There is no folder before the first upload.
    if (problemOf(error) !== 'ENOENT') {
      errors.push(`the upload folder cannot be read (${problemOf(error)})`);
      return { ...scan, present: undefined };
    }
  }
  const present = names.filter(isPackageName);
  for (const name of present) {
    try {
      await scanPackage(join(folder, name), scan, signal);
    } catch (error) {
      errors.push(`${name}: cannot be read (${problemOf(error)})`);
    }
  }
  return { ...scan, present: new Set(present) };
}

async function scanPackage(path: string, scan: Scan, signal: AbortSignal): Promise<void> {
  const name = basename(path);
  if ((await lstat(path)).isSymbolicLink()) throw new Error(A_LINK);
  const { kind, files, findings } = await readPackage(path, { signal });
  for (const { severity, code, place, message } of findings) {
    const lines = severity === 'error' ? scan.errors : scan.warnings;
    const where = place.startsWith(name) ? place : `${name}, ${place}`;
    lines.push(
      `${severity} in ${where.replace(/, byte (\d+)$/, ' at byte $1')}: ${message} (${code})`,
    );
  }
  const own = kind === 'ova' ? [name] : files.map((file) => file.name);
  if (findings.some(({ severity }) => severity === 'error')) return;
  const states = await Promise.all(own.map((file) => lstat(join(dirname(path), file))));
  if (states.some((stats) => stats.isSymbolicLink())) throw new Error(A_LINK);
  const version = states.map(({ mtimeMs, size }) => `${mtimeMs}:${size}`).join(' ');
  scan.packages.push({ name, version });
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
