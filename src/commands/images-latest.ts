// imgctl images latest: shows the newest image of a series.

import { findCandidates, findSeries, newestOf, noMatch, onlyNewest } from '../catalogue/latest.ts';
import { type CommandSpec, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { shellQuote } from '../output/messages.ts';
import { FIELDS } from '../query/fields.ts';
import {
  FILTER_OPTION,
  IMAGE_FIELDS,
  openSource,
  readAll,
  readQuery,
  readView,
  SOURCE_OPTIONS,
  type SourceOptions,
  VIEW_OPTIONS,
  type ViewOptions,
  WORDS,
} from './image-listing.ts';

export const imagesLatest: CommandSpec = {
  name: 'latest',
  summary: 'show the newest image of a series',
  description: [
    'Names with the same text and other numbers form a series. The numbers decide which image is newer: 8.10 is newer than 8.9. The time of the last update never decides; created_on decides between equal names.',
    'A word of digits and dots matches whole numbers: 8 means 8 or 8.10, not 18 or x86_64. Any other word matches as text, but never ends within a number.',
    'Exits with 2 if several series match, or if a word means different numbers of a series, and lists them. Exits with 5 if nothing matches.',
  ],
  examples: [
    'imgctl images latest ubuntu server',
    'imgctl images latest ubuntu 22.04 server --get path',
    'imgctl images latest debian --each',
    'imgctl images latest rocky GenericCloud-Base --explain',
  ],
  seeAlso: ['images list', 'images get', 'images lock', 'help choosing'],
  arguments: [{ ...WORDS, description: 'consider only images whose name matches each text' }],
  options: [
    FILTER_OPTION,
    option('--each', 'show the newest image of every series'),
    option('--explain', 'show all candidates with their series and version, the newest first', {
      conflicts: ['each', 'get', 'columns'],
    }),
    ...VIEW_OPTIONS,
    ...SOURCE_OPTIONS,
  ],
  fields: [
    ...IMAGE_FIELDS,
    ['series', 'string', 'with --explain: the name with # for each number'],
    ['rank', 'number', 'with --explain: 1 for the newest of its series'],
    ['version', 'string', 'with --explain: the numbers of the name, separated by dots'],
  ],
  exitCodes: SERVICE_CODES,
  run,
};

interface LatestOptions extends ViewOptions, SourceOptions {
  filter?: string[];
  each?: boolean;
  explain?: boolean;
}

async function run(
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
      const numbers = version.numbers.join('.');
      return { series: pattern, rank, version: numbers, id, name, path, created_on };
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
