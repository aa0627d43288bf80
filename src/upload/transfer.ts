// Uploads packages: decides what each file needs, uploads and checks all files of a package, then shows them.

import { type ErrorCode, ImgctlError } from '../errors.ts';
import type { Journal } from './journal.ts';
import type { Region } from './reader.ts';
import { Source } from './source.ts';
import { conflict, type Staged, type Storage } from './storage.ts';

export interface UploadFile {
  /** Without a folder. */
  readonly name: string;
  readonly path: string;
  /** To compute digests of. */
  readonly regions: readonly Region[];
}

export interface UploadPackage {
  readonly name: string;
  /** In the order in which they become visible. */
  readonly files: readonly UploadFile[];
  /** @param digests by path, those of the regions. @throws ImgctlError invalid-package */
  verify(digests: ReadonlyMap<string, readonly string[]>): void;
}

/** `unchanged`: the storage has the same content. `skip`: it has other content, which stays. */
type Action = 'upload' | 'continue' | 'replace' | 'unchanged' | 'skip' | 'conflict';

export interface PlannedFile extends UploadFile {
  readonly action: Action;
  readonly size: number;
  readonly identity: string;
}

export interface PlannedPackage extends Pick<UploadPackage, 'name' | 'verify'> {
  readonly files: readonly PlannedFile[];
}

export interface TransferOptions {
  readonly storage: Storage;
  readonly journal: Journal;
  readonly signal: AbortSignal;
  readonly force: boolean;
  readonly onConflict: 'fail' | 'replace' | 'skip';
}

export async function planPackage(
  { name, files, verify }: UploadPackage,
  options: TransferOptions,
): Promise<PlannedPackage> {
  const planned: PlannedFile[] = [];
  for (const file of files) planned.push(await planFile(file, options));
  // A package is one thing: one file of another version would break it.
  const isSkipped = planned.some(({ action }) => action === 'skip');
  const skip = (file: PlannedFile): PlannedFile => ({ ...file, action: 'skip' });
  return { name, verify, files: isSkipped ? planned.map(skip) : planned };
}

async function planFile(file: UploadFile, options: TransferOptions): Promise<PlannedFile> {
  const { storage, journal, force, onConflict } = options;
  const source = await openSource({ ...file, regions: [] }, options);
  const { size, identity } = source;
  const decide = async (): Promise<Action> => {
    const record = journal.file(file.name);
    const known = record?.identity === identity ? record : undefined;
    const stored = await storage.stat(file.name);
    if (!stored) return known?.state ? 'continue' : 'upload';
    const isKnown =
      stored.tag !== null && known?.stored?.tag === stored.tag && known.stored.size === stored.size;
    const isSame =
      stored.size === size && (isKnown || (await storage.holds(file.name, stored, source)));
    if (isSame) return force ? 'replace' : 'unchanged';
    return onConflict === 'fail' ? 'conflict' : onConflict;
  };
  try {
    return { ...file, size, identity, action: await decide() };
  } finally {
    await source.close();
  }
}

/** @throws ImgctlError conflict */
export function refuseConflicts(packages: readonly PlannedPackage[], { storage }: TransferOptions) {
  const files = packages.flatMap(({ files }) => files);
  const conflicting = files.find(({ action }) => action === 'conflict');
  if (conflicting) throw conflict(conflicting.name, storage.address);
}

export function isSent({ action }: PlannedFile): boolean {
  return action === 'upload' || action === 'continue' || action === 'replace';
}

/**
 * Uploads what the plan says. No file of the package becomes visible before all of them are uploaded and checked.
 * @throws ImgctlError; what was uploaded stays for a later run, or is removed if it can be of no use
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  options: TransferOptions,
  onProgress: (file: PlannedFile, bytes: number) => void,
): Promise<void> {
  const { storage, journal } = options;
  const staged = new Map<PlannedFile, Staged>();
  const digests = new Map<string, readonly string[]>();
  const hasUploads = files.some(isSent);
  try {
    for (const file of files) {
      const record = journal.file(file.name);
      const isUseful = isSent(file) && record?.identity === file.identity;
      if (record?.state && !isUseful) await forget(file.name, options);
      if (!hasUploads) continue;
      const source = await openSource(file, options);
      try {
        if (source.identity !== file.identity) throw source.changed();
        if (isSent(file)) staged.set(file, await send(file, source, options, onProgress));
        const all = await source.digests();
        digests.set(file.path, all.slice(0, file.regions.length));
      } finally {
        await source.close();
      }
    }
    if (hasUploads) verify(digests);
    for (const [{ name, identity, action }, { state }] of staged) {
      const stored = await storage.finish(name, state, action === 'replace');
      await journal.setFile(name, { identity, stored });
    }
  } catch (error) {
    if (error instanceof ImgctlError && USELESS.includes(error.code)) {
      for (const { name } of files) await forget(name, options).catch(() => {});
    }
    throw error;
  }
  for (const { name, identity, action } of files) {
    if (action !== 'unchanged' || journal.file(name)?.stored) continue;
    const stored = await storage.stat(name);
    if (stored) await journal.setFile(name, { identity, stored });
  }
}

/** Errors after which the uploaded bytes cannot be continued. */
const USELESS: readonly ErrorCode[] = ['invalid-package', 'storage-full', 'conflict', 'failed'];

async function send(
  file: PlannedFile,
  source: Source,
  { storage, journal }: TransferOptions,
  onProgress: (file: PlannedFile, bytes: number) => void,
): Promise<Staged> {
  const { name, identity } = file;
  const staged = await storage.put(name, {
    source,
    state: journal.file(name)?.state,
    save: (state) => journal.setFile(name, { identity, state }),
    onProgress: (bytes) => onProgress(file, bytes),
  });
  await journal.setFile(name, { identity, ...staged });
  return staged;
}

/** Removes an upload that is not finished. */
async function forget(name: string, { storage, journal }: TransferOptions): Promise<void> {
  const state = journal.file(name)?.state;
  if (!state) return;
  await storage.remove(name, state);
  await journal.setFile(name, undefined);
}

function openSource({ path, regions }: UploadFile, { storage, signal }: TransferOptions) {
  const whole = { offset: 0, size: Number.POSITIVE_INFINITY, algorithm: 'sha256' };
  return Source.open(path, storage.wantsDigest ? [...regions, whole] : regions, signal);
}
