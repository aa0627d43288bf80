// Divides the name of an image into words and versions: `help choosing`.

import { type FoundVersion, findVersions, LETTER_OR_DIGIT, MARK } from './find-versions.ts';
import { foldCase, normalize } from './fold-case.ts';

/** The places of a name, each with its versions, each with its parts. */
export type Places = readonly (readonly Parts[])[];

/** The numbers of a version without zeros before them, and its letters: 7, 0, u, 3; or HASH. */
type Parts = readonly string[];

/** A hash has a place, but no order. */
export const HASH = '#';

/** Each name is read several times in a row: by words, for its series, for its version. */
let lastRead: Name | undefined;

export function readName(name: string): Name {
  if (lastRead?.text !== name) lastRead = new Name(name);
  return lastRead;
}

/** A name of an image. The examples are of `app-v12-SP05_2024-amd64-2.ova`. */
export class Name {
  readonly text: string;
  /** What is around the places: `app-`, `-amd64-` and an empty text. */
  readonly #words: string[] = [];
  /** What was found of each version at each place: [[[v12, SP05], [2024]], [[2]]]. */
  readonly #found: FoundVersion[][][] = [];
  readonly #extension: string;

  constructor(text: string) {
    // A service can put the mark into a name.
    const name = normalize(text).replaceAll(MARK, ' ');
    this.text = text;
    this.#extension = /\.ov[af]$/i.test(name) ? name.slice(-4) : '';
    const stem = name.slice(0, name.length - this.#extension.length);
    let end = 0;
    for (const version of findVersions(stem)) {
      this.#add(stem.slice(end, version.start), version);
      end = version.end;
    }
    this.#words.push(stem.slice(end));
  }

  /** Versions with only separators before them share a place. Letters go on with the version before. */
  #add(before: string, version: FoundVersion): void {
    const place = this.#found.at(-1);
    if (!place || /[\p{L}\p{N}]/u.test(before)) {
      this.#words.push(before);
      this.#found.push([[version]]);
    } else if (lettersOf(version)) place.at(-1)?.push(version);
    else place.push([version]);
  }

  /** The name with # for each place: `app-#-amd64-#.ova`. */
  get pattern(): string {
    return this.#words.join('#') + this.#extension;
  }

  /** Equal for names of one series: their words, and # for each place between: `app # amd64`. */
  get seriesKey(): string {
    const words = foldCase(this.#words.join(MARK)).match(WORDS_AND_MARKS) ?? [];
    // Versions at the end make no other series.
    if (words.at(-1) === MARK) words.pop();
    return words.join(' ').replaceAll(MARK, '#');
  }

  /** What is compared: [[12, sp, 5], [2024]] and [[2]]. */
  get places(): Places {
    return this.#found.map((place) => place.map(partsOf));
  }

  /** The versions as they stand in the name: `v12-SP05-2024-2`. */
  get versionText(): string {
    const versions = this.#found.flat(2);
    return versions.map(({ text }) => text).join('-');
  }

  /**
   * Returns a key of where the first version of this kind is compared, if there is one: v12 at 0.0,
   * SP05 at 0.0sp, 2024 at 0.1, 2 at 1.0.
   */
  positionOf(isMeant: (version: FoundVersion) => boolean): string | undefined {
    for (const [placeAt, place] of this.#found.entries()) {
      for (const [versionAt, version] of place.entries()) {
        const found = version.find(isMeant);
        const letters = found && found !== version[0] ? lettersOf(found) : '';
        if (found) return `${placeAt}.${versionAt}${letters}`;
      }
    }
    return undefined;
  }
}

const WORDS_AND_MARKS = new RegExp(`${LETTER_OR_DIGIT}+|${MARK}`, 'gu');

/** Returns the letters with which a version begins: sp for SP05. The v of v12 is none. */
function lettersOf({ text, isHash }: FoundVersion): string {
  if (isHash || /^v?\d/i.test(text)) return '';
  const [letters = ''] = /^\p{L}+/u.exec(text) ?? [];
  return foldCase(letters);
}

/** Returns 12, sp, 5 for v12 and SP05, which are one version. */
function partsOf(version: readonly FoundVersion[]): Parts {
  const texts = version.map(({ text, isHash }) => (isHash ? HASH : text));
  const compared = foldCase(texts.join('-')).replace(/^v/, '');
  return compared.match(/[1-9]\d*|0(?!\d)|[^\d._ -]+/g) ?? [];
}
