// Uploads packages: compares each file with the storage, and sends it once, with the first package that has it.

import { hasCode, type ImgctlError } from '../errors.ts';
import type { AssertHeld } from '../files/atomic-file.ts';
import { TransportError } from '../http/errors.ts';
import type { Clock } from '../io.ts';
import { type Action, isSent } from './actions.ts';
import type { Proofs } from './proofs.ts';
import {
  type Comparison,
  conflict,
  type Storage,
  type StoredState,
  type UnpublishedFile,
} from './storage.ts';
import {
  changedError,
  type LocalFile,
  LocalFileError,
  openUploadFile,
  type UploadFile,
} from './upload-file.ts';

export interface UploadPackage {
  readonly name: string;
  readonly files: readonly LocalFile[];
  /** @param results by path of a file, what is wrong with each of its regions, or null. @throws ImgctlError invalid-package */
  verify(results: ReadonlyMap<string, readonly (string | null)[]>): Promise<void>;
}

/** A file that was compared with the storage, once for all packages that have it. */
interface ComparedFile {
  readonly size: number;
  /** Its state, if every later change would show in it. */
  readonly settledState: string | undefined;
  readonly action: Action;
  readonly note: string | undefined;
  /** What the storage has, if that is this file. */
  stored: StoredState | undefined;
  /** True once it is visible, or would be with --dry-run. */
  isThere: boolean;
}

/** A file of one package. */
export interface PlannedFile extends LocalFile {
  readonly package: string;
  readonly size: number;
  readonly action: Action;
  readonly note: string | undefined;
  /** Shared with other packages that have the file. */
  readonly compared: ComparedFile;
}

export interface PlannedPackage extends Pick<UploadPackage, 'name' | 'verify'> {
  readonly files: readonly PlannedFile[];
  readonly error?: ImgctlError | undefined;
}

export interface TransferOptions {
  readonly storage: Storage;
  readonly proofs: Proofs;
  readonly clock: Clock;
  readonly onConflict: 'fail' | 'replace' | 'skip';
  readonly dryRun: boolean;
  /** @throws ImgctlError if another push took over while this one was suspended: the plan may be outdated */
  readonly assertHeld: AssertHeld;
  readonly beforeVisible: () => void;
}

/** True for what is wrong with one package, and says nothing of the others or of the storage. */
export function isOfPackage(error: unknown): error is ImgctlError {
  // A storage that has no room for a name calls it a usage error.
  return error instanceof LocalFileError || hasCode(error, 'invalid-package', 'conflict', 'usage');
}

/** Compares all files with the storage, and says what each package needs. */
export async function planPackages(
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
  onFile: (name: string) => void,
): Promise<PlannedPackage[]> {
  const byName = new Map<string, ComparedFile>();
  const compareOnce = async (file: LocalFile, owner: string) => {
    const known = byName.get(file.name);
    if (known) return known;
    onFile(file.name);
    const compared = await compareFile(file, owner, transfer);
    byName.set(file.name, compared);
    return compared;
  };
  const plan: PlannedPackage[] = [];
  for (const each of packages) {
    const files: PlannedFile[] = [];
    try {
      for (const file of each.files) {
        const compared = await compareOnce(file, each.name);
        const { size, action, note } = compared;
        files.push({ ...file, package: each.name, size, action, note, compared });
      }
      plan.push(asOne(each, files, transfer.storage));
    } catch (error) {
      if (!isOfPackage(error)) throw error;
      plan.push({ ...each, files, error });
    }
  }
  return plan;
}

async function compareFile(
  file: LocalFile,
  owner: string,
  transfer: TransferOptions,
): Promise<ComparedFile> {
  const { size, settledState, state, note, stored } = await compare(file, owner, transfer);
  const different = transfer.onConflict === 'fail' ? 'conflict' : transfer.onConflict;
  const actions = { absent: 'upload', same: 'unchanged', different } as const;
  return { size, settledState, action: actions[state], note, stored, isThere: false };
}

/** A package is one thing: one file of another version would break it. */
function asOne(
  { name, verify }: UploadPackage,
  files: readonly PlannedFile[],
  { address }: Storage,
): PlannedPackage {
  const conflicting = files.find(({ action }) => action === 'conflict');
  const error = conflicting && conflict(conflicting.name, address, conflicting.note);
  if (!files.some(({ action }) => action === 'skip')) return { name, verify, files, error };
  const note = `with the rest of ${name}`;
  const skipped = files.map((file): PlannedFile => {
    return file.action === 'skip' ? file : { ...file, action: 'skip', note };
  });
  return { name, verify, files: skipped, error };
}

/** Returns the package without what packages before it have sent. */
export function withoutSent(each: PlannedPackage): PlannedPackage {
  const files = each.files.map((file): PlannedFile => {
    return isSent(file) && file.compared.isThere ? { ...file, action: 'unchanged' } : file;
  });
  return { ...each, files };
}

/** @throws ImgctlError failed: it changed since its package was checked; push may have waited for another one */
async function withUploadFile<Result>(
  file: LocalFile,
  { clock }: TransferOptions,
  action: (opened: UploadFile) => Promise<Result>,
): Promise<Result> {
  const opened = await openUploadFile(file, clock);
  try {
    if (opened.state !== file.checked) throw changedError(file.path);
    return await action(opened);
  } finally {
    await opened.close();
  }
}

/** Compares a file with the storage, unless both are as they were when they were proved equal. */
function compare(file: LocalFile, owner: string, transfer: TransferOptions) {
  return withUploadFile(file, transfer, async (opened) => {
    const { size, state: source, settledState } = opened;
    const proved = transfer.proofs.find({ package: owner, name: file.name, source });
    const { storage } = transfer;
    const comparing = storage.compare(file.name, opened, proved);
    const comparison = await comparing.catch(async (error: unknown): Promise<Comparison> => {
      // The stored file may have been removed between two requests.
      const isGone = hasCode(error, 'not-found') && (await storage.look(file.name)) === undefined;
      if (!isGone) throw error;
      return { state: 'absent' };
    });
    return { size, settledState, ...comparison };
  });
}

/** @param isSure false if nobody knows whether it is */
export type OnVisible = (file: PlannedFile, isSure: boolean) => void;

type OnProgress = (file: PlannedFile, bytes: number) => void;

interface Upload {
  readonly file: PlannedFile;
  part?: UnpublishedFile | undefined;
}

/**
 * No file of the package becomes visible before all of them are uploaded and checked.
 * @throws ImgctlError; what was uploaded is removed, unless it is visible or a later run can continue it
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  transfer: TransferOptions,
  onProgress: OnProgress,
  onVisible: OnVisible,
): Promise<void> {
  if (files.every((file) => file.action === 'skip' || isProved(file, transfer))) return;
  const uploads = files.map((file): Upload => ({ file }));
  const results = new Map<string, readonly (string | null)[]>();
  try {
    for (const upload of uploads) {
      results.set(upload.file.path, await sendAndCheck(upload, transfer, onProgress));
    }
    await verify(results);
    // A file may have changed since it was read: each is looked at once more.
    for (const file of files) await withUploadFile(file, transfer, async () => {});
    if (!transfer.dryRun && files.some(isSent)) transfer.beforeVisible();
    for (const upload of uploads) await publish(upload, transfer, onVisible);
  } catch (error) {
    for (const { part } of uploads) await part?.discard(error).catch(() => {});
    throw error;
  }
  for (const file of files) remember(file, transfer);
}

/** Uploads a file if it is to be sent. Returns what is wrong with each region. */
function sendAndCheck(upload: Upload, transfer: TransferOptions, onProgress: OnProgress) {
  const { file } = upload;
  return withUploadFile(file, transfer, async (opened) => {
    const count = (bytes: number) => onProgress(file, bytes);
    if (isSent(file) && !transfer.dryRun) {
      try {
        upload.part = await transfer.storage.put(file.name, opened, count);
      } catch (error) {
        file.compared.stored = await requireSame(file, error, transfer);
      }
    }
    return opened.check(count);
  });
}

function isProved({ package: owner, name, compared }: PlannedFile, { proofs }: TransferOptions) {
  const { settledState: source = '', stored } = compared;
  return stored !== undefined && proofs.find({ package: owner, name, source }) === stored.text;
}

function remember({ package: owner, name, compared }: PlannedFile, { proofs }: TransferOptions) {
  const { settledState: source, stored } = compared;
  if (source && stored?.isProof)
    proofs.remember({ package: owner, name, source, stored: stored.text });
}

async function publish(upload: Upload, transfer: TransferOptions, onVisible: OnVisible) {
  const { file, part } = upload;
  if (part) {
    // Another push may have stored a file of that name meanwhile.
    const replace = file.action === 'replace' || transfer.onConflict === 'replace';
    transfer.assertHeld();
    try {
      file.compared.stored = await part.publish(replace);
    } catch (error) {
      // The connection was lost, or the storage has neither the old file nor this one.
      const isGone = file.action === 'replace' && hasCode(error, 'failed');
      const isLost = error instanceof TransportError || transfer.clock.signal.aborted;
      if (isGone || isLost) onVisible(file, false);
      file.compared.stored = await requireSame(file, error, transfer);
      await part.discard(error);
    }
    upload.part = undefined;
    onVisible(file, true);
  }
  if (isSent(file)) file.compared.isThere = true;
}

/**
 * Returns what the storage has, if another push was first with the same content, such as one that was killed.
 * @throws the error otherwise
 */
async function requireSame(file: PlannedFile, error: unknown, transfer: TransferOptions) {
  if (!hasCode(error, 'conflict')) throw error;
  const { state, stored } = await compare(file, file.package, transfer);
  if (state !== 'same') throw error;
  return stored;
}

/**
 * Looks once more at every file that the storage should have. Returns the names of those that it does not have any more,
 * as they were compared or sent.
 */
export async function findChanged(
  packages: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<string[]> {
  const { storage } = transfer;
  const byName = new Map(packages.flatMap((each) => each.files).map((file) => [file.name, file]));
  const files = [...byName.values()];
  const states = await Promise.all(files.map(({ name }) => storage.look(name)));
  const suspects = files.filter(({ compared }, index) => states[index] !== compared.stored?.text);
  const changed: string[] = [];
  // Another push may have stored the same content again.
  for (const file of suspects) {
    const { state } = await compare(file, file.package, transfer);
    if (state !== 'same') changed.push(file.name);
  }
  return changed;
}
