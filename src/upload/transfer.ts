// Uploads packages: compares each file with the storage, uploads and checks all files of a package, then shows them.

import { hasCode, type ImgctlError } from '../errors.ts';
import type { AssertHeld } from '../files/atomic-file.ts';
import type { Clock } from '../io.ts';
import { type Action, isSent } from './actions.ts';
import type { Proofs } from './proofs.ts';
import { type Comparison, conflict, type Storage, type UnpublishedFile } from './storage.ts';
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
  /** @param results by path, those of its regions. @throws ImgctlError invalid-package */
  verify(results: ReadonlyMap<string, readonly (string | null)[]>): Promise<void>;
}

interface PackagedFile extends LocalFile {
  readonly package: string;
}

export interface PlannedFile extends PackagedFile, Omit<Comparison, 'state'> {
  /**
   * `unchanged`: the storage has the same content, or gets it with a package before this one. `skip`: it has other
   * content, which stays.
   */
  readonly action: Action;
  /** The action if no package before this one has sent the file. */
  readonly actionIfUnsent?: Action | undefined;
  readonly size: number;
  /** Its state, if every later change would show in it. */
  readonly proof: string | undefined;
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
  readonly beforeVisible: () => Promise<void>;
}

/** True for what is wrong with one package, and says nothing of the others or of the storage. */
export function isOfPackage(error: unknown): error is ImgctlError {
  // A storage that has no room for a name calls it a usage error.
  return error instanceof LocalFileError || hasCode(error, 'invalid-package', 'conflict', 'usage');
}

/** Compares all files with the storage. A file that several packages share is sent with the first of them. */
export async function planPackages(
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
  onFile: (name: string) => void,
): Promise<PlannedPackage[]> {
  const plan: PlannedPackage[] = [];
  const known = new Map<string, PlannedFile>();
  for (const { name, files, verify } of packages) {
    const planned: PlannedFile[] = [];
    const planFiles = async () => {
      for (const file of files.map((each) => ({ ...each, package: name })))
        planned.push(await planFile(file, known.get(file.name), transfer, onFile));
    };
    const failure = await planFiles().catch((error: unknown) => {
      if (isOfPackage(error)) return error;
      throw error;
    });
    const conflicting = planned.find(({ action }) => action === 'conflict');
    const error =
      failure ??
      (conflicting && conflict(conflicting.name, transfer.storage.address, conflicting.note));
    // A package is one thing: one file of another version would break it.
    const isSkipped = planned.some(({ action }) => action === 'skip');
    const note = `with the rest of ${name}`;
    const own = planned.map((file): PlannedFile => {
      return isSkipped && file.action !== 'skip' ? { ...file, note, action: 'skip' } : file;
    });
    // What is not sent with its package is still to be sent for the next package that has it.
    const isLeft = isSkipped || error !== undefined;
    for (const file of planned) if (!isLeft || !isSent(file)) known.set(file.name, file);
    plan.push({ name, verify, files: own, error });
  }
  return plan;
}

async function planFile(
  file: PackagedFile,
  known: PlannedFile | undefined,
  transfer: TransferOptions,
  onFile: (name: string) => void,
): Promise<PlannedFile> {
  if (known && isSent(known))
    return { ...known, ...file, action: 'unchanged', actionIfUnsent: known.action };
  if (known) return { ...known, ...file };
  onFile(file.name);
  const { state, ...compared } = await compare(file, transfer);
  const different = transfer.onConflict === 'fail' ? 'conflict' : transfer.onConflict;
  const actions = { absent: 'upload', same: 'unchanged', different } as const;
  return { ...file, ...compared, action: actions[state] };
}

/** Returns the package with the files that packages before it should have sent, but failed. @param sent names of files */
export function withUnsentFiles(each: PlannedPackage, sent: ReadonlySet<string>): PlannedPackage {
  const files = each.files.map((file) => {
    const { action, actionIfUnsent = action } = file;
    return action === 'unchanged' && !sent.has(file.name)
      ? { ...file, action: actionIfUnsent }
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
    if (opened.source !== file.checked) throw changedError(file.path);
    return await action(opened);
  } finally {
    await opened.close();
  }
}

/** Compares a file with the storage, unless both are as they were when they were proved equal. */
function compare(file: PackagedFile, transfer: TransferOptions) {
  return withUploadFile(file, transfer, async (opened) => {
    const { size, source, proof } = opened;
    const proved = transfer.proofs.find({ ...file, source });
    return { size, proof, ...(await transfer.storage.compare(file.name, opened, proved)) };
  });
}

interface TransferredFile {
  readonly file: PlannedFile;
  part?: UnpublishedFile | undefined;
  stored: string | undefined;
}

/**
 * No file of the package becomes visible before all of them are uploaded and checked.
 * @throws ImgctlError; what was uploaded is removed, unless it is visible or a later run can continue it
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  transfer: TransferOptions,
  onProgress: (file: PlannedFile, bytes: number) => void,
  onVisible: (file: PlannedFile) => void,
): Promise<void> {
  const { storage, proofs, dryRun } = transfer;
  const isProved = (file: PlannedFile) =>
    proofs.find({ ...file, source: file.proof ?? '' }) === (file.stored ?? '');
  if (files.every((file) => file.action === 'skip' || isProved(file))) return;
  const uploads = files.map((file): TransferredFile => ({ file, stored: file.stored }));
  const results = new Map<string, readonly (string | null)[]>();
  try {
    for (const upload of uploads) {
      const { file } = upload;
      await withUploadFile(file, transfer, async (opened) => {
        const count = (bytes: number) => onProgress(file, bytes);
        if (isSent(file) && !dryRun) {
          const put = storage.put(file.name, opened, count);
          upload.part = await put.catch((error: unknown) => acceptSame(upload, error, transfer));
        }
        results.set(file.path, await opened.check(count));
      });
    }
    await verify(results);
    if (dryRun) return;
    if (files.some(isSent)) await transfer.beforeVisible();
    for (const upload of uploads) await publish(upload, transfer, onVisible);
  } catch (error) {
    for (const { part } of uploads) await part?.discard(error).catch(() => {});
    throw error;
  }
  for (const { file, stored } of uploads) {
    const { package: packageName, name, proof: source } = file;
    if (source && stored) proofs.remember({ package: packageName, name, source, stored });
  }
}

async function publish(
  upload: TransferredFile,
  transfer: TransferOptions,
  onVisible: (file: PlannedFile) => void,
): Promise<void> {
  const { part } = upload;
  if (!part) return;
  // Another push may have stored a file of that name meanwhile.
  const replace = upload.file.action === 'replace' || transfer.onConflict === 'replace';
  transfer.assertHeld();
  try {
    upload.stored = await part.publish(replace);
  } catch (error) {
    await acceptSame(upload, error, transfer);
    await part.discard(error);
  }
  upload.part = undefined;
  onVisible(upload.file);
}

/** Another push may have been first with the same content, such as one that was killed. @throws the error otherwise */
async function acceptSame(upload: TransferredFile, error: unknown, transfer: TransferOptions) {
  if (!hasCode(error, 'conflict')) throw error;
  const { state, stored } = await compare(upload.file, transfer);
  if (state !== 'same') throw error;
  upload.stored = stored;
  return undefined;
}
