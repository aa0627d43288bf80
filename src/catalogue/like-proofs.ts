// Finds out, once in a run, whether the service's `like` finds every value that has a text in it.

import type { Client } from '../api/client.ts';
import type { ImagePage } from '../api/images.ts';
import { type Field, readValue } from '../query/fields.ts';
import { likeFilter, type ServiceFilter } from '../query/service-filter.ts';
import { BY_ID, type FieldSort, printSort, ranksOf } from '../query/sort.ts';
import type { FirstPages } from './first-pages.ts';
import { isWhole, requestPage, unlessRefused } from './page.ts';

/** The order in which the first page was requested, and its size. */
interface PageOrder {
  readonly sort: FieldSort;
  readonly perPage: number;
}

/** What the service is asked to find, with its case reversed, in a list of this order. */
interface Probe {
  readonly text: string;
  readonly sort: FieldSort;
}

/** Whether a filter finds every image; `unneeded` if one page has all images, so no filter is. */
type Verdict = 'lossless' | 'lossy' | 'unneeded';

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
  readonly #client: Pick<Client, 'listImages'>;
  readonly #firstPages: FirstPages;
  readonly #trace: (text: string) => void;
  /** By `keyOfProof`. */
  readonly #verdicts = new Map<string, 'lossless' | 'lossy'>();

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
    return part !== undefined && this.#verdicts.get(keyOfProof(field, part)) === 'lossy';
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
    if (probe === 'unneeded') return 'unneeded';
    const isFound = probe !== undefined && (await this.#isFound(field, probe));
    if (!isFound) this.#trace(`like may lose images for ${field}, so its filter is not used`);
    const verdict = isFound ? 'lossless' : 'lossy';
    this.#verdicts.set(key, verdict);
    return verdict;
  }

  /**
   * Returns a probe with upper and lower case: from the page with the filter, else from that of all
   * images. If neither page has both cases, one is enough. Undefined if there is none.
   */
  async #chooseProbe(field: Field, part: string, page: ImagePage, { sort, perPage }: PageOrder) {
    const probe = probesOn(page, field, part, sort).find(hasBothCases);
    if (probe) return probe;
    const all = await this.#firstPages.ofAll(perPage);
    if (isWhole(all)) return 'unneeded';
    const probes = probesOn(all, field, part, BY_ID);
    const texts = [page, all].flatMap((each) => valuesOf(each, field)).join('');
    return isMixed(texts) ? probes.find(hasBothCases) : probes[0];
  }

  async #isFound(field: Field, { text, sort }: Probe): Promise<boolean> {
    const filter = likeFilter(field, reverseCase(text))?.text;
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
 * Returns the probes that only one image can answer. Of several images with the probe, in any case,
 * the service would send the first; if it ignores the filter, the first of all, or one that the
 * sort does not tell apart from that. So neither those nor the images before may have the probe.
 */
function probesOn(page: ImagePage, field: Field, part: string, sort: FieldSort): Probe[] {
  const letters = lettersOf(part);
  const values = valuesOf(page, field);
  const lowerCase = values.map((value) => value.toLowerCase());
  const ranks = ranksOf(page.images, sort.field);
  const ofFirstRank = lowerCase.filter((_, at) => ranks[at] === ranks[0]);
  const isUnique = (text: string, at: number) => {
    const others = [...ofFirstRank, ...lowerCase.slice(0, at)];
    return others.every((other) => !other.includes(text.toLowerCase()));
  };
  return values
    .map((value) => value.slice(1, -1))
    .filter((text, at) => letters.test(text) && likeFilter(field, text) && isUnique(text, at))
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
