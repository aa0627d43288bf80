// Compares two states of a list of images.

import type { ReceivedImage } from '../api/types.ts';
import { stringify } from '../json.ts';
import { type FileLabel, parseLines } from './snapshot.ts';

export interface Change {
  /** moved: another name, path, folder or data store; updated: any other difference. */
  readonly change: 'added' | 'updated' | 'moved' | 'removed';
  /** As it is now, or as it was before it was removed. */
  readonly image: ReceivedImage;
  readonly before: ReceivedImage | null;
}

/** Receives the new images one by one; unchanged images cost neither parsing nor memory. */
export class Comparison {
  readonly #old: Map<string, string>;
  readonly #lines: string[] = [];
  readonly #different: ReceivedImage[] = [];

  /** @param lines the JSON of each old image */
  constructor(lines: readonly string[]) {
    this.#old = new Map(lines.map((line) => [line, line]));
  }

  add(image: ReceivedImage): void {
    const line = stringify(image);
    // The old text, so that the new one need not stay in memory.
    const same = this.#old.get(line);
    this.#lines.push(same ?? line);
    if (same === undefined) this.#different.push(image);
    else this.#old.delete(line);
  }

  /** The JSON of each new image. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /**
   * Returns the changes in the order of the new images, then the removed ones in the old order.
   * @param file where the old images come from
   * @throws ImgctlError config: an old image is damaged
   */
  async changes(file: FileLabel): Promise<Change[]> {
    const old = new Map<unknown, ReceivedImage>();
    for (const image of await parseLines([...this.#old.keys()], file)) old.set(keyOf(image), image);
    const changes: Change[] = [];
    for (const image of this.#different) {
      const before = old.get(keyOf(image));
      old.delete(keyOf(image));
      if (before === undefined) changes.push({ change: 'added', image, before: null });
      else if (differs(before, image, PLACE)) changes.push({ change: 'moved', image, before });
      else if (differs(before, image, allFields(before, image)))
        changes.push({ change: 'updated', image, before });
    }
    for (const before of old.values()) changes.push({ change: 'removed', image: before, before });
    return changes;
  }
}

const PLACE = ['name', 'path', 'folder', 'data_store'];

function keyOf(image: ReceivedImage): unknown {
  return image.id ?? stringify(image);
}

function allFields(...images: readonly ReceivedImage[]): string[] {
  return images.flatMap((image) => Object.keys(image));
}

/** A field that is missing equals null. */
function differs(left: ReceivedImage, right: ReceivedImage, fields: readonly string[]): boolean {
  return fields.some((field) => stringify(left[field]) !== stringify(right[field]));
}
