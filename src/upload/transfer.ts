// Uploads packages: compares each file with the storage, uploads and checks all files of a package, then shows them.

import { hasCode } from '../errors.ts';
import { conflict, type Storage, type UnpublishedFile } from './storage.ts';
import { changedError, type LocalFile, openUploadFile, type UploadFile } from './upload-file.ts';

export interface UploadPackage {
  readonly name: string;
  /** In the order in which they become visible. */
  readonly files: readonly LocalFile[];
  /** @param digests by path, those of the regions. @throws ImgctlError invalid-package */
  verify(digests: ReadonlyMap<string, readonly string[]>): Promise<void>;
}

export interface PlannedFile extends LocalFile {
  /** `unchanged`: the storage has the same content. `skip`: it has other content, which stays. */
  readonly action: 'upload' | 'replace' | 'unchanged' | 'skip' | 'conflict';
  readonly size: number;
  readonly identity: string;
  /** What a person should know about the comparison. */
  readonly note: string | undefined;
}

export interface PlannedPackage extends Pick<UploadPackage, 'name' | 'verify'> {
  readonly files: readonly PlannedFile[];
}

export interface TransferOptions {
  readonly storage: Storage;
  readonly signal: AbortSignal;
  readonly force: boolean;
  readonly onConflict: 'fail' | 'replace' | 'skip';
}

/** Compares all files with the storage. A file that several packages share is sent with the first of them. */
export async function planPackages(
  packages: readonly UploadPackage[],
  { storage, signal, force, onConflict }: TransferOptions,
): Promise<PlannedPackage[]> {
  const planFile = (file: LocalFile) =>
    withUploadFile(file, signal, async (opened): Promise<PlannedFile> => {
      const { size, identity } = opened;
      const { state, note } = await storage.compare(file.name, opened);
      const action = {
        absent: 'upload',
        same: force ? 'replace' : 'unchanged',
        different: onConflict === 'fail' ? 'conflict' : onConflict,
      } as const;
      return { ...file, size, identity, note, action: action[state] };
    });
  const plan: PlannedPackage[] = [];
  const known = new Map<string, PlannedFile>();
  for (const { name, files, verify } of packages) {
    const planned: PlannedFile[] = [];
    for (const file of files) {
      const other = known.get(file.name);
      const action = other && isSent(other) ? 'unchanged' : other?.action;
      planned.push(other && action ? { ...other, ...file, action } : await planFile(file));
    }
    // A package is one thing: one file of another version would break it.
    const isSkipped = planned.some(({ action }) => action === 'skip');
    const note = `with the rest of ${name}`;
    const own = planned.map((file): PlannedFile => {
      return isSkipped && file.action !== 'skip' ? { ...file, note, action: 'skip' } : file;
    });
    // A file that is skipped with its package is still to be sent for the next package that has it.
    for (const file of planned) if (!isSkipped || !isSent(file)) known.set(file.name, file);
    plan.push({ name, verify, files: own });
  }
  return plan;
}

async function withUploadFile<Result>(
  file: LocalFile,
  signal: AbortSignal,
  action: (opened: UploadFile) => Promise<Result>,
): Promise<Result> {
  const opened = await openUploadFile(file, signal);
  return action(opened).finally(() => opened.close());
}

/** @throws ImgctlError conflict */
export function refuseConflicts(packages: readonly PlannedPackage[], { address }: Storage): void {
  const files = packages.flatMap(({ files }) => files);
  const conflicting = files.find(({ action }) => action === 'conflict');
  if (conflicting) throw conflict(conflicting.name, address, conflicting.note);
}

export function isSent({ action }: PlannedFile): boolean {
  return action === 'upload' || action === 'replace';
}

/**
 * Uploads what the plan says. No file of the package becomes visible before all of them are uploaded and checked.
 * @throws ImgctlError; what was uploaded is removed, unless a later run can continue it
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  { storage, signal, onConflict }: TransferOptions,
  onProgress: (file: PlannedFile, bytes: number) => void,
): Promise<void> {
  if (!files.some(isSent)) return;
  const unpublished = new Map<PlannedFile, UnpublishedFile>();
  const digests = new Map<string, readonly string[]>();
  const again = <Result>(file: PlannedFile, action: (opened: UploadFile) => Promise<Result>) =>
    withUploadFile(file, signal, (opened) => {
      if (opened.identity !== file.identity) throw changedError(file.path);
      return action(opened);
    });
  /** Another push may have been first with the same content, such as one that was killed. */
  const acceptSame = async (file: PlannedFile, error: unknown): Promise<void> => {
    if (!hasCode(error, 'conflict')) throw error;
    const { state } = await again(file, (opened) => storage.compare(file.name, opened));
    if (state !== 'same') throw error;
  };
  try {
    for (const file of files) {
      await again(file, async (opened) => {
        if (isSent(file)) {
          const put = storage.put(file.name, opened, (bytes) => onProgress(file, bytes));
          const part = await put.catch((error: unknown) => acceptSame(file, error));
          if (part) unpublished.set(file, part);
        }
        digests.set(file.path, await opened.digests());
      });
    }
    await verify(digests);
    for (const [file, part] of unpublished) {
      // Another push may have stored a file of that name meanwhile.
      const replace = file.action === 'replace' || onConflict === 'replace';
      await part.publish(replace).catch(async (error: unknown) => {
        await acceptSame(file, error);
        await part.discard(error);
      });
      unpublished.delete(file);
    }
  } catch (error) {
    for (const part of unpublished.values()) await part.discard(error).catch(() => {});
    throw error;
  }
}
