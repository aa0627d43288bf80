// What a sync did to the images of a push: compares the user's list of images before and after it.

import type { SyncRequest } from '../../../api/sync-requests.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';
import type { Row } from '../../../output/columns.ts';
import { isSent } from '../../../upload/actions.ts';
import type { PlannedFile, PlannedPackage } from '../../../upload/transfer.ts';
import { counted } from '../../../words.ts';
import { elementNames } from '../show-request.ts';

export type Images = readonly Row[];

/** The word that the summary counts a change as. An image that is missing although push succeeds is one that is late. */
const COUNTED_AS = {
  added: 'added',
  missing: 'added',
  updated: 'updated',
  unchanged: 'unchanged',
  stale: 'unchanged',
  skipped: 'skipped',
} as const;

/** Returns what the list shows of a package. Stale: the image is as before, although files of it were sent. */
export function imageChange(
  { name, files }: PlannedPackage,
  before: Images,
  after: Images,
): keyof typeof COUNTED_AS {
  if (files.some(isSkipped)) return 'skipped';
  const earlier = timesOf(name, before);
  const later = timesOf(name, after);
  if (later === '') return 'missing';
  if (earlier === '') return 'added';
  if (earlier !== later) return 'updated';
  return files.some(isSent) ? 'stale' : 'unchanged';
}

export function isSkipped({ action }: PlannedFile): boolean {
  return action === 'skip';
}

/** Returns when the images of a name were changed; an empty text if there are none. */
function timesOf(name: string, images: Images): string {
  const named = images.filter((image) => image.name === name);
  return named.map(({ updated_on }) => `${updated_on}`).join();
}

/** Returns `2 images added, 1 unchanged`. */
export function summaryOf(
  packages: readonly PlannedPackage[],
  before: Images,
  after: Images,
): string {
  const counts = { added: 0, updated: 0, unchanged: 0, skipped: 0 };
  for (const each of packages) counts[COUNTED_AS[imageChange(each, before, after)]] += 1;
  const changes = Object.entries(counts).filter(([, count]) => count > 0);
  const words = changes.map(([change, count], index) => {
    return `${index === 0 ? counted(count, 'image') : count} ${change}`;
  });
  return words.join(', ');
}

/** Images that the list does not show as a sync that succeeded should have left them. */
export interface Doubt {
  /** Lost: missing. Late: missing, but the sync says that it added them. Stale: see imageChange. */
  readonly kind: 'lost' | 'late' | 'stale';
  readonly message: string;
  readonly hint: Facts;
}

/** Returns at most one doubt of each kind, the worst first. @param storage is its address */
export function doubtsOf(
  packages: readonly PlannedPackage[],
  before: Images,
  after: Images,
  request: SyncRequest,
  storage: string,
): Doubt[] {
  const namesOf = (change: 'missing' | 'stale') =>
    packages.filter((each) => imageChange(each, before, after) === change).map(({ name }) => name);
  const added = Array.isArray(request.added) ? elementNames(request.added) : [];
  const missing = namesOf('missing');
  const lost = missing.filter((name) => !added.includes(name));
  const late = missing.filter((name) => added.includes(name));
  const stale = namesOf('stale');
  const noun = lost.length === 1 ? 'image' : 'images';
  const see = hint`see what the sync reported: ${imgctl('sync-status', `${request.id}`)}`;
  const list = hint`list them later with: ${imgctl('my-images')}`;
  const check = hint`check that the service reads this storage`;
  return [
    ...doubtAbout(lost, 'lost', `your list has no ${noun} named`, see),
    ...doubtAbout(late, 'late', 'added, but not in your list yet:', list),
    ...doubtAbout(stale, 'stale', `unchanged after the upload to ${storage}:`, check),
  ];
}

function doubtAbout(
  names: readonly string[],
  kind: Doubt['kind'],
  what: string,
  hint: Facts,
): Doubt[] {
  return names.length === 0 ? [] : [{ kind, message: `${what} ${names.join(', ')}`, hint }];
}
