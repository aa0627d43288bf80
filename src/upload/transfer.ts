// Uploads packages: compares each file with the storage, uploads and checks all files of a package, then shows them.

import { hasCode } from '../errors.ts';
import type { Clock } from '../io.ts';
import type { Proofs } from './proofs.ts';
import { type Comparison, conflict, type Storage, type UnpublishedFile } from './storage.ts';
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
  /** Digests of the regions, if they are known without reading the file. */
  readonly proved: readonly string[] | undefined;
  /** What a person should know about the comparison. */
  readonly note: string | undefined;
}

export interface PlannedPackage extends Pick<UploadPackage, 'name' | 'verify'> {
  readonly files: readonly PlannedFile[];
}

export interface TransferOptions {
  readonly storage: Storage;
  readonly proofs: Proofs;
  readonly clock: Clock;
  readonly force: boolean;
  readonly onConflict: 'fail' | 'replace' | 'skip';
}

/** Compares all files with the storage. A file that several packages share is sent with the first of them. */
export async function planPackages(
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
  onFile: (name: string) => void,
): Promise<PlannedPackage[]> {
  const { force, onConflict } = transfer;
  const planFile = (file: LocalFile) =>
    withUploadFile(file, transfer, async (opened): Promise<PlannedFile> => {
      onFile(file.name);
      // A push may have waited for another one since.
      if (opened.source !== file.checked) throw changedError(file.path);
      const { size, identity, proved } = opened;
      const { state, note } = await compare(file, opened, transfer);
      const action = {
        absent: 'upload',
        same: force ? 'replace' : 'unchanged',
        different: onConflict === 'fail' ? 'conflict' : onConflict,
      } as const;
      return { ...file, size, identity, proved, note, action: action[state] };
    });
  const plan: PlannedPackage[] = [];
  const known = new Map<string, PlannedFile>();
  for (const { name, files, verify } of packages) {
    const planned: PlannedFile[] = [];
    for (const file of files) {
      const other = known.get(file.name);
      const action = other && isSent(other) ? 'unchanged' : other?.action;
      // Its digests are those that another manifest lists.
      const shared = other && { ...other, ...file, proved: undefined };
      planned.push(shared && action ? { ...shared, action } : await planFile(file));
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
  { clock, proofs }: TransferOptions,
  action: (opened: UploadFile) => Promise<Result>,
): Promise<Result> {
  const proved = (source: string) => proofs.find(file.name, source)?.digests ?? [];
  const opened = await openUploadFile(file, clock, proved);
  return action(opened).finally(() => opened.close());
}

/** Compares a file with the storage, unless both are as they were when they were proved equal. */
async function compare(
  { name }: LocalFile,
  opened: UploadFile,
  { storage, proofs }: TransferOptions,
): Promise<Comparison> {
  const { source, isSettled } = opened;
  const proof = proofs.find(name, source);
  const comparison = await storage.compare(name, opened, proof?.stored);
  const { state, stored } = comparison;
  if (state === 'absent') proofs.forget(name);
  if (stored !== undefined && isSettled) proofs.remember({ name, source, stored, digests: [] });
  return comparison;
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
  transfer: TransferOptions,
  onProgress: (file: PlannedFile, bytes: number) => void,
): Promise<void> {
  const { storage, proofs, onConflict } = transfer;
  const digests = new Map<string, readonly string[]>();
  for (const { path, proved } of files) if (proved) digests.set(path, proved);
  if (!files.some(isSent)) {
    // What the storage has is not read again only for its manifest.
    if (files.every(({ path }) => digests.has(path))) await verify(digests);
    return;
  }
  const unpublished = new Map<PlannedFile, UnpublishedFile>();
  /** The states of the files that may be remembered. */
  const sources = new Map<PlannedFile, string>();
  const again = <Result>(file: PlannedFile, action: (opened: UploadFile) => Promise<Result>) =>
    withUploadFile(file, transfer, (opened) => {
      if (opened.identity !== file.identity) throw changedError(file.path);
      return action(opened);
    });
  /** Another push may have been first with the same content, such as one that was killed. */
  const acceptSame = async (file: PlannedFile, error: unknown): Promise<void> => {
    if (!hasCode(error, 'conflict')) throw error;
    const { state } = await again(file, (opened) => compare(file, opened, transfer));
    if (state !== 'same') throw error;
  };
  /** @param stored the state of the stored file [that of its last proof] */
  const remember = (file: PlannedFile, stored?: string) => {
    const { name, path, regions } = file;
    const source = sources.get(file) ?? '';
    const proved = stored ?? proofs.find(name, source)?.stored;
    if (source === '' || proved === undefined) return;
    const own = regions.map((region, index) => {
      return { ...region, digest: digests.get(path)?.[index] ?? '' };
    });
    proofs.remember({ name, source, stored: proved, digests: own });
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
        if (opened.isSettled) sources.set(file, opened.source);
      });
    }
    await verify(digests);
    for (const [file, part] of unpublished) {
      // Another push may have stored a file of that name meanwhile.
      const replace = file.action === 'replace' || onConflict === 'replace';
      const stored = await part.publish(replace).catch(async (error: unknown) => {
        await acceptSame(file, error);
        await part.discard(error);
        return undefined;
      });
      unpublished.delete(file);
      remember(file, stored);
    }
    for (const file of files) remember(file);
  } catch (error) {
    for (const part of unpublished.values()) await part.discard(error).catch(() => {});
    throw error;
  }
}
