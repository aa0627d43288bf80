// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { ImagePage } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';

/** A text to find, and the order of the page that has it. */
interface Probe {
  readonly text: string;
  readonly sort: FieldSort;
}

/**
 * A service may mind the case of a `like`, or search for whole values only. So it must first find a
 * value that it sent:
 *
 *     a value on a page         Rocky-9-LTS
 *     the probe                 ocky-9-LT   without the first and last character
 *     with its case reversed    OCKY-9-lt
 *     the request               filter=name,like,%OCKY-9-lt%&per_page=1
 *     the proof                 an image whose name has the probe as it was on the page
 */
export class LikeProofs {
  readonly #firstPages: FirstPages;
  readonly #trace: (text: string) => void;
  /** By `keyOfProof`. */
  readonly #results = new Map<string, boolean>();

  constructor(firstPages: FirstPages, trace: (text: string) => void) {
    this.#firstPages = firstPages;
    this.#trace = trace;
  }

  /** True if a proof for this filter has failed. */
  hasFailed({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#results.get(keyOfProof(field, part)) === false;
  }

  /**
   * True if the filter is proved to find every image that matches. Nothing is proved once the page of
   * all images is at hand, which may be read for a proof.
   * @param page the first one with this filter, in this order
   */
  async isProved(filter: ServiceFilter, page: ImagePage, sort: FieldSort): Promise<boolean> {
    const { field, part } = filter;
    // Services agree on what `eq` and `in` find.
    if (part === undefined) return true;
    const key = keyOfProof(field, part);
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    const probe = await this.#chooseProbe(field, part, page, sort);
    if (this.#firstPages.hasAll) return false;
    const isFound = probe !== undefined && (await this.#isFound(field, probe));
    if (!isFound) this.#trace(`like is not proved for ${field}, so its filter is not used`);
    this.#results.set(key, isFound);
    return isFound;
  }

  /** Returns a probe of the page, else of the first page of all images. */
  async #chooseProbe(field: Field, part: string, page: ImagePage, sort: FieldSort) {
    const probe = findProbe(page, field, part, sort);
    if (probe) return probe;
    const firstOfAll = await this.#firstPages.ofAll();
    const values = [...valuesOf(page, field), ...valuesOf(firstOfAll, field)];
    const isAllOneCase = !hasBothCases(values.join(''));
    return findProbe(firstOfAll, field, part, BY_ID, isAllOneCase);
  }

  /** True if the service finds an image by the text with its case reversed. */
  async #isFound(field: Field, { text, sort }: Probe): Promise<boolean> {
    const filter = likeFilter(field, reverseCase(text))?.text;
    const page = await this.#firstPages.request({ filter, sort: printSort(sort), perPage: 1 });
    if (page instanceof ImgctlError) return false;
    const [found = ''] = valuesOf(page, field);
    return found.includes(text);
  }
}

/** One proof is enough for all texts of a field that have an i, and one for all others. */
const keyOfProof = (field: Field, part: string) => `${field} ${hasI(part)}`;

/**
 * Returns the first text of a page whose image only a `like` that ignores case finds:
 *
 *     sort=id,desc   probe
 *     9 web-1        eb-     no: 9 is the first of the list
 *     8 Rocky-9      ocky-   yes
 *     7 rocky-9      ocky-   no: 8 is found before 7
 */
function findProbe(
  page: ImagePage,
  field: Field,
  part: string,
  sort: FieldSort,
  isAllOneCase = false,
): Probe | undefined {
  const values = valuesOf(page, field);
  const ranks = ranksOf(page.images, sort.field);
  // If their times are equal, any of several images may be the first of the list.
  const firstValues = values.filter((_, at) => ranks[at] === ranks[0]);
  const isProbe = (text: string, at: number) =>
    likeFilter(field, text) !== undefined &&
    // Else a service that lowers the text it gets would find its image too.
    (isAllOneCase || hasBothCases(text)) &&
    // Else the service would find another image before its own.
    isInNone(values.slice(0, at), text) &&
    // Else a service that ignores filters would send its image too.
    isInNone(firstValues, text) &&
    // Else a service to which I and i are different letters would find its image, but not the part.
    hasLetters(text, part);
  const text = values.map(withoutEnds).find(isProbe);
  return text === undefined ? undefined : { text, sort };
}

/** A service that finds only whole values does not find it. */
const withoutEnds = (value: string) => value.slice(1, -1);

const hasBothCases = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

function isInNone(values: readonly string[], text: string): boolean {
  return !values.some((value) => value.toLowerCase().includes(text.toLowerCase()));
}

/** True if the text has a letter: an i if the part has one, as I and i are no pair in Turkish. */
const hasLetters = (text: string, part: string) => (hasI(part) ? hasI(text) : /[a-z]/i.test(text));

const hasI = (text: string) => /i/i.test(text);

function valuesOf({ images }: ImagePage, field: Field): string[] {
  return images.map((image) => `${readValue(image, field) ?? ''}`);
}

function reverseCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
