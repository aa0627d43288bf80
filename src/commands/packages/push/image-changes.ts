// What a sync did to the images of a push, by the user's list before and after, and its meaning.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import { ImgctlError } from '../../../errors.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';
import type { Row } from '../../../output/columns.ts';
import { normalize } from '../../../query/fold-case.ts';
import type { PlannedPackage } from '../../../upload/plan.ts';
import { counted } from '../../../words.ts';
import { comparedName, namesOfImages } from '../sync/image-names.ts';
import { wasSent, wasSkipped } from './packages-sent.ts';

/** The word of the summary for a change. If push succeeds, a missing image is only late. */
const COUNTED_AS = {
  added: 'added',
  missing: 'added',
  updated: 'updated',
  unchanged: 'unchanged',
  stale: 'unchanged',
  skipped: 'skipped',
} as const;

/** What the list shows of each package, by its name. */
type ImageChanges = ReadonlyMap<string, keyof typeof COUNTED_AS>;

/**
 * Compares the images of each package before and after a sync, by the first row that holds:
 *
 *     the package was skipped              | skipped
 *     no image after                       | missing
 *     no image before                      | added
 *     its times differ                     | updated
 *     the package was not sent             | unchanged
 *     the service sends no times           | updated: that the sync succeeded counts
 *     otherwise                            | stale
 */
export function imageChanges(
  packages: readonly PlannedPackage[],
  before: readonly Row[],
  after: readonly Row[],
): ImageChanges {
  const changeOf = (each: PlannedPackage) => {
    if (wasSkipped(each)) return 'skipped';
    const earlier = timesOf(each, before);
    const later = timesOf(each, after);
    if (later.length === 0) return 'missing';
    if (earlier.length === 0) return 'added';
    if (earlier.join() !== later.join()) return 'updated';
    if (!wasSent(each)) return 'unchanged';
    return later.includes('') ? 'updated' : 'stale';
  };
  return new Map(packages.map((each) => [each.name, changeOf(each)]));
}

/** Returns when the images of a package were changed, sorted; '' if the service does not say. */
function timesOf(each: PlannedPackage, images: readonly Row[]): string[] {
  const name = comparedName(each);
  const named = images.filter((image) => comparedName(image) === name);
  return named.map(({ updated_on }) => `${updated_on ?? ''}`).sort();
}

/** Returns `2 images added, 1 unchanged`. */
export function summaryOf(changes: ImageChanges): string {
  const counts = { added: 0, updated: 0, unchanged: 0, skipped: 0 };
  for (const change of changes.values()) counts[COUNTED_AS[change]] += 1;
  const words = Object.entries(counts).filter(([, count]) => count > 0);
  const texts = words.map(([word, count], index) => {
    return `${index === 0 ? counted(count, 'image') : count} ${word}`;
  });
  return texts.join(', ');
}

/** Images that the list does not show as a sync that succeeded should have left them. */
interface Doubt {
  /** Lost: missing. Late: missing, but the sync says that it added them. Stale: as before. */
  readonly kind: 'lost' | 'late' | 'stale';
  readonly message: string;
  readonly hint: Facts;
}

/** Returns at most one doubt of each kind, the worst first. @param address of the storage */
export function doubtsOf(changes: ImageChanges, request: SyncRequest, address: string): Doubt[] {
  const namesWith = (wanted: 'missing' | 'stale') =>
    [...changes].filter(([, change]) => change === wanted).map(([name]) => name);
  const reported = Array.isArray(request.added) ? namesOfImages(request.added).map(normalize) : [];
  const isReported = (name: string) => reported.includes(normalize(name));
  const missing = namesWith('missing');
  const lost = missing.filter((name) => !isReported(name));
  const added = missing.filter(isReported);
  const doubt = (kind: Doubt['kind'], names: readonly string[], what: string, hint: Facts) =>
    names.length > 0 ? [{ kind, message: `${what} ${names.join(', ')}`, hint }] : [];
  const lack = lost.length === 1 ? 'your list has no image named' : 'your list has no images named';
  const report = imgctl('sync-status', `${request.id}`);
  const see = hint`see what the sync reported: ${report}; if nothing, check that the service reads ${address}`;
  const late = 'added, but not in your list yet:';
  const later = hint`list them later with: ${imgctl('my-images')}`;
  const unchanged = `unchanged after the upload to ${address}:`;
  const check = hint`check that the service reads this storage`;
  return [
    ...doubt('lost', lost, lack, see),
    ...doubt('late', added, late, later),
    ...doubt('stale', namesWith('stale'), unchanged, check),
  ];
}

/**
 * Decides how a push ends whose sync did not fail. A lost image is an error; with --strict, so is a
 * late or stale one. Otherwise the record of the sync counts, and the doubts are warnings.
 * @param failure what the record says: errors of the pushed files, or with --strict any problem
 */
export function judge(doubts: readonly Doubt[], failure: ImgctlError | undefined, strict: boolean) {
  const worst = doubts.find(({ kind }) => kind === 'lost' || strict);
  if (worst === undefined) return { error: failure, warnings: doubts };
  const error = new ImgctlError('sync-failed', worst.message, { facts: worst.hint });
  return { error, warnings: doubts.filter((each) => each !== worst) };
}
