// Images that are held in memory: each once, and no more than fit.

import { type ImagePage, keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';

/** Maximum size of the pages of a list that is held in memory, in bytes; about 500,000 images. */
const MAX_HELD_BYTES = 256 * 2 ** 20;

/**
 * Adds an image, or replaces the one with its id and returns true.
 * @throws ImgctlError bad-answer: an equal image without an id is there, perhaps the same one
 */
export function addImage(images: Map<unknown, ReceivedImage>, image: ReceivedImage): boolean {
  const key = keyOf(image);
  const isKnown = images.has(key);
  if (isKnown && (image.id ?? null) === null) {
    throw new ImgctlError('bad-answer', 'the service sent an image without an id twice');
  }
  images.set(key, image);
  return isKnown;
}

/** Returns the images of all pages. @throws ImgctlError bad-answer: they are too large */
export async function holdImages(pages: AsyncIterable<Pick<ImagePage, 'images' | 'bytes'>>) {
  const held: ReceivedImage[] = [];
  let heldBytes = 0;
  for await (const { images, bytes } of pages) {
    for (const image of images) held.push(image);
    heldBytes += bytes;
    requireRoom(heldBytes);
  }
  return held;
}

/** @throws ImgctlError bad-answer */
export function requireRoom(bytes: number): void {
  if (bytes <= MAX_HELD_BYTES) return;
  const message = `the list is larger than ${MAX_HELD_BYTES / 2 ** 20} MiB`;
  throw new ImgctlError('bad-answer', message, { facts: { kind: 'list-too-large' } });
}
