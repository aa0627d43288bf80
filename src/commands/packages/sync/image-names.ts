// The names of the images that a sync request has added or deleted.

import { stringify } from '../../../json.ts';

/** Returns the names in `["a.ova", {"id": 7, "name": "b.ova"}]`; what has no name, as JSON. */
export function namesOfImages(images: readonly unknown[]): string[] {
  return images.map((image) => {
    const { name = image } = Object(image) as { name?: unknown };
    return typeof name === 'string' ? name : stringify(image);
  });
}

/** Returns `a.ova, b.ova` or `none`; what is no list of images, such as their number, as it is. */
export function describeImages(images: unknown): unknown {
  return Array.isArray(images) ? namesOfImages(images).join(', ') || 'none' : images;
}
