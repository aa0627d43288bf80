// How commands read images: of the service, of a snapshot, or the user's own, with warnings and progress.

import { keyOf } from '../../api/images.ts';
import type { ReceivedImage } from '../../api/types.ts';
import type { Batch } from '../../catalogue/listing.ts';
import { readSnapshot, saveCommand } from '../../catalogue/snapshot.ts';
import {
  type Catalogue,
  type ListQuery,
  savedCatalogue,
  serviceCatalogue,
} from '../../catalogue/source.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { QueryPlan } from '../../query/plan.ts';
import { describeDuration } from '../../words.ts';
import type { SourceOptions } from './options.ts';

/** @throws ImgctlError config, usage; failed: the snapshot is older than --max-age */
export async function openCatalogue(context: Context, options: SourceOptions): Promise<Catalogue> {
  const { from, maxAge, mine } = options;
  if (from !== undefined) return openSnapshot(context, from, maxAge);
  if (maxAge !== undefined) {
    throw new ImgctlError('usage', '--max-age needs a snapshot', {
      hint: 'add --from FILE, or omit --max-age',
    });
  }
  const { client, baseUrl } = await context.session();
  if (mine) return savedCatalogue((await readOwnImages(context)).images, baseUrl);
  return serviceCatalogue(client, baseUrl, context.settings.get('concurrency'));
}

/** The clocks of two machines may differ by this much. */
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
  return savedCatalogue(await images(), baseUrl);
}

/** Yields every image that matches, page by page, with warnings and, unless `quiet`, a progress line. */
export async function* readBatches(
  { console, debug }: Context,
  catalogue: Catalogue,
  query: ListQuery,
  quiet = false,
): AsyncGenerator<Batch, void, void> {
  const progress = console.startProgress({ lines: false, quiet });
  progress.update('reading the catalogue');
  yield* catalogue.list(query, {
    warn: console.warn,
    progress: (text) => progress.update(text),
    trace: (text) => {
      if (debug) console.trace(text);
    },
  });
  await progress.stop();
  warnOfZones(console, query.plan);
}

export async function* readAll(context: Context, catalogue: Catalogue, plan: QueryPlan) {
  for await (const { images } of readBatches(context, catalogue, { plan })) yield images;
}

/** Warns once of times whose zones imgctl does not know. */
export function warnOfZones({ warn }: Context['console'], plan: QueryPlan): void {
  const message = plan.zoneWarning();
  if (message !== undefined) warn(message);
}

/** Returns the user's own images and their meta; of several with one id the last, with a warning. */
export async function readOwnImages(context: Context) {
  const { client } = await context.session();
  const { images, meta } = await client.listUserImages();
  const byId = new Map<unknown, ReceivedImage>();
  const repeated = new Set<unknown>();
  for (const image of images) {
    const key = keyOf(image);
    if (byId.has(key)) repeated.add(key);
    byId.set(key, image);
  }
  const [first, ...others] = repeated;
  if (first !== undefined) {
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    context.console.warn(`the service lists image ${first}${more} twice; the last one counts`);
  }
  return { images: [...byId.values()], meta };
}
