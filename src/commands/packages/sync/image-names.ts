// The names of images: as they are compared, and those that a sync request has added or deleted.

import { stringify } from '../../../json.ts';
import { normalize } from '../../../query/fold-case.ts';

/** Returns the name in the form to compare, since storages may change its Unicode form. */
export function comparedName({ name }: { readonly name?: unknown }): string {
  return normalize(String(name));
}

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
