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
      // Tried only once after a refusal, which is shown if this fails too.
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
   * False if the service may sort ids as texts: 999 before 1150. As ids are given out in turn, the
   * list of all images then begins with a 9, and the service is asked whether there are longer ids:
   *
   *     all images by id     filter=id,ge,1000
   *     1150 1149 1148 ...                       true
   *     999 998 997 ...      no image            true
   *     999 998 997 ...      1150                false
   */
  async sortsIdsAsNumbers(perPage: number): Promise<boolean> {
    const all = await this.ofAll(perPage);
    const [first = {}] = all.images;
    if (!`${idOf(first)}`.startsWith('9')) return true;
    const filter = `id,ge,${lowestLongerId(all)}`;
    const longer = await unlessRefused(requestPage(this.#client, { filter, perPage: 1 }));
    return longer?.images.length === 0;
  }
}
