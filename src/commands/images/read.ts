// How commands read images: of the service, of a snapshot, or the user's own, with warnings and progress.

import type { ReceivedImage } from '../../api/types.ts';
import {
  type Catalogue,
  heldCatalogue,
  ownCatalogue,
  serviceCatalogue,
} from '../../catalogue/catalogue.ts';
import type { NewestCollector } from '../../catalogue/newest.ts';
import type { ListEnd, ReadOptions } from '../../catalogue/service-list.ts';
import { readSnapshot } from '../../catalogue/snapshot.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { EVERYTHING, type Query } from '../../query/query.ts';
import { Tally } from '../../query/tally.ts';
import { counted, describeDuration } from '../../words.ts';
import type { CatalogueOptions } from './options.ts';

/** @throws ImgctlError config, usage; failed: the snapshot is older than --max-age */
export async function openCatalogue(
  context: Context,
  { from, maxAge, mine = false }: CatalogueOptions,
): Promise<Catalogue> {
  if (from !== undefined) return openSnapshot(context, from, maxAge);
  if (maxAge !== undefined) {
    const message = '--max-age needs a snapshot';
    throw new ImgctlError('usage', message, { facts: 'add --from FILE, or omit --max-age' });
  }
  const { client, baseUrl } = await context.session();
  if (mine) return ownCatalogue(client, baseUrl, context.console.warn);
  return serviceCatalogue(client, baseUrl, (text) => {
    if (context.debug) context.console.trace(text);
  });
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

interface Watching extends ReadOptions {
  readonly tally?: Tally;
  readonly quiet?: boolean;
}

/** Yields every image that matches, with warnings and, unless `quiet`, a progress line. */
export async function* readImages(
  context: Context,
  catalogue: Catalogue,
  query: Query,
  { tally = new Tally(query), quiet = false, ...options }: Watching = {},
): AsyncGenerator<readonly ReceivedImage[], ListEnd, void> {
  const tell: Context['tell'] = quiet ? () => {} : context.tell;
  tell({ kind: 'begin', isBrief: true });
  tell({ kind: 'progress', text: 'reading the catalogue' });
  const { limit = Number.POSITIVE_INFINITY } = query.isEverything ? options : {};
  let seen = 0;
  const watch: ReadOptions['watch'] = (images, total, filter) => {
    tally.see(images, filter);
    seen += images.length;
    const all = Math.max(seen, Math.min(total, limit));
    tell({ kind: 'progress', text: `read ${seen} of ${counted(all, 'image')}` });
  };
  const end = yield* catalogue.images(query, { ...options, watch });
  await tell({ kind: 'end' });
  warnOfZones(context, tally);
  return end;
}

function warnOfZones({ console }: Context, tally: Tally): void {
  const zones = tally.zoneWarning();
  if (zones !== undefined) console.warn(zones);
}

/** Opens the list of each search; if one of them has more than a page, reads all images once instead. */
export async function readTogether(
  context: Context,
  catalogue: Catalogue,
  searches: readonly Pick<NewestCollector, 'query' | 'tally' | 'add'>[],
): Promise<void> {
  const lists = [];
  for (const { query, tally } of searches) {
    const watch: ReadOptions['watch'] = (images, _, filter) => tally.see(images, filter);
    const images = await catalogue.imagesOfOnePage(query, { watch });
    if (images === undefined) break;
    lists.push(images);
  }
  if (lists.length === searches.length) {
    for (const [at, { add }] of searches.entries()) for (const image of lists[at] ?? []) add(image);
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
