// imgctl images latest: shows the newest image of a series.

import { indexSeries, newestOf, noMatch, onlyNewest } from '../catalogue/newest.ts';
import { type CommandSpec, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import {
  CHOOSING_FILTER,
  IMAGE_FIELDS,
  listCommand,
  openSource,
  readAll,
  readQuery,
  readView,
  SOURCE_OPTIONS,
  type SourceOptions,
  VIEW_OPTIONS,
  type ViewOptions,
  WORDS,
} from './images-shared.ts';

export const imagesLatest: CommandSpec = {
  name: 'latest',
  summary: 'show the newest image of a series',
  description: [
    'Names that differ only in their numbers form a series. The numbers decide which image is newer: 8.10 is newer than 8.9. The last update plays no role. Of two equal names, the one created later wins.',
    'A word of digits and dots matches whole numbers: 8 matches 8 and 8.10, not 18 or x86_64. Any other word matches anywhere, but never half a number.',
    'If several series match, or a word matches different numbers of a series, lists the candidates and exits with 2. Exits with 5 if nothing matches.',
  ],
  examples: [
    'imgctl images latest ubuntu server',
    'imgctl images latest ubuntu 22.04 server --get path',
    'imgctl images latest debian --each',
    'imgctl images latest rocky GenericCloud-Base --explain',
  ],
  seeAlso: ['images list', 'images get', 'images lock', 'help choosing'],
  arguments: [{ ...WORDS, description: 'consider only images whose name matches every word' }],
  options: [
    CHOOSING_FILTER,
    option('--each', 'show the newest image of every series'),
    option('--explain', 'show all candidates with series and version, newest first', {
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

async function run(context: Context, options: LatestOptions, words: readonly string[]) {
  const plan = readQuery(context, words, options);
  const { explain, each } = options;
  const view = readView(context, options, ['id', 'name', 'folder', 'updated_on']);
  const pages = readAll(context, await openSource(context, options), plan);
  const found = await indexSeries(pages, words, explain);
  const listing = listCommand(words, options.filter);
  if (explain) {
    const all = found.index.ranked();
    if (all.length === 0) throw noMatch(found, listing);
    const rows = all.map(({ image, pattern, version, rank }) => {
      const { id = null, name, path = null, created_on = null } = image;
      const numbers = version.numbers.join('.');
      return { series: pattern, rank, version: numbers, id, name, path, created_on };
    });
    const columns = ['series', 'rank', 'version', 'id', 'name', 'created_on'];
    return context.printList(rows, columns, view);
  }
  if (!each) return context.printRecord(onlyNewest(found, listing, ', or use --each'), view);
  const all = found.index.all();
  if (all.length === 0) throw noMatch(found, listing);
  await context.printList(all.map(newestOf), view.columns, view);
}
