// What the service refuses, found out once in a run, and what is read once: the first page of all images.

import type { Client } from '../api/client.ts';
import { type ImagePage, MAX_PER_PAGE, type PageQuery } from '../api/images.ts';
import type { ImgctlError } from '../errors.ts';
import { BY_ID, printSort } from '../query/sort.ts';
import { LikeProofs } from './like-proofs.ts';
import { isRefusedRequest, isWhole, readPage } from './read-page.ts';

export const ID_ORDER = printSort(BY_ID);

/** A refused request. Its filter or its sort may be the reason. */
interface Doubt {
  readonly asked: PageQuery;
  readonly error: ImgctlError;
}

/**
 * A refusal does not say what it is for. The caller asks again without the filter, then without the sort; the first
 * response settles what was refused, and that is not sent again:
 *
 *     filter=name,like,%a%&sort=id,desc   status 400   a doubt
 *     sort=id,desc                        status 200   so the service refuses name,like
 *
 * If the last request is refused too, neither the filter nor the sort is the reason, and the first error is thrown.
 */
export class ServiceHabits {
  readonly #client: Pick<Client, 'listImages'>;
  /** Receives what only --debug shows. */
  readonly trace: (text: string) => void;
  readonly like: LikeProofs;
  /** Sorts, and filters by field and operator. */
  readonly #refused = new Set<string>();
  /** Sorts and whole filters that had a response; undefined stands for none. */
  readonly #accepted = new Set<string | undefined>([undefined]);
  #doubts: Doubt[] = [];
  /** The first page of all images, by page size. */
  readonly #firstPages = new Map<number, ImagePage>();

  constructor(client: Pick<Client, 'listImages'>, trace: (text: string) => void = () => {}) {
    this.#client = client;
    this.trace = trace;
    this.like = new LikeProofs(client, () => this.firstPage(), trace);
  }

  /** Returns the first page of all images by id, or in any order if the service cannot sort. Requests it once. */
  async firstPage(perPage = MAX_PER_PAGE): Promise<ImagePage> {
    const asked = { sort: ID_ORDER, perPage };
    const known = this.#firstPages.get(perPage);
    if (known) {
      // This is the request without what was refused. Its response has come earlier.
      this.#settleDoubts(asked);
      return known;
    }
    const page = (await this.ask(asked)) ?? (await this.#request({ perPage }));
    this.#firstPages.set(perPage, page);
    return page;
  }

  /** False once the service has refused to sort by id. */
  get sortsById(): boolean {
    return !this.#refused.has(ID_ORDER);
  }

  /** True if the first page of all images was read, and it has all of them. */
  get hasAll(): boolean {
    const first = this.#firstPages.get(MAX_PER_PAGE);
    return first !== undefined && isWhole(first);
  }

  /**
   * Returns the first page of a list, or undefined if the service refuses its filter or its sort: the caller then asks
   * without it.
   */
  async ask(asked: PageQuery): Promise<ImagePage | undefined> {
    const parts = [filterKind(asked.filter), asked.sort];
    if (parts.some((part) => part !== undefined && this.#refused.has(part))) return undefined;
    try {
      return await this.#request(asked);
    } catch (error) {
      if (!this.#mayRefuseQuery(asked, error)) throw error;
      this.#doubts.push({ asked, error });
      return undefined;
    }
  }

  /** @throws ImgctlError: that of the first doubt, if this request is refused for another reason than its filter or sort */
  async #request(asked: PageQuery): Promise<ImagePage> {
    const [doubt] = this.#doubts;
    try {
      // The refused request was retried; this one need not be.
      const page = await readPage(this.#client, asked, 1, doubt && { retries: 0 });
      this.#settleDoubts(asked);
      return page;
    } catch (error) {
      const isOfRest = isRefusedRequest(error) && !this.#mayRefuseQuery(asked, error);
      throw isOfRest && doubt ? doubt.error : error;
    }
  }

  /** True if the error may be about the filter or the sort: one of them never had a response. */
  #mayRefuseQuery({ filter, sort }: PageQuery, error: unknown): error is ImgctlError {
    return isRefusedRequest(error) && !(this.#accepted.has(filter) && this.#accepted.has(sort));
  }

  /** Notes what the refusals so far were for. @param answered the request that had a response */
  #settleDoubts(answered: PageQuery): void {
    this.#accepted.add(answered.filter).add(answered.sort);
    for (const { asked, error } of this.#doubts) {
      const part = refusedPart(asked, answered);
      if (part === undefined) continue;
      this.trace(`the service refused ${part}: ${error.message}`);
      const { status = 0 } = error;
      // 502 to 504 and others may not come again.
      if (status <= 501) this.#refused.add(part);
    }
    this.#doubts = [];
  }
}

/** Returns the sort or the kind of filter that the service refuses, or undefined if it may be either. */
function refusedPart(refused: PageQuery, answered: PageQuery): string | undefined {
  if (refused.sort === answered.sort) return filterKind(refused.filter);
  return refused.filter === undefined ? refused.sort : undefined;
}

/** `name,like` of `name,like,%a%` */
function filterKind(filter: string | undefined): string | undefined {
  return filter?.split(',', 2).join();
}
