// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { ImagePage } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';

/** The order in which a first page was requested, and its size. */
interface PageOrder {
  readonly sort: FieldSort;
  readonly perPage: number;
}

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
  readonly #isProved = new Map<string, boolean>();

  constructor(firstPages: FirstPages, trace: (text: string) => void) {
    this.#firstPages = firstPages;
    this.#trace = trace;
  }

  hasFailed({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#isProved.get(keyOfProof(field, part)) === false;
  }

  /**
   * True if the filter finds every image for sure. False also if the first page of all images, read
   * for the proof, has all of them.
   * @param page the first one with this filter, in this order
   */
  async proves(filter: ServiceFilter, page: ImagePage, order: PageOrder): Promise<boolean> {
    const { field, part } = filter;
    // Services agree on what `eq` and `in` find.
    if (part === undefined) return true;
    const key = keyOfProof(field, part);
    const known = this.#isProved.get(key);
    if (known !== undefined) return known;
    const probe = await this.#chooseProbe(field, part, page, order);
    if (this.#firstPages.hasAll) return false;
    const isProved = probe !== undefined && (await this.#isFound(field, probe));
    this.#isProved.set(key, isProved);
    if (!isProved) this.#trace(`like is not proved for ${field}, so its filter is not used`);
    return isProved;
  }

  /**
   * Returns a probe of the page, else of the first page of all images. It has both cases, unless no
   * value of the two pages has.
   */
  async #chooseProbe(field: Field, part: string, page: ImagePage, { sort, perPage }: PageOrder) {
    const probe = probesOn(page, field, part, sort).find(({ text }) => hasBothCases(text));
    if (probe) return probe;
    const firstOfAll = await this.#firstPages.ofAll(perPage);
    const values = [...valuesOf(page, field), ...valuesOf(firstOfAll, field)].join('');
    const probes = probesOn(firstOfAll, field, part, BY_ID);
    return hasBothCases(values) ? probes.find(({ text }) => hasBothCases(text)) : probes[0];
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

/** A probe needs an i if the text has one, as I and i are no pair in Turkish; else any letter. */
const lettersOf = (part: string) => (/i/i.test(part) ? 'i' : 'a-z');

/** One proof is enough for all texts of a field that need the same letters: `name i`. */
const keyOfProof = (field: Field, part: string) => `${field} ${lettersOf(part)}`;

const hasBothCases = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

/**
 * Returns the texts of a page that prove a `like`, as only one that ignores case finds their images:
 *
 *     a service that           sends                         so a probe
 *     finds only whole values  no image                      lacks the ends of its value
 *     lowers the text it gets  an image with ocky-9-lt       has both cases, see #chooseProbe
 *     minds case               an image with OCKY-9-lt       is in no value before its own
 *     ignores filters          the first image of the list   is not in its value
 *     is Turkish               no image, if the text has i   has an i if the word has one
 *
 *     sort=id,desc   probe
 *     9 web-1        eb-     no: 9 is the first of the list
 *     8 Rocky-9      ocky-   yes
 *     7 rocky-9      ocky-   no: 8 is found before 7
 *
 * If several images may be the first of the list, as their times are equal, it is in none of them.
 */
function probesOn(page: ImagePage, field: Field, part: string, sort: FieldSort): Probe[] {
  const letters = new RegExp(`[${lettersOf(part)}]`, 'i');
  const values = valuesOf(page, field);
  const lowerCase = values.map((value) => value.toLowerCase());
  const ranks = ranksOf(page.images, sort.field);
  return values.flatMap((value, at) => {
    const text = value.slice(1, -1);
    const canBeSent = letters.test(text) && likeFilter(field, text) !== undefined;
    const misleading = lowerCase.filter((_, other) => other < at || ranks[other] === ranks[0]);
    const isMisleading = misleading.some((other) => other.includes(text.toLowerCase()));
    return canBeSent && !isMisleading ? { text, sort } : [];
  });
}

function valuesOf({ images }: ImagePage, field: Field): string[] {
  return images.map((image) => `${readValue(image, field) ?? ''}`);
}

function reverseCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
