// imgctl push: checks packages, uploads them, syncs once, and shows the new images.

import { realpathSync, statSync } from 'node:fs';
import path from 'node:path';
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
import { column, printBefore, type View } from '../../output/view.ts';
import type { Row } from '../../output/writers.ts';
import type { CheckedPackage } from '../../ovf/package.ts';
import type { Storage } from '../../upload/storage.ts';
import type {
  PlannedFile,
  PlannedPackage,
  TransferOptions,
  UploadPackage,
} from '../../upload/transfer.ts';
import type { LocalFile } from '../../upload/upload-file.ts';
import { counted, describeBytes, describeDuration, describeRate } from '../../words.ts';
import { IMAGE_COLUMNS, SHOWN } from '../images/options.ts';
import { withMetrics } from '../metrics.ts';
import {
  eachFile,
  errorsOf,
  FILES,
  type InvalidPackage,
  invalidPackage,
} from '../package/validate.ts';
import {
  describeProblems,
  follow,
  POLL_OPTIONS,
  reportProblems,
  requireSynced,
  STRICT_OPTION,
  SUBMITTED_COLUMNS,
} from '../sync/status.ts';
import { showSubmitted, submit, submittedView } from '../sync/sync.ts';
import { openUploadStorage, storageFiles, UPLOAD_OPTIONS } from './storage.ts';

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

/** What is pushed where, and the user's images before. */
interface Pushed {
  readonly plan: readonly PlannedPackage[];
  readonly before: readonly Row[];
  readonly storage: Storage;
}

/** Returns `2 images added, 1 unchanged`, and which images are as before although files of theirs were sent. */
function outcomeOf(
  { plan, before }: Pushed,
  after: readonly Row[],
  isSent: (file: PlannedFile) => boolean,
) {
  const counts = { added: 0, updated: 0, unchanged: 0, skipped: 0 };
  const stale: string[] = [];
  for (const { name, files } of plan) {
    const timesOf = (images: readonly Row[]) =>
      images.flatMap((image) => (image.name === name ? [`${image.updated_on}`] : [])).join();
    const isSame = timesOf(before) === timesOf(after);
    if (files.some(({ action }) => action === 'skip')) counts.skipped += 1;
    else if (timesOf(before) === '') counts.added += 1;
    else counts[isSame ? 'unchanged' : 'updated'] += 1;
    if (isSame && files.some(isSent)) stale.push(name);
  }
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  const words = found.map(([outcome, count], index) => {
    return `${index === 0 ? counted(count, 'image') : count} ${outcome}`;
  });
  return { summary: words.join(', '), stale };
}

/**
 * Reads every package except for its digests, which the upload verifies.
 * @throws ImgctlError invalid-package, with its findings; usage: invalid names
 */
async function checkPackages(context: Context, files: readonly string[]): Promise<UploadPackage[]> {
  const { checkPackage } = await import('../../ovf/package.ts');
  const packages: UploadPackage[] = [];
  const invalid: InvalidPackage[] = [];
  const distinct = new Map(files.map((file) => [path.resolve(context.io.cwd, file), file]));
  await eachFile(context, [...distinct.values()], async (file, resolved) => {
    const checked = await checkPackage(resolved, { signal: context.io.signal });
    const findings = errorsOf(checked.summary);
    if (findings.length > 0) invalid.push({ file, findings });
    else packages.push(await uploadOf(file, checked));
  });
  if (invalid.length > 0) throw invalidPackage(invalid, true);
  requireUsableNames(packages);
  return packages;
}

async function uploadOf(file: string, { files, expected }: CheckedPackage): Promise<UploadPackage> {
  const { digestFindings } = await import('../../ovf/manifest.ts');
  const { stateOf } = await import('../../upload/upload-file.ts');
  const distinct = new Map(files.map((each) => [each.path, each]));
  return {
    name: path.basename(file),
    files: [...distinct.values()].map((each) => {
      const own = expected.filter((digest) => digest.file.path === each.path);
      const regions = own.map(({ file: { offset, size }, entry }) => {
        return { offset, size, algorithm: entry.algorithm.toLowerCase() };
      });
      const stats = statSync(each.path, { bigint: true, throwIfNoEntry: false });
      return { name: each.name, path: each.path, regions, checked: stats && stateOf(stats) };
    }),
    async verify(digests) {
      const next = new Map([...digests].map(([each, list]) => [each, [...list]]));
      const computed = expected.map((each) => next.get(each.file.path)?.shift() ?? '');
      const findings = digestFindings(file, expected, computed);
      if (findings.length > 0) throw invalidPackage([{ file, findings }], true);
    },
  };
}

/** The storage is one folder, and hidden names are those of incomplete files. */
function requireUsableNames(packages: readonly UploadPackage[]): void {
  for (const { name } of packages) {
    if (/\.(ova|ovf)$/i.test(name)) continue;
    throw new ImgctlError('usage', `the name ${name} does not end in .ova or .ovf`, {
      hint: 'rename the file: the service syncs only files with these names',
    });
  }
  const paths = new Map<string, Pick<LocalFile, 'name' | 'path'>>();
  for (const { name, path: file } of packages.flatMap(({ files }) => files)) {
    if (name.startsWith('.') || /[\u0000-\u001f\\/]/.test(name)) {
      throw new ImgctlError('usage', `invalid name for an upload: ${name}`, {
        hint: name.startsWith('.')
          ? 'rename it: a name must not begin with a dot'
          : name.includes('/')
            ? 'put all files of the package in one folder'
            : 'rename it without backslashes and control characters',
      });
    }
    // Some storages ignore case, and would replace one with the other.
    const folded = name.normalize().toLowerCase();
    const other = paths.get(folded);
    if (other && (other.name !== name || realpathSync(other.path) !== realpathSync(file))) {
      const what =
        other.name === name ? `are named ${name}` : 'have names that differ only in case';
      throw new ImgctlError('usage', `two files ${what}: ${other.path}, ${file}`, {
        hint: 'push them separately, under different names',
      });
    }
    paths.set(folded, { name, path: file });
  }
}

/** Compares the packages with the storage. */
async function planAll(
  { console }: Context,
  packages: readonly UploadPackage[],
  transfer: TransferOptions,
): Promise<PlannedPackage[]> {
  const { planPackages } = await import('../../upload/transfer.ts');
  const { storage } = transfer;
  const progress = console.startProgress({ lines: true });
  const planned = planPackages(packages, transfer, (name) => {
    progress.update('', () => `${name}: comparing with ${storage.address}`);
  });
  return planned.finally(() => progress.stop());
}

async function uploadAll(
  { io, console }: Context,
  plan: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<void> {
  const { isSent, transferPackage } = await import('../../upload/transfer.ts');
  const { storage, proofs } = transfer;
  // What cannot be removed now does no harm, and an error of the storage shows up below.
  await storage.removeDeadParts(false).catch(() => {});
  for (const each of plan) {
    const progress = console.startProgress({ lines: true });
    const started = new Map<PlannedFile, { at: number; bytes: number }>();
    const transferred = transferPackage(each, transfer, (file, bytes) => {
      const start = started.get(file) ?? { at: io.now(), bytes };
      started.set(file, start);
      const from = start.bytes === 0 ? '' : ` from ${describeBytes(start.bytes)}`;
      const text = `${file.name}: ${isSent(file) ? `uploading${from}` : 'reading'}`;
      progress.update(text, () => {
        if (bytes === file.size) return `${file.name}: waiting for the storage`;
        return `${text} ${describeRate(bytes, file.size, io.now() - start.at, start.bytes)}`;
      });
    });
    await transferred.finally(() => progress.stop()).finally(proofs.save);
    for (const { name, size, note, action } of each.files) {
      if (action === 'skip') {
        const different = `${storage.address} has a different file with that name`;
        console.warn(`${name}: skipped, ${note ?? different}`);
        continue;
      }
      const there = `already there${note === undefined ? '' : ` (${note})`}`;
      const line = `${name}: ${action === 'unchanged' ? there : `uploaded, ${describeBytes(size)}`}`;
      console.success(line, line);
    }
  }
  // A server may have written the part of a killed push until now.
  await storage.removeDeadParts(true).catch(() => {});
}

/** Submits one sync for all packages, follows it, and shows their images and the summary. */
async function syncPushed(context: Context, view: View, pushed: Pushed, options: Options) {
  const { console } = context;
  const { isSent } = await import('../../upload/transfer.ts');
  const packages = pushed.plan.filter(({ files }) =>
    files.every(({ action }) => action !== 'skip'),
  );
  const names = packages.map(({ name }) => name);
  if (names.length === 0) {
    if (options.wait) await view.printList([]);
    return console.success(outcomeOf(pushed, [], isSent).summary, null);
  }
  const submitted = await submit(context);
  if (!options.wait) return showSubmitted(context, view, submitted);
  const request = await follow(context, submitted.id, options, context.io.now());
  const files = packages.flatMap((each) => each.files.map(({ name }) => name));
  reportProblems(context, request, files);
  requireSynced(request);
  const { client } = await context.session();
  const { images } = await client.listUserImages();
  const found = images.filter(({ name }) => names.includes(String(name)));
  const missing = names.find((name) => !found.some((image) => image.name === name));
  const { summary, stale } = outcomeOf(pushed, images, isSent);
  const isStale = stale.length > 0;
  const isFailing = missing !== undefined || (isStale && options.strict === true);
  await printBefore(isFailing, view.printList(found));
  if (missing !== undefined) {
    throw new ImgctlError('sync-failed', `the sync added no image named ${missing}`, {
      hint: 'see what the sync reported: imgctl sync-status',
    });
  }
  if (isStale) {
    const message = `unchanged after the upload to ${pushed.storage.address}: ${stale.join(', ')}`;
    const hint = 'check that the service reads this storage';
    if (options.strict) throw new ImgctlError('sync-failed', message, { hint });
    console.warn(message, hint);
  }
  requireSynced(request, options.strict);
  const problems = describeProblems(request);
  const hasWarnings = problems !== undefined || isStale;
  const how = problems ? `sync ${request.id} succeeded with ${problems}: ` : '';
  console.success(`${how}${summary}`, null, { hasWarnings });
}

/** A sync makes the images equal to the packages in the storage: what it would add, update and delete. */
async function syncChanges(
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[],
): Promise<readonly Row[]> {
  const { isSent } = await import('../../upload/transfer.ts');
  const sent = plan.filter(({ files }) => files.some(isSent)).map(({ name }) => name);
  const stored = (await storage.list()).filter((name) => /\.(ova|ovf)$/i.test(name));
  const packages = [...new Set([...stored, ...sent])];
  const known = images.map(({ name }) => String(name));
  const changes = {
    add: packages.filter((name) => !known.includes(name)),
    update: sent.filter((name) => known.includes(name)),
    delete: known.filter((name) => !packages.includes(name)),
  };
  return Object.entries(changes).flatMap(([action, names]) =>
    names.sort().map((name) => ({ step: 'sync', action, name, size: null })),
  );
}
