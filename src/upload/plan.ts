// Plans a push: compares each file with the storage, and says what its packages do with it.

import { hasCode, type ImgctlError } from '../errors.ts';
import type { AssertHeld } from '../files/atomic-file.ts';
import type { Clock } from '../io.ts';
import { type Action, isSent } from './actions.ts';
import type { Proofs } from './proofs.ts';
import type { Comparison, Storage, StoredFile } from './storage.ts';
import { conflict, FileTooLargeError } from './storage-errors.ts';
import {
  type LocalFile,
  LocalFileError,
  openUnchanged,
  type RegionResults,
  type UploadSource,
} from './upload-file.ts';

export interface UploadPackage {
  readonly name: string;
  readonly files: readonly LocalFile[];
  /** @throws ImgctlError invalid-package */
  verify(results: RegionResults): Promise<void>;
}

interface ComparedFile {
  readonly size: number;
  /** The fingerprint of the local file, if every later change would show in it. */
  readonly settledFingerprint: string | undefined;
  /** What the storage had of that name before the push. */
  readonly before: Comparison;
}

/** A file of one package. */
export interface PlannedFile extends LocalFile, ComparedFile {
  readonly package: string;
  readonly action: Action;
  readonly note: string | undefined;
}

export interface PlannedPackage extends Pick<UploadPackage, 'name' | 'verify'> {
  readonly files: readonly PlannedFile[];
  /** Why it cannot be pushed. Its other files are planned all the same. */
  readonly error?: ImgctlError | undefined;
}

/** What others see of a file that this push has sent. */
interface VisibleFile {
  /** False after some errors: perhaps they see it. */
  readonly isCertain: boolean;
  /** Undefined if it is not certain, and in a dry run. */
  readonly stored?: StoredFile | undefined;
}

/** What a push needs to compare and send files. */
export interface Transfer {
  readonly storage: Storage;
  readonly proofs: Proofs;
  readonly clock: Clock;
  readonly onConflict: 'fail' | 'replace' | 'skip';
  readonly dryRun: boolean;
  /** @throws ImgctlError if the lock was removed, or another push took it over */
  readonly assertHeld: AssertHeld;
  /** Called for each package before the first of its files may become visible. */
  readonly beforeVisible: () => void;
  /** The files that became visible, by name. `transferPackage` adds them: no plan changes. */
  readonly visible: Map<string, VisibleFile>;
}

/** True if an error is about one package, and the others may be uploaded all the same. */
export function isOfPackage(error: unknown): error is ImgctlError {
  if (error instanceof LocalFileError || error instanceof FileTooLargeError) return true;
  // A storage that has no room for a name calls it a usage error.
  return hasCode(error, 'invalid-package', 'conflict', 'usage');
}

/** @param onFile called before a file is compared, which is once for all packages that have it */
export async function planPackages(
  packages: readonly UploadPackage[],
  transfer: Transfer,
  onFile: (name: string) => void,
): Promise<PlannedPackage[]> {
  const compared = new Map<string, ComparedFile>();
  const plan: PlannedPackage[] = [];
  for (const each of packages) {
    const files: PlannedFile[] = [];
    let error: ImgctlError | undefined;
    for (const file of each.files) {
      const { name } = file;
      try {
        if (!compared.has(name)) onFile(name);
        const known = compared.get(name) ?? (await compareFile(file, each.name, transfer));
        compared.set(name, known);
        const action = actionAfter(known.before, transfer);
        const note = known.before.state === 'different' ? known.before.note : undefined;
        files.push({ ...file, ...known, package: each.name, action, note });
      } catch (thrown) {
        if (!isOfPackage(thrown)) throw thrown;
        // The other files are planned: if another package replaces one, this one may be broken.
        error ??= thrown;
      }
    }
    const taken = files.find(({ action }) => action === 'conflict');
    error ??= taken && conflict(taken.name, transfer.storage.address, taken.note);
    plan.push({ ...each, files: error ? files : skippedTogether(each.name, files), error });
  }
  return plan;
}

/** Opens a file and compares it with the stored one. */
export async function compareFile(
  file: LocalFile,
  packageName: string,
  { storage, proofs, clock }: Transfer,
): Promise<ComparedFile> {
  const { name } = file;
  const opened = await openUnchanged(file, clock);
  const { size, fingerprint, settledFingerprint } = opened;
  const isProved = (stored: string) =>
    proofs.has({ package: packageName, name, source: fingerprint, stored });
  try {
    const before = await compareStored(storage, name, opened, isProved);
    return { size, settledFingerprint, before };
  } finally {
    await opened.close();
  }
}

/**
 * Compares a file with the stored one.
 * @param isProved true if the stored file had the same content when it had this fingerprint
 */
export async function compareStored(
  storage: Storage,
  name: string,
  file: UploadSource,
  isProved: (fingerprint: string) => boolean = () => false,
): Promise<Comparison> {
  const stored = await storage.look(name);
  if (!stored) return { state: 'absent' };
  if (stored.size !== file.size) return { state: 'different' };
  // Only what is settled was proved.
  if (isProved(stored.fingerprint))
    return { state: 'same', stored: { ...stored, isSettled: true } };
  try {
    return await storage.compareContent(name, file, stored);
  } catch (error) {
    if (!hasCode(error, 'not-found')) throw error;
    // Another push may remove the stored file, or replace it, between two requests.
    const now = await storage.look(name);
    if (now?.fingerprint === stored.fingerprint) throw error;
    return compareStored(storage, name, file, isProved);
  }
}

function actionAfter({ state }: Comparison, { onConflict }: Transfer): Action {
  if (state === 'absent') return 'upload';
  if (state === 'same') return 'unchanged';
  return onConflict === 'fail' ? 'conflict' : onConflict;
}

/** Skips all files of a package or none: a single file of another version would break it. */
function skippedTogether(packageName: string, files: readonly PlannedFile[]) {
  if (!files.some(({ action }) => action === 'skip')) return files;
  const skip = { action: 'skip', note: `with the rest of ${packageName}` } as const;
  return files.map((file) => (file.action === 'skip' ? file : { ...file, ...skip }));
}

/** Returns the package with the files as unchanged that packages before it have sent. */
export function withoutSent(each: PlannedPackage, { visible }: Transfer): PlannedPackage {
  const files = each.files.map((file): PlannedFile => {
    const isAlreadySent = isSent(file) && visible.get(file.name)?.isCertain;
    return isAlreadySent ? { ...file, action: 'unchanged' } : file;
  });
  return { ...each, files };
}
