// Finds the newest image of the series that match words, or says why there is not exactly one.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { patternOfReading, type Series, SeriesIndex, WordReader } from '../query/series.ts';

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
export function noMatch({ rejected, words }: Found, listCommand: string): ImgctlError {
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
