// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { ImagePage } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';

/**
 * Whether a filter finds every image that matches: yes, perhaps not, or not asked, as the first page
 * of all images, read for the proof, has all of them.
 */
type Verdict = 'complete' | 'may-lose' | 'all-is-here';

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
  readonly #verdicts = new Map<string, Verdict>();

  constructor(firstPages: FirstPages, trace: (text: string) => void) {
    this.#firstPages = firstPages;
    this.#trace = trace;
  }

  /** Returns the verdict that needs no request, or undefined. */
  knownVerdict({ field, part }: ServiceFilter): Verdict | undefined {
    // Services agree on what `eq` and `in` find.
    if (part === undefined) return 'complete';
    return this.#verdicts.get(keyOfProof(field, part));
  }

  /** @param page the first one with this filter, in this order */
  async verdictOn(filter: ServiceFilter, page: ImagePage, sort: FieldSort): Promise<Verdict> {
    const known = this.knownVerdict(filter);
    if (known) return known;
    const { field, part = '' } = filter;
    const probe = await this.#chooseProbe(field, part, page, sort);
    if (this.#firstPages.hasAll) return 'all-is-here';
    const isProved = probe !== undefined && (await this.#isFound(field, probe));
    if (!isProved) this.#trace(`like is not proved for ${field}, so its filter is not used`);
    const verdict = isProved ? 'complete' : 'may-lose';
    this.#verdicts.set(keyOfProof(field, part), verdict);
    return verdict;
  }

  /**
   * Returns a probe of the page, else of the first page of all images. It has both cases, unless no
   * value of the two pages has.
   */
  async #chooseProbe(field: Field, part: string, page: ImagePage, sort: FieldSort) {
    const probe = probesOn(page, field, part, sort).find(({ text }) => hasBothCases(text));
    if (probe) return probe;
    const firstOfAll = await this.#firstPages.ofAll();
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
  const mayBeFirst = lowerCase.filter((_, at) => ranks[at] === ranks[0]);
  return values.flatMap((value, at) => {
    const text = value.slice(1, -1);
    const canBeSent = letters.test(text) && likeFilter(field, text) !== undefined;
    const hasText = (other: string) => other.includes(text.toLowerCase());
    const isFoundEarlier = lowerCase.slice(0, at).some(hasText);
    const isInFirstOfList = mayBeFirst.some(hasText);
    return canBeSent && !isFoundEarlier && !isInFirstOfList ? { text, sort } : [];
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
