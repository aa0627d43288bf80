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
import type { SettingKey } from '../../../config/definitions.ts';
import { choice } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { asImgctlError, ImgctlError } from '../../../errors.ts';
import { hint, imgctl } from '../../../facts.ts';
import type { AssertHeld } from '../../../files/atomic-file.ts';
import { withMutexIfPossible } from '../../../files/mutex.ts';
import { column, printBefore, type View } from '../../../output/view.ts';
import { isSent } from '../../../upload/actions.ts';
import type { Storage } from '../../../upload/storage.ts';
import type { PlannedPackage, UploadPackage } from '../../../upload/transfer.ts';
import { describeBytes, describeDuration } from '../../../words.ts';
import { IMAGE_COLUMNS, SHOWN_FIELDS } from '../../images/options.ts';
import { openUploadStorage, type StorageFiles, UPLOAD_OPTIONS } from '../../upload-storage.ts';
import { POLL_OPTIONS } from '../follow.ts';
import { FILES, PackageBatch } from '../package-batch.ts';
import { submittedView } from '../sync.ts';
import { STRICT_OPTION, SUBMITTED_COLUMNS } from '../sync-status.ts';
import { checkPackages } from './packages.ts';
import { type Pushed, syncChanges, syncPushed } from './sync-pushed.ts';
import { syncedMark } from './synced-mark.ts';
import { planAll, UploadOutcome, uploadAll } from './upload.ts';

const NAME = column('name', 'string', 'file name', { isId: true });
const SIZE = column('size', 'number or null', 'with --no-sync and --dry-run: bytes of the file', {
  text: (bytes) => describeBytes(Number(bytes)),
});
const STATE = column('state', 'string', 'with --no-sync: uploaded, unchanged or skipped');
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
  option('--sync-if-sent', 'submit a sync only if something was sent', {
    conflicts: ['sync'],
  }),
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
    ...IMAGE_COLUMNS.filter(({ name }) => name !== 'id'),
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

function viewOf(context: Context, options: Options): View {
  const { dryRun, sync, wait } = options;
  if (dryRun) return context.view([STEP, ACTION, NAME, SIZE], options);
  if (!sync) return context.view([NAME, SIZE, STATE], options);
  return wait
    ? context.view(IMAGE_COLUMNS, options, { shown: SHOWN_FIELDS })
    : submittedView(context, options);
}

async function run(context: Context, options: Options, files: readonly string[]) {
  const { sync, dryRun, partSize, parallel } = options;
  const { settings, io } = context;
  const view = viewOf(context, options);
  const distinct = new Map(files.map((file) => [path.resolve(io.cwd, file), file]));
  const batch = new PackageBatch(context, [...distinct.values()], (file) => path.basename(file));
  const packages = await checkPackages(context, batch);
  if (packages.length === 0) return batch.throwFailures({});
  const isUnset = (key: SettingKey) => settings.find(key).text === undefined;
  if (sync && isUnset('base-url') && isUnset('upload-url') && !settings.config.isHomeless) {
    throw new ImgctlError('config', 'no service address or upload storage is set', {
      hint: hint`run: ${imgctl('login')}, then: ${imgctl('config', 'set', 'upload-url', 'URL')}`,
    });
  }
  if (sync) await context.session();
  // The storage and the service may refuse; both should do so before an upload that takes long.
  const { storage, files: own } = await openUploadStorage(context, { partSize, parallel }, true);
  const outcome = new UploadOutcome();
  const upload = (assertHeld: AssertHeld) =>
    pushPackages(context, { view, batch, packages, storage, own, outcome, assertHeld }, options);
  const alone = { storage, mutex: own.mutex };
  const done = dryRun ? upload(() => {}) : onePushAtATime(context, alone, options, upload);
  await done.finally(() => storage.close());
}

/** A push that has the storage for itself. */
interface Push {
  readonly view: View;
  readonly batch: PackageBatch;
  readonly packages: readonly UploadPackage[];
  readonly storage: Storage;
  readonly own: StorageFiles;
  readonly outcome: UploadOutcome;
  readonly assertHeld: AssertHeld;
}

async function pushPackages(context: Context, push: Push, options: Options): Promise<void> {
  const { loadProofs } = await import('../../../upload/proofs.ts');
  const { io, console } = context;
  const { view, batch, packages, storage, own, outcome, assertHeld } = push;
  const { sync, onConflict, dryRun = false } = options;
  const proofs = loadProofs(own.proofs, io);
  const session = sync ? await context.session() : undefined;
  const { baseUrl = '', username = '' } = session?.account ?? {};
  const mark = syncedMark(own.state, [...own.key, baseUrl, username], io.system.uid);
  const before = session ? (await session.client.listUserImages()).images : [];
  const rules = { onConflict, dryRun, assertHeld, beforeVisible: mark.remove };
  const transfer = { storage, proofs, clock: io, ...rules };
  const plan = await planAll(context, batch, packages, transfer);
  try {
    await uploadAll(context, batch, plan, transfer, outcome);
    // Another push that took over may have changed what this one stored.
    assertHeld();
  } catch (error) {
    reportUnsynced(context, outcome, sync);
    if (!io.signal.aborted || dryRun) throw error;
    const more = sync ? ', then syncs' : '';
    const rest = storage.keepsParts
      ? 'sends only what is missing'
      : 'starts unfinished packages again';
    const hint = `run the same command again: it ${rest}${more}`;
    throw asImgctlError(error).with({ hint });
  }
  const pushed = { plan: outcome.complete, before, transfer, mark };
  if (dryRun) {
    await showPlan(context, view, plan, pushed, options);
    return batch.throwFailures(outcome.counts('to upload'));
  }
  if (outcome.broken.size > 0) reportUnsynced(context, outcome, sync);
  if (!sync) await showFiles(view, batch, outcome);
  else if (outcome.broken.size === 0 && outcome.complete.length > 0) {
    await syncPushed(context, view, pushed, options).catch((error: unknown) => {
      const count = { message: batch.summary(outcome.counts()), hint: batch.heldHint };
      if (batch.hasFailed) console.failure(count);
      throw error;
    });
  }
  batch.throwFailures(outcome.counts(), 'storage-full');
}

function reportUnsynced({ console }: Context, outcome: UploadOutcome, sync: boolean): void {
  for (const [name, files] of outcome.broken) {
    const shown = files.join(', ');
    console.failure({ message: `${name} failed after these files became visible: ${shown}` });
  }
  const names = outcome.complete.flatMap(({ name, files }) =>
    files.some((file) => outcome.visible.includes(file)) ? [name] : [],
  );
  if (sync && names.length > 0)
    console.failure({ message: `uploaded, but not synced: ${names.join(', ')}` });
}

async function showPlan(
  context: Context,
  view: View,
  plan: readonly PlannedPackage[],
  pushed: Pushed,
  { sync, syncIfSent = false }: Options,
): Promise<void> {
  const { before, mark } = pushed;
  const { storage } = pushed.transfer;
  const conflicts = plan
    .flatMap(({ files }) => files)
    .filter(({ action }) => action === 'conflict');
  const files = [...pushed.plan.flatMap((each) => each.files), ...conflicts];
  const uploads = files.map(({ action, name, size }) => ({ step: 'upload', action, name, size }));
  const isIdle = syncIfSent && !files.some(isSent) && mark.isThere();
  const changes = sync && !isIdle ? await syncChanges(storage, pushed.plan, before) : [];
  await view.printList([...uploads, ...changes]);
  context.console.note('nothing was uploaded or submitted');
}

async function showFiles(
  view: View,
  batch: PackageBatch,
  { complete }: UploadOutcome,
): Promise<void> {
  if (complete.length === 0 && batch.hasFailed) return;
  const rows = complete.flatMap(({ files }) => {
    return files.map((file) => {
      const other = file.action === 'skip' ? 'skipped' : 'unchanged';
      return { name: file.name, size: file.size, state: isSent(file) ? 'uploaded' : other };
    });
  });
  await printBefore(batch.hasFailed, view.printList(rows));
}

/** Runs the action alone on this machine, after other pushes to the storage. @throws ImgctlError locked */
async function onePushAtATime(
  context: Context,
  { storage: { address }, mutex }: { storage: Storage; mutex: string | undefined },
  { waitTimeout }: Options,
  action: (assertHeld: AssertHeld) => Promise<void>,
): Promise<void> {
  const { io, console } = context;
  const progress = console.startProgress({ lines: true });
  const started = io.elapsed();
  const onWait = () => {
    const text = `waiting for another push to ${address}`;
    progress.update(text, () => `${text} for ${describeDuration(io.elapsed() - started)}`);
  };
  const alone = (assertHeld: AssertHeld) => progress.stop().then(() => action(assertHeld));
  await withMutexIfPossible(mutex, waitTimeout, io, alone, onWait).finally(() => progress.stop());
}
