// imgctl my-images: the user's own images; the whole query is evaluated here.

import type { Context } from '../context.ts';
import { type ListingOptions, openWriter, readQuery, readView, reportEmpty } from './listing.ts';

export async function run(
  context: Context,
  options: ListingOptions,
  words: readonly string[],
): Promise<void> {
  const plan = readQuery(context, words, options);
  const view = readView(context, options, {
    columns: ['id', 'name', 'path', 'updated_on'],
    setting: 'columns.my-images',
  });
  const { client } = await context.session();
  const { images, meta } = await client.myImages();
  const found = plan.sort(images.filter(plan.matchesAll)).slice(0, options.limit);
  const writer = openWriter(context, view, options);
  await writer.write(found);
  await writer.end(options.meta ? { ...meta, count: found.length } : undefined);
  if (found.length > 0) return;
  reportEmpty(
    context,
    options,
    images.length === 0 ? 'no images yet: upload one, then run: imgctl sync' : 'no images match',
  );
}
