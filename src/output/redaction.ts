// Masks secrets in messages by value: a service or proxy may echo them, as they are or escaped.

import { type Decoded, decodings, fold } from './decode.ts';

const MASK = '***';

/** A shorter secret is masked as a whole word only: it would match parts of ordinary words. */
const MIN_WITHIN_WORDS = 6;

/** Minimum of characters of its start that are masked alone: some services cut without an ellipsis. */
const MIN_START_ALONE = 12;

/** The same before an ellipsis: `shorten` may cut a secret anywhere. */
const MIN_START_BEFORE_ELLIPSIS = 3;

interface Secret {
  /** The secret as it is compared. */
  readonly folded: string;
  readonly wholeWordOnly: boolean;
  /** So many characters of its start must be there, unless an ellipsis follows. */
  readonly enough: number;
}

/**
 * The secrets of a run. Where one is masked depends on its length:
 *
 *     1 to 5       as a whole word
 *     6 to 12      also within words
 *     13 and more  also its first 12 characters alone
 *
 * Each is also masked if an ellipsis follows on 3 or more of its first characters, or if only a full
 * stop at the end of these characters is missing.
 */
export class Redaction {
  readonly #secrets = new Map<string, Secret>();

  /**
   * Masks the secret from now on: plain, and escaped once for JSON, URLs or HTML.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    const folded = fold(secret.trim());
    const wholeWordOnly = folded.length < MIN_WITHIN_WORDS;
    if (folded === '' || (wholeWordOnly && secret === shown)) return;
    const start = wholeWordOnly ? folded : folded.slice(0, MIN_START_ALONE);
    // The final full stop of a message is dropped, and may be that of the secret.
    const enough = start.replace(/(?<=.)\.$/, '').length;
    this.#secrets.set(secret, { folded, wholeWordOnly, enough });
  }

  /** Masks the passwords of URLs in a command line, which messages quote as a whole or in part. */
  addTyped(words: readonly string[]): void {
    for (const word of words) {
      for (const { 0: start, index } of word.matchAll(/:\/\/[^:/@]*:/g)) {
        const rest = word.slice(index + start.length);
        // Of `https://a:b@c https://d:e@f`: b, and `b@c https://d:e`, which may be one password.
        this.add(/^(?:(?!:\/\/)\S)+(?=@)/.exec(rest)?.[0] ?? '');
        this.add(/^.+(?=@)/s.exec(rest)?.[0] ?? '');
      }
    }
  }

  readonly apply = (text: string): string => {
    if (this.#secrets.size === 0) return text;
    const secrets = [...this.#secrets.values()];
    const ranges = decodings(text).flatMap((decoded) => {
      return secrets.flatMap((secret) => find(secret, decoded));
    });
    return mask(text, ranges);
  };
}

/** Where a secret is in the original text. */
type Range = readonly [from: number, to: number];

function mask(text: string, ranges: readonly Range[]): string {
  let masked = '';
  let end = 0;
  for (const [from, to] of ranges.toSorted(([left], [right]) => left - right)) {
    if (from >= end) masked += text.slice(end, from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}

/**
 * Finds the secret, as a whole or cut. Of `hunter2`:
 *
 *     text        masked     why
 *     hunter2, x  hunter2    the whole secret
 *     hunter3     nothing    6 of its 7 characters, and no ellipsis
 *     hunt…       hunt       3 or more characters before an ellipsis
 *     hunt%6…     hunt%6     the ellipsis cuts an escape
 */
function find(secret: Secret, { text, starts }: Decoded): readonly Range[] {
  // The least that either match needs.
  const beginning = secret.folded.slice(0, Math.min(secret.enough, MIN_START_BEFORE_ELLIPSIS));
  const ranges: Range[] = [];
  let start = text.indexOf(beginning);
  while (start >= 0) {
    // In the secret `hunt…r2` itself, the ellipsis is no cut.
    const end = Math.max(wholeEnd(secret, text, start), cutEnd(secret, text, start));
    if (end > start) ranges.push([starts[start] ?? 0, starts[end] ?? 0]);
    // The secret may overlap itself.
    start = text.indexOf(beginning, start + 1);
  }
  return ranges;
}

/** Returns where the secret, or enough of its start, ends; `start` if it is not there. */
function wholeEnd({ folded, wholeWordOnly, enough }: Secret, text: string, start: number): number {
  const end = differenceFrom(folded, text, start);
  const isPartOfWord = wholeWordOnly && (isWordAt(text, start - 1) || isWordAt(text, end));
  return end - start < enough || isPartOfWord ? start : end;
}

/** Returns where the text ceases to be that of the secret. */
function differenceFrom(folded: string, text: string, start: number): number {
  let end = start;
  while (end - start < folded.length && text[end] === folded[end - start]) end += 1;
  return end;
}

function isWordAt(text: string, index: number): boolean {
  return /[\p{L}\p{N}_]/u.test(text[index] ?? '');
}

/** An ellipsis, perhaps after the beginning of an escape of JSON, URLs or HTML. */
const ELLIPSIS = /(?:\\(?:u[\da-f]{0,3})?|\ufffd?(?:%[\da-f]{0,2}){0,4}|&#?\w{0,8})…/y;
/** A character has at most four bytes. */
const MAX_ESCAPE = '\ufffd%f0%9f%98%8'.length;

/**
 * Returns where an ellipsis cuts the secret, or an escape in it; `start` if none does. From 0:
 *
 *     secret    text       alike up to    an escape is cut    returns
 *     hunter2   hunt…      4              none                4
 *     hunt%er   hunt%2…    5              from 4 on: %2       6
 */
function cutEnd({ folded }: Secret, text: string, start: number): number {
  const alike = differenceFrom(folded, text, start);
  const first = Math.max(start + MIN_START_BEFORE_ELLIPSIS, alike - MAX_ESCAPE);
  for (let at = alike; at >= first; at -= 1) {
    ELLIPSIS.lastIndex = at;
    // What is masked ends before the ellipsis.
    if (ELLIPSIS.test(text)) return ELLIPSIS.lastIndex - 1;
  }
  return start;
}
