// imgctl images list: lists the public catalogue, or the images that match a query.

import type { ReceivedImage } from '../api/types.ts';
import { type Batch, readCataloguePage } from '../catalogue/listing.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { ListWriter } from '../output/writers.ts';
import type { QueryPlan } from '../query/plan.ts';
import { collectNames } from '../session/image-names.ts';
import {
  describeCount,
  type ListingOptions,
  readQuery,
  readView,
  rememberNames,
  reportEmpty,
  reportNoMatch,
} from './listing.ts';
import { observeReading, openSource, type SourceOptions } from './source.ts';

interface ImagesListOptions extends ListingOptions, SourceOptions {
  page?: number;
  perPage?: number;
  urls?: boolean;
}

export async function run(
  context: Context,
  options: ImagesListOptions,
  words: readonly string[],
): Promise<void> {
  const { limit, page, perPage, urls } = options;
  const { format, io } = context;
  const plan = readQuery(context, words, options);
  if (page !== undefined && (plan.filtersLocally || plan.sortsLocally)) {
    throw new ImgctlError('usage', '--page cannot be used with local filters or sorts', {
      hint: 'use --limit instead, or see which ones are local: imgctl help filters',
    });
  }
  const view = readView(context, options, {
    columns: ['id', 'name', 'folder', 'data_store', 'updated_on'],
    setting: 'columns.images',
  });
  let count = 0;
  let meta: Batch['meta'] = {};
  const summary = () =>
    describeCount(count, options, plan.filtersLocally ? undefined : totalOf(meta, plan));
  const list: ListWriter<unknown> = urls
    ? context.openValues('url', { header: view.header })
    : context.openList(view.columns, { ...view, summary });
  const source = await openSource(context, options);
  const query = { plan, limit, perPage, streams: format === 'ndjson' };
  // In a pipe the reader, such as less, may use the terminal; on it rows of ndjson arrive continuously.
  const observer = observeReading(context, format === 'ndjson' || !io.stdout.isTTY);
  const readPage = async (number: number) => {
    const { client } = await context.session();
    return readCataloguePage(client, query, number, observer);
  };
  const batches = page === undefined ? source.list(query, observer) : [await readPage(page)];
  // Collects only what completion needs: the list itself may not fit into memory.
  const names = collectNames([]);
  for await (const batch of batches) {
    const { images } = batch;
    await list.write(urls ? images.map((image) => urlOf(image, source.baseUrl)) : images);
    count += images.length;
    collectNames(images, names);
    meta = batch.meta;
  }
  await observer.stop();
  await list.end(options.meta ? { ...meta, count } : undefined);
  const isPart = plan.server.filter || plan.filtersLocally || limit || page || urls;
  if (options.from === undefined) await rememberNames(context, names, !isPart);
  if (count > 0) return;
  const last = meta.pages?.pages;
  if (page === undefined || last === undefined || page <= last) {
    return reportNoMatch(context, options, words);
  }
  reportEmpty(
    context,
    options,
    `page ${page} does not exist; the last page is ${last}`,
    undefined,
    true,
  );
}

/** Returns how many images match, if the service applied the filter. */
function totalOf({ pages, filter }: Batch['meta'], { server }: QueryPlan): number | undefined {
  return server.filter === undefined || filter !== undefined ? pages?.total : undefined;
}

/** Returns the URL as the service lists it without expand, section 2.2 of service-api.md. */
function urlOf({ id }: ReceivedImage, baseUrl: string): string {
  if (typeof id === 'number' || typeof id === 'string') {
    return `${baseUrl}/v2/image/${encodeURIComponent(String(id).toWellFormed())}`;
  }
  throw new ImgctlError('bad-answer', 'cannot print the URL of an image without an id', {
    hint: 'list the images without --urls',
  });
}
