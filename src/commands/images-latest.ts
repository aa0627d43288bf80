// imgctl images latest: shows the newest image of a series.

import { findSeries, newestOf, noMatch, onlyNewest } from '../catalogue/latest.ts';
import { type Batch, isImage } from '../catalogue/listing.ts';
import type { Context } from '../context.ts';
import { FIELDS } from '../query/fields.ts';
import type { QueryPlan } from '../query/plan.ts';
import { rankCandidates } from '../query/series.ts';
import { readQuery, readView, type ViewOptions } from './listing.ts';
import { observeReading, openSource, type SourceOptions } from './source.ts';

interface LatestOptions extends ViewOptions, SourceOptions {
  filter?: string[];
  each?: boolean;
  explain?: boolean;
}

export async function run(
  context: Context,
  options: LatestOptions,
  words: readonly string[],
): Promise<void> {
  const plan = readQuery(context, words, options);
  const { explain, each } = options;
  const view = readView(context, options, {
    columns: each ? ['id', 'name', 'path', 'updated_on'] : FIELDS,
  });
  const batches = readAll(context, plan, options);
  if (explain) return printCandidates(context, batches, view);
  const all = await findSeries(batches);
  if (!each) return context.printRecord(onlyNewest(all), view);
  if (all.length === 0) throw noMatch();
  await context.printList(all.map(newestOf), view.columns, view);
}

/** Yields the images that match, with a progress line. */
async function* readAll(
  context: Context,
  plan: QueryPlan,
  options: SourceOptions,
): AsyncGenerator<Batch> {
  const source = await openSource(context, options);
  const observer = observeReading(context);
  yield* source.list({ plan, streams: true }, observer);
  await observer.stop();
}

async function printCandidates(
  context: Context,
  batches: AsyncIterable<Batch>,
  { header, times, trunc }: ReturnType<typeof readView>,
): Promise<void> {
  const images = [];
  for await (const batch of batches) {
    for (const image of batch.images.filter(isImage)) images.push(image);
  }
  const rows = rankCandidates(images).map(({ image, pattern, version, rank }) => {
    const { id = null, name, path = null, created_on = null } = image;
    return { series: pattern, rank, version, id, name, path, created_on };
  });
  if (rows.length === 0) throw noMatch();
  await context.printList(rows, ['series', 'rank', 'version', 'id', 'name', 'created_on'], {
    header,
    times,
    trunc,
  });
}
