// What a service refuses, and whether its `like` loses images: found out once in a run.

import type { Client } from '../api/client.ts';
import { type ImagePage, MAX_PER_PAGE, type PageQuery } from '../api/images.ts';
import { ImgctlError, tryOr } from '../errors.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import { isWhole } from './pages-by-id.ts';

export const ID_ORDER = printSort(BY_ID);

export class ServiceHabits {
  readonly #client: Pick<Client, 'listImages'>;
  /** Receives what only --debug shows. */
  readonly trace: (text: string) => void;
  /** Sorts, and filters by field and operator, that are not sent again. */
  readonly #refused = new Set<string | undefined>();
  /** Sorts and filters that had a response: a later error is no refusal. */
  readonly #accepted = new Set<string | undefined>([undefined]);
  /** Refusals in a row. What they are for is known once another request has a response. */
  #doubts: { readonly asked: PageQuery; readonly error: ImgctlError }[] = [];
  /** By field, and whether a text has an i, which is special in Turkish. */
  readonly #proved = new Map<string, boolean>();
  /** The first page of all images, by page size. */
  readonly #first = new Map<number, ImagePage>();

  constructor(client: Pick<Client, 'listImages'>, trace: (text: string) => void = () => {}) {
    this.#client = client;
    this.trace = trace;
  }

  /** Returns the first page of all images by id, or in any order if the service cannot sort. Requests it once. */
  async firstPage(perPage = MAX_PER_PAGE): Promise<ImagePage> {
    const asked = { sort: ID_ORDER, perPage };
    const known = this.#first.get(perPage);
    // The service sent this page, so it refused what this request does not have.
    if (known) this.#settleDoubts(asked);
    const page = known ?? (await this.ask(asked)) ?? (await this.#try({ perPage }));
    this.#first.set(perPage, page);
    return page;
  }

  /** False once the service has refused to sort by id. */
  get sortsById(): boolean {
    return !this.#refused.has(ID_ORDER);
  }

  /** True if the first page of all images is at hand, and it has all of them. */
  get hasAll(): boolean {
    const first = this.#first.get(MAX_PER_PAGE);
    return first !== undefined && isWhole(first);
  }

  /**
   * Returns the first page of a list, or undefined if the service refuses its filter or its sort: the caller then asks
   * without it.
   */
  async ask(asked: PageQuery): Promise<ImagePage | undefined> {
    const { filter, sort } = asked;
    if (this.#refused.has(filterKey(filter)) || this.#refused.has(sort)) return undefined;
    try {
      return await this.#try(asked);
    } catch (error) {
      if (!this.#refusesQuery(asked, error)) throw error;
      this.#doubts.push({ asked, error });
      return undefined;
    }
  }

  /** @throws ImgctlError: the first refusal, if this request, without what was refused, is refused too */
  async #try(asked: PageQuery): Promise<ImagePage> {
    const [doubt] = this.#doubts;
    try {
      const page = await readPage(this.#client, asked, 1, doubt && { retries: 0 });
      this.#settleDoubts(asked);
      return page;
    } catch (error) {
      if (this.#refusesQuery(asked, error) || !isRefusedRequest(error)) throw error;
      throw doubt?.error ?? error;
    }
  }

  /** True if the error may be about the filter or the sort: one of them never had a response. */
  #refusesQuery({ filter, sort }: PageQuery, error: unknown): error is ImgctlError {
    return isRefusedRequest(error) && !(this.#accepted.has(filter) && this.#accepted.has(sort));
  }

  /** A response to this request says what the refusals before it were for. */
  #settleDoubts({ filter, sort }: PageQuery): void {
    this.#accepted.add(filter).add(sort);
    for (const { asked, error } of this.#doubts) {
      const isFilter = asked.sort === sort;
      // If a filter and a sort were sent together, either can be at fault.
      if (!isFilter && asked.filter !== undefined) continue;
      const key = isFilter ? filterKey(asked.filter) : asked.sort;
      this.trace(`the service refused ${key}: ${error.message}`);
      const { status = 0 } = error;
      // 502 to 504 and others may not come again.
      if (status <= 501) this.#refused.add(key);
    }
    this.#doubts = [];
  }

  /**
   * True if a filter loses no image: for a `like`, if the service is seen to find a part of a value whose case was
   * reversed. It is asked once for each field. @param page the first one of a list in this order
   */
  async provesComplete({ field, part }: ServiceFilter, page: ImagePage, sort: FieldSort) {
    if (part === undefined) return true;
    const letters = lettersOf(part);
    const key = proofKey(field, part);
    const known = this.#proved.get(key);
    if (known !== undefined) return known;
    const prove = async (proof: string | undefined, order: FieldSort) => {
      const isProved = proof !== undefined && (await this.#finds(field, proof, order));
      this.#proved.set(key, isProved);
      if (!isProved) this.trace(`like may lose images for ${field}, so its filter is not used`);
      return isProved;
    };
    const mixed = partsOn(page, field, letters, sort).find(isMixed);
    if (mixed !== undefined) return prove(mixed, sort);
    const all = await this.firstPage();
    // What is at hand needs no filter.
    if (isWhole(all)) return false;
    const parts = partsOn(all, field, letters, BY_ID);
    // If the field has upper and lower case, a value in one case cannot show how `like` treats the others.
    const hasBothCases = isMixed([...valuesOf(page, field), ...valuesOf(all, field)].join(''));
    return prove(hasBothCases ? parts.find(isMixed) : parts[0], BY_ID);
  }

  /** True if the service was seen not to find all values with the text of this `like`. */
  losesImages({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#proved.get(proofKey(field, part)) === false;
  }

  async #finds(field: Field, part: string, sort: FieldSort): Promise<boolean> {
    const reversed = withOtherCase(part);
    const filter = `${field},like,%${reversed}%`;
    try {
      const query = { filter, sort: printSort(sort), perPage: 1 };
      const page = await readPage(this.#client, query, 1);
      const [found = ''] = valuesOf(page, field);
      // A value with the reversed text itself would be found even if case counted.
      return found.toLowerCase().includes(part.toLowerCase()) && !found.includes(reversed);
    } catch (error) {
      if (isRefusedRequest(error)) return false;
      throw error;
    }
  }
}

/** The response is that of a request with another filter, as a broken cache may send it. */
class OtherFilterError extends ImgctlError {}

/**
 * Requests a page, without a filter twice if it is that of another request.
 * @throws ImgctlError bad-answer, and what Client.listImages throws
 */
export async function readPage(
  client: Pick<Client, 'listImages'>,
  query: PageQuery,
  number: number,
  options?: Parameters<Client['listImages']>[2],
): Promise<ImagePage> {
  for (let count = 1; ; count += 1) {
    const page = await client.listImages(query, number, options);
    const { filter: echo } = page.meta;
    if (typeof echo !== 'string' || isSameFilter(echo, query.filter ?? '')) return page;
    if (query.filter === undefined && count === 1) continue;
    const message = `the service sent the page of another request, with the filter ${echo}`;
    const facts = 'try again; a cache or proxy may be mixing up responses';
    throw new OtherFilterError('bad-answer', message, { facts });
  }
}

function isSameFilter(echo: string, sent: string): boolean {
  const plain = (text: string) => text.replace(/[\s+]/g, '').toLowerCase();
  const decoded = tryOr(() => decodeURIComponent(echo), echo);
  return [echo, decoded].some((text) => plain(text) === plain(sent));
}

/** True for the status of a request that the service, or a firewall before it, does not take. */
export function isRefusedRequest(error: unknown): error is ImgctlError {
  if (error instanceof OtherFilterError) return true;
  const { status = 0 } = error instanceof ImgctlError ? error : {};
  return status >= 400 && ![401, 407, 408, 429].includes(status);
}

function filterKey(filter: string | undefined): string | undefined {
  return filter?.split(',', 2).join();
}

/** The letters that a proof for this text must have. */
const lettersOf = (part: string) => (/i/i.test(part) ? /i/i : /[a-z]/i);

const proofKey = (field: Field, part: string) => `${field} ${lettersOf(part)}`;

const isMixed = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

function valuesOf({ images }: Pick<ImagePage, 'images'>, field: Field): string[] {
  return images.map((image) => `${readValue(image, field) ?? ''}`);
}

/**
 * Returns the inner parts of values on the page that can prove what `like` finds. A service that ignores filters would send
 * the first row, or one that the sort does not tell apart from it; so none that these contain.
 */
function partsOn({ images }: ImagePage, field: Field, letters: RegExp, sort: FieldSort): string[] {
  const ranks = ranksOf(images, sort.field);
  const firsts = images.filter((_, at) => ranks[at] === ranks[0]);
  const firstValues = valuesOf({ images: firsts }, field).map((text) => text.toLowerCase());
  const parts = valuesOf({ images }, field).map((value) => value.slice(1, -1));
  return parts.filter(
    (part) =>
      letters.test(part) &&
      likeFilter(field, part) !== undefined &&
      !firstValues.some((text) => text.includes(part.toLowerCase())),
  );
}

function withOtherCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
