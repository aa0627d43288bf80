// imgctl my-images: the user's own images; the whole query is evaluated here.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import {
  addListingOptions,
  type ListingOptions,
  readQuery,
  readView,
  reportEmpty,
} from './listing.ts';

export function define(command: Command, context: Context): void {
  command.argument('[text...]', 'only images whose name contains each text');
  addListingOptions(command);
  command
    .addHelpText('after', EXAMPLES)
    .action((words: string[], options: ListingOptions) => list(context, words, options));
}

const EXAMPLES = `
Examples:
  $ imgctl my-images
  $ imgctl my-images --sort updated_on,desc --limit 1 --json
`;

async function list(
  context: Context,
  words: readonly string[],
  options: ListingOptions,
): Promise<void> {
  const plan = readQuery(context, words, options);
  const view = readView(context, options, {
    columns: ['id', 'name', 'path', 'updated_on'],
    setting: 'columns.my-images',
  });
  const { client } = await context.session();
  const { images, meta } = await client.listUserImages();
  const found = plan.sort(images.filter(plan.matchesAll)).slice(0, options.limit);
  const list = context.openList(view.columns, view);
  await list.write(found);
  await list.end(options.meta ? { ...meta, count: found.length } : undefined);
  if (found.length > 0) return;
  reportEmpty(
    context,
    options,
    images.length === 0 ? 'no images yet: upload one, then run: imgctl sync' : 'no images match',
  );
}
