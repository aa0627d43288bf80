// imgctl my-images: lists the user's own images. The service cannot filter or sort them.

import { type CommandSpec, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import {
  describeCount,
  IMAGE_FIELDS,
  LISTING_OPTIONS,
  type ListingOptions,
  readQuery,
  readView,
  reportEmpty,
  reportNoMatch,
  WORDS,
} from './images-shared.ts';

export const myImages: CommandSpec = {
  name: 'my-images',
  summary: 'list your own images',
  examples: ['imgctl my-images', 'imgctl my-images --sort updated_on,desc -n 1 --json'],
  seeAlso: ['images list', 'sync', 'help filters', 'help output'],
  arguments: [WORDS],
  options: LISTING_OPTIONS,
  fields: IMAGE_FIELDS,
  exitCodes: SERVICE_CODES,
  run,
};

async function run(context: Context, options: ListingOptions, words: readonly string[]) {
  const plan = readQuery(context, words, options);
  const columns = ['id', 'name', 'folder', 'updated_on'] as const;
  const view = readView(context, options, columns, 'columns.my-images');
  const { client } = await context.session();
  const { images, meta } = await client.listUserImages();
  const matching = images.filter(plan.matchesAll);
  const found = plan.sort(matching).slice(0, options.limit);
  const summary = () => describeCount(found.length, options, matching.length);
  const list = context.openList(view.columns, { ...view, summary });
  await list.write(found);
  await list.end(options.meta ? { ...meta, count: found.length } : undefined);
  if (found.length > 0) return;
  if (images.length > 0) reportNoMatch(context, 'imgctl my-images', options, words);
  else reportEmpty(context, options, 'no images yet', 'upload one with: imgctl push FILE');
}
