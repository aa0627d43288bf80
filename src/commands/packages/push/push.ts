// imgctl push: checks packages, uploads them, syncs once, and shows the new images.

import path from 'node:path';
import {
  command,
  GET_OPTION,
  option,
  type Parsed,
  SERVICE_CODES,
  settingOption,
} from '../../../cli/command.ts';
import type { Result } from '../../../cli/result.ts';
import type { SettingKey } from '../../../config/definitions.ts';
import { choice } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { asImgctlError, ImgctlError } from '../../../errors.ts';
import { hint, imgctl } from '../../../facts.ts';
import type { AssertHeld } from '../../../files/atomic-file.ts';
import { withMutexIfPossible } from '../../../files/mutex.ts';
import { column } from '../../../output/columns.ts';
import type { Output } from '../../../output/output.ts';
import { isSent } from '../../../upload/actions.ts';
import type { Storage } from '../../../upload/storage.ts';
import type { PlannedFile, PlannedPackage, UploadPackage } from '../../../upload/transfer.ts';
import { describeBytes, describeDuration } from '../../../words.ts';
import { IMAGE_COLUMNS, SHOWN_FIELDS } from '../../images/options.ts';
import { openUploadStorage, type StorageFiles, UPLOAD_OPTIONS } from '../../upload-storage.ts';
import { POLL_OPTIONS } from '../follow.ts';
import { FILES, PackageBatch } from '../package-batch.ts';
import { submittedOutput } from '../sync.ts';
import { STRICT_OPTION, SUBMITTED_COLUMNS } from '../sync-columns.ts';
import { checkPackages } from './packages.ts';
import { type Pushed, syncChanges, syncPushed } from './sync-pushed.ts';
import { syncedMark } from './synced-mark.ts';
import { planAll, UploadOutcome, uploadAll } from './upload.ts';

const NAME = column('name', 'string', 'file name', { isId: true, cut: 'middle' });
const SIZE = column('size', 'number or null', 'with --no-sync and --dry-run: bytes of the file', {
  text: (bytes) => describeBytes(Number(bytes)),
});
const STATE = column('state', 'string', 'with --no-sync: uploaded, unchanged or skipped', {
  isState: true,
});
const STEP = column('step', 'string', 'with --dry-run: upload or sync');
const ACTION = column(
  'action',
  'string',
  'with --dry-run: what would happen, such as upload, replace, add, delete',
);

const OPTIONS = [
  settingOption('--to <url>', 'upload-url', 'URL or folder to upload to (setting upload-url)'),
  option('--no-sync', 'upload only'),
  option('--no-wait', 'submit the sync, but do not wait for it'),
  option('--sync-if-sent', 'submit a sync only if something was sent', { conflicts: ['sync'] }),
  option('--dry-run', 'show what would be uploaded and synced'),
  option('--on-conflict <action>', 'if a different file has that name: fail, replace or skip', {
    default: 'fail',
    value: choice('action', ['fail', 'replace', 'skip']),
  }),
  settingOption('--limit-rate <rate>', 'limit-rate'),
  ...UPLOAD_OPTIONS,
  ...POLL_OPTIONS,
  STRICT_OPTION,
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const push = command({
  name: 'push',
  summary: 'upload packages, sync them and show the new images',
  description: [
    'Checks each package as validate does, uploads it with the files that an OVF references, submits one sync, waits for it and prints the new images. You are prompted for credentials of the storage that are not set.',
    'If one of several packages fails, the others are still uploaded and synced. Run the same command again: it skips what is already there.',
  ],
  details: [
    '--sync-if-sent submits no sync if nothing was sent since the last good one. Do not use it if files are removed by hand, or if several machines or services share the storage: nothing would sync these changes.',
  ],
  examples: [
    'imgctl push appliance.ova',
    'imgctl push *.ova --dry-run',
    'imgctl push appliance.ova --to dav+https://uploads.example.com/alice',
    'imgctl push appliance.ovf --on-conflict replace --no-wait',
  ],
  seeAlso: ['validate', 'sync', 'my-images', 'config'],
  arguments: [FILES],
  options: OPTIONS,
  fields: [
    column('id', 'number or string', 'image id; with --no-wait, of the sync request'),
    ...IMAGE_COLUMNS.filter(({ name }) => name !== 'id').map((each) => {
      return { ...each, meaning: each.meaning.replace('-c or ', '') };
    }),
    ...SUBMITTED_COLUMNS.filter(({ name }) => name !== 'id').map((each) => {
      return { ...each, meaning: `with --no-wait: ${each.meaning}` };
    }),
    SIZE,
    STATE,
    STEP,
    ACTION,
  ],
  exitCodes: [...SERVICE_CODES, 7],
  run,
});

function outputOf(context: Context, options: Options): Output {
  const { dryRun, sync, wait } = options;
  if (dryRun) return context.output([STEP, ACTION, NAME, SIZE], options);
  if (!sync) return context.output([NAME, SIZE, STATE], options);
  return wait
    ? context.output(IMAGE_COLUMNS, { ...options, shown: SHOWN_FIELDS })
    : submittedOutput(context, options);
}

async function run(context: Context, options: Options, files: readonly string[]): Promise<Result> {
  const { sync, dryRun, partSize, parallel } = options;
  const { settings, io } = context;
  const output = outputOf(context, options);
  const distinct = new Map(files.map((file) => [path.resolve(io.cwd, file), file]));
  const batch = new PackageBatch(context, [...distinct.values()], (file) => path.basename(file));
  const packages = await checkPackages(context, batch);
  if (packages.length === 0) return { error: batch.error({}) };
  const isUnset = (key: SettingKey) => settings.find(key).text === undefined;
  if (sync && isUnset('base-url') && isUnset('upload-url') && !settings.config.isHomeless) {
    throw new ImgctlError('config', 'no service address or upload storage is set', {
      facts: hint`run: ${imgctl('login')}, then: ${imgctl('config', 'set', 'upload-url', 'URL')}`,
    });
  }
  if (sync) await context.session();
  // The storage and the service may refuse; both should do so before an upload that takes long.
  const opened = await openUploadStorage(context, { partSize, parallel }, true);
  const { storage, files: storageFiles } = opened;
  const outcome = new UploadOutcome();
  const upload = (assertHeld: AssertHeld) => {
    const push = { output, batch, packages, storage, storageFiles, outcome, assertHeld };
    return pushPackages(context, push, options);
  };
  const { mutex } = storageFiles;
  const done = dryRun
    ? upload(() => {})
    : onePushAtATime(context, { storage, mutex }, options, upload);
  return done.finally(() => storage.close());
}

/** A push that has the storage for itself. */
interface Push {
  readonly output: Output;
  readonly batch: PackageBatch;
  readonly packages: readonly UploadPackage[];
  readonly storage: Storage;
  readonly storageFiles: StorageFiles;
  readonly outcome: UploadOutcome;
  readonly assertHeld: AssertHeld;
}

async function pushPackages(context: Context, push: Push, options: Options): Promise<Result> {
  const { io, tell } = context;
  const { output, batch, packages, storage, outcome, assertHeld } = push;
  const { sync, dryRun } = options;
  const prepared = await prepare(context, push, options);
  const { transfer } = prepared;
  const plan = await planAll(context, batch, packages, transfer);
  try {
    await uploadAll(context, batch, plan, transfer, outcome);
    // Another push that took over may have changed what this one stored.
    assertHeld();
  } catch (error) {
    reportUnsynced(context, outcome, sync);
    throw io.signal.aborted && !dryRun ? resumable(error, storage, sync) : error;
  }
  const pushed = { ...prepared, plan: outcome.complete };
  if (dryRun) {
    const rows = await planRows(plan, pushed, options);
    const afterwards = () => tell({ kind: 'note', message: 'nothing was uploaded or submitted' });
    return { output, rows, afterwards, error: batch.error(outcome.counts('to upload')) };
  }
  if (outcome.broken.size > 0) reportUnsynced(context, outcome, sync);
  const error = batch.error(outcome.counts(), 'storage-full');
  if (!sync) {
    const isEmpty = outcome.complete.length === 0 && batch.hasFailed;
    return isEmpty ? { error } : { output, rows: fileRows(outcome), error };
  }
  if (outcome.broken.size > 0 || outcome.complete.length === 0) return { error };
  const synced = await syncAndCount(context, push, pushed, options);
  return { ...synced, error: synced.error ?? error };
}

/** Returns how to transfer the files, what this machine knows of them, and the images before the push. */
async function prepare(
  context: Context,
  { storage, storageFiles, assertHeld }: Push,
  { sync, onConflict, dryRun = false }: Options,
): Promise<Omit<Pushed, 'plan'>> {
  const { loadProofs } = await import('../../../upload/proofs.ts');
  const { io } = context;
  const proofs = loadProofs(storageFiles.proofs, io);
  const session = sync ? await context.session() : undefined;
  const { baseUrl = '', username = '' } = session?.account ?? {};
  const { state, key } = storageFiles;
  const mark = syncedMark(state, [...key, baseUrl, username], io.system.uid);
  const before = session ? (await session.client.listUserImages()).images : [];
  const transfer = {
    storage,
    proofs,
    clock: io,
    onConflict,
    dryRun,
    assertHeld,
    beforeVisible: mark.remove,
  };
  return { before, transfer, mark };
}

/** If the sync fails, the packages that failed before are counted behind its errors. */
async function syncAndCount(
  context: Context,
  { output, batch, outcome }: Push,
  pushed: Pushed,
  options: Options,
): Promise<Result> {
  const countFailed = () => {
    const message = batch.summary(outcome.counts());
    if (batch.hasFailed) context.tell({ kind: 'failure', message, hint: batch.heldHint });
  };
  const synced = await syncPushed(context, output, pushed, options).catch((thrown: unknown) => {
    countFailed();
    throw thrown;
  });
  const afterwards = async () => {
    await synced.afterwards?.();
    if (synced.error) countFailed();
  };
  return { ...synced, afterwards };
}

/** Returns the error of an interrupt, which says what the next run does. */
function resumable(error: unknown, { keepsParts }: Storage, sync: boolean): ImgctlError {
  const rest = keepsParts ? 'sends only what is missing' : 'starts unfinished packages again';
  const facts = `run the same command again: it ${rest}${sync ? ', then syncs' : ''}`;
  return asImgctlError(error).with({ facts });
}

function reportUnsynced({ tell }: Context, outcome: UploadOutcome, sync: boolean): void {
  for (const [name, files] of outcome.broken) {
    const message = `${name} failed after these files became visible: ${files.join(', ')}`;
    tell({ kind: 'failure', message });
  }
  const isVisible = (file: PlannedFile) => outcome.visible.includes(file);
  const uploaded = outcome.complete.filter(({ files }) => files.some(isVisible));
  const names = uploaded.map(({ name }) => name).join(', ');
  if (sync && names) tell({ kind: 'failure', message: `uploaded, but not synced: ${names}` });
}

async function planRows(
  plan: readonly PlannedPackage[],
  { plan: complete, before, mark, transfer }: Pushed,
  { sync, syncIfSent = false }: Options,
) {
  const all = plan.flatMap((each) => each.files);
  const conflicts = all.filter(({ action }) => action === 'conflict');
  const files = [...complete.flatMap((each) => each.files), ...conflicts];
  const uploads = files.map(({ action, name, size }) => ({ step: 'upload', action, name, size }));
  const isIdle = syncIfSent && !files.some(isSent) && mark.isThere();
  const changes = sync && !isIdle ? await syncChanges(transfer.storage, complete, before) : [];
  return [...uploads, ...changes];
}

function fileRows({ complete }: UploadOutcome) {
  const files = complete.flatMap((each) => each.files);
  return files.map((file) => {
    const other = file.action === 'skip' ? 'skipped' : 'unchanged';
    return { name: file.name, size: file.size, state: isSent(file) ? 'uploaded' : other };
  });
}

/** Runs the action alone on this machine, after other pushes to the storage. @throws ImgctlError locked */
async function onePushAtATime<Pushed>(
  context: Context,
  { storage: { address }, mutex }: { storage: Storage; mutex: string | undefined },
  { waitTimeout }: Options,
  action: (assertHeld: AssertHeld) => Promise<Pushed>,
): Promise<Pushed> {
  const { io, tell } = context;
  tell({ kind: 'begin' });
  const started = io.elapsed();
  const onWait = () => {
    const text = `waiting for another push to ${address}`;
    const describe = () => `${text} for ${describeDuration(io.elapsed() - started)}`;
    tell({ kind: 'progress', text, describe });
  };
  const end = () => tell({ kind: 'end' });
  const alone = async (assertHeld: AssertHeld) => {
    await end();
    return action(assertHeld);
  };
  return withMutexIfPossible(mutex, waitTimeout, io, alone, onWait).finally(end);
}
