// Syncs what a push has uploaded, and shows the images and the summary.

import type { Parsed } from '../../../cli/declarations.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { printBefore, type Row, type View } from '../../../output/view.ts';
import { isSent } from '../../../upload/actions.ts';
import type { Storage } from '../../../upload/storage.ts';
import type { PlannedPackage } from '../../../upload/transfer.ts';
import { counted } from '../../../words.ts';
import { follow, type POLL_OPTIONS } from '../follow.ts';
import { describeProblems, failureOf, reportProblems } from '../show-request.ts';
import { showSubmitted, submit } from '../sync.ts';
import type { UnsyncedMark } from './unsynced-mark.ts';

interface SyncOptions extends Parsed<typeof POLL_OPTIONS> {
  readonly wait: boolean;
  readonly strict?: boolean;
  readonly syncIfSent?: boolean;
}

const NOTHING_SENT = 'Nothing sent, no sync submitted';

/** What was pushed, or would be with --dry-run. */
export interface Pushed {
  readonly plan: readonly PlannedPackage[];
  readonly before: readonly Row[];
  readonly storage: Storage;
  readonly mark: UnsyncedMark;
}

/** Returns `2 images added, 1 unchanged`, and which images are as before although files of theirs were sent. */
function outcomeOf({ plan, before }: Pushed, after: readonly Row[]) {
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

/** Submits one sync for all packages if it is needed, follows it, and shows their images and the summary. */
export async function syncPushed(
  context: Context,
  view: View,
  pushed: Pushed,
  options: SyncOptions,
) {
  const { console } = context;
  const packages = pushed.plan.filter(({ files }) =>
    files.every(({ action }) => action !== 'skip'),
  );
  const names = packages.map(({ name }) => name);
  if (names.length === 0) {
    if (options.wait) await view.printList([]);
    return console.success(outcomeOf(pushed, []).summary, null);
  }
  const imagesOf = (images: readonly Row[]) =>
    images.filter(({ name }) => names.includes(String(name)));
  const { mark } = pushed;
  const known = mark.read();
  const isNeeded = known !== undefined || packages.some(({ files }) => files.some(isSent));
  if (options.syncIfSent && !isNeeded) {
    if (options.wait) await view.printList(imagesOf(pushed.before));
    return console.success(NOTHING_SENT);
  }
  const submitted = await submit(context);
  if (!options.wait) return showSubmitted(context, view, submitted);
  const request = await follow(context, submitted.id, options, 0);
  const files = packages.flatMap((each) => each.files.map(({ name }) => name));
  const rules = { files, strict: options.strict };
  reportProblems(context, request, rules);
  const failure = failureOf(request, rules);
  if (failure && request.state === 'failed') throw failure;
  const { client } = await context.session();
  const { images } = await client.listUserImages();
  const found = imagesOf(images);
  const missing = names.filter((name) => !found.some((image) => image.name === name));
  const isMissing = missing.length > 0;
  const { summary, stale } = outcomeOf(pushed, images);
  const unseen = isMissing
    ? `the sync added no ${missing.length === 1 ? 'image' : 'images'} named ${missing.join(', ')}`
    : `unchanged after the upload to ${pushed.storage.address}: ${stale.join(', ')}`;
  const hint = isMissing
    ? `see what the sync reported: imgctl sync-status ${request.id}`
    : 'check that the service reads this storage';
  const isFailure = isMissing || (stale.length > 0 && options.strict);
  const error = isFailure ? new ImgctlError('sync-failed', unseen, { hint }) : failure;
  await printBefore(error !== undefined, view.printList(found));
  if (!isMissing && !request.errors?.length) mark.remove(known);
  if (stale.length > 0 && !isFailure) console.warn(unseen, hint);
  if (error) throw error;
  const problems = describeProblems(request);
  const hasWarnings = problems !== undefined || stale.length > 0;
  const how = problems ? `sync ${request.id} succeeded with ${problems}: ` : '';
  console.success(`${how}${summary}`, null, { hasWarnings });
}

/** A sync makes the images equal to the packages in the storage: what it would add, update and delete. */
export async function syncChanges(
  storage: Storage,
  plan: readonly PlannedPackage[],
  images: readonly Row[],
): Promise<readonly Row[]> {
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
