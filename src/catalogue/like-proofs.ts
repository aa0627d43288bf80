// Finds out, once in a run for each field, whether the service's `like` finds every value that contains the text.

import type { Client } from '../api/client.ts';
import type { ImagePage } from '../api/images.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';
import { isRefusedRequest, isWhole, readPage } from './read-page.ts';

type Proof = 'lossless' | 'lossy' | 'unneeded';

/** What the service is asked to find, with its case reversed, in a list of this order. */
interface Probe {
  readonly text: string;
  readonly sort: FieldSort;
}

/**
 * A service may mind the case of a `like`, or search for whole values only. So it must first find a value that it sent:
 *
 *     a value on a page         Rocky-9-LTS
 *     the probe                 ocky-9-LT   without the first and last character
 *     with its case reversed    OCKY-9-lt
 *     the request               filter=name,like,%OCKY-9-lt%&per_page=1
 *     the proof                 an image whose name has the probe as it was on the page
 *
 * The probe has upper and lower case. It is from the first page with the user's filter, else from that of all images. If no
 * value on these pages has both cases, one case is enough.
 */
export class LikeProofs {
  readonly #client: Pick<Client, 'listImages'>;
  readonly #firstPages: FirstPages;
  readonly #trace: (text: string) => void;
  readonly #proofs = new Map<string, Proof>();

  constructor(
    client: Pick<Client, 'listImages'>,
    firstPages: FirstPages,
    trace: (text: string) => void,
  ) {
    this.#client = client;
    this.#firstPages = firstPages;
    this.#trace = trace;
  }

  /** True once a proof has failed. */
  isLossy({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#proofs.get(keyOfProof(field, part)) === 'lossy';
  }

  /**
   * Finds out whether the filter loses images; `unneeded` if a page with all images has come meanwhile.
   * @param page the first one with this filter, in this order
   */
  async prove(filter: ServiceFilter, page: ImagePage, sort: FieldSort): Promise<Proof> {
    const { field, part } = filter;
    // Services agree on what `eq` and `in` find.
    if (part === undefined) return 'lossless';
    const key = keyOfProof(field, part);
    const known = this.#proofs.get(key);
    if (known !== undefined) return known;
    let probe = probesOn(page, field, part, sort).find(hasBothCases);
    if (probe === undefined) {
      const all = await this.#firstPages.ofAll();
      if (isWhole(all)) return 'unneeded';
      const probes = probesOn(all, field, part, BY_ID);
      const values = [page, all].flatMap((one) => valuesOf(one, field));
      probe = isMixed(values.join('')) ? probes.find(hasBothCases) : probes[0];
    }
    const isFound = probe !== undefined && (await this.#isFound(field, probe));
    if (!isFound) this.#trace(`like may lose images for ${field}, so its filter is not used`);
    const proof = isFound ? 'lossless' : 'lossy';
    this.#proofs.set(key, proof);
    return proof;
  }

  async #isFound(field: Field, { text, sort }: Probe): Promise<boolean> {
    const filter = `${field},like,%${reverseCase(text)}%`;
    const query = { filter, sort: printSort(sort), perPage: 1 };
    try {
      const [found = ''] = valuesOf(await readPage(this.#client, query, 1), field);
      return found.includes(text);
    } catch (error) {
      if (isRefusedRequest(error)) return false;
      throw error;
    }
  }
}

/** What a probe must contain: an i if the text has one, as I and i are no pair in Turkish; else any letter. */
const lettersOf = (part: string) => (/i/i.test(part) ? /i/i : /[a-z]/i);

/** One proof is enough for all texts of a field that need the same letters: `name /i/i`. */
const keyOfProof = (field: Field, part: string) => `${field} ${lettersOf(part)}`;

const isMixed = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

const hasBothCases = ({ text }: Probe) => isMixed(text);

/**
 * Returns the probes that can be made from a page. A service that finds a probe sends the first image that has it in any case.
 * One that ignores filters sends the first image, or one that the sort does not tell apart from it. So none of these may have
 * the probe.
 */
function probesOn(page: ImagePage, field: Field, part: string, sort: FieldSort): Probe[] {
  const ranks = ranksOf(page.images, sort.field);
  const values = valuesOf(page, field).map((value) => value.toLowerCase());
  const letters = lettersOf(part);
  const probes = valuesOf(page, field).map((value) => ({ text: value.slice(1, -1), sort }));
  return probes.filter(({ text }, at) => {
    const isBefore = (other: number) => other < at || ranks[other] === ranks[0];
    const isElsewhere = values.some(
      (value, other) => isBefore(other) && value.includes(text.toLowerCase()),
    );
    return letters.test(text) && likeFilter(field, text) !== undefined && !isElsewhere;
  });
}

function valuesOf({ images }: Pick<ImagePage, 'images'>, field: Field): string[] {
  return images.map((image) => `${readValue(image, field) ?? ''}`);
}

function reverseCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
