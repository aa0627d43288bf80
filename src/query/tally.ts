// Counts the images of each condition while nothing has matched, and times in unknown zones.

import { type ImageRecord, nameOf } from './fields.ts';
import type { Condition, Query } from './query.ts';
import { describeZone, UNREADABLE } from './timestamp.ts';
import { parseWord, type Word } from './word.ts';

/** A condition, and what was seen of it while nothing matched all conditions. */
interface Counted extends Condition {
  /** The images that it matches alone. */
  readonly images: Set<unknown>;
  /** The word with a dot in its digits, at each place. */
  readonly dottedForms: readonly Word[];
}

interface Count {
  readonly text: string;
  readonly count: number;
}

export class Tally {
  /** Words with a dot in their digits with which one of the images would match: 22.04 for 2204. */
  dotted: readonly string[] = [];
  readonly #query: Query;
  readonly #conditions: readonly Counted[];
  /** The filter of the service that left some images out of those seen last. */
  #filter: string | undefined;
  /** True until an image matches. */
  #isEmpty = true;
  /** The images with times in unknown zones, and these zones. */
  readonly #uncertain = new Set<unknown>();
  readonly #zones = new Set<string>();
  #hasDecidingZone = false;

  constructor(query: Query) {
    this.#query = query;
    this.#conditions = query.conditions.map((condition) => {
      const dottedForms = formsWithDot(condition.word?.text ?? '');
      return { ...condition, images: new Set(), dottedForms };
    });
  }

  /**
   * Watches images as they come, also those that do not match, some perhaps again.
   * @param filter of the service
   */
  see(images: readonly ImageRecord[], filter?: string): void {
    this.#filter = filter;
    if (!this.#isEmpty && !this.#query.zones.matter) return;
    for (const image of images) {
      if (this.#query.matches(image)) {
        this.#isEmpty = false;
        this.#noteZones(image);
      } else if (this.#isEmpty) this.#countAlone(image);
    }
  }

  #noteZones(image: ImageRecord): void {
    const deciding = this.#query.zones.deciding(image);
    const zones = this.#query.zones.sorting(image);
    if (deciding !== undefined) {
      this.#hasDecidingZone = true;
      zones.push(deciding);
    }
    if (zones.length > 0) this.#uncertain.add(image.id ?? image);
    for (const zone of zones) this.#zones.add(zone);
  }

  #countAlone(image: ImageRecord): void {
    const missed: Counted[] = [];
    for (const condition of this.#conditions) {
      if (condition.test(image)) condition.images.add(image.id ?? image);
      else missed.push(condition);
    }
    if (this.dotted.length === 0) this.dotted = dottedWords(missed, nameOf(image));
  }

  /**
   * Returns how many images each condition matches alone; `withinFirst` if only those of a filter
   * were seen: first how many match its condition, then how many of these the others match.
   */
  counts(): { counts: Count[]; withinFirst: boolean } {
    const count = ({ text, images }: Counted, among = images): Count => {
      return { text, count: [...images].filter((image) => among.has(image)).length };
    };
    if (this.#filter === undefined) {
      return { counts: this.#conditions.map((each) => count(each)), withinFirst: false };
    }
    const sent = this.#conditions.find((each) => each.sent?.text === this.#filter);
    if (sent === undefined) return { counts: [], withinFirst: true };
    const others = this.#conditions.filter((each) => each !== sent);
    const counts = [count(sent), ...others.map((each) => count(each, sent.images))];
    return { counts, withinFirst: true };
  }

  zoneWarning(): string | undefined {
    const { size } = this.#uncertain;
    if (size === 0) return undefined;
    const [images, they] = size === 1 ? ['image has', 'it is'] : ['images have', 'they are'];
    const zones = [...this.#zones].map(describeZone).sort().join(' or ');
    return `${size} ${images} times ${zones}; ${they} ${this.#treatment()}`;
  }

  #treatment(): string {
    if (this.#hasDecidingZone) return 'shown';
    return this.#zones.has(UNREADABLE) ? 'sorted as missing or as UTC' : 'sorted as UTC';
  }
}

/** Returns words with a dot by which a name matches each condition that it missed, or none. */
function dottedWords(missed: readonly Counted[], name: string): string[] {
  const words = missed.flatMap(({ dottedForms }) => {
    return dottedForms.find(({ matches }) => matches(name))?.text ?? [];
  });
  return words.length === missed.length ? words : [];
}

/** Returns 2.204, 22.04 and 220.4 for 2204; nothing for a word whose digits are apart. */
function formsWithDot(word: string): Word[] {
  const [, before = '', digits = '', after = ''] = /^(\D*)(\d{2,8})(\D*)$/.exec(word) ?? [];
  return [...digits].slice(1).map((_, index) => {
    const [left, right] = [digits.slice(0, index + 1), digits.slice(index + 1)];
    return parseWord(`${before}${left}.${right}${after}`);
  });
}
