// Chooses which filter and sort the service gets for a list, and learns in a run what it refuses and whether it minds case.

import type { Client } from '../api/client.ts';
import { type ImagePage, MAX_PER_PAGE, type PageQuery } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, type ImageRecord, readValue } from '../query/fields.ts';
import { like, type ServiceFilter, serviceFilter } from '../query/filter.ts';
import type { Query } from '../query/query.ts';
import { type FieldSort, printSort, ranksOf } from '../query/sort.ts';

/** Only the id tells all images apart: a service may send equal values in another order on each page. */
export const BY_ID: FieldSort = { field: 'id', direction: 'asc' };

interface OpenList {
  readonly filter: string | undefined;
  readonly first: ImagePage;
  readPage(number: number, signal: AbortSignal): Promise<ImagePage>;
}

export type Trace = (text: string) => void;

interface ListOptions {
  readonly sort: FieldSort;
  readonly perPage: number;
}

/** The lists of the service in one run: one command, or one call of the library. */
export class ServiceLists {
  readonly #client: Pick<Client, 'listImages'>;
  /** Receives what only --debug shows. */
  readonly trace: Trace | undefined;
  /** Fields whose filters, and sorts, that the service refused, with its error. */
  readonly #refused = new Map<string | undefined, ImgctlError>();
  /** By field, and whether a pattern has an i, which is special in Turkish. */
  readonly #ignoresCase = new Map<string, boolean>();
  /** All images by id. */
  #start: OpenList | undefined;

  constructor(client: Pick<Client, 'listImages'>, trace?: Trace) {
    this.#client = client;
    this.trace = trace;
  }

  /** Opens a list with the first filter of the query that cannot lose an image, or without one. */
  async open(query: Query, options: ListOptions): Promise<OpenList> {
    const isSame = options.sort === BY_ID && options.perPage === MAX_PER_PAGE;
    for (const { sent } of query.conditions) {
      // All images are at hand.
      if (isSame && this.#start && isWhole(this.#start.first)) break;
      if (sent === undefined || this.#refused.has(sent.field)) continue;
      if (sent.pattern && this.#ignoresCase.get(caseKey(sent)) === false) continue;
      const list = await this.#request(sent, options);
      if (list.filter === undefined) return list;
      if (await this.#isProved(sent, list.first, options.sort)) return list;
    }
    return isSame ? this.#firstPage() : this.#request(undefined, options);
  }

  /** True if a list of each query takes fewer requests than one of all images. Reads their first page to know. */
  async isCheaperByQuery(queries: readonly Query[]): Promise<boolean> {
    const { first } = await this.#firstPage();
    // One for each list, and one that asks about case.
    if (first.pages <= queries.length + 2) return false;
    for (const { conditions } of queries) {
      let isFiltered = false;
      for (const { sent } of conditions) {
        if (isFiltered || sent === undefined || this.#refused.has(sent.field)) continue;
        isFiltered = await this.#isProved(sent, first, BY_ID);
      }
      if (!isFiltered) return false;
    }
    return true;
  }

  async #firstPage(): Promise<OpenList> {
    this.#start ??= await this.#request(undefined, { sort: BY_ID, perPage: MAX_PER_PAGE });
    return this.#start;
  }

  /**
   * Tries filter and sort, then the order by id alone, the filter alone, and neither. A list without an order counts only
   * if it is whole.
   * @throws ImgctlError the first one
   */
  async #request(sent: ServiceFilter | undefined, options: ListOptions): Promise<OpenList> {
    const { perPage } = options;
    const [sort, byId] = [printSort(options.sort), printSort(BY_ID)];
    let refusal: ImgctlError | undefined;
    const tried = new Set<string>();
    for (const [kept, order] of [[sent, sort], [undefined, byId], [sent, undefined], []] as const) {
      const names = [kept?.field, order];
      if (names.some((name) => this.#refused.has(name)) || tried.has(`${names}`)) continue;
      tried.add(`${names}`);
      const query = { filter: kept?.filter, sort: order, perPage };
      try {
        const first = await this.#client.listImages(query, 1);
        if (order === undefined && !isWhole(first)) break;
        if (refusal) {
          const refused = [sent?.field, sort, byId].filter((name) => name && !names.includes(name));
          for (const name of refused) this.#refused.set(name, refusal);
          this.trace?.(`the service refused ${refused.join(' and ')}: ${refusal.message}`);
        }
        return { filter: kept?.filter, first, readPage: pagesOf(this.#client, query, first) };
      } catch (error) {
        if (!(error instanceof ImgctlError)) throw error;
        refusal ??= error;
        if (!isRefusal(error, kept)) throw refusal;
      }
    }
    throw refusal ?? this.#refused.get(byId);
  }

  /**
   * True if `like` ignores case, or the pattern has no letters: else the filter could lose images. The service is asked,
   * once for each field, for a value that it sent with the case of its letters reversed.
   */
  async #isProved(sent: ServiceFilter, page: ImagePage, sort: FieldSort): Promise<boolean> {
    const known = sent.pattern === undefined || this.#ignoresCase.get(caseKey(sent));
    if (known !== undefined) return known;
    let value = provingValue(sent, page, sort);
    let order = sort;
    if (value === undefined) {
      const { first } = await this.#firstPage();
      // What is there already needs no filter.
      if (isWhole(first)) return false;
      order = BY_ID;
      value = provingValue(sent, first, order);
    }
    const isProved = value !== undefined && (await this.#ignoresCaseOf(sent.field, value, order));
    this.#ignoresCase.set(caseKey(sent), isProved);
    if (!isProved)
      this.trace?.(`like may be case-sensitive for ${sent.field}, so its filter is not sent`);
    return isProved;
  }

  async #ignoresCaseOf(field: Field, value: string, sort: FieldSort): Promise<boolean> {
    const flipped = withOtherCase(value);
    const query = { filter: `${field},like,${flipped}%`, sort: printSort(sort), perPage: 1 };
    try {
      const { images } = await this.#client.listImages(query, 1);
      const found = `${readValue(images[0] ?? {}, field) ?? ''}`;
      return startsLike(found, value) && !found.startsWith(flipped);
    } catch (error) {
      if (error instanceof ImgctlError && isRefusal(error)) return false;
      throw error;
    }
  }
}

function isWhole({ pages, hasNext }: ImagePage): boolean {
  return pages <= 1 && !hasNext;
}

/** Also 500 for a filter on the id: one that the database cannot hold. */
function isRefusal({ status }: ImgctlError, sent?: ServiceFilter): boolean {
  return status === 400 || status === 422 || (status === 500 && sent?.field === 'id');
}

/** Returns a function that requests pages; page 1 is at hand once. */
function pagesOf(client: Pick<Client, 'listImages'>, query: PageQuery, first: ImagePage) {
  let atHand: ImagePage | undefined = first;
  return async (number: number, signal: AbortSignal): Promise<ImagePage> => {
    const known = number === 1 ? atHand : undefined;
    atHand = undefined;
    return known ?? client.listImages(query, number, signal);
  };
}

/** The letters that a proof for this pattern must have: i is special in Turkish. */
const lettersOf = ({ pattern = '' }: ServiceFilter) => (/i/i.test(pattern) ? /i/i : /[a-z]/i);

const caseKey = (sent: ServiceFilter) => `${sent.field} ${lettersOf(sent)}`;

/**
 * Returns a value of the field on the page that can prove that `like` ignores case. A service that ignores filters would
 * send the first row, or one that the sort does not tell apart from it; so none of their values.
 */
function provingValue(
  sent: ServiceFilter,
  { images }: ImagePage,
  sort: FieldSort,
): string | undefined {
  const { field } = sent;
  const textOf = (image: ImageRecord) => `${readValue(image, field) ?? ''}`;
  const ranks = ranksOf(images, sort.field);
  const firsts = images.filter((_, at) => ranks[at] === ranks[0]).map(textOf);
  return images
    .map(textOf)
    .find(
      (value) =>
        lettersOf(sent).test(value) &&
        !/[%,]/.test(value) &&
        serviceFilter(like(field, `${value}%`)) !== undefined &&
        !firsts.some((text) => startsLike(text, value)),
    );
}

function withOtherCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

function startsLike(text: string, value: string): boolean {
  return text.toLowerCase().startsWith(value.toLowerCase());
}
