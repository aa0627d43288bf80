// Divides the name of an image into words and versions: `help choosing`.
//
// app-v12-SP05_2024-amd64-2.ova is read in these steps:
//
//     tokens      v12  SP05  2024  2       what find-versions.ts finds; amd64 is none
//     versions    v12-SP05 | 2024 | 2      a token with letters goes on with the version before it
//     places      v12-SP05, 2024 | 2       only separators are between the versions of a place
//     words       app- | -amd64- |         what is around the places
//
// The words say of which series the image is: `seriesKey`, grouped by series.ts. The versions say
// which image of a series is newer: `compared`, by version-order.ts. A position says which version
// a word of a query means: 8 is another one in web-8.1-3 than in web-7-8; series.ts compares them.

import { findVersionTokens, LETTER_OR_DIGIT, MARK, type VersionToken } from './find-versions.ts';
import { foldCase, normalize } from './fold-case.ts';

type Version = VersionToken[];
type Place = Version[];

/** What is compared: the places of a name, each with its versions, each with its parts. */
export type ComparedPlaces = readonly (readonly Parts[])[];

/** 12, sp and 5 of v12-SP05: numbers without zeros before them, and letters; or HASH. */
type Parts = readonly string[];

/** A hash has a place, but no order. */
export const HASH = '#';

/** A name is read several times in a row: by each word of a query, and for what is shown of it. */
let lastRead: Name | undefined;

export function readName(name: string): Name {
  if (lastRead?.text !== name) lastRead = new Name(name);
  return lastRead;
}

/** The examples are of `app-v12-SP05_2024-amd64-2.ova`. */
export class Name {
  readonly text: string;
  /** The text in which the tokens are found. */
  readonly normalized: string;
  /** One more than places: `app-`, `-amd64-` and an empty text. */
  readonly #words: string[] = [];
  readonly #places: Place[] = [];
  readonly #extension: string;

  constructor(text: string) {
    // A service can put the mark into a name.
    this.normalized = normalize(text).replaceAll(MARK, ' ');
    this.text = text;
    this.#extension = /\.ov[af]$/i.exec(this.normalized)?.[0] ?? '';
    const stem = this.normalized.slice(0, this.normalized.length - this.#extension.length);
    let end = 0;
    for (const token of findVersionTokens(stem)) {
      this.#add(stem.slice(end, token.start), token);
      end = token.end;
    }
    this.#words.push(stem.slice(end));
  }

  /**
   * Adds a token: v12 and 2, which follow words, in a new place; SP05, which begins with
   * letters, to the version v12; 2024 as the next version of that place.
   * @param before what is between this token and the one before
   */
  #add(before: string, token: VersionToken): void {
    const place = this.#places.at(-1);
    if (!place || /[\p{L}\p{N}]/u.test(before)) {
      this.#words.push(before);
      this.#places.push([[token]]);
    } else if (lettersOf(token)) place.at(-1)?.push(token);
    else place.push([token]);
  }

  /** The name with # for each place: `app-#-amd64-#.ova`. */
  get pattern(): string {
    return this.#words.join('#') + this.#extension;
  }

  /** Equal for names of one series: their words, and # for each place between: `app # amd64`. */
  get seriesKey(): string {
    // A name can have a # of its own, but no mark.
    const words = foldCase(this.#words.join(MARK)).match(WORDS_AND_MARKS) ?? [];
    // Versions at the end make no other series.
    if (words.at(-1) === MARK) words.pop();
    return words.join(' ').replaceAll(MARK, '#');
  }

  /** [[12, sp, 5], [2024]] and [[2]] */
  get compared(): ComparedPlaces {
    return this.#places.map((place) => place.map(partsOf));
  }

  /** The tokens as they stand in the name: `v12-SP05-2024-2`. */
  get versionText(): string {
    const tokens = this.#places.flat(2);
    return tokens.map(({ text }) => text).join('-');
  }

  /**
   * Returns the position of the first token that passes a test: the indexes of its place and
   * version, and its letters, if it is not the first token of the version. v12 is at 0.0, SP05 at
   * 0.0sp, 2024 at 0.1, 2 at 1.0.
   */
  positionOf(test: (token: VersionToken) => boolean): string | undefined {
    for (const [placeIndex, place] of this.#places.entries()) {
      for (const [versionIndex, version] of place.entries()) {
        const token = version.find(test);
        if (!token) continue;
        const letters = token === version[0] ? '' : lettersOf(token);
        return `${placeIndex}.${versionIndex}${letters}`;
      }
    }
    return undefined;
  }
}

const WORDS_AND_MARKS = new RegExp(`${LETTER_OR_DIGIT}+|${MARK}`, 'gu');

/** Returns the letters with which a token begins: sp for SP05. The v of v12 is none. */
function lettersOf({ text, isHash }: VersionToken): string {
  if (isHash || /^v?\d/i.test(text)) return '';
  const [letters = ''] = /^\p{L}+/u.exec(text) ?? [];
  return foldCase(letters);
}

/** Returns 12, sp, 5 for v12 and SP05. */
function partsOf(version: Version): Parts {
  const texts = version.map(({ text, isHash }) => (isHash ? HASH : text));
  const compared = foldCase(texts.join('-')).replace(/^v/, '');
  return compared.match(/[1-9]\d*|0(?!\d)|[^\d._ -]+/g) ?? [];
}
