// Uploads a planned package: sends and checks its files, then makes one after the other visible.

import { hasCode } from '../errors.ts';
import { isSent } from './actions.ts';
import { compareFile, type PlannedFile, type PlannedPackage, type Transfer } from './plan.ts';
import type { Proof } from './proofs.ts';
import type { OnBytes, StoredFile, UnpublishedFile } from './storage.ts';
import { openUnchanged, type RegionResults, type UploadFile } from './upload-file.ts';

type OnProgress = (file: PlannedFile, bytes: number) => void;

/** The files of a package that are sent, but not visible. After an error they are discarded. */
type UnpublishedFiles = Map<PlannedFile, UnpublishedFile>;

/**
 * Sends a package: uploads and checks all of its files, then makes one after the other visible.
 * @throws ImgctlError, after which `visible` says what others see of each file. What they do not
 * see is removed, unless a later run can continue it
 */
export async function transferPackage(
  { files, verify }: PlannedPackage,
  transfer: Transfer,
  onProgress: OnProgress,
): Promise<void> {
  const { proofs, visible, clock, dryRun } = transfer;
  const isProved = (file: PlannedFile) => {
    const proof = proofFor(file, transfer);
    return proof !== undefined && proofs.has(proof);
  };
  if (files.every((file) => file.action === 'skip' || isProved(file))) return;
  const unpublished: UnpublishedFiles = new Map();
  try {
    const results = [];
    for (const file of files)
      results.push(...(await sendAndCheck(file, unpublished, transfer, onProgress)));
    await verify(new Map(results));
    // A file that was read early may have changed while the others were uploaded.
    for (const file of files) await (await openUnchanged(file, clock)).close();
    await makeVisible(unpublished, transfer);
    // A dry run sends nothing. A later package that shares a file would not send it again.
    if (dryRun) for (const { name } of files.filter(isSent)) visible.set(name, { isCertain: true });
  } catch (error) {
    for (const upload of unpublished.values()) await upload.discard(error).catch(() => {});
    throw error;
  }
  for (const file of files) {
    const proof = proofFor(file, transfer);
    if (proof) proofs.remember(proof);
  }
}

/** Returns what the storage has of the file now, if its content is that of the file. */
function storedNow({ name, before }: PlannedFile, { visible }: Transfer): StoredFile | undefined {
  return before.state === 'same' ? before.stored : visible.get(name)?.stored;
}

/**
 * Returns the proof that the package is valid and the storage has this file; undefined unless the
 * storage has it, and every later change of one of the two will show.
 */
function proofFor(file: PlannedFile, transfer: Transfer): Proof | undefined {
  const { package: packageName, name, settledFingerprint: source } = file;
  const stored = storedNow(file, transfer);
  if (source === undefined || !stored?.isSettled) return undefined;
  return { package: packageName, name, source, stored: stored.fingerprint };
}

/** Reads and checks a file. One that is sent is uploaded meanwhile, and added to `unpublished`. */
async function sendAndCheck(
  file: PlannedFile,
  unpublished: UnpublishedFiles,
  transfer: Transfer,
  onProgress: OnProgress,
): Promise<RegionResults> {
  const { clock, dryRun } = transfer;
  const onBytes = (bytes: number) => onProgress(file, bytes);
  const opened = await openUnchanged(file, clock);
  try {
    if (isSent(file) && !dryRun)
      unpublished.set(file, await sendFile(file, opened, transfer, onBytes));
    return await opened.check(onBytes);
  } finally {
    await opened.close();
  }
}

async function sendFile(
  file: PlannedFile,
  opened: UploadFile,
  transfer: Transfer,
  onBytes: OnBytes,
): Promise<UnpublishedFile> {
  try {
    return await transfer.storage.put(file.name, opened, onBytes);
  } catch (error) {
    if (!hasCode(error, 'conflict')) throw error;
    // Another push, such as one that was killed, may have stored the same content first.
    const stored = await storedIfSame(file, transfer);
    if (!stored) throw error;
    return { publish: async () => ({ kind: 'visible', stored }), discard: async () => {} };
  }
}

/** Gives one file after the other its name. */
async function makeVisible(unpublished: UnpublishedFiles, transfer: Transfer): Promise<void> {
  if (unpublished.size > 0) transfer.beforeVisible();
  for (const [file, upload] of unpublished) {
    transfer.assertHeld();
    await publish(file, upload, transfer);
    unpublished.delete(file);
  }
}

/** Publishes an uploaded file, and notes whether others see it. @throws unless they surely do */
async function publish(file: PlannedFile, upload: UnpublishedFile, transfer: Transfer) {
  const { visible } = transfer;
  const outcome = await publishAndCompare(file, upload, transfer);
  if (outcome.seen === 'certainly') {
    visible.set(file.name, { isCertain: true, stored: outcome.stored });
    return;
  }
  if (outcome.seen === 'perhaps') visible.set(file.name, { isCertain: false });
  throw outcome.error;
}

type Outcome =
  | { readonly seen: 'certainly'; readonly stored: StoredFile }
  | { readonly seen: 'perhaps' | 'no'; readonly error: unknown };

/**
 * Gives an uploaded file its name. Returns whether others see it:
 *
 *     `upload.publish` | file of that name           | others see it
 *     -----------------+-----------------------------+--------------------------
 *     visible          | (not looked at)             | certainly
 *     refused          | (not looked at)             | no
 *     conflict         | same content as the file    | certainly
 *     conflict         | different, without replace  | no: it is of another push
 *     conflict         | different, with replace     | perhaps
 *     conflict         | looking at it throws        | perhaps
 *     throws           | (not looked at)             | perhaps
 */
async function publishAndCompare(
  file: PlannedFile,
  upload: UnpublishedFile,
  transfer: Transfer,
): Promise<Outcome> {
  // Also if the name was free: another push may have stored a file meanwhile.
  const replace = transfer.onConflict === 'replace';
  try {
    const published = await upload.publish(replace);
    if (published.kind === 'visible') return { seen: 'certainly', stored: published.stored };
    const { kind, error } = published;
    if (kind === 'refused') return { seen: 'no', error };
    const stored = await storedIfSame(file, transfer);
    if (!stored) return { seen: replace ? 'perhaps' : 'no', error };
    await upload.discard(error).catch(() => {});
    return { seen: 'certainly', stored };
  } catch (error) {
    return { seen: 'perhaps', error };
  }
}

/** Compares a file once more. Returns what the storage has, if that is this file. */
async function storedIfSame(
  file: PlannedFile,
  transfer: Transfer,
): Promise<StoredFile | undefined> {
  const { before: comparison } = await compareFile(file, file.package, transfer);
  return comparison.state === 'same' ? comparison.stored : undefined;
}

/** Looks once more at all files, and returns the names of those that the storage no longer has. */
export async function findChanged(
  packages: readonly PlannedPackage[],
  transfer: Transfer,
): Promise<string[]> {
  const byName = new Map(packages.flatMap((each) => each.files).map((file) => [file.name, file]));
  const looks = [...byName.values()].map(async (file) => {
    return { file, fingerprint: (await transfer.storage.look(file.name))?.fingerprint };
  });
  const changed: string[] = [];
  for (const { file, fingerprint } of await Promise.all(looks)) {
    if (fingerprint === storedNow(file, transfer)?.fingerprint) continue;
    // Another push may have stored the same content again.
    if (!(await storedIfSame(file, transfer))) changed.push(file.name);
  }
  return changed;
}
