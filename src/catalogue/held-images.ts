// Images that are held in memory: each once, and no more than fit.

import { keyOf } from '../api/images.ts';
import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';

/** Maximum size of the pages of a list that is held in memory, in bytes; about 500,000 images. */
const MAX_HELD_BYTES = 256 * 2 ** 20;

/**
 * Adds an image, or replaces the one with its id and returns true. Images without an id are
 * different images even if they are equal.
 */
export function addImage(images: Map<unknown, ReceivedImage>, image: ReceivedImage): boolean {
  const hasId = (image.id ?? null) !== null;
  const key = hasId ? keyOf(image) : `${keyOf(image)} ${images.size}`;
  const isKnown = images.has(key);
  images.set(key, image);
  return isKnown;
}

/** @throws ImgctlError bad-answer */
export function requireRoom(bytes: number): void {
  if (bytes <= MAX_HELD_BYTES) return;
  const message = `the list is larger than ${MAX_HELD_BYTES / 2 ** 20} MiB`;
  throw new ImgctlError('bad-answer', message, { facts: { kind: 'list-too-large' } });
}
