// imgctl images list: lists the public catalogue, or the images that match a query.

import type { ReceivedImage } from '../api/types.ts';
import { type Batch, readCataloguePage } from '../catalogue/listing.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { isObject } from '../json.ts';
import type { ListWriter, Row } from '../output/writers.ts';
import type { QueryPlan } from '../query/plan.ts';
import { collectNames } from '../session/image-names.ts';
import {
  describeCount,
  type ListingOptions,
  readQuery,
  readView,
  rememberNames,
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
  const plan = readQuery(context, words, options);
  if (options.page !== undefined && (plan.filtersLocally || plan.sortsLocally)) {
    throw new ImgctlError('usage', '--page cannot be used with local filters or sorts', {
      hint: 'use --limit instead, or see which ones are local: imgctl help filters',
    });
  }
  const { format, io } = context;
  let count = 0;
  let meta: Batch['meta'] = {};
  const list = openImageList(context, options, () =>
    describeCount(count, options, plan.filtersLocally ? undefined : totalOf(meta, plan)),
  );
  const source = await openSource(context, options);
  const query = {
    plan,
    limit: options.limit,
    perPage: options.perPage,
    streams: format === 'ndjson',
  };
  // In a pipe the reader, such as less, may use the terminal; on it rows of ndjson arrive continuously.
  const quiet = format === 'ndjson' || !io.stdout.isTTY;
  const observer = observeReading(context, quiet);
  const { limit, page, urls } = options;
  const readPage = async (number: number) => {
    const { client } = await context.session();
    return readCataloguePage(client, query, number, observer);
  };
  const batches = page === undefined ? source.list(query, observer) : [await readPage(page)];
  // Collects only what completion needs: the list itself may not fit into memory.
  const names = collectNames([]);
  for await (const batch of batches) {
    const { images } = batch;
    await list.write(options.urls ? images.map((image) => urlOf(image, source.baseUrl)) : images);
    count += images.length;
    collectNames(images, names);
    meta = batch.meta;
  }
  await observer.stop();
  await list.end(options.meta ? { ...meta, count } : undefined);
  const isPart = plan.server.filter || plan.filtersLocally || limit || page || urls;
  if (options.from === undefined) await rememberNames(context, names, !isPart);
  if (count === 0) reportNone(context, options, words, meta);
}

function reportNone(
  context: Context,
  options: ImagesListOptions,
  words: readonly string[],
  { pages }: Row,
): void {
  const last = isObject(pages) ? pages.pages : undefined;
  if (options.page === undefined || typeof last !== 'number' || options.page <= last) {
    reportNoMatch(context, options, words);
    return;
  }
  const message = `page ${options.page} does not exist; the last page is ${last}`;
  if (options.failEmpty) throw new ImgctlError('empty', message);
  context.console.note(message);
}

/** Returns how many images match, if the service applied the filter. */
function totalOf({ pages, filter }: Batch['meta'], { server }: QueryPlan): number | undefined {
  return server.filter === undefined || filter !== undefined ? pages?.total : undefined;
}

function openImageList(
  context: Context,
  options: ImagesListOptions,
  summary: () => string,
): ListWriter<unknown> {
  const view = readView(context, options, {
    columns: ['id', 'name', 'folder', 'data_store', 'updated_on'],
    setting: 'columns.images',
  });
  if (!options.urls) return context.openList(view.columns, { ...view, summary });
  return context.openValues('url', { header: view.header });
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
