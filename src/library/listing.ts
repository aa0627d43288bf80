// Lists images for the library's client, with the same plan and generator as the commands.

import type { Client } from '../api/client.ts';
import type { Image } from '../api/types.ts';
import { listCatalogue } from '../catalogue/listing.ts';
import { ImgctlError } from '../errors.ts';
import { planQuery, type QueryPlan } from '../query/plan.ts';
import { checkedQuery, type ImageQuery } from './options.ts';

export interface ListingOptions {
  /** Milliseconds since the epoch, for filters such as `updated_on,ge,-30d`. */
  readonly now: number;
  readonly concurrency: number;
  readonly onWarning?: ((message: string) => void) | undefined;
}

export async function* listImages(
  client: Client,
  query: ImageQuery,
  { now, concurrency, onWarning }: ListingOptions,
): AsyncGenerator<Image, void, void> {
  const request = { plan: planOf(query, now), limit: limitOf(query), streams: true, concurrency };
  const observer = onWarning ? { warn: onWarning } : {};
  for await (const { images } of listCatalogue(client, request, observer)) yield* images as Image[];
}

export async function listMyImages(
  client: Client,
  query: ImageQuery,
  now: number,
): Promise<Image[]> {
  const plan = planOf(query, now);
  const limit = limitOf(query);
  const { images } = await client.listUserImages();
  return plan.sort(images.filter(plan.matchesAll)).slice(0, limit) as Image[];
}

function planOf(query: ImageQuery, now: number): QueryPlan {
  const { text, filter, sort } = checkedQuery(query);
  return planQuery({ words: text, filters: filter, sorts: sort }, { now });
}

function limitOf({ limit }: ImageQuery): number | undefined {
  if (limit === undefined || (Number.isSafeInteger(limit) && limit > 0)) return limit;
  throw new ImgctlError('usage', `limit must be a whole number of at least 1 (got ${limit})`);
}
