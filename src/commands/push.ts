// imgctl push: checks packages, uploads them, syncs once, and shows the new images.

import { statSync } from 'node:fs';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { withLockIfPossible } from '../files/lock.ts';
import { Journal, journalFile } from '../upload/journal.ts';
import { MIN_FOR_THREAD, prepareThread } from '../upload/reader.ts';
import type { Storage } from '../upload/storage.ts';
import {
  isSent,
  type PlannedFile,
  type PlannedPackage,
  planPackage,
  refuseConflicts,
  type TransferOptions,
  transferPackage,
  type UploadPackage,
} from '../upload/transfer.ts';
import { type Measures, type MetricsOptions, withMetrics } from './metrics.ts';
import { describeBytes } from './packages.ts';
import { checkPackages, DigestError, printFindings } from './push-packages.ts';
import { previewPush } from './push-preview.ts';
import { syncPushed } from './push-sync.ts';
import { openUploadStorage, targetKey } from './storage.ts';
import { describeRate } from './validate.ts';

interface PushOptions extends MetricsOptions {
  sync?: boolean;
  wait?: boolean;
  dryRun?: boolean;
  force?: boolean;
  onConflict?: 'fail' | 'replace' | 'skip';
  partSize?: string;
  parallel?: number;
  pollInterval?: number;
  waitTimeout?: number;
}

export async function run(
  context: Context,
  options: PushOptions,
  files: readonly string[],
): Promise<void> {
  if (options.dryRun) return pushFiles(context, options, files, () => {});
  await withMetrics(context, options, 'push', (measure) =>
    pushFiles(context, options, files, measure),
  );
}

type Measure = (measures: Measures) => void;

async function pushFiles(
  context: Context,
  options: PushOptions,
  files: readonly string[],
  measure: Measure,
): Promise<void> {
  const { partSize, parallel } = options;
  const size = partSize === undefined ? undefined : parseSize(partSize);
  const packages = await checkPackages(context, files);
  if (packages.some(isLarge)) prepareThread();
  const storage = await openUploadStorage(context, { partSize: size, parallel });
  try {
    await locked(context, async (journal) =>
      push(context, options, { packages, storage, journal, measure }),
    );
  } finally {
    await storage.close();
  }
}

function isLarge({ files }: UploadPackage): boolean {
  const sizes = files.map(({ path }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  return Math.max(...sizes) >= MIN_FOR_THREAD;
}

interface Work {
  readonly packages: readonly UploadPackage[];
  readonly storage: Storage;
  readonly journal: Journal;
  readonly measure: Measure;
}

async function push(context: Context, options: PushOptions, work: Work): Promise<void> {
  const { storage, journal, packages } = work;
  const { sync = true, wait = true, dryRun = false, force = false, onConflict = 'fail' } = options;
  // The service and the storage may refuse; both should do so before an upload that takes long.
  const before = sync ? (await (await context.session()).client.listUserImages()).images : [];
  await storage.check();
  const { signal } = context.io;
  const transfer = { storage, journal, signal, force, onConflict };
  const plan: PlannedPackage[] = [];
  for (const each of packages) plan.push(await planPackage(each, transfer));
  if (dryRun) return previewPush(context, storage, plan, sync ? before : undefined);
  refuseConflicts(plan, transfer);
  if (plan.some(({ files }) => files.some(isSent))) await journal.setSync(undefined);
  for (const each of plan) await transferWithProgress(context, each, transfer);
  const sent = plan.flatMap(({ files }) => files.filter(isSent));
  const bytes = sent.reduce((sum, { size }) => sum + size, 0);
  // Without --no-wait and --no-sync, the end of the command is the end of the sync.
  work.measure({ last_uploaded_bytes: bytes, succeeded: sync && wait });
  const pushed = plan.filter(({ files }) => !files.some(({ action }) => action === 'skip'));
  const files = pushed.flatMap((each) => each.files);
  if (!sync) return printFiles(context, plan);
  if (pushed.length === 0) return;
  await syncPushed(
    context,
    journal,
    {
      names: pushed.map(({ name }) => name),
      files: new Map(files.map(({ name, identity }) => [name, identity])),
      hasUploads: files.some(isSent),
      before,
    },
    { ...options, wait },
  );
}

/** One push per target at a time: two would write the same parts. */
async function locked(
  context: Context,
  action: (journal: Journal) => Promise<void>,
): Promise<void> {
  const { io, paths, console } = context;
  const open = (file: string | undefined) =>
    new Journal(file, io.system, (error) => {
      const hint = 'an interrupted push will start again, and a rerun may sync again';
      console.warn(`cannot write the journal ${file}: ${errorReason(error)}`, hint);
    });
  if (paths.state === undefined) {
    console.warn('no home directory: an interrupted push will start again');
    return action(open(undefined));
  }
  const file = journalFile(paths.state, targetKey(context));
  let hasLock = false;
  const work = () => {
    hasLock = true;
    return action(open(file));
  };
  // The lock of a push that was killed becomes free within this time.
  await withLockIfPossible(file, 8_000, io, work).catch((error: unknown) => {
    if (hasLock || !(error instanceof ImgctlError) || error.code !== 'timeout') throw error;
    throw error.with({
      message: 'another imgctl is pushing to this storage',
      hint: 'wait until it has finished, then run the command again',
    });
  });
}

async function transferWithProgress(
  context: Context,
  plan: PlannedPackage,
  options: TransferOptions,
): Promise<void> {
  const { io, console } = context;
  const progress = console.startProgress({ lines: true });
  const started = new Map<PlannedFile, { at: number; bytes: number }>();
  try {
    await transferPackage(plan, options, (file, bytes) => {
      const start = started.get(file) ?? { at: io.now(), bytes };
      started.set(file, start);
      const from = start.bytes === 0 ? '' : ` from ${describeBytes(start.bytes)}`;
      progress.update(`${file.name}: uploading${from}`, () =>
        describeRate(bytes, file.size, io.now() - start.at, start.bytes),
      );
    });
  } catch (error) {
    if (error instanceof DigestError) await printFindings(context, [[error.file, error.findings]]);
    throw withResumeHint(error);
  } finally {
    await progress.stop();
  }
  for (const file of plan.files) {
    if (file.action === 'skip') {
      console.warn(
        `${file.name}: skipped, ${options.storage.address} has another file of that name`,
      );
    } else {
      const size = describeBytes(file.size);
      console.note(
        isSent(file) ? `${file.name}: uploaded, ${size}` : `${file.name}: already there`,
      );
    }
  }
}

/** What was uploaded stays after these. */
const RESUMABLE = ['unreachable', 'timeout', 'interrupted', 'terminated', 'server-error'];

function withResumeHint(error: unknown): unknown {
  if (!(error instanceof ImgctlError) || !RESUMABLE.includes(error.code)) return error;
  const resume = 'to continue the upload, run the same command again';
  return error.with({ hint: error.hint === undefined ? resume : `${error.hint}; ${resume}` });
}

async function printFiles(context: Context, plan: readonly PlannedPackage[]): Promise<void> {
  const rows = plan.flatMap(({ files }) =>
    files.map((file) => ({
      name: file.name,
      size: context.format === 'table' ? describeBytes(file.size) : file.size,
      state: isSent(file) ? 'uploaded' : file.action === 'skip' ? 'skipped' : 'unchanged',
    })),
  );
  await context.printList(rows, ['name', 'size', 'state'], { idField: 'name' });
}

const MIN_PART = 5 * 2 ** 20;
const MAX_PART = 1024 * 2 ** 20;

/** Parses `16M`, in MiB. @throws ImgctlError usage */
function parseSize(text: string): number {
  const [, number = ''] = /^(\d{1,4})M(?:iB)?$/i.exec(text.trim()) ?? [];
  const bytes = Number(number) * 2 ** 20;
  if (bytes >= MIN_PART && bytes <= MAX_PART) return bytes;
  throw new ImgctlError('usage', `--part-size must be from 5M to 1024M (got ${text})`, {
    hint: 'use a size such as: --part-size 16M',
  });
}
