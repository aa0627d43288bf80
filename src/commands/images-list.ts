// imgctl images list: lists the public catalogue, or the images that match a query.

import type { ReceivedImage } from '../api/types.ts';
import type { Batch } from '../catalogue/listing.ts';
import { type CommandSpec, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { collectNames, rememberImages } from '../session/image-names.ts';
import {
  describeCount,
  IMAGE_FIELDS,
  LISTING_OPTIONS,
  type ListingOptions,
  openSource,
  readBatches,
  readQuery,
  readView,
  reportEmpty,
  reportNoMatch,
  SOURCE_OPTIONS,
  type SourceOptions,
  WORDS,
} from './images-shared.ts';

export const imagesList: CommandSpec = {
  name: 'list',
  aliases: ['ls'],
  summary: 'list and filter images',
  description: [
    'Lists every matching image, unless you use --limit or --page.',
    'A word matches anywhere in a name, so 8 also finds x86_64. In "images latest", 8 finds only 8 and 8.10.',
  ],
  examples: [
    "imgctl images list --filter 'folder=ubuntu'",
    'imgctl images list debian --sort updated_on,desc -n 5',
    'imgctl images list --since 30d -c id,name,updated_on -o csv',
  ],
  seeAlso: ['images get', 'my-images', 'help filters', 'help output'],
  arguments: [WORDS],
  options: [
    ...LISTING_OPTIONS,
    option('--page <n>', "show only this page of the service's list", {
      value: { kind: 'number', min: 1 },
    }),
    option('--per-page <n>', 'page size, 1 to 100', {
      default: '100',
      value: { kind: 'number', min: 1, max: 100 },
    }),
    option('--urls', 'print one image URL per line', { conflicts: ['columns'] }),
    ...SOURCE_OPTIONS,
  ],
  fields: IMAGE_FIELDS,
  exitCodes: SERVICE_CODES,
  run,
};

interface ImagesListOptions extends ListingOptions, SourceOptions {
  page?: number;
  perPage?: number;
  urls?: boolean;
}

async function run(context: Context, options: ImagesListOptions, words: readonly string[]) {
  const { limit, page, perPage, urls } = options;
  const { format, io } = context;
  const plan = readQuery(context, words, options);
  if (page !== undefined && (plan.filtersLocally || plan.sortsLocally)) {
    throw new ImgctlError('usage', '--page cannot be used with local filters or sorts', {
      hint: 'use --limit instead, or see which ones are local: imgctl help filters',
    });
  }
  const columns = ['id', 'name', 'folder', 'data_store', 'updated_on'] as const;
  const view = readView(context, options, columns, 'columns.images');
  let count = 0;
  let meta: Batch['meta'] = {};
  const total = () => {
    if (page === undefined && (limit === undefined || count < limit)) return count;
    // The total of the service counts what matches if it applied the filter.
    const isTotal = !plan.filtersLocally && (!plan.server.filter || meta.filter !== undefined);
    return isTotal ? meta.pages?.total : undefined;
  };
  const summary = () => describeCount(count, options, total());
  const shown = urls ? { header: view.header, only: 'url' } : { ...view, summary };
  const list = context.openList(view.columns, shown);
  const source = await openSource(context, options);
  const query = { plan, limit, perPage, page, streams: format === 'ndjson' };
  // In a pipe the reader, such as less, may use the terminal; on it rows of ndjson arrive continuously.
  const quiet = format === 'ndjson' || !io.stdout.isTTY;
  // Collects only what completion needs: the list itself may not fit into memory.
  const names = collectNames([]);
  for await (const batch of readBatches(context, source, query, quiet)) {
    const { images } = batch;
    await list.write(
      urls ? images.map((image) => ({ url: urlOf(image, source.baseUrl) })) : images,
    );
    count += images.length;
    collectNames(images, names);
    meta = batch.meta;
  }
  await list.end(options.meta ? { ...meta, count, total: total() } : undefined);
  const isPart = plan.server.filter || plan.filtersLocally || limit || page;
  if (options.from === undefined) {
    const { account } = await context.session();
    await rememberImages(context.paths.cache, account, names, !isPart);
  }
  if (count > 0) return;
  const last = meta.pages?.pages;
  if (page === undefined || last === undefined || page <= last) {
    return reportNoMatch(context, 'imgctl images list', options, words);
  }
  const message = `page ${page} does not exist; the last page is ${last}`;
  reportEmpty(context, options, message, undefined, true);
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
