// Reads a list by page number, for services that cannot read it by id. An image may move to a page
// that was read already, so a reading counts only if nothing changed meanwhile.

import type { ImagePage } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import { addImage, requireRoom } from './held-images.ts';
import { areDescending, idOf } from './ids.ts';

const CHANGED = 'it changed while it was read';

export const MAX_READINGS = 3;

/** Images by what tells them apart. */
type ByKey = ReadonlyMap<unknown, ReceivedImage>;

/**
 * Returns all images of a list, each once, of the first reading that counts:
 *
 *     a page or an image may be missing           no
 *     by id, and as many images as announced      yes
 *     in another order, or more than announced    if the reading before had the same images
 *
 * @param readPage returns a page by its number, from 1
 * @param readState tells one state of the list from another; undefined if the service does not sort
 * @throws ImgctlError incomplete-list; bad-answer: it is too large; what reading a page throws
 */
export async function imagesByNumber(
  readPage: (number: number) => Promise<ImagePage>,
  readState: (() => Promise<string>) | undefined,
): Promise<ReceivedImage[]> {
  let before: ByKey | undefined;
  for (let count = 1; ; count += 1) {
    const state = await readState?.();
    const { images: byKey, announced, fault: faultOfPages } = await readOnce(readPage);
    const hasChanged = (await readState?.()) !== state;
    const fault = hasChanged ? CHANGED : faultOfPages;
    const images = [...byKey.values()];
    const isById = readState !== undefined && areDescending(images.map(idOf));
    const isSure = isById && images.length === announced;
    if (fault === undefined && (isSure || haveSameKeys(byKey, before))) return images;
    if (count >= MAX_READINGS) {
      throw incompleteList(fault ?? 'each reading returned different images');
    }
    before = fault === undefined ? byKey : undefined;
  }
}

/** Returns the images of all pages, and the fault if some may be missing. */
async function readOnce(readPage: (number: number) => Promise<ImagePage>) {
  const images = new Map<unknown, ReceivedImage>();
  let bytes = 0;
  let announced = 0;
  for (let number = 1; ; number += 1) {
    const page = await readPage(number).catch((error: unknown) => {
      if (number > 1 && hasCode(error, 'not-found')) return undefined;
      throw error;
    });
    // Some services have no page after the end.
    if (page === undefined) break;
    if (number > 1 && page.total !== announced) return { images, announced, fault: CHANGED };
    announced = page.total;
    bytes += page.bytes;
    requireRoom(bytes);
    const { size } = images;
    for (const image of page.images) addImage(images, image);
    const hasNews = images.size > size;
    // A service may have more images or pages than it announces, or repeat its pages without an end.
    const mayHaveNext = number < page.pages || page.hasNext || images.size > announced;
    if (!mayHaveNext || !hasNews) break;
  }
  const fault = `the service announced ${announced} images but sent ${images.size}`;
  return { images, announced, fault: images.size < announced ? fault : undefined };
}

function haveSameKeys(now: ByKey, before: ByKey | undefined): boolean {
  return now.size === before?.size && [...now.keys()].every((key) => before.has(key));
}

export function incompleteList(fault: string): ImgctlError {
  const facts = 'the list may be changing; run the command again';
  return new ImgctlError('incomplete-list', `the list is incomplete: ${fault}`, { facts });
}
