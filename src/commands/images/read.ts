// How commands read images: of the service, of a snapshot, or the user's own, with warnings and progress.

import {
  type Catalogue,
  heldCatalogue,
  ownCatalogue,
  serviceCatalogue,
} from '../../catalogue/catalogue.ts';
import type { Batch, CatalogueQuery } from '../../catalogue/listing.ts';
import type { NewestCollector } from '../../catalogue/newest.ts';
import { readSnapshot, saveCommand } from '../../catalogue/snapshot.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { EVERYTHING, type Query } from '../../query/query.ts';
import { Tally } from '../../query/tally.ts';
import { describeDuration } from '../../words.ts';
import type { CatalogueOptions } from './options.ts';

/** @throws ImgctlError config, usage; failed: the snapshot is older than --max-age */
export async function openCatalogue(
  context: Context,
  { from, maxAge, mine = false }: CatalogueOptions,
): Promise<Catalogue> {
  if (from !== undefined) return openSnapshot(context, from, maxAge);
  if (maxAge !== undefined) {
    throw new ImgctlError('usage', '--max-age needs a snapshot', {
      hint: 'add --from FILE, or omit --max-age',
    });
  }
  const { client, baseUrl } = await context.session();
  if (mine) return ownCatalogue(client, baseUrl);
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
    throw new ImgctlError('failed', `${message} (--max-age ${describeDuration(maxAge)})`, {
      hint: saveCommand(name),
    });
  }
  console.note(message);
  const held = { images: await images(), meta: {} };
  return heldCatalogue(async () => held, baseUrl);
}

/** Yields every image that matches, page by page, with warnings and, unless `quiet`, a progress line. */
export async function* readBatches(
  context: Context,
  catalogue: Catalogue,
  request: CatalogueQuery,
  options: { tally?: Tally | undefined; quiet?: boolean } = {},
): AsyncGenerator<Batch, void, void> {
  const { console } = context;
  const { tally = new Tally(request.query), quiet = false } = options;
  const progress = console.startProgress({ lines: false, quiet });
  progress.update('reading the catalogue');
  const show = (text: string) => progress.update(text);
  yield* catalogue.list(request, { tally, warn: console.warn, progress: show });
  await progress.stop();
  warnOfZones(context, tally);
}

function warnOfZones({ console }: Context, tally: Tally): void {
  const zones = tally.zoneWarning();
  if (zones !== undefined) console.warn(zones);
}

export async function* readMatching(
  context: Context,
  catalogue: Catalogue,
  query: Query,
  tally?: Tally,
): AsyncGenerator<Batch['images'], void, void> {
  for await (const { images } of readBatches(context, catalogue, { query }, { tally }))
    yield images;
}

/** Reads several lists: one after the other, or all images once if that takes fewer requests. */
export async function readTogether(
  context: Context,
  catalogue: Catalogue,
  searches: readonly Pick<NewestCollector, 'query' | 'tally' | 'add'>[],
): Promise<void> {
  const isCheaperByQuery =
    searches.length < 2 || (await catalogue.isCheaperByQuery(searches.map(({ query }) => query)));
  if (isCheaperByQuery) {
    for (const { query, tally, add } of searches) {
      for await (const images of readMatching(context, catalogue, query, tally)) {
        for (const image of images) add(image);
      }
    }
    return;
  }
  for await (const images of readMatching(context, catalogue, EVERYTHING)) {
    for (const image of images) {
      for (const { query, tally, add } of searches) if (query.matches(image, tally)) add(image);
    }
  }
  for (const { tally } of searches) warnOfZones(context, tally);
}
