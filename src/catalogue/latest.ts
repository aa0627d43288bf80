// Finds the newest image of each series among the images that match a query.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import {
  patternOfReading,
  type Rejected,
  type Series,
  SeriesIndex,
  WordReader,
} from '../query/series.ts';

type ImageSeries = Series<ReceivedImage>;
/** Images page by page. */
type Pages = AsyncIterable<readonly ReceivedImage[]>;

/** Reads all images. Returns the series whose names match each word (see `WordReader`), in the order of their names. */
export async function findSeries(pages: Pages, words: readonly string[]) {
  const { index, rejected } = await readNames(pages, words, false);
  return { all: index.all(), rejected };
}

/** Reads all images. Returns those whose names match, series by series, the newest first. */
export async function findCandidates(pages: Pages, words: readonly string[]) {
  const { index, rejected } = await readNames(pages, words, true);
  return { all: index.ranked(), rejected };
}

async function readNames(pages: Pages, words: readonly string[], holdsAll: boolean) {
  const reader = new WordReader(words);
  const index = new SeriesIndex<ReceivedImage>(reader, holdsAll);
  for await (const images of pages) for (const image of images) index.add(image);
  return { index, rejected: reader.rejected };
}

/**
 * Returns the only newest image.
 * @param orElse ends the hint if several series match
 * @throws ImgctlError empty, ambiguous
 */
export function onlyNewest(
  { all, rejected }: Awaited<ReturnType<typeof findSeries>>,
  listCommand: string,
  orElse = '',
): ReceivedImage {
  const [series, ...others] = all;
  if (series === undefined) throw noMatch(rejected, listCommand);
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
export function newestOf({ newest, pattern, readings }: ImageSeries): ReceivedImage {
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
export function noMatch(rejected: Rejected | undefined, listCommand: string): ImgctlError {
  if (rejected === undefined) {
    return new ImgctlError('empty', 'no images match', {
      hint: 'list all images with: imgctl images list',
    });
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
