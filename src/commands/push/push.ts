// imgctl push: checks packages, uploads them, syncs once, and shows the new images.

import {
  command,
  GET_OPTION,
  METRICS_OPTION,
  option,
  SERVICE_CODES,
  settingOption,
} from '../../cli/command.ts';
import type { Parsed } from '../../cli/declarations.ts';
import type { SettingKey } from '../../config/definitions.ts';
import { choice } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { AssertHeld } from '../../files/atomic-file.ts';
import { withMutexIfPossible } from '../../files/mutex.ts';
import { column, type View } from '../../output/view.ts';
import type { Storage } from '../../upload/storage.ts';
import { describeBytes, describeDuration } from '../../words.ts';
import { IMAGE_COLUMNS, SHOWN } from '../images/options.ts';
import { withMetrics } from '../metrics.ts';
import { FILES } from '../package/each-file.ts';
import { POLL_OPTIONS } from '../sync/follow.ts';
import { STRICT_OPTION, SUBMITTED_COLUMNS } from '../sync/status.ts';
import { submittedView } from '../sync/sync.ts';
import { checkPackages } from './packages.ts';
import { openUploadStorage, storageFiles, UPLOAD_OPTIONS } from './storage.ts';
import { syncChanges, syncPushed } from './sync.ts';
import { planAll, uploadAll } from './upload.ts';

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
  settingOption(
    '--to <url>',
    'upload-url',
    'URL or folder to upload to, instead of the setting upload-url',
  ),
  option('--no-sync', 'upload only'),
  option('--no-wait', 'submit the sync, but do not wait for it'),
  option('--dry-run', 'show what would be uploaded, added, updated and deleted'),
  option(
    '--on-conflict <action>',
    'if the storage has a different file with that name: fail, replace or skip',
    {
      default: 'fail',
      value: choice('action', ['fail', 'replace', 'skip']),
    },
  ),
  ...UPLOAD_OPTIONS,
  ...POLL_OPTIONS,
  STRICT_OPTION,
  METRICS_OPTION,
  GET_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const push = command({
  name: 'push',
  summary: 'upload packages, sync them and show the new images',
  description: [
    'Checks each package as validate does, uploads it, submits one sync, waits for it and prints the new images. With an OVF, push also uploads the files it references. On a terminal, you are prompted for the storage and its credentials if they are not set.',
    'Files are uploaded under a temporary name and renamed when their package is complete. The digests of the manifest are checked during the upload. If one is wrong, nothing of that package becomes visible.',
    'After a failure, run the same command again. It skips files, and on S3 parts, that are already there. A file known to be in the storage is not read again until either copy changes.',
  ],
  details: [
    'A second push to the same storage from this machine waits for the first, up to --wait-timeout; if that passes, it exits with 1.',
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
  mutates: true,
  fields: [
    column(
      'id',
      'number or string',
      'identifier of the image; with --no-wait, of the sync request',
    ),
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
    ? context.view(IMAGE_COLUMNS, options, { shown: SHOWN })
    : submittedView(context, options);
}

function run(context: Context, options: Options, files: readonly string[]): Promise<void> {
  return withMetrics(context, options, 'push', async (addMetrics) => {
    const { loadProofs } = await import('../../upload/proofs.ts');
    const { isSent, refuseConflicts } = await import('../../upload/transfer.ts');
    const { sync, wait, onConflict, partSize, parallel } = options;
    const view = viewOf(context, options);
    const packages = await checkPackages(context, files);
    const { settings, io } = context;
    const isUnset = (key: SettingKey) => settings.find(key).text === undefined;
    if (sync && isUnset('base-url') && isUnset('upload-url')) {
      throw new ImgctlError('config', 'no service address or upload storage is set', {
        hint: `run: ${settings.loginCommand}, then: imgctl config set upload-url URL${settings.profileFlag}`,
      });
    }
    if (sync) await context.session();
    // The storage and the service may refuse; both should do so before an upload that takes long.
    const storage = await openUploadStorage(context, { partSize, parallel }, true);
    const own = storageFiles(context);
    const upload = async (assertHeld: AssertHeld) => {
      const proofs = loadProofs(own.proofs, io);
      const before = sync ? (await (await context.session()).client.listUserImages()).images : [];
      const transfer = { storage, proofs, clock: io, onConflict, assertHeld };
      const plan = await planAll(context, packages, transfer);
      const planned = plan.flatMap((each) => each.files);
      if (options.dryRun) {
        const uploads = planned.map(({ action, name, size }) => {
          return { step: 'upload', action, name, size };
        });
        const changes = sync ? await syncChanges(storage, plan, before) : [];
        await view.printList([...uploads, ...changes]);
        return context.console.note('nothing was uploaded or submitted');
      }
      refuseConflicts(plan, storage);
      await uploadAll(context, plan, transfer);
      // Otherwise what the other push stored would count as this one's.
      assertHeld();
      const bytes = planned.filter(isSent).reduce((sum, { size }) => sum + size, 0);
      // Without --no-wait and --no-sync, the end of the command is the end of the sync.
      addMetrics({ last_uploaded_bytes: bytes, succeeded: sync && wait });
      if (!sync) {
        const rows = planned.map((file) => {
          const { name, size, action } = file;
          const other = action === 'skip' ? 'skipped' : 'unchanged';
          return { name, size, state: isSent(file) ? 'uploaded' : other };
        });
        return view.printList(rows);
      }
      await syncPushed(context, view, { plan, before, storage }, options);
    };
    const pushed = options.dryRun
      ? upload(() => {})
      : onePushAtATime(context, storage, options, upload);
    await pushed.finally(() => storage.close());
  });
}

/** Runs the action alone on this machine, after other pushes to the storage. @throws ImgctlError locked */
async function onePushAtATime(
  context: Context,
  { address }: Storage,
  { waitTimeout }: Options,
  action: (assertHeld: AssertHeld) => Promise<void>,
): Promise<void> {
  const { io, console } = context;
  const progress = console.startProgress({ lines: true });
  const started = io.now();
  const onWait = () => {
    const text = `waiting for another push to ${address}`;
    progress.update(text, () => `${text} for ${describeDuration(io.now() - started)}`);
  };
  const alone = (assertHeld: AssertHeld) => progress.stop().then(() => action(assertHeld));
  const { mutex } = storageFiles(context);
  await withMutexIfPossible(mutex, waitTimeout, io, alone, onWait).finally(() => progress.stop());
}
