// imgctl push: checks packages, uploads them, syncs once, and shows the new images.

import path from 'node:path';
import {
  command,
  GET_OPTION,
  option,
  type Parsed,
  SERVICE_CODES,
  settingOption,
} from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import { choice } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import type { AssertHeld } from '../../../files/atomic-file.ts';
import { withMutexIfPossible } from '../../../files/mutex.ts';
import { column } from '../../../output/columns.ts';
import type { Output } from '../../../output/output.ts';
import { describeBytes, describeDuration } from '../../../words.ts';
import { IMAGE_COLUMNS, SHOWN_FIELDS } from '../../images/options.ts';
import { openUploadStorage, UPLOAD_OPTIONS } from '../../upload-storage.ts';
import { FILES, PackageBatch } from '../package-batch.ts';
import { STRICT_OPTION, SUBMITTED_COLUMNS } from '../sync/columns.ts';
import { POLL_OPTIONS } from '../sync/follow.ts';
import { submittedOutput } from '../sync/sync.ts';
import { checkPackages, identityOf } from './check-packages.ts';
import { pushChecked } from './push-checked.ts';

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
  'with --dry-run: what is planned, such as upload or delete',
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
  { ...STRICT_OPTION, conflicts: ['sync', 'wait'] },
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
    '--sync-if-sent submits no sync if nothing was sent since the last good one. Do not use it if files are removed by hand, or if several machines or services share the storage. push waits up to --wait-timeout for another push to end.',
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
  const output = outputOf(context, options);
  const { cwd } = context.io;
  const distinct = new Map(files.map((file) => [identityOf(path.resolve(cwd, file)), file]));
  const batch = new PackageBatch(context, [...distinct.values()], (file) => path.basename(file));
  const packages = await checkPackages(context, batch);
  if (packages.length === 0) return { error: batch.error({}) };
  // The service and the storage may refuse; both should do so before an upload that takes long.
  if (sync) await context.session();
  const opened = await openUploadStorage(context, { partSize, parallel }, true);
  const { storage, files: storageFiles } = opened;
  const pushAlone = (assertHeld: AssertHeld) => {
    const job = { output, batch, packages, storage, storageFiles, assertHeld };
    return pushChecked(context, job, options);
  };
  const pushing = dryRun
    ? pushAlone(() => {})
    : onePushAtATime(context, storage.address, storageFiles.mutex, options.waitTimeout, pushAlone);
  return pushing.finally(() => storage.close());
}

/** Runs the action after other pushes of this machine to the storage. @throws ImgctlError locked */
async function onePushAtATime(
  { io, tell }: Context,
  address: string,
  mutex: string | undefined,
  patience: number,
  action: (assertHeld: AssertHeld) => Promise<Result>,
): Promise<Result> {
  tell({ kind: 'begin' });
  const started = io.elapsed();
  const onWait = () => {
    const text = `waiting for another push to ${address}`;
    const describe = () => `${text} for ${describeDuration(io.elapsed() - started)}`;
    tell({ kind: 'progress', text, describe });
  };
  const alone = async (assertHeld: AssertHeld) => {
    // The action reports its own steps.
    await tell({ kind: 'end' });
    return action(assertHeld);
  };
  const pushing = withMutexIfPossible(mutex, patience, io, alone, onWait);
  return pushing.finally(() => tell({ kind: 'end' }));
}
