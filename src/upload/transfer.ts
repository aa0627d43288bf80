// Uploads packages: compares each file with the storage, and sends it with the first package of it.

import { hasCode, type ImgctlError } from '../errors.ts';
import type { AssertHeld } from '../files/atomic-file.ts';
import type { Clock } from '../io.ts';
import { type Action, isSent } from './actions.ts';
import type { Proofs } from './proofs.ts';
import type { Comparison, Storage, StoredFile, UnpublishedFile } from './storage.ts';
import { conflict, FileTooLargeError } from './storage-errors.ts';
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
  /** @throws ImgctlError invalid-package */
  verify(results: RegionResults): Promise<void>;
}

/**
 * What is known of a file, once for all packages that have it. Only `stored` and `visible` change,
 * when the file is sent.
 */
interface SharedFile {
  readonly size: number;
  /** The fingerprint of the local file, if every later change would show in it. */
  readonly settledFingerprint: string | undefined;
  /** What the storage had of that name before the push. */
  readonly before: Comparison;
  /** What the storage has now, if that is this file. */
  stored: StoredFile | undefined;
  /** If others see what was sent (or would without --dry-run); perhaps, after some errors. */
  visible: 'no' | 'perhaps' | 'yes';
}

/** A file of one package. */
export interface PlannedFile extends LocalFile {
  readonly package: string;
  readonly size: number;
  /** What this package does with it: `unchanged` also if an earlier package has sent it. */
  readonly action: Action;
  readonly note: string | undefined;
  readonly shared: SharedFile;
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
  /** @throws ImgctlError if another push took over while this process was suspended */
  readonly assertHeld: AssertHeld;
  /** Called for each package before the first of its files may become visible. */
  readonly beforeVisible: () => void;
}

/** True if an error is about one package, and the others may be uploaded all the same. */
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
  const byName = new Map<string, SharedFile>();
  const compareOnce = async (file: LocalFile, owner: string) => {
    const known = byName.get(file.name);
    if (known) return known;
    onFile(file.name);
    const shared = await compareFirst(file, owner, transfer);
    byName.set(file.name, shared);
    return shared;
  };
  const plan: PlannedPackage[] = [];
  for (const each of packages) {
    const files: PlannedFile[] = [];
    let error: ImgctlError | undefined;
    for (const file of each.files) {
      try {
        const shared = await compareOnce(file, each.name);
        files.push(planFile(file, each.name, shared, transfer));
      } catch (thrown) {
        if (!isOfPackage(thrown)) throw thrown;
        // The other files are compared all the same: another package may replace them.
        error ??= thrown;
      }
    }
    plan.push(error ? { ...each, files, error } : asOne(each, files, transfer.storage.address));
  }
  return plan;
}

function planFile(
  file: LocalFile,
  owner: string,
  shared: SharedFile,
  transfer: TransferOptions,
): PlannedFile {
  const { size, before } = shared;
  const note = before.state === 'different' ? before.note : undefined;
  return { ...file, package: owner, size, action: actionAfter(before, transfer), note, shared };
}

function actionAfter({ state }: Comparison, { onConflict }: TransferOptions): Action {
  if (state === 'absent') return 'upload';
  if (state === 'same') return 'unchanged';
  return onConflict === 'fail' ? 'conflict' : onConflict;
}

/** Skips all files of a package or none: a single file of another version would break it. */
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

/** Returns the package with the files as unchanged that packages before it have sent. */
export function withoutSent(each: PlannedPackage): PlannedPackage {
  const files = each.files.map((file): PlannedFile => {
    return isSent(file) && file.shared.visible === 'yes' ? { ...file, action: 'unchanged' } : file;
  });
  return { ...each, files };
}

/**
 * Opens a file for the action.
 * @throws LocalFileError: the file has changed since its package was checked
 */
async function withUploadFile<Result>(
  file: LocalFile,
  { clock }: TransferOptions,
  action: (opened: UploadFile) => Promise<Result>,
): Promise<Result> {
  const opened = await openUploadFile(file, clock);
  try {
    if (opened.fingerprint !== file.checkedFingerprint) throw changedError(file.path);
    return await action(opened);
  } finally {
    await opened.close();
  }
}

function requireUnchanged(file: LocalFile, transfer: TransferOptions): Promise<void> {
  return withUploadFile(file, transfer, async () => {});
}

function compareFirst(file: LocalFile, owner: string, transfer: TransferOptions) {
  return withUploadFile(file, transfer, async (opened): Promise<SharedFile> => {
    const { size, settledFingerprint } = opened;
    const before = await compareOpened(opened, file.name, owner, transfer);
    const stored = before.state === 'same' ? before.stored : undefined;
    return { size, settledFingerprint, before, stored, visible: 'no' };
  });
}

/** Compares a file once more. Returns what the storage has, if that is this file. */
function findStored(file: PlannedFile, transfer: TransferOptions) {
  return withUploadFile(file, transfer, async (opened) => {
    const comparison = await compareOpened(opened, file.name, file.package, transfer);
    return comparison.state === 'same' ? comparison.stored : undefined;
  });
}

/** Compares an open file with the stored one, unless a proof says that they are equal. */
async function compareOpened(
  opened: UploadFile,
  name: string,
  owner: string,
  { storage, proofs }: TransferOptions,
): Promise<Comparison> {
  const equalFingerprint = proofs.find({ package: owner, name, source: opened.fingerprint });
  try {
    return await storage.compare(name, opened, equalFingerprint);
  } catch (error) {
    // The stored file may have been removed between two requests.
    const isGone = hasCode(error, 'not-found') && (await storage.look(name)) === undefined;
    if (!isGone) throw error;
    return { state: 'absent' };
  }
}

type OnProgress = (file: PlannedFile, bytes: number) => void;

/**
 * Sends a package: uploads and checks all of its files, then makes one after the other visible.
 * @throws ImgctlError, after which `shared` of each file says what others see. What they do not see
 * is removed, unless a later run can continue it
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  transfer: TransferOptions,
  onProgress: OnProgress,
): Promise<void> {
  if (files.every((file) => file.action === 'skip' || isProved(file, transfer))) return;
  const parts = new Map<PlannedFile, UnpublishedFile>();
  try {
    const results = [];
    for (const file of files)
      results.push(...(await sendAndCheck(file, parts, transfer, onProgress)));
    await verify(new Map(results));
    // A file that was read early may have changed while the others were uploaded.
    for (const file of files) await requireUnchanged(file, transfer);
    await makeVisible(parts, transfer);
    if (transfer.dryRun) for (const file of files.filter(isSent)) file.shared.visible = 'yes';
  } catch (error) {
    for (const part of parts.values()) await part.discard(error).catch(() => {});
    throw error;
  }
  for (const file of files) remember(file, transfer);
}

/** True if a proof says that the package is valid, and that the storage has this file of it. */
function isProved({ package: owner, name, shared }: PlannedFile, { proofs }: TransferOptions) {
  const { settledFingerprint, stored } = shared;
  if (settledFingerprint === undefined || stored === undefined) return false;
  return proofs.find({ package: owner, name, source: settledFingerprint }) === stored.fingerprint;
}

function remember({ package: owner, name, shared }: PlannedFile, { proofs }: TransferOptions) {
  const { settledFingerprint, stored } = shared;
  if (settledFingerprint === undefined || !stored?.isReliable) return;
  proofs.remember({ package: owner, name, source: settledFingerprint, stored: stored.fingerprint });
}

/** Reads and checks a file, and uploads it meanwhile if it is sent. @param parts gets its part */
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
        if (!hasCode(error, 'conflict')) throw error;
        // Another push, such as one that was killed, may have stored the same content first.
        const stored = await findStored(file, transfer);
        if (!stored) throw error;
        parts.set(file, partOfOther(stored));
      }
    }
    return opened.check(onBytes);
  });
}

/** Returns the part of a file that another push has made visible. */
function partOfOther(stored: StoredFile): UnpublishedFile {
  return { publish: async () => ({ kind: 'visible', stored }), discard: async () => {} };
}

/** Makes one part after the other visible, and notes what others see. @param parts loses these */
async function makeVisible(
  parts: Map<PlannedFile, UnpublishedFile>,
  transfer: TransferOptions,
): Promise<void> {
  if (parts.size > 0) transfer.beforeVisible();
  for (const [file, part] of parts) {
    transfer.assertHeld();
    const result = await publish(file, part, transfer);
    file.shared.visible = result.visible;
    if (result.visible !== 'yes') throw result.error;
    file.shared.stored = result.stored;
    parts.delete(file);
  }
}

type PublishResult =
  | { readonly visible: 'yes'; readonly stored: StoredFile }
  | { readonly visible: 'no' | 'perhaps'; readonly error: unknown };

/**
 * Gives the part the name of its file, and decides what others see:
 *
 *     `publish`          | file of that name            | visible
 *     -------------------+------------------------------+--------
 *     visible            | (not looked at)              | yes
 *     refused            | (not looked at)              | no
 *     conflict           | same content as the part     | yes
 *     conflict           | different, or it is not read | perhaps
 *     throws             | (not looked at)              | perhaps
 */
async function publish(
  file: PlannedFile,
  part: UnpublishedFile,
  transfer: TransferOptions,
): Promise<PublishResult> {
  // Also if the name was free: another push may have stored a file meanwhile.
  const replace = transfer.onConflict === 'replace';
  try {
    const published = await part.publish(replace);
    if (published.kind === 'visible') return { visible: 'yes', stored: published.stored };
    const { kind, error } = published;
    if (kind === 'refused') return { visible: 'no', error };
    const stored = await findStored(file, transfer);
    if (!stored) return { visible: 'perhaps', error };
    await part.discard(error).catch(() => {});
    return { visible: 'yes', stored };
  } catch (error) {
    return { visible: 'perhaps', error };
  }
}

/** Looks once more at all files, and returns the names of those that the storage no longer has. */
export async function findChanged(
  packages: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<string[]> {
  const byName = new Map(packages.flatMap((each) => each.files).map((file) => [file.name, file]));
  const looks = [...byName.values()].map(async (file) => {
    return { file, fingerprint: await transfer.storage.look(file.name) };
  });
  const changed: string[] = [];
  for (const { file, fingerprint } of await Promise.all(looks)) {
    if (fingerprint === file.shared.stored?.fingerprint) continue;
    // Another push may have stored the same content again.
    if (!(await findStored(file, transfer))) changed.push(file.name);
  }
  return changed;
}
