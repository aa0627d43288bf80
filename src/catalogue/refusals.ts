// What the service refuses, found out once in a run.

import type { PageQuery } from '../api/images.ts';
import type { ImgctlError } from '../errors.ts';
import { isRefusedRequest } from './read-page.ts';

/**
 * A refusal does not say whether it is for the filter or the sort. The caller asks again without the filter, then without
 * the sort. The first response settles what was refused:
 *
 *     filter=name,like,%a%&sort=id,desc   status 400   a doubt
 *     sort=id,desc                        status 200   so the service refuses name,like: it is not sent again
 */
export class Refusals {
  /** Sorts, and filters by field and operator. */
  readonly #refused = new Set<string>();
  /** Whole filters, and sorts, that had a response. */
  readonly #accepted = new Set<string>();
  #doubts: { readonly asked: PageQuery; readonly error: ImgctlError }[] = [];
  readonly #trace: (text: string) => void;

  constructor(trace: (text: string) => void) {
    this.#trace = trace;
  }

  /** True if the service refuses the filter or the sort of the request. */
  has({ filter, sort }: Pick<PageQuery, 'filter' | 'sort'>): boolean {
    return partsOf(kindOfFilter(filter), sort).some((part) => this.#refused.has(part));
  }

  get hasDoubts(): boolean {
    return this.#doubts.length > 0;
  }

  /** Notes a doubt. Returns false if the error cannot be about the filter or the sort. */
  noteDoubt(asked: PageQuery, error: unknown): boolean {
    const isDoubt = isRefusedRequest(error) && !this.#hasAccepted(asked);
    if (isDoubt) this.#doubts.push({ asked, error });
    return isDoubt;
  }

  /** Returns the error to show: that of the first doubt, if the same happens to a request without what was refused. */
  causeOf(asked: PageQuery, error: unknown): unknown {
    const [doubt] = this.#doubts;
    return doubt && isRefusedRequest(error) && this.#hasAccepted(asked) ? doubt.error : error;
  }

  #hasAccepted({ filter, sort }: PageQuery): boolean {
    return partsOf(filter, sort).every((part) => this.#accepted.has(part));
  }

  /** Decides what the doubts are for. @param answered the request that had a response */
  settle(answered: PageQuery): void {
    for (const part of partsOf(answered.filter, answered.sort)) this.#accepted.add(part);
    for (const { asked, error } of this.#doubts) {
      const part = refusedPart(asked, answered);
      if (part === undefined) continue;
      this.#trace(`the service refused ${part}: ${error.message}`);
      const { status = 0 } = error;
      // 502 to 504 and others may not come again.
      if (status <= 501) this.#refused.add(part);
    }
    this.#doubts = [];
  }
}

/**
 * Returns what the service refuses, the sort or a kind of filter; undefined if nobody can say:
 *
 *     refused                    answered                   what is refused
 *     name,like,%a%  id,desc                     id,desc    name,like
 *                    name,asc                    id,desc    name,asc
 *     name,like,%a%  name,asc                    id,desc    undefined: it may be either
 *     name,like,%a%  id,desc     name,like,%b%   id,desc    undefined: perhaps only this value
 */
function refusedPart(refused: PageQuery, answered: PageQuery): string | undefined {
  const kind = kindOfFilter(refused.filter);
  if (refused.sort === answered.sort) {
    return kind === kindOfFilter(answered.filter) ? undefined : kind;
  }
  return kind === undefined ? refused.sort : undefined;
}

/** `name,like` of `name,like,%a%` */
function kindOfFilter(filter: string | undefined): string | undefined {
  return filter?.split(',', 2).join();
}

function partsOf(...parts: readonly (string | undefined)[]): string[] {
  return parts.filter((part) => part !== undefined);
}
