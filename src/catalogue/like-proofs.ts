// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { Client } from '../api/client.ts';
import type { ImagePage } from '../api/images.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';
import { isWhole, requestPage, unlessRefused } from './page.ts';

/** What the service is asked to find, with its case reversed, in a list of this order. */
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
 *
 * The probe has upper and lower case. It is from the first page with the user's filter, else from
 * that of all images. If these pages have only one case, so has the probe.
 */
export class LikeProofs {
  readonly #client: Pick<Client, 'listImages'>;
  readonly #firstPages: FirstPages;
  readonly #trace: (text: string) => void;
  /** Whether a proof has succeeded, by what it proves. */
  readonly #proofs = new Map<string, boolean>();

  constructor(
    client: Pick<Client, 'listImages'>,
    firstPages: FirstPages,
    trace: (text: string) => void,
  ) {
    this.#client = client;
    this.#firstPages = firstPages;
    this.#trace = trace;
  }

  hasFailed({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#proofs.get(keyOfProof(field, part)) === false;
  }

  /**
   * True if the filter is sure to find every image. Also false if a page with all images has come.
   * @param page the first page with this filter, in this order
   */
  async isLossless(
    { field, part }: ServiceFilter,
    page: ImagePage,
    { sort, perPage }: { readonly sort: FieldSort; readonly perPage: number },
  ): Promise<boolean> {
    // Services agree on what `eq` and `in` find.
    if (part === undefined) return true;
    const key = keyOfProof(field, part);
    const known = this.#proofs.get(key);
    if (known !== undefined) return known;
    let probe = probesOn(page, field, part, sort).find(hasBothCases);
    if (probe === undefined) {
      const all = await this.#firstPages.ofAll(perPage);
      // The list is then taken from this page.
      if (isWhole(all)) return false;
      const probes = probesOn(all, field, part, BY_ID);
      const values = [page, all].flatMap((one) => valuesOf(one, field));
      probe = isMixed(values.join('')) ? probes.find(hasBothCases) : probes[0];
    }
    const isFound = probe !== undefined && (await this.#isFound(field, probe));
    if (!isFound) this.#trace(`like may lose images for ${field}, so its filter is not used`);
    this.#proofs.set(key, isFound);
    return isFound;
  }

  async #isFound(field: Field, { text, sort }: Probe): Promise<boolean> {
    const filter = `${field},like,%${reverseCase(text)}%`;
    const asked = { filter, sort: printSort(sort), perPage: 1 };
    const page = await unlessRefused(requestPage(this.#client, asked));
    if (page === undefined) return false;
    const [found = ''] = valuesOf(page, field);
    return found.includes(text);
  }
}

/** A probe needs an i if the text has one, as I and i are no pair in Turkish; else any letter. */
const lettersOf = (part: string) => (/i/i.test(part) ? /i/i : /[a-z]/i);

/** One proof is enough for all texts of a field that need the same letters: `name /i/i`. */
const keyOfProof = (field: Field, part: string) => `${field} ${lettersOf(part)}`;

const isMixed = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

const hasBothCases = ({ text }: Probe) => isMixed(text);

/**
 * Returns the probes that can be made from a page. The service sends the first image that has the
 * probe in any case, so no image before has it. A service that ignores filters sends the first
 * image of all, or another one that the sort does not tell apart from the first, so none of those
 * has it either.
 */
function probesOn(page: ImagePage, field: Field, part: string, sort: FieldSort): Probe[] {
  const letters = lettersOf(part);
  const values = valuesOf(page, field);
  const lowerCase = values.map((value) => value.toLowerCase());
  const ranks = ranksOf(page.images, sort.field);
  const firstOfAll = lowerCase.filter((_, at) => ranks[at] === ranks[0]);
  const isProbe = (text: string, at: number) => {
    const others = [...firstOfAll, ...lowerCase.slice(0, at)];
    const isUnique = others.every((other) => !other.includes(text.toLowerCase()));
    return isUnique && letters.test(text) && likeFilter(field, text) !== undefined;
  };
  return values
    .map((value) => value.slice(1, -1))
    .filter(isProbe)
    .map((text) => ({ text, sort }));
}

function valuesOf({ images }: ImagePage, field: Field): string[] {
  return images.map((image) => `${readValue(image, field) ?? ''}`);
}

function reverseCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
