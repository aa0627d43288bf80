// imgctl push: checks packages, uploads them, syncs once, and shows the new images.

import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type CommandSpec, METRICS_OPTION, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { withLockIfPossible } from '../files/lock.ts';
import type { Row } from '../output/writers.ts';
import type { CheckedPackage } from '../ovf/package.ts';
import type { Storage } from '../upload/storage.ts';
import type {
  PlannedFile,
  PlannedPackage,
  TransferOptions,
  UploadFile,
  UploadPackage,
} from '../upload/transfer.ts';
import { IMAGE_FIELDS, readView } from './image-listing.ts';
import { type Measures, type MetricsOptions, withMetrics } from './metrics.ts';
import {
  describeBytes,
  eachFile,
  errorsOf,
  FILES,
  type InvalidPackage,
  invalidPackage,
  openFindings,
} from './packages.ts';
import { showSubmitted, submit } from './sync.ts';
import {
  follow,
  POLL_OPTIONS,
  reportMessages,
  requireSuccess,
  SUBMITTED_FIELDS,
  type WaitOptions,
} from './sync-request.ts';
import { openUploadStorage, storageFile } from './upload-storage.ts';
import { describeRate } from './validate.ts';

export const push: CommandSpec = {
  name: 'push',
  summary: 'upload packages, sync them and show the new images',
  description: [
    'Checks each package as validate does, uploads it to the storage of the setting upload-url, submits one sync, waits for it and prints the new images. An OVF brings the files that it references.',
    'Files are uploaded under a hidden name and renamed when their package is complete. The digests of the manifest are checked during the upload. If they do not match, nothing of that package becomes visible.',
    '--dry-run exits with 0, even if it shows a conflict.',
    'After a failure, run the same command again. It skips files that the storage has, and on S3 also the parts that arrived. Each run submits one sync.',
  ],
  examples: [
    'imgctl push appliance.ova',
    'imgctl push *.ova --dry-run',
    'imgctl push appliance.ovf --on-conflict replace --no-wait',
  ],
  seeAlso: ['validate', 'sync', 'my-images', 'config'],
  arguments: [FILES],
  options: [
    option('--no-sync', 'upload only'),
    option('--no-wait', 'submit the sync, but do not wait for it'),
    option(
      '--dry-run',
      'show what would be uploaded, and what the sync would add, update and delete',
    ),
    option('--force', 'upload again even if the storage has the same file'),
    option(
      '--on-conflict <action>',
      'if the storage has another file of that name: fail, replace or skip',
      {
        default: 'fail',
        value: { kind: 'choice', noun: 'action', words: ['fail', 'replace', 'skip'] },
      },
    ),
    option('--part-size <size>', 'size of the parts of an upload to S3, in MiB', {
      default: '16M',
    }),
    option('--parallel <n>', 'parts that are uploaded to S3 at the same time', {
      default: '4',
      value: { kind: 'number', min: 1, max: 32 },
    }),
    ...POLL_OPTIONS,
    METRICS_OPTION,
  ],
  mutates: true,
  fields: [
    ['id', 'number or string', 'identifier of the image; with --no-wait, of the sync request'],
    ...IMAGE_FIELDS.filter(([name]) => name !== 'id'),
    ...SUBMITTED_FIELDS.filter(([name]) => name !== 'id').map(
      ([name, type, meaning]) => [name, type, `with --no-wait: ${meaning}`] as const,
    ),
    ['size', 'number or null', 'with --no-sync and --dry-run: bytes of the file'],
    ['state', 'string', 'with --no-sync: uploaded, unchanged or skipped'],
    ['step', 'string', 'with --dry-run: upload or sync'],
    ['action', 'string', 'with --dry-run: what would happen, such as upload, replace, add, delete'],
  ],
  exitCodes: [...SERVICE_CODES, 7],
  run,
};

interface PushOptions extends MetricsOptions, WaitOptions {
  sync?: boolean;
  dryRun?: boolean;
  force?: boolean;
  onConflict?: 'fail' | 'replace' | 'skip';
  partSize?: string;
  parallel?: number;
}

type Measure = (measures: Measures) => void;

async function run(
  context: Context,
  options: PushOptions,
  files: readonly string[],
): Promise<void> {
  if (options.dryRun) return pushPackages(context, options, files, () => {});
  await withMetrics(context, options, 'push', (measure) =>
    pushPackages(context, options, files, measure),
  );
}

async function pushPackages(
  context: Context,
  options: PushOptions,
  files: readonly string[],
  measure: Measure,
): Promise<void> {
  const { isSent, planPackages, refuseConflicts } = await import('../upload/transfer.ts');
  const { sync = true, wait = true, dryRun = false, force = false, onConflict = 'fail' } = options;
  const { partSize, parallel } = options;
  const packages = await checkPackages(context, files);
  // The storage and the service may refuse; both should do so before an upload that takes long.
  const file = storageFile(context);
  const storage = await openUploadStorage(context, {
    ...(partSize === undefined ? {} : { partSize: parseSize(partSize) }),
    ...(parallel === undefined ? {} : { parallel }),
    partsFile: file && `${file}.parts`,
  });
  try {
    // One push at a time on this machine. The lock of a push that was killed becomes free within this time.
    await withLockIfPossible(file, 8_000, context.io, async () => {
      const before = sync ? (await (await context.session()).client.listUserImages()).images : [];
      const { signal } = context.io;
      const transfer = { storage, signal, force, onConflict };
      const plan = await planPackages(packages, transfer);
      if (dryRun) return preview(context, storage, plan, sync ? before : undefined);
      refuseConflicts(plan, storage);
      await uploadAll(context, plan, transfer);
      const sent = plan.flatMap((each) => each.files.filter(isSent));
      const bytes = sent.reduce((sum, { size }) => sum + size, 0);
      // Without --no-wait and --no-sync, the end of the command is the end of the sync.
      measure({ last_uploaded_bytes: bytes, succeeded: sync && wait });
      if (!sync) return printFiles(context, plan);
      const pushed = plan.filter((each) => each.files.every(({ action }) => action !== 'skip'));
      const names = pushed.map(({ name }) => name);
      if (names.length > 0) await syncPushed(context, names, { ...options, wait });
    });
  } finally {
    await storage.close();
  }
}

/**
 * Reads every package except for its digests, which the upload verifies.
 * @throws ImgctlError invalid-package, after printing the findings; usage: unsuitable names
 */
async function checkPackages(context: Context, files: readonly string[]): Promise<UploadPackage[]> {
  const { checkPackage } = await import('../ovf/package.ts');
  const packages: UploadPackage[] = [];
  const invalid: InvalidPackage[] = [];
  const distinct = new Map(files.map((file) => [path.resolve(context.io.cwd, file), file]));
  await eachFile(context, [...distinct.values()], async (file, resolved) => {
    const checked = await checkPackage(resolved, { signal: context.io.signal });
    const errors = errorsOf(checked.summary);
    if (errors.length > 0) invalid.push({ file, findings: errors });
    else packages.push(await uploadOf(file, checked));
  });
  if (invalid.length > 0) {
    await printFindings(context, invalid);
    throw invalidError(invalid);
  }
  requireDistinctNames(packages);
  return packages;
}

/** A part of a package gets the file to name instead as a hint. */
function invalidError(invalid: readonly InvalidPackage[]): ImgctlError {
  const error = invalidPackage(invalid, 'push');
  const [{ file } = { file: '' }, second] = invalid;
  if (second || !/\.(mf|cert|vmdk)$/i.test(file)) return error;
  const whole = path.join(path.dirname(file), 'NAME.ovf');
  return error.with({ hint: `name the OVA or OVF file of the package: imgctl push ${whole}` });
}

async function uploadOf(file: string, checked: CheckedPackage): Promise<UploadPackage> {
  const { digestFindings } = await import('../ovf/package.ts');
  const { expected } = checked;
  const files = new Map<string, UploadFile>();
  for (const each of checked.files) {
    requireFlatName(each.name, file);
    const regions = expected
      .filter((digest) => digest.file.path === each.path)
      .map(({ file: { offset, size }, entry }) => {
        return { offset, size, algorithm: entry.algorithm.toLowerCase() };
      });
    files.set(each.path, { name: each.name, path: each.path, regions });
  }
  return {
    name: path.basename(file),
    files: [...files.values()],
    verify(digests) {
      const next = new Map([...digests].map(([each, list]) => [each, [...list]]));
      const computed = expected.map((each) => next.get(each.file.path)?.shift() ?? '');
      const findings = digestFindings(file, expected, computed);
      if (findings.length > 0) throw new DigestError({ file, findings });
    },
  };
}

/** The package is broken: the uploaded bytes do not match its manifest. */
class DigestError extends ImgctlError {
  readonly invalid: InvalidPackage;

  constructor(invalid: InvalidPackage) {
    const { message, hint } = invalidPackage([invalid], 'push');
    super('invalid-package', message, { hint });
    this.invalid = invalid;
  }
}

async function printFindings(context: Context, invalid: readonly InvalidPackage[]): Promise<void> {
  const list = openFindings(context, invalid.length > 1);
  for (const { file, findings } of invalid)
    await list.write(findings.map((finding) => ({ file, ...finding })));
  await list.end();
}

/** The storage is one folder, and hidden names are those of incomplete files. */
function requireFlatName(name: string, file: string): void {
  if (!name.includes('/') && !name.startsWith('.') && !/[\u0000-\u001f\\]/.test(name)) return;
  const message = `${file} has a file with an unsuitable name: ${name}`;
  throw new ImgctlError('usage', message, {
    hint: 'put its files in one folder, with names that do not begin with a dot',
  });
}

function requireDistinctNames(packages: readonly UploadPackage[]): void {
  const paths = new Map<string, string>();
  for (const { name, path: file } of packages.flatMap(({ files }) => files)) {
    const other = paths.get(name);
    if (other !== undefined && realpathSync(other) !== realpathSync(file)) {
      throw new ImgctlError('usage', `two files are named ${name}: ${other}, ${file}`, {
        hint: 'push them one by one under different names',
      });
    }
    paths.set(name, file);
  }
}

async function uploadAll(
  context: Context,
  plan: readonly PlannedPackage[],
  transfer: TransferOptions,
): Promise<void> {
  const { console } = context;
  const { storage } = transfer;
  // What cannot be removed now does no harm, and an error of the storage shows up below.
  await storage.sweep(false).catch(() => {});
  for (const each of plan) {
    await transferWithProgress(context, each, transfer);
    for (const { name, size, note, ...file } of each.files) {
      if (file.action === 'skip') {
        console.warn(`${name}: skipped, ${storage.address} has another file of that name`);
      } else if (file.action === 'unchanged') {
        console.note(`${name}: already there${note === undefined ? '' : ` (${note})`}`);
      } else {
        console.note(`${name}: uploaded, ${describeBytes(size)}`);
      }
    }
  }
  // A server may have written the part of a killed push until now.
  await storage.sweep(true).catch(() => {});
}

async function transferWithProgress(
  context: Context,
  plan: PlannedPackage,
  options: TransferOptions,
): Promise<void> {
  const { transferPackage } = await import('../upload/transfer.ts');
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
    if (error instanceof DigestError) await printFindings(context, [error.invalid]);
    throw withRerunHint(error);
  } finally {
    await progress.stop();
  }
}

const TRANSIENT = ['unreachable', 'timeout', 'interrupted', 'terminated', 'server-error'];

function withRerunHint(error: unknown): unknown {
  if (!(error instanceof ImgctlError) || !TRANSIENT.includes(error.code)) return error;
  const rerun = 'to continue the upload, run the same command again';
  return error.with({ hint: error.hint === undefined ? rerun : `${error.hint}; ${rerun}` });
}

/** Submits one sync for all packages, follows it, and shows their images. */
async function syncPushed(
  context: Context,
  names: readonly string[],
  options: WaitOptions,
): Promise<void> {
  const submitted = await submit(context);
  if (!options.wait) return showSubmitted(context, submitted);
  const request = await follow(context, submitted.key, options, context.io.now());
  reportMessages(context, request);
  requireSuccess(request);
  const { client } = await context.session();
  const { images } = await client.listUserImages();
  const found = images.filter(({ name }) => names.includes(String(name)));
  const view = readView(context, {}, { columns: ['id', 'name', 'path', 'updated_on'] });
  await context.printList(found, view.columns, view);
  const missing = names.find((name) => !found.some((image) => image.name === name));
  if (missing === undefined) return;
  throw new ImgctlError('sync-failed', `the sync added no image named ${missing}`, {
    hint: 'see what it reported: imgctl sync-status, and your images: imgctl my-images',
  });
}

async function printFiles(context: Context, plan: readonly PlannedPackage[]): Promise<void> {
  const states = { skip: 'skipped', unchanged: 'unchanged', conflict: 'skipped' } as const;
  const rows = plan.flatMap(({ files }) =>
    files.map(({ name, size, action }) => ({
      name,
      size: context.format === 'table' ? describeBytes(size) : size,
      state: action === 'upload' || action === 'replace' ? 'uploaded' : states[action],
    })),
  );
  await context.printList(rows, ['name', 'size', 'state'], { idField: 'name' });
}

/**
 * Shows what would be uploaded, and what the sync would add, update and delete.
 * @param images the user's images, or undefined if nothing will be synced
 */
async function preview(
  context: Context,
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[] | undefined,
): Promise<void> {
  const uploads = plan.flatMap(({ files }) =>
    files.map(({ action, name, size }) => ({
      step: 'upload',
      action,
      name,
      size: context.format === 'table' ? describeBytes(size) : size,
    })),
  );
  const changes = images === undefined ? [] : await syncChanges(storage, plan, images);
  const columns = ['step', 'action', 'name', 'size'];
  await context.printList([...uploads, ...changes], columns, { idField: 'name' });
  context.console.note('nothing was uploaded or submitted');
}

/** A sync makes the images equal to the packages in the storage. */
async function syncChanges(
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[],
) {
  const { isSent } = await import('../upload/transfer.ts');
  const sent = new Set(plan.filter(({ files }) => files.some(isSent)).map(({ name }) => name));
  const stored = (await storage.list()).filter((name) => /\.(ova|ovf)$/i.test(name));
  const packages = new Set([...stored, ...sent]);
  const known = new Set(images.map(({ name }) => String(name)));
  const rows = (action: string, names: Iterable<string>, isMeant: (name: string) => boolean) =>
    [...names]
      .filter(isMeant)
      .sort()
      .map((name) => ({ step: 'sync', action, name, size: null }));
  return [
    ...rows('add', packages, (name) => !known.has(name)),
    ...rows('update', sent, (name) => known.has(name)),
    ...rows('delete', known, (name) => !packages.has(name)),
  ];
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
