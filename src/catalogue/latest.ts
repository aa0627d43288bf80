// Finds the newest image of each series among the images that match a query.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { type Series, SeriesIndex } from '../query/series.ts';
import { type Batch, isImage } from './listing.ts';

type ImageSeries = Series<ReceivedImage>;

/** Reads all images. Returns the series in the order of their names. */
export async function findSeries(
  batches: AsyncIterable<Batch> | Iterable<Batch>,
): Promise<ImageSeries[]> {
  const index = new SeriesIndex<ReceivedImage>();
  for await (const { images } of batches) {
    for (const image of images.filter(isImage)) index.add(image);
  }
  return index.all();
}

/** Returns the only newest image. @throws ImgctlError empty, ambiguous */
export function onlyNewest(all: readonly ImageSeries[]): ReceivedImage {
  const [series, ...others] = all;
  if (series === undefined) throw noMatch();
  if (others.length === 0) return newestOf(series);
  throw new ImgctlError('ambiguous', `${all.length} series match`, {
    details: listed(all.map(({ pattern, newest: [{ name }] }) => `${pattern}  (newest: ${name})`)),
    hint: 'add words or a --filter that only one series matches, or use --each',
  });
}

/** Returns the newest image of a series. @throws ImgctlError ambiguous: neither of several is newer */
export function newestOf({ newest }: ImageSeries): ReceivedImage {
  const [image, ...others] = newest;
  if (others.length === 0) return image;
  throw new ImgctlError('ambiguous', `${newest.length} images are equally new`, {
    details: listed(newest.map(({ id, path, created_on }) => `${id}  ${path}  (${created_on})`)),
    hint: 'select one of them, for example with: --filter folder,eq,NAME',
  });
}

export function noMatch(): ImgctlError {
  return new ImgctlError('empty', 'no images match', {
    hint: 'list all images with: imgctl images list',
  });
}

const MAX_LISTED = 20;

function listed(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LISTED) return lines;
  return [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more`];
}
