// The first pages of lists. That of all images is requested once in a run.

import type { Client } from '../api/client.ts';
import { type ImagePage, MAX_PER_PAGE, type PageQuery } from '../api/images.ts';
import { BY_ID, printSort } from '../query/sort.ts';
import { isWhole, readPage } from './read-page.ts';
import { Refusals } from './refusals.ts';

export const ID_ORDER = printSort(BY_ID);

export class FirstPages {
  readonly #client: Pick<Client, 'listImages'>;
  readonly #refusals: Refusals;
  /** By page size. */
  readonly #ofAll = new Map<number, ImagePage>();
  #sortsById = true;

  constructor(client: Pick<Client, 'listImages'>, trace: (text: string) => void) {
    this.#client = client;
    this.#refusals = new Refusals(trace);
  }

  /** False once the service has refused to sort by id. */
  get sortsById(): boolean {
    return this.#sortsById;
  }

  /** True if the page of 100 was read, and it has all images. */
  get hasAll(): boolean {
    const page = this.#ofAll.get(MAX_PER_PAGE);
    return page !== undefined && isWhole(page);
  }

  /** Returns the first page of all images by id, or in any order if the service cannot sort. */
  async ofAll(perPage = MAX_PER_PAGE): Promise<ImagePage> {
    const asked = { sort: ID_ORDER, perPage };
    const known = this.#ofAll.get(perPage);
    if (known) {
      // It is what would come now: what was refused before is not in this request.
      this.#refusals.settle(asked);
      return known;
    }
    const sorted = await this.ask(asked);
    this.#sortsById = sorted !== undefined;
    const page = sorted ?? (await this.#request({ perPage }));
    this.#ofAll.set(perPage, page);
    return page;
  }

  /** Returns undefined if the service refuses the filter or the sort: the caller then asks without it. */
  async ask(asked: PageQuery): Promise<ImagePage | undefined> {
    if (this.#refusals.has(asked)) return undefined;
    try {
      return await this.#request(asked);
    } catch (error) {
      if (this.#refusals.noteDoubt(asked, error)) return undefined;
      throw error;
    }
  }

  async #request(asked: PageQuery): Promise<ImagePage> {
    try {
      // What was refused was retried already.
      const options = this.#refusals.hasDoubts ? { retries: 0 } : undefined;
      const page = await readPage(this.#client, asked, 1, options);
      this.#refusals.settle(asked);
      return page;
    } catch (error) {
      throw this.#refusals.causeOf(asked, error);
    }
  }
}
