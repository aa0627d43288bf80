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
  readonly #words: readonly string[];
  readonly #places: readonly Place[];
  readonly #extension: string;

  constructor(text: string) {
    // A service can put the mark into a name.
    const name = normalize(text).replaceAll(MARK, ' ');
    const [extension = ''] = /\.ov[af]$/i.exec(name) ?? [];
    const { places, rest } = divide(name.slice(0, name.length - extension.length));
    this.text = text;
    this.#words = [...places.map(({ before }) => before), rest];
    this.#places = places;
    this.#extension = extension;
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
    return this.#places.map(({ versions }) => versions.map(partsOf));
  }

  /** The versions as they stand in the name: `v12-SP05-2024-2`. */
  get versionText(): string {
    const found = this.#places.flatMap(({ versions }) => versions.flat());
    return found.map(({ text }) => text).join('-');
  }

  /**
   * Returns a key of where the first version of this kind is compared, if there is one: v12 at 0.0,
   * SP05 at 0.0sp, 2024 at 0.1, 2 at 1.0.
   */
  positionOf(isMeant: (version: FoundVersion) => boolean): string | undefined {
    for (const [place, { versions }] of this.#places.entries()) {
      for (const [at, version] of versions.entries()) {
        const found = version.find(isMeant);
        if (found) return `${place}.${at}${found === version[0] ? '' : lettersOf(found)}`;
      }
    }
    return undefined;
  }
}

const WORDS_AND_MARKS = new RegExp(`${LETTER_OR_DIGIT}+|${MARK}`, 'gu');

/** What stands at one place of a name: versions with only separators between them. */
interface Place {
  /** The text between the place before and this one. */
  readonly before: string;
  /** What was found of each version: of 12-SP05_2024, [12, SP05] and [2024]. */
  readonly versions: FoundVersion[][];
}

/** Divides a name into its places and what is behind them. 12-sp5 is one version, as 12sp5 is. */
function divide(stem: string): { readonly places: readonly Place[]; readonly rest: string } {
  const places: Place[] = [];
  let end = 0;
  for (const found of findVersions(stem)) {
    const before = stem.slice(end, found.start);
    end = found.end;
    const place = places.at(-1);
    if (!place || /[\p{L}\p{N}]/u.test(before)) places.push({ before, versions: [[found]] });
    else if (lettersOf(found)) place.versions.at(-1)?.push(found);
    else place.versions.push([found]);
  }
  return { places, rest: stem.slice(end) };
}

/** Returns the letters with which a version begins: sp for SP05. The v of v12 is none. */
function lettersOf({ text, isHash }: FoundVersion): string {
  const [letters = ''] = /^\p{L}+/u.exec(text) ?? [];
  return isHash || /^v$/i.test(letters) ? '' : foldCase(letters);
}

/** Returns 12, sp, 5 for v12 and SP05, which are one version. */
function partsOf(version: readonly FoundVersion[]): Parts {
  const texts = version.map(({ text, isHash }) => (isHash ? HASH : text));
  const compared = foldCase(texts.join('-')).replace(/^v/, '');
  return compared.match(/[1-9]\d*|0(?!\d)|[^\d._ -]+/g) ?? [];
}
