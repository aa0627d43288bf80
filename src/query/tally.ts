// Counts what a query found: the images of each condition while nothing has matched, and times in unknown zones.

import { type ImageRecord, nameOf } from './fields.ts';
import type { Query } from './query.ts';
import { UNREADABLE } from './timestamp.ts';
import { parseWord, type Word } from './word.ts';

export class Tally {
  /** False if a filter of the service left some images out. */
  hasSeenAll = true;
  /** Words with a dot in their digits, such as 22.04 for 2204, with which one of the images would match. */
  dotted: readonly string[] = [];
  readonly #query: Query;
  /** True until an image matches all conditions; the images of each are counted until then. */
  #isEmpty = true;
  readonly #imagesOfCondition: readonly Set<unknown>[];
  readonly #dottedForms: readonly (readonly Word[])[];
  /** The images with times in unknown zones, and these zones. */
  readonly #uncertain = new Set<unknown>();
  readonly #zones = new Set<string>();
  #hasDecidingZone = false;

  constructor(query: Query) {
    this.#query = query;
    this.#imagesOfCondition = query.conditions.map(() => new Set());
    this.#dottedForms = query.conditions.map(({ word }) => (word ? dottedForms(word.text) : []));
  }

  /** Watches images as they come, also those that do not match, some perhaps again. @param filter of the service */
  see(images: readonly ImageRecord[], filter?: string): void {
    this.hasSeenAll = filter === undefined;
    if (!this.#isEmpty && !this.#query.readsTimes) return;
    for (const image of images) {
      if (this.#query.matches(image)) {
        this.#isEmpty = false;
        this.#noteZones(image);
      } else if (this.#isEmpty) this.#countAlone(image);
    }
  }

  #noteZones(image: ImageRecord): void {
    const deciding = this.#query.decidingZone(image);
    const zones = this.#query.sortingZones(image);
    if (deciding !== undefined) {
      this.#hasDecidingZone = true;
      zones.push(deciding);
    }
    if (zones.length > 0) this.#uncertain.add(image.id ?? image);
    for (const zone of zones) this.#zones.add(zone);
  }

  #countAlone(image: ImageRecord): void {
    const missed: number[] = [];
    for (const [index, { test }] of this.#query.conditions.entries()) {
      if (test(image)) this.#imagesOfCondition[index]?.add(image.id ?? image);
      else missed.push(index);
    }
    if (this.dotted.length === 0) this.dotted = this.#dottedFor(image, missed);
  }

  /** Returns forms with dots that match the image, one for each of these conditions, or none. */
  #dottedFor(image: ImageRecord, missed: readonly number[]): string[] {
    const found: string[] = [];
    for (const index of missed) {
      const form = this.#dottedForms[index]?.find(({ matches }) => matches(nameOf(image)));
      if (form === undefined) return [];
      found.push(form.text);
    }
    return found;
  }

  /** Returns how many images each condition matches alone. */
  counts(): { text: string; count: number }[] {
    const { conditions } = this.#query;
    return conditions.map(({ text }, index) => {
      return { text, count: this.#imagesOfCondition[index]?.size ?? 0 };
    });
  }

  zoneWarning(): string | undefined {
    const { size } = this.#uncertain;
    if (size === 0) return undefined;
    const images = size === 1 ? '1 image has times' : `${size} images have times`;
    const zones = [...this.#zones].sort().join(', ');
    const subject = size === 1 ? 'it is' : 'they are';
    return `${images} in an unknown zone (${zones}); ${subject} ${this.#treatment()}`;
  }

  #treatment(): string {
    if (this.#hasDecidingZone) return 'shown';
    return this.#zones.has(UNREADABLE) ? 'sorted as missing or as UTC' : 'sorted as UTC';
  }
}

/** Returns the word with a dot at each place between its digits: 2.204, 22.04 and 220.4 for 2204. */
function dottedForms(word: string): Word[] {
  const [, before = '', digits = '', after = ''] = /^(\D*)(\d{2,8})(\D*)$/.exec(word) ?? [];
  const places = [...digits].slice(1).map((_, at) => at + 1);
  return places.map((at) =>
    parseWord(`${before}${digits.slice(0, at)}.${digits.slice(at)}${after}`),
  );
}
