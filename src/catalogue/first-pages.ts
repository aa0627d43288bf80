// Requests the first pages of lists, and remembers in a run what the service refuses.

import type { Client } from '../api/client.ts';
import type { ImagePage, PageQuery } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { SORT_BY_ID } from '../query/sort.ts';
import { isOutage, isWhole, pageOrRefusal, requestPage } from './page.ts';

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
 * A refusal does not say what it is for: the filter, the sort, or neither. So a simpler request
 * follows it. If all are refused, the first refusal is the error, as the user asked for that:
 *
 *     filter=name,like,%a%&sort=id,desc   403, the error
 *     sort=id,desc                        404
 *     neither                             500
 */
export class FirstPages {
  readonly #setup: ListSetup;
  /** By filter and sort: `name,like,%a% by id,desc`. */
  readonly #refusals = new Map<string, ImgctlError>();
  /** The refusals since a page came or the list failed. */
  #refusedInARow: readonly ImgctlError[] = [];
  #ofAll: ImagePage | undefined;
  #sortsById = true;

  constructor(setup: ListSetup) {
    this.#setup = setup;
  }

  /** Returns the first page, or why the service refuses its filter or sort. */
  async request(pageQuery: Partial<PageQuery>): Promise<ImagePage | ImgctlError> {
    const { filter, sort } = pageQuery;
    const key = [filter, sort].filter((part) => part !== undefined).join(' by ');
    const response = this.#refusals.get(key) ?? (await this.#send(pageQuery, key));
    const isRefused = response instanceof ImgctlError;
    this.#refusedInARow = isRefused ? [...this.#refusedInARow, response] : [];
    return response;
  }

  async #send(pageQuery: Partial<PageQuery>, key: string) {
    const { client, perPage, trace } = this.#setup;
    // The refused request was retried already, and the service is likely to be down.
    const options = this.#refusedInARow.some(isOutage) ? { retries: 0 } : {};
    const page = await pageOrRefusal(requestPage(client, { perPage, ...pageQuery }, 1, options));
    if (page instanceof ImgctlError) {
      trace(`the service refused ${key || 'the list'}: ${page.message}`);
      // Without a filter and a sort, it is no refusal of either.
      if (key !== '' && !isOutage(page)) this.#refusals.set(key, page);
    }
    return page;
  }

  /**
   * Returns the first page of all images, by id, or in any order if the service refuses to sort.
   * @throws ImgctlError the first refusal of this request, or of those before it
   */
  async ofAll(): Promise<ImagePage> {
    try {
      this.#ofAll ??= await this.#requestAll();
      return this.#ofAll;
    } finally {
      this.#refusedInARow = [];
    }
  }

  async #requestAll(): Promise<ImagePage> {
    const sorted = await this.request({ sort: SORT_BY_ID });
    const page = sorted instanceof ImgctlError ? await this.request({}) : sorted;
    if (page instanceof ImgctlError) throw this.#refusedInARow[0];
    this.#sortsById = page === sorted;
    return page;
  }

  /** False if the service refused to sort the first page of all images. */
  get sortsById(): boolean {
    return this.#sortsById;
  }

  /** True if the first page of all images was read, and has all of them. */
  get hasAll(): boolean {
    return this.#ofAll !== undefined && isWhole(this.#ofAll);
  }
}
