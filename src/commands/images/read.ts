// Reads images of the service, of a snapshot, or the user's own, with warnings and progress.

import { MAX_PER_PAGE } from '../../api/images.ts';
import type { ReceivedImage } from '../../api/types.ts';
import {
  type Catalogue,
  heldCatalogue,
  ownCatalogue,
  serviceCatalogue,
} from '../../catalogue/catalogue.ts';
import type { ListEnd, ReadOptions } from '../../catalogue/service-list.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { NewestCollector } from '../../query/newest.ts';
import { EVERYTHING, type Query } from '../../query/query.ts';
import { Tally } from '../../query/tally.ts';
import { counted, describeDuration } from '../../words.ts';
import type { CatalogueOptions } from './options.ts';
import { readSnapshot } from './snapshot-file.ts';

/** Pages of images, and what is known once all of them were read. */
export type ImagePages = AsyncGenerator<readonly ReceivedImage[], ListEnd, void>;

/** @throws ImgctlError config, usage; failed: the snapshot is older than --max-age */
export async function openCatalogue(
  context: Context,
  { from, maxAge, mine, perPage = MAX_PER_PAGE }: CatalogueOptions & { readonly perPage?: number },
): Promise<Catalogue> {
  if (from !== undefined) return openSnapshot(context, from, maxAge);
  if (maxAge !== undefined) {
    const message = '--max-age needs a snapshot';
    throw new ImgctlError('usage', message, { facts: 'add --from FILE, or omit --max-age' });
  }
  const { client, account } = await context.session();
  const { baseUrl } = account;
  if (mine) return ownCatalogue(client, baseUrl, context.console.warn);
  return serviceCatalogue(client, baseUrl, { perPage, trace: context.console.debug });
}

const CLOCK_SKEW = 5 * 60_000;

async function openSnapshot({ io, console }: Context, name: string, maxAge?: number) {
  const { baseUrl, takenAt, images } = await readSnapshot(name, io);
  const age = io.now() - takenAt;
  const isFuture = age < -CLOCK_SKEW;
  const text = isFuture ? 'is from the future' : `is ${describeDuration(age)} old`;
  const message = `the snapshot ${name} ${text}`;
  if (maxAge !== undefined && (isFuture || age > maxAge)) {
    const tooOld = `${message} (--max-age ${describeDuration(maxAge)})`;
    throw new ImgctlError('failed', tooOld, { facts: { kind: 'snapshot', file: name } });
  }
  console.note(message);
  const held = { images: await images(), meta: {} };
  return heldCatalogue(async () => held, baseUrl);
}

/** Yields every image that matches, with warnings and progress. */
export async function* readImages(
  context: Context,
  catalogue: Catalogue,
  query: Query,
  options: ReadOptions & { readonly tally?: Tally; readonly showsProgress?: boolean } = {},
): ImagePages {
  const { console } = context;
  const { tally = new Tally(query), showsProgress = true, ...limits } = options;
  // A query with conditions may read more images than its limit.
  const mostRead = query.isEverything ? (limits.limit ?? Infinity) : Infinity;
  let seen = 0;
  const watch: ReadOptions['watch'] = (images, total, filter) => {
    tally.see(images, filter);
    seen += images.length;
    const all = Math.max(seen, Math.min(total, mostRead));
    console.progress.show(`read ${seen} of ${counted(all, 'image')}`);
  };
  if (showsProgress) console.progress.start({ onlyIfRedrawn: true });
  console.progress.show('reading the catalogue');
  try {
    const end = yield* catalogue.images(query, { ...limits, watch });
    warnOfZones(context, tally);
    return end;
  } finally {
    console.progress.end();
  }
}

/** Reads every image that matches. */
export async function collectImages(pages: ImagePages): Promise<ReceivedImage[]> {
  const all: ReceivedImage[] = [];
  for await (const images of pages) {
    // Not all at once: a page can have more images than a call takes arguments.
    for (const image of images) all.push(image);
  }
  return all;
}

export function warnOfZones({ console }: Context, tally: Tally): void {
  const zones = tally.zoneWarning();
  if (zones !== undefined) console.warn(zones);
}

type Search = Pick<NewestCollector, 'query' | 'tally' | 'add'>;

/** Gives each search its images: of a page each, or of all, read once, if one needs more. */
export async function readTogether(
  context: Context,
  catalogue: Catalogue,
  searches: readonly Search[],
): Promise<void> {
  const lists = await listsOfSurePages(catalogue, searches);
  if (lists) {
    for (const { images, add } of lists) for (const image of images) add(image);
  } else {
    for await (const images of readImages(context, catalogue, EVERYTHING)) {
      for (const { query, tally, add } of searches) {
        tally.see(images);
        for (const image of images) if (query.matches(image)) add(image);
      }
    }
  }
  for (const { tally } of searches) warnOfZones(context, tally);
}

/** Returns the images of each search; undefined if a page does not have all of one. */
async function listsOfSurePages(catalogue: Catalogue, searches: readonly Search[]) {
  const lists: { readonly images: readonly ReceivedImage[]; readonly add: Search['add'] }[] = [];
  for (const { query, tally, add } of searches) {
    const watch: ReadOptions['watch'] = (images, _, filter) => tally.see(images, filter);
    const images = await catalogue.imagesOfSurePage(query, { watch });
    if (images === undefined) return undefined;
    lists.push({ images, add });
  }
  return lists;
}
