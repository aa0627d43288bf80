// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { ImagePage } from '../api/images.ts';
import { ImgctlError } from '../errors.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { SORT_BY_ID } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';

/**
 * A service may mind the case of a `like`, or find whole values only, or lower the text but not the
 * values. So it must first find a value that it sent, by a part of it in the other case:
 *
 *     a value that it sent   Rocky-9-LTS
 *     the probe              ocky-9-LT   without the first and last character
 *     the request            filter=name,like,%OCKY-9-lt%
 *     the proof              an image whose name has ocky-9-LT
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

  /** True if the proof for this filter was tried, and failed. */
  hasFailed({ field, part }: ServiceFilter): boolean {
    return part !== undefined && this.#results.get(keyOfProof(field, part)) === false;
  }

  /**
   * Returns true if the service finds every value of the field that has the part.
   * @param page the images that it found
   */
  async prove(field: Field, part: string, page: ImagePage): Promise<boolean> {
    const key = keyOfProof(field, part);
    const known = this.#results.get(key);
    if (known !== undefined) return known;
    const isProved = await this.#try(field, part, page);
    if (!isProved) this.#trace(`like is not proved for ${field}, so its filter is not used`);
    this.#results.set(key, isProved);
    return isProved;
  }

  async #try(field: Field, part: string, page: ImagePage): Promise<boolean> {
    const first = await this.#firstPages.ofAll();
    const probe = findProbe(field, part, [...valuesOf(page, field), ...valuesOf(first, field)]);
    const filter = probe && likeFilter(field, reverseCase(probe))?.text;
    if (!filter) return false;
    const found = await this.#firstPages.request({ filter, sort: SORT_BY_ID });
    if (found instanceof ImgctlError) return false;
    // A service that ignores the filter sends all images.
    const isFiltered = found.total < first.total;
    return isFiltered && valuesOf(found, field).some((value) => value.includes(probe));
  }
}

/** One proof is enough for all texts of a field that have an i, and one for all others. */
const keyOfProof = (field: Field, part: string) => (hasI(part) ? `${field} with i` : field);

/** Returns a part of a value that, once found, proves `like` for the searched text. */
function findProbe(field: Field, searched: string, values: readonly string[]): string | undefined {
  const probes = values
    // A service that finds only whole values does not find one without its ends.
    .map((value) => value.slice(1, -1))
    .filter((text) => likeFilter(field, text))
    // In Turkish, I and i are no pair: a service may find all other texts in both cases.
    .filter(hasI(searched) ? hasI : hasLetter);
  // A service that lowers the text, but not the values, finds those in lower case.
  const needsBothCases = hasBothCases(values.join(''));
  return needsBothCases ? probes.find(hasBothCases) : probes[0];
}

const hasI = (text: string) => /i/i.test(text);

const hasLetter = (text: string) => /[a-z]/i.test(text);

const hasBothCases = (text: string) => /[a-z]/.test(text) && /[A-Z]/.test(text);

function valuesOf({ images }: ImagePage, field: Field): string[] {
  return images.map((image) => `${readValue(image, field) ?? ''}`);
}

function reverseCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}
