// imgctl images latest: shows the newest image of a series.

import type { ReceivedImage } from '../api/types.ts';
import { type CommandSpec, option, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { shellQuote } from '../output/messages.ts';
import { patternOfReading, type Series, SeriesIndex, WordReader } from '../query/series.ts';
import {
  CHOOSING_FILTER,
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
  const listing = listCommand(words, options.filter);
  if (explain) {
    const found = await indexSeries(pages, words, true);
    const all = found.index.ranked();
    if (all.length === 0) throw noMatch(found, listing);
    const rows = all.map(({ image, pattern, version, rank }) => {
      const { id = null, name, path = null, created_on = null } = image;
      const numbers = version.numbers.join('.');
      return { series: pattern, rank, version: numbers, id, name, path, created_on };
    });
    const columns = ['series', 'rank', 'version', 'id', 'name', 'created_on'];
    const { header, times, trunc } = view;
    return context.printList(rows, columns, { header, times, trunc });
  }
  const found = await indexSeries(pages, words);
  if (!each) return context.printRecord(onlyNewest(found, listing, ', or use --each'), view);
  const all = found.index.all();
  if (all.length === 0) throw noMatch(found, listing);
  await context.printList(all.map(newestOf), view.columns, view);
}

/** Returns the command that lists what contains the words as text. */
export function listCommand(words: readonly string[], filters: readonly string[] = []): string {
  const options = filters.flatMap((filter) => ['-f', filter]);
  // A word may begin with a dash.
  const separator = words.some((word) => word.startsWith('-')) ? ['--'] : [];
  const all = ['imgctl', 'images', 'list', ...options, ...separator, ...words];
  return all.map(shellQuote).join(' ');
}

type ImageSeries = Series<ReceivedImage>;
/** Images page by page. */
type Pages = AsyncIterable<readonly ReceivedImage[]>;

/** Reads all images. Returns the series whose names match each word (see `WordReader`). @param holdsAll for `ranked` */
export async function indexSeries(pages: Pages, words: readonly string[], holdsAll = false) {
  const reader = new WordReader(words);
  const index = new SeriesIndex<ReceivedImage>(reader, holdsAll);
  for await (const images of pages) for (const image of images) index.add(image);
  return { index, words, rejected: reader.rejected };
}

type Found = Awaited<ReturnType<typeof indexSeries>>;

/**
 * Returns the only newest image.
 * @param orElse ends the hint if several series match
 * @throws ImgctlError empty, ambiguous
 */
export function onlyNewest(found: Found, listCommand: string, orElse = ''): ReceivedImage {
  const all = found.index.all();
  const [series, ...others] = all;
  if (series === undefined) throw noMatch(found, listCommand);
  if (others.length === 0) return newestOf(series);
  throw new ImgctlError('ambiguous', `${all.length} series match`, {
    details: listed(all.map(({ pattern, newest: [{ name }] }) => `${pattern}  (newest: ${name})`)),
    hint: `add words or a --filter that only one series matches${orElse}`,
  });
}

/**
 * Returns the newest image of a series.
 * @throws ImgctlError ambiguous: neither of several is newer, or a word means different numbers
 */
function newestOf({ newest, pattern, readings }: ImageSeries): ReceivedImage {
  if (readings.length > 1) throw differentNumbers(pattern, readings);
  const [image, ...others] = newest;
  if (others.length === 0) return image;
  throw new ImgctlError('ambiguous', `${newest.length} images are equally new`, {
    details: listed(newest.map(({ id, path, created_on }) => `${id}  ${path}  (${created_on})`)),
    hint: 'select one of them, for example with: --filter folder,eq,NAME',
  });
}

function differentNumbers(pattern: string, readings: ImageSeries['readings']): ImgctlError {
  const words = (readings[0]?.reading ?? [])
    .filter(([, index], at) => readings.some(({ reading }) => reading[at]?.[1] !== index))
    .map(([word]) => word);
  const lines = readings.map(({ reading, newest: [{ name }] }) => {
    return `${name}  (-f 'name,like,${patternOfReading(`${name}`, reading)}')`;
  });
  const which = words.join(' and ');
  return new ImgctlError('ambiguous', `${which} matches different numbers in ${pattern}`, {
    details: listed(lines),
    hint: `use one of these filters instead of ${which}`,
  });
}

/** @param listCommand lists the images that contain the words as text */
function noMatch({ rejected, words }: Found, listCommand: string): ImgctlError {
  if (rejected === undefined) {
    const phrase = words.find((word) => /\S\s+\S/.test(word));
    const hint = phrase
      ? `to match each word separately, omit the quotes: ${phrase}`
      : 'list all images with: imgctl images list';
    return new ImgctlError('empty', 'no images match', { hint });
  }
  const { word, isNumber, count } = rejected;
  const names = count === 1 ? '1 name contains' : `${count} names contain`;
  const message = isNumber
    ? `no image of version ${word}; ${names} ${word}`
    : `no image matches ${word} as a whole; ${names} it`;
  return new ImgctlError('empty', message, { hint: `list them with: ${listCommand}` });
}

const MAX_LISTED = 20;

function listed(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LISTED) return lines;
  return [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more`];
}
