// Requests the first pages of lists, and remembers in a run what the service refuses.

import type { Client } from '../api/client.ts';
import type { ImagePage, PageQuery } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { BY_ID, printSort } from '../query/sort.ts';
import { idOf, lowestLongerId } from './ids.ts';
import { isOutage, isWhole, pageOrRefusal, requestPage } from './page.ts';

export const ID_ORDER = printSort(BY_ID);

export type ListClient = Pick<Client, 'listImages' | 'connections'>;

/** How lists are requested. */
export interface ListSetup {
  readonly client: ListClient;
  /** 1 to 100. */
  readonly perPage: number;
  /** Receives what only --debug shows. */
  readonly trace: (text: string) => void;
}

/**
 * A refusal does not say what it is for. So the caller requests the same without the filter, then
 * without the sort, and passes on the first refusal, which is thrown if all of these are refused:
 *
 *     filter=name,like,%a%&sort=id,desc   403
 *     sort=id,desc                        404
 *                                         500, so the error with 403 is thrown
 */
export class FirstPages {
  readonly #setup: ListSetup;
  /** By filter and sort: `name,like,%a% by id,desc`. */
  readonly #refusals = new Map<string, ImgctlError>();
  #firstOfAll: ImagePage | undefined;
  #sortsById = true;
  #sortsIdsAsNumbers: boolean | undefined;

  constructor(setup: ListSetup) {
    this.#setup = setup;
  }

  /**
   * Returns the first page, or why the service refuses its filter or sort.
   * @param earlier why the same was refused before, with a filter or in another order
   */
  async request(pageQuery: Partial<PageQuery>, earlier?: ImgctlError) {
    const { client, perPage, trace } = this.#setup;
    const { filter, sort } = pageQuery;
    const key = [filter, sort].filter((part) => part !== undefined).join(' by ');
    const known = this.#refusals.get(key);
    if (known) return known;
    // The earlier request was retried already, and the service is likely to be down.
    const options = isOutage(earlier) ? { retries: 0 } : {};
    const page = await pageOrRefusal(requestPage(client, { perPage, ...pageQuery }, 1, options));
    if (page instanceof ImgctlError) {
      trace(`the service refused ${key || 'the list'}: ${page.message}`);
      // Without a filter and a sort, it is no refusal of either.
      if (key !== '' && !isOutage(page)) this.#refusals.set(key, page);
    }
    return page;
  }

  /**
   * Returns the first page of all images, by id, or in any order if the service cannot sort.
   * @throws ImgctlError the earlier refusal, or that of the sort, if the page is refused too
   */
  async ofAll(earlier?: ImgctlError): Promise<ImagePage> {
    if (this.#firstOfAll) return this.#firstOfAll;
    const sorted = await this.request({ sort: ID_ORDER }, earlier);
    if (!(sorted instanceof ImgctlError)) {
      this.#firstOfAll = sorted;
      return sorted;
    }
    const firstRefusal = earlier ?? sorted;
    const unsorted = await this.request({}, sorted);
    if (unsorted instanceof ImgctlError) throw firstRefusal;
    this.#sortsById = false;
    this.#firstOfAll = unsorted;
    return unsorted;
  }

  /** False once the service has refused to sort by id. */
  get sortsById(): boolean {
    return this.#sortsById;
  }

  /** True if the first page of all images was read, and has all of them. */
  get hasAll(): boolean {
    return this.#firstOfAll !== undefined && isWhole(this.#firstOfAll);
  }

  /** False if the service may sort ids as texts: 999 before 1150. */
  async sortsIdsAsNumbers(): Promise<boolean> {
    this.#sortsIdsAsNumbers ??= await this.#hasNoLongerIds();
    return this.#sortsIdsAsNumbers;
  }

  /**
   * True if no image has a longer id than the first one. The service is asked if it sends ids as texts,
   * or if the first id begins with a 9, as it usually does among texts, or is too low for so many
   * images:
   *
   *     first id   images   filter=id,ge,1000
   *     1150       1150                         true
   *     999        999      no image            true
   *     999        1150     1150, or refused    false
   *     899        1050     1150, or refused    false
   */
  async #hasNoLongerIds(): Promise<boolean> {
    const first = await this.ofAll();
    const [image = {}] = first.images;
    const firstId = idOf(image);
    // Some services count ids from 0.
    const isTooLow = firstId + 1 < first.total;
    const mayBeText = isTooLow || typeof image.id === 'string' || `${firstId}`.startsWith('9');
    if (!mayBeText) return true;
    const longer = await this.request({ filter: `id,ge,${lowestLongerId(firstId)}`, perPage: 1 });
    return !(longer instanceof ImgctlError) && longer.images.length === 0;
  }
}
