// imgctl images list: the public catalogue, all of it or what a query leaves.

import { type Element, LARGEST_PAGE, readAll, readPage } from '../catalogue.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { createValueWriter, type ListWriter, type Row } from '../output/index.ts';
import { type CachedImage, collectNames } from '../session/image-names.ts';
import {
  type ListingOptions,
  openWriter,
  readQuery,
  readView,
  rememberNames,
  reportEmpty,
} from './listing.ts';

interface ImagesListOptions extends ListingOptions {
  page?: number;
  perPage?: number;
  urls?: boolean;
}

/** Pages of a stream after which it is a long one: what is loaded later than this is little. */
const LONG_STREAM = 20;

export async function run(
  context: Context,
  options: ImagesListOptions,
  words: readonly string[],
): Promise<void> {
  const plan = readQuery(context, words, options);
  if (options.page !== undefined && (plan.filtersLocally || plan.sortsLocally)) {
    throw new ImgctlError(
      'usage',
      '--page shows one page of the service, which takes one filter and one sort key',
      {
        hint: 'use --limit instead, or leave out what the service cannot answer: imgctl help filters',
      },
    );
  }
  const { format, io, settings } = context;
  const writer = openElementWriter(context, options);
  const { client, baseUrl } = await context.session();
  const query = {
    plan,
    limit: options.limit,
    perPage: options.perPage ?? LARGEST_PAGE,
    urls: options.urls === true,
    streams: format === 'ndjson',
    concurrency: settings.number('concurrency'),
  };
  // ndjson on a terminal shows rows while they come; a moving line between them would only disturb.
  const quiet = format === 'ndjson' && io.stdout.isTTY;
  const progress = context.startProgress({ lines: false, quiet });
  const observer = {
    warn: (message: string) => context.warn(message),
    progress: (text: string) => progress.update(text),
  };
  const batches =
    options.page === undefined
      ? readAll(client, query, observer)
      : [await readPage(client, query, options.page, observer)];
  let count = 0;
  let pages = 0;
  let meta: Row = {};
  // The names alone: a list may be far longer than what memory should hold.
  const names = new Map<number, CachedImage>();
  for await (const batch of batches) {
    const { elements } = batch;
    await writer.write(options.urls ? elements.map((each) => urlOf(each, baseUrl)) : elements);
    count += elements.length;
    collectNames(elements, names);
    meta = batch.meta;
    pages += 1;
    if (pages === LONG_STREAM && query.streams) await io.freezeYoungGeneration();
  }
  await context.flush();
  await writer.end(options.meta ? { ...meta, count } : undefined);
  const { filter } = plan.server;
  const isWhole =
    filter === undefined &&
    !plan.filtersLocally &&
    !options.limit &&
    !options.page &&
    !options.urls;
  await rememberNames(context, names, isWhole);
  if (count === 0) reportEmpty(context, options, 'no images match');
}

/** @throws ImgctlError usage */
function openElementWriter(context: Context, options: ImagesListOptions): ListWriter<Element> {
  const view = readView(context, options, {
    columns: ['id', 'name', 'folder', 'data_store', 'updated_on'],
    setting: 'columns.images',
  });
  if (!options.urls) return openWriter(context, view, options);
  if (options.columns !== undefined) {
    throw new ImgctlError('usage', '--urls and --columns contradict', { hint: 'give one of them' });
  }
  return createValueWriter('url', { ...context.sinkOptions, header: options.header !== false });
}

/** The URL as the service lists it without expand, service-api.md section 2.2. */
function urlOf(element: Element, baseUrl: string): string {
  if (typeof element === 'string') return element;
  const { id } = element;
  if (typeof id === 'number' || typeof id === 'string') {
    return `${baseUrl}/v2/image/${encodeURIComponent(id)}`;
  }
  throw new ImgctlError('bad-answer', 'the service sent an image without an id, so it has no URL', {
    hint: 'leave out --urls to see it',
  });
}
