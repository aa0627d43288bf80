// imgctl push: checks packages, uploads them, syncs once, and shows the new images.
//
//     run                   opens the storage, and waits for other pushes to it
//       checkPackages       finds the files of each package; what is wrong fails here
//       preparePush         makes a `Push`: what all steps below read
//       pushPackages
//         planAll           compares each file with the storage
//         uploadAll         sends the packages one by one; which are complete afterwards?
//         dryRunResult      with --dry-run: what would be uploaded and synced
//         finish            nothing to sync, or half a package (brokenPackages)? Otherwise:
//           syncPushed      submits one sync (needsSync), follows it, and waits for its images;
//                           imageChanges, doubtsOf and judge say what these mean

import path from 'node:path';
import { command, type Parsed, SERVICE_CODES } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import type { AssertHeld } from '../../../files/atomic-file.ts';
import { holdMutexIfPossible, withMutex } from '../../../files/mutex.ts';
import { describeDuration } from '../../../words.ts';
import { openUploadStorage } from '../../upload-storage.ts';
import { FILES, PackageBatch } from '../package-batch.ts';
import { checkPackages, withoutRepeats } from './check-packages.ts';
import { OPTIONS, outputOf, PUSH_FIELDS } from './options.ts';
import { pushPackages } from './push-packages.ts';
import { preparePush } from './push-state.ts';

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
  fields: PUSH_FIELDS,
  exitCodes: [...SERVICE_CODES, 7],
  run,
});

async function run(
  context: Context,
  options: Parsed<typeof OPTIONS>,
  files: readonly string[],
): Promise<Result> {
  const { partSize, parallel } = options;
  const output = outputOf(context, options);
  const distinct = withoutRepeats(files, context.io.cwd);
  const batch = new PackageBatch(context, distinct, (file) => path.basename(file));
  const packages = await checkPackages(context, batch);
  if (packages.length === 0) return { error: batch.error({}) };
  // The service and the storage may refuse; both should do so before an upload that takes long.
  if (options.sync) await context.session();
  const opened = await openUploadStorage(context, { partSize, parallel, isPush: true });
  const pushAlone = async (assertHeld: AssertHeld) => {
    const prepared = await preparePush({ context, options, output, batch }, opened, assertHeld);
    return pushPackages(prepared, packages);
  };
  const { storage } = opened;
  const pushing = options.dryRun
    ? pushAlone(() => {})
    : afterOthers(context, storage.address, opened.files.mutex, options.waitTimeout, pushAlone);
  return pushing.finally(() => storage.close());
}

/**
 * Runs the action after other pushes of this machine to the storage.
 * @param patience milliseconds. @throws ImgctlError locked: another push takes longer
 */
async function afterOthers(
  { io, console }: Context,
  address: string,
  mutex: string | undefined,
  patience: number,
  action: (assertHeld: AssertHeld) => Promise<Result>,
): Promise<Result> {
  const started = io.elapsed();
  const onWait = () => {
    console.progress.start();
    const text = `waiting for another push to ${address}`;
    const describe = () => `${text} for ${describeDuration(io.elapsed() - started)}`;
    console.progress.show(text, describe);
  };
  const alone = async (assertHeld: AssertHeld) => {
    // The action reports its own steps.
    console.progress.end();
    return action(assertHeld);
  };
  return withMutex(holdMutexIfPossible(mutex, patience, io, onWait), alone);
}
