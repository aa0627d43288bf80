// The first pages of lists, and what the service refuses: each is found out once in a run.

import type { Client } from '../api/client.ts';
import type { ImagePage, PageQuery } from '../api/images.ts';
import type { ImgctlError } from '../errors.ts';
import { BY_ID, printSort } from '../query/sort.ts';
import { idOf, lowestLongerId } from './ids.ts';
import { isRefusedRequest, isWhole, requestPage, unlessRefused } from './page.ts';

export const ID_ORDER = printSort(BY_ID);

/**
 * A refusal does not say what it is for. So the caller asks again without the filter, then without the sort, and the first
 * error is shown if the last request fails too:
 *
 *     filter=name,like,%a%&sort=id,desc   status 403
 *     sort=id,desc                        status 503
 *                                         status 503, so the error is that with status 403
 */
export class FirstPages {
  readonly #client: Pick<Client, 'listImages'>;
  readonly #trace: (text: string) => void;
  readonly #refused = new Set<string>();
  /** The first refusal that no response has followed yet. */
  #refusal: ImgctlError | undefined;
  #all: ImagePage | undefined;
  #sortsById = true;

  constructor(client: Pick<Client, 'listImages'>, trace: (text: string) => void) {
    this.#client = client;
    this.#trace = trace;
  }

  /** Returns undefined if the service refuses the filter or the sort: the caller then asks without it. */
  async ask(asked: PageQuery): Promise<ImagePage | undefined> {
    const parts = [asked.filter, asked.sort].filter((part) => part !== undefined).join(' by ');
    if (this.#refused.has(parts)) return undefined;
    const refusal = this.#refusal;
    this.#refusal = undefined;
    try {
      // What was refused was retried already.
      return await requestPage(this.#client, asked, 1, refusal && { retries: 0 });
    } catch (error) {
      if (!isRefusedRequest(error)) throw error;
      this.#trace(`the service refused ${parts}: ${error.message}`);
      const { status = 0 } = error;
      // 502 to 504 and others may not come again.
      if (status <= 501) this.#refused.add(parts);
      this.#refusal = refusal ?? error;
      return undefined;
    }
  }

  /** Returns the first page of all images by id, or in any order if the service cannot sort. */
  async ofAll(perPage: number): Promise<ImagePage> {
    if (this.#all) return this.#all;
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

  /** True if the page of all images was read, and is the whole list. */
  get hasAll(): boolean {
    return this.#all !== undefined && isWhole(this.#all);
  }

  /**
   * True if no image behind a page by id has a higher id. Where ids are sorted as texts, 999 is before 1150: a list of both
   * begins with a 9. So the service is asked for longer ids if the list of all images begins with a 9 too:
   *
   *     this page       the first of all   filter=id,ge,1000
   *     250 249 248                                            true
   *     950 920 870     1150                                   true: as texts, 950 would be first
   *     999 998 997     999                no image            true
   *     999 998 997     999                1000 and others     false
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
