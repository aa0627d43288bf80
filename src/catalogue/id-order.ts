// Finds out, once in a run, whether the service sorts ids as numbers.

import { ImgctlError } from '../errors.ts';
import type { FirstPages } from './first-pages.ts';
import { areDescending, idOf, lowestLongerId } from './ids.ts';

/**
 * A service may sort ids as texts: 999 before 1150. Then other ids are longer than the first one.
 * The service is asked for them only if the first id is a text, or begins with a 9, as it usually
 * does among texts, or is too low for so many images:
 *
 *     first id   images   filter=id,ge,1000        by number
 *     1150       1150     not asked                yes
 *     999        999      no image                 yes
 *     999        1150     an image, or refused     no
 *     899        1050     an image, or refused     no
 *     899        300      not asked                yes, although texts may go on with 1000
 */
export class IdOrder {
  readonly #firstPages: FirstPages;
  #isByNumber: boolean | undefined;

  constructor(firstPages: FirstPages) {
    this.#firstPages = firstPages;
  }

  /** False if the highest ids may not be first, so that a limit needs all pages. */
  async isByNumber(): Promise<boolean> {
    this.#isByNumber ??= await this.#hasNoLongerIds();
    return this.#isByNumber;
  }

  async #hasNoLongerIds(): Promise<boolean> {
    const first = await this.#firstPages.ofAll();
    if (!areDescending(first.images.map(idOf))) return false;
    const [image = {}] = first.images;
    const firstId = idOf(image);
    // Some services count ids from 0.
    const isTooLow = firstId + 1 < first.total;
    const mayBeText = isTooLow || typeof image.id === 'string' || `${firstId}`.startsWith('9');
    if (!mayBeText) return true;
    const filter = `id,ge,${lowestLongerId(firstId)}`;
    const longer = await this.#firstPages.request({ filter, perPage: 1 });
    return !(longer instanceof ImgctlError) && longer.images.length === 0;
  }
}
