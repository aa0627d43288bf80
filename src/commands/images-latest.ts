// imgctl images latest: shows the newest image of a series.

import { findCandidates, findSeries, newestOf, noMatch, onlyNewest } from '../catalogue/latest.ts';
import type { Context } from '../context.ts';
import { shellQuote } from '../output/messages.ts';
import { FIELDS } from '../query/fields.ts';
import { readQuery, readView, type ViewOptions } from './listing.ts';
import { openSource, readAll, type SourceOptions } from './source.ts';

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
  const pages = readAll(context, await openSource(context, options), plan);
  const listing = listCommand(words, options.filter);
  if (explain) {
    const { all, rejected } = await findCandidates(pages, words);
    if (all.length === 0) throw noMatch(rejected, listing);
    const rows = all.map(({ image, pattern, version, rank }) => {
      const { id = null, name, path = null, created_on = null } = image;
      return { series: pattern, rank, version, id, name, path, created_on };
    });
    const columns = ['series', 'rank', 'version', 'id', 'name', 'created_on'];
    const { header, times, trunc } = view;
    return context.printList(rows, columns, { header, times, trunc });
  }
  const found = await findSeries(pages, words);
  if (!each) return context.printRecord(onlyNewest(found, listing, ', or use --each'), view);
  if (found.all.length === 0) throw noMatch(found.rejected, listing);
  await context.printList(found.all.map(newestOf), view.columns, view);
}

/** Returns the command that lists what contains the words as text. */
export function listCommand(words: readonly string[], filters: readonly string[] = []): string {
  const options = filters.flatMap((filter) => ['-f', filter]);
  // A word may begin with a dash.
  const separator = words.some((word) => word.startsWith('-')) ? ['--'] : [];
  const all = ['imgctl', 'images', 'list', ...options, ...separator, ...words];
  return all.map(shellQuote).join(' ');
}
