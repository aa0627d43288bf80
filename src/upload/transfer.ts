// Uploads packages: compares each file with the storage, and sends it once, with the first package that has it.

import { hasCode, type ImgctlError } from '../errors.ts';
import type { AssertHeld } from '../files/atomic-file.ts';
import type { Clock } from '../io.ts';
import { type Action, isSent } from './actions.ts';
import type { Proofs } from './proofs.ts';
import {
  type Comparison,
  conflict,
  FileTooLargeError,
  type Storage,
  type StoredState,
  type UnpublishedFile,
} from './storage.ts';
import {
  changedError,
  type LocalFile,
  LocalFileError,
  openUploadFile,
  type RegionResults,
  type UploadFile,
} from './upload-file.ts';

export interface UploadPackage {
  readonly name: string;
  readonly files: readonly LocalFile[];
  /** @param results by path of a file. @throws ImgctlError invalid-package */
  verify(results: ReadonlyMap<string, RegionResults>): Promise<void>;
}

/** What is known of a file, once for all packages that have it. Only its last two values change, when it is sent. */
interface ComparedFile {
  readonly size: number;
  /** Its state, if every later change would show in it. */
  readonly settledState: string | undefined;
  /** What the comparison calls for. */
  readonly action: Action;
  readonly note?: string | undefined;
  /** What the storage has, if that is this file. */
  stored?: StoredState;
  /** If others see what was sent, or would with --dry-run; perhaps, if it may have become visible before an error. */
  visible: 'no' | 'perhaps' | 'yes';
}

/** A file of one package. */
export interface PlannedFile extends LocalFile {
  readonly package: string;
  readonly size: number;
  /** What is done with it for this package: nothing, if an earlier one has sent it or if the package is skipped. */
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
  /** Called for each package before the first of its files may become visible. */
  readonly beforeVisible: () => void;
}

/** True for what is wrong with one package, and says nothing of the others or of the storage. */
export function isOfPackage(error: unknown): error is ImgctlError {
  if (error instanceof LocalFileError || error instanceof FileTooLargeError) return true;
  // A storage that has no room for a name calls it a usage error.
  return hasCode(error, 'invalid-package', 'conflict', 'usage');
}

/** Compares all files with the storage, each name once, and says what each package needs. */
export async function planPackages(
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
  onFile: (name: string) => void,
): Promise<PlannedPackage[]> {
  const byName = new Map<string, ComparedFile>();
  const plan: PlannedPackage[] = [];
  for (const each of packages) {
    const files: PlannedFile[] = [];
    try {
      for (const file of each.files) {
        let compared = byName.get(file.name);
        if (!compared) {
          onFile(file.name);
          compared = await compareFirst(file, each.name, transfer);
          byName.set(file.name, compared);
        }
        const { size, action, note } = compared;
        files.push({ ...file, package: each.name, size, action, note, compared });
      }
      plan.push(asOne(each, files, transfer.storage.address));
    } catch (error) {
      if (!isOfPackage(error)) throw error;
      plan.push({ ...each, files, error });
    }
  }
  return plan;
}

/** One file of another version would break a package, so either all of its files are skipped or none. */
function asOne({ name, verify }: UploadPackage, files: readonly PlannedFile[], address: string) {
  const taken = files.find(({ action }) => action === 'conflict');
  if (taken) return { name, verify, files, error: conflict(taken.name, address, taken.note) };
  if (!files.some(({ action }) => action === 'skip')) return { name, verify, files };
  const note = `with the rest of ${name}`;
  const skipped = files.map((file): PlannedFile => {
    return file.action === 'skip' ? file : { ...file, action: 'skip', note };
  });
  return { name, verify, files: skipped };
}

/** Returns the package without what packages before it have sent. */
export function withoutSent(each: PlannedPackage): PlannedPackage {
  const files = each.files.map((file): PlannedFile => {
    return isSent(file) && file.compared.visible === 'yes'
      ? { ...file, action: 'unchanged' }
      : file;
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

/** Compares a file with the storage for the first time, which says what is to be done with it. */
function compareFirst(file: LocalFile, owner: string, transfer: TransferOptions) {
  return withUploadFile(file, transfer, async (opened): Promise<ComparedFile> => {
    const comparison = await compareOpened(opened, file.name, owner, transfer);
    const { size, settledState } = opened;
    const known = { size, settledState, visible: 'no' } as const;
    if (comparison.state === 'absent') return { ...known, action: 'upload' };
    if (comparison.state === 'same')
      return { ...known, action: 'unchanged', stored: comparison.stored };
    const action = transfer.onConflict === 'fail' ? 'conflict' : transfer.onConflict;
    return { ...known, action, note: comparison.note };
  });
}

function compareAgain(file: PlannedFile, transfer: TransferOptions): Promise<Comparison> {
  return withUploadFile(file, transfer, (opened) =>
    compareOpened(opened, file.name, file.package, transfer),
  );
}

/** Compares an open file with the storage, unless both are as they were when they were proved equal. */
async function compareOpened(
  opened: UploadFile,
  name: string,
  owner: string,
  { storage, proofs }: TransferOptions,
): Promise<Comparison> {
  const proved = proofs.find({ package: owner, name, source: opened.state });
  try {
    return await storage.compare(name, opened, proved);
  } catch (error) {
    // The stored file may have been removed between two requests.
    const isGone = hasCode(error, 'not-found') && (await storage.look(name)) === undefined;
    if (!isGone) throw error;
    return { state: 'absent' };
  }
}

type OnProgress = (file: PlannedFile, bytes: number) => void;

/**
 * No file of the package becomes visible before all of them are uploaded and checked. `compared` of each file then says
 * if it is, also after an error.
 * @throws ImgctlError; what was uploaded is removed, unless it is visible or a later run can continue it
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  transfer: TransferOptions,
  onProgress: OnProgress,
): Promise<void> {
  if (files.every((file) => file.action === 'skip' || isProved(file, transfer))) return;
  const parts = new Map<PlannedFile, UnpublishedFile>();
  const results = new Map<string, RegionResults>();
  try {
    for (const file of files)
      results.set(file.path, await sendAndCheck(file, parts, transfer, onProgress));
    await verify(results);
    // A file may have changed since it was read: each is looked at once more.
    for (const file of files) await withUploadFile(file, transfer, async () => {});
    if (!transfer.dryRun && files.some(isSent)) transfer.beforeVisible();
    for (const file of files) {
      const part = parts.get(file);
      if (part) await makeVisible(file, part, transfer);
      parts.delete(file);
      if (isSent(file)) file.compared.visible = 'yes';
    }
  } catch (error) {
    for (const part of parts.values()) await part.discard(error).catch(() => {});
    throw error;
  }
  for (const file of files) remember(file, transfer);
}

/** Reads a file, and uploads it meanwhile if it is to be sent. @param parts receives its part, even if it is damaged */
function sendAndCheck(
  file: PlannedFile,
  parts: Map<PlannedFile, UnpublishedFile>,
  transfer: TransferOptions,
  onProgress: OnProgress,
): Promise<RegionResults> {
  return withUploadFile(file, transfer, async (opened) => {
    const onBytes = (bytes: number) => onProgress(file, bytes);
    if (isSent(file) && !transfer.dryRun) {
      try {
        parts.set(file, await transfer.storage.put(file.name, opened, onBytes));
      } catch (error) {
        file.compared.stored = await requireSame(file, error, transfer);
      }
    }
    return opened.check(onBytes);
  });
}

/** True if nothing is to be read: the package was valid when this file and the stored one were last found equal. */
function isProved({ package: owner, name, compared }: PlannedFile, { proofs }: TransferOptions) {
  const { settledState, stored } = compared;
  if (settledState === undefined || stored === undefined) return false;
  return proofs.find({ package: owner, name, source: settledState }) === stored.text;
}

function remember({ package: owner, name, compared }: PlannedFile, { proofs }: TransferOptions) {
  const { settledState, stored } = compared;
  if (settledState === undefined || !stored?.isProof) return;
  proofs.remember({ package: owner, name, source: settledState, stored: stored.text });
}

async function makeVisible(file: PlannedFile, part: UnpublishedFile, transfer: TransferOptions) {
  const { compared } = file;
  const onPerhapsVisible = () => {
    compared.visible = 'perhaps';
  };
  // Also a file that was absent before: another push may have stored one of that name meanwhile.
  const replace = file.action === 'replace' || transfer.onConflict === 'replace';
  transfer.assertHeld();
  try {
    compared.stored = await part.publish(replace, onPerhapsVisible);
  } catch (error) {
    compared.visible = visibilityAfter(error, file, transfer);
    compared.stored = await requireSame(file, error, transfer);
    await part.discard(error);
  }
}

/** Says if others see a file, after an error while it was made visible. */
function visibilityAfter(
  error: unknown,
  { action, compared }: PlannedFile,
  { clock }: TransferOptions,
) {
  // A new file that arrived wrong: the storage has removed it, or the error says what it has.
  if (action === 'upload' && hasCode(error, 'failed')) return 'no';
  // The request may have been sent, and the response was not waited for.
  if (clock.signal.aborted) return 'perhaps';
  return compared.visible;
}

/**
 * Returns what the storage has, if another push was first with the same content, such as one that was killed.
 * @throws the error otherwise
 */
async function requireSame(file: PlannedFile, error: unknown, transfer: TransferOptions) {
  if (!hasCode(error, 'conflict')) throw error;
  const comparison = await compareAgain(file, transfer);
  if (comparison.state !== 'same') throw error;
  return comparison.stored;
}

/**
 * Looks once more at every file that the storage should have. Returns the names of those that it does not have any more,
 * as they were compared or sent.
 */
export async function findChanged(
  packages: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<string[]> {
  const byName = new Map(packages.flatMap((each) => each.files).map((file) => [file.name, file]));
  const looks = [...byName.values()].map(async (file) => {
    return { file, text: await transfer.storage.look(file.name) };
  });
  const changed: string[] = [];
  for (const { file, text } of await Promise.all(looks)) {
    if (text === file.compared.stored?.text) continue;
    // Another push may have stored the same content again.
    const { state } = await compareAgain(file, transfer);
    if (state !== 'same') changed.push(file.name);
  }
  return changed;
}
