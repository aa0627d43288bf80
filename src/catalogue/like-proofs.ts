// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { ImagePage } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';
import { isOutage, isWhole } from './page.ts';

/** The order in which a first page was requested, and its size. */
interface PageOrder {
  readonly sort: FieldSort;
  readonly perPage: number;
}

/**
 * Whether a filter finds every image for sure. `unneeded`: a page without it has all images.
 * `outage`: the service did not say.
 */
type Verdict = 'lossless' | 'unproved' | 'unneeded' | 'outage';

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

  hasFailed({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#verdicts.get(keyOfProof(field, part)) === 'unproved';
  }

  /** @param page the first one with this filter, in this order */
  async prove(filter: ServiceFilter, page: ImagePage, order: PageOrder): Promise<Verdict> {
    const { field, part } = filter;
    // Services agree on what `eq` and `in` find.
    if (part === undefined) return 'lossless';
    const key = keyOfProof(field, part);
    const known = this.#verdicts.get(key);
    if (known) return known;
    const probe = await this.#chooseProbe(field, part, page, order);
    if (probe === 'unneeded') return probe;
    const verdict = probe ? await this.#try(field, probe.text, probe.sort) : 'unproved';
    // After an outage, the next list tries again.
    if (verdict !== 'outage') this.#verdicts.set(key, verdict);
    if (verdict !== 'lossless') {
      this.#trace(`like may lose images for ${field}, so its filter is not used`);
    }
    return verdict;
  }

  /**
   * Returns a text to find, and the order of the page that has it. The text has upper and lower
   * case, as a service may change the case of what it searches for. The first of:
   *
   *     a text of the page with the filter
   *     'unneeded', if the first page of all images has all of them
   *     a text of that page; one in one case, if all values of both pages are
   *     undefined
   */
  async #chooseProbe(field: Field, part: string, page: ImagePage, { sort, perPage }: PageOrder) {
    const [text] = probesOn(page, field, part, sort).filter(hasBothCases);
    if (text !== undefined) return { text, sort };
    const firstOfAll = await this.#firstPages.ofAll(perPage);
    if (isWhole(firstOfAll)) return 'unneeded';
    const probes = probesOn(firstOfAll, field, part, BY_ID);
    const values = [...valuesOf(page, field), ...valuesOf(firstOfAll, field)].join('');
    const [textOfAll] = hasBothCases(values) ? probes.filter(hasBothCases) : probes;
    return textOfAll === undefined ? undefined : { text: textOfAll, sort: BY_ID };
  }

  async #try(field: Field, text: string, sort: FieldSort): Promise<Verdict> {
    const filter = likeFilter(field, reverseCase(text))?.text;
    const page = await this.#firstPages.request({ filter, sort: printSort(sort), perPage: 1 });
    if (page instanceof ImgctlError) return isOutage(page) ? 'outage' : 'unproved';
    const [found = ''] = valuesOf(page, field);
    return found.includes(text) ? 'lossless' : 'unproved';
  }
}

/** A probe needs an i if the text has one, as I and i are no pair in Turkish; else any letter. */
const lettersOf = (part: string) => (/i/i.test(part) ? 'i' : 'a-z');

/** One proof is enough for all texts of a field that need the same letters: `name i`. */
const keyOfProof = (field: Field, part: string) => `${field} ${lettersOf(part)}`;

const hasBothCases = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

/**
 * Returns the probes that find the image of their value, and no other one, if case is ignored. The
 * service sends the first image that it finds; one that ignores the filter, the first of the list:
 *
 *     sort=id,desc   probe
 *     9 web-1        eb-     no: 9 is the first of the list
 *     8 Rocky-9      ocky-   yes
 *     7 rocky-9      ocky-   no: 8 is found before 7
 *
 * If the sort leaves it open which image is the first, as of equal times, each of them may be it.
 */
function probesOn(page: ImagePage, field: Field, part: string, sort: FieldSort): string[] {
  const letters = new RegExp(`[${lettersOf(part)}]`, 'i');
  const values = valuesOf(page, field);
  const lowerCase = values.map((value) => value.toLowerCase());
  const ranks = ranksOf(page.images, sort.field);
  const maybeFirst = lowerCase.filter((_, at) => ranks[at] === ranks[0]);
  const findsOnlyItsImage = (text: string, at: number) => {
    const others = [...maybeFirst, ...lowerCase.slice(0, at)];
    return others.every((other) => !other.includes(text.toLowerCase()));
  };
  return values
    .map((value) => value.slice(1, -1))
    .filter((text, at) => {
      const canBeSent = letters.test(text) && likeFilter(field, text) !== undefined;
      return canBeSent && findsOnlyItsImage(text, at);
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
