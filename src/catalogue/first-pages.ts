// Requests the first pages of lists, and remembers in a run what the service refuses.

import type { Client } from '../api/client.ts';
import type { ImagePage, PageQuery } from '../api/images.ts';
import type { ImgctlError } from '../errors.ts';
import { BY_ID, printSort } from '../query/sort.ts';
import { idOf, lowestLongerId } from './ids.ts';
import { isRefusedRequest, isWhole, requestPage, unlessRefused } from './page.ts';

export const ID_ORDER = printSort(BY_ID);

/**
 * A refusal does not say what it is for. So the same is requested without the filter, then without
 * the sort. If all of these are refused, the first error is thrown:
 *
 *     filter=name,like,%a%&sort=id,desc   403
 *     sort=id,desc                        503
 *                                         503, so the error with 403 is thrown
 */
export class FirstPages {
  readonly #client: Pick<Client, 'listImages'>;
  readonly #trace: (text: string) => void;
  /** Filters and sorts: `name,like,%a% by id,desc`. */
  readonly #refused = new Set<string>();
  /** The first refusal since the last response. */
  #refusal: ImgctlError | undefined;
  #all: ImagePage | undefined;
  #sortsById = true;

  constructor(client: Pick<Client, 'listImages'>, trace: (text: string) => void) {
    this.#client = client;
    this.#trace = trace;
  }

  /** Returns undefined if the service refuses the filter or the sort: the caller omits it then. */
  async ask(asked: PageQuery): Promise<ImagePage | undefined> {
    const refusable = [asked.filter, asked.sort].filter((part) => part !== undefined).join(' by ');
    if (this.#refused.has(refusable)) return undefined;
    try {
      // The request that was refused was retried.
      const options = this.#refusal && { retries: 0 };
      const page = await requestPage(this.#client, asked, 1, options);
      this.#refusal = undefined;
      return page;
    } catch (error) {
      if (!isRefusedRequest(error)) throw error;
      this.#trace(`the service refused ${refusable || 'the list'}: ${error.message}`);
      const { status = 0 } = error;
      // 502 to 504 may be over at the next request.
      if (refusable !== '' && status <= 501) this.#refused.add(refusable);
      this.#refusal ??= error;
      return undefined;
    }
  }

  /** Returns the first page of all images, by id, or in any order if the service cannot sort. */
  async ofAll(perPage: number): Promise<ImagePage> {
    if (this.#all) {
      this.#refusal = undefined;
      return this.#all;
    }
    const sorted = await this.ask({ sort: ID_ORDER, perPage });
    this.#sortsById = sorted !== undefined;
    const page = sorted ?? (await this.ask({ perPage }));
    if (page === undefined) throw this.#refusal;
    this.#all = page;
    return page;
  }

  /** False once the service has refused to sort by id. */
  get sortsById(): boolean {
    return this.#sortsById;
  }

  /** True if the first page of all images was read, and has all of them. */
  get hasAll(): boolean {
    return this.#all !== undefined && isWhole(this.#all);
  }

  /**
   * True if a page by id, and so the list that it begins, has the highest ids first. Where ids are
   * sorted as texts, 999 comes before 1150. So if ids are given out in turn, such a list begins
   * with a 9, and the service is asked whether there are longer ids:
   *
   *     this page       the first of all   filter=id,ge,1000
   *     250 249 248                                              true
   *     950 920 870     1150                                     true: as texts, 950 would be first
   *     999 998 997     999                no image              true
   *     999 998 997     999                1150                  false
   */
  async hasHighestIds(page: ImagePage, perPage: number): Promise<boolean> {
    if (!beginsWith9(page)) return true;
    const all = await this.ofAll(perPage);
    if (!beginsWith9(all)) return true;
    const filter = `id,ge,${lowestLongerId(all)}`;
    const longer = await unlessRefused(requestPage(this.#client, { filter, perPage: 1 }));
    return longer?.images.length === 0;
  }
}

function beginsWith9({ images: [first = {}] }: ImagePage): boolean {
  return `${idOf(first)}`.startsWith('9');
}
