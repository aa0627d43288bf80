// Masks secrets in messages by value: a service or proxy may echo them, as they are or escaped.

import { type Decoded, decodings, fold } from './decode.ts';

const MASK = '***';

/** A shorter secret is masked as a whole word only: it would match parts of ordinary words. */
const MIN_WITHIN_WORDS = 6;

/** A shorter secret is often an ordinary word, which a suggested command may need. */
const MIN_MASKED_IN_QUERIES = 8;

/** So many characters of the start of a secret are masked alone: others cut without an ellipsis. */
const MIN_START_ALONE = 12;

/** So many are masked before an ellipsis: `shorten` may cut a secret anywhere. */
const MIN_START_BEFORE_ELLIPSIS = 3;

interface Secret {
  /** The secret as it is compared. */
  readonly folded: string;
  readonly isWord: boolean;
  /** How many characters of its start must be there, unless an ellipsis follows. */
  readonly minMatch: number;
  readonly staysInQueries: boolean;
}

/**
 * The secrets of a run. Where one is masked depends on its length:
 *
 *     1 to 5       as a whole word, but not in a command of a hint that chooses images
 *     6 or 7       also within words, but not in such a command
 *     8 to 12      everywhere
 *     13 and more  everywhere, also its first 12 characters alone
 *
 * Each is also masked if an ellipsis follows on 3 or more of its first characters.
 */
export class Redaction {
  readonly #secrets = new Map<string, Secret>();

  /**
   * Masks the secret from now on: plain, and escaped once for JSON, URLs or HTML.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    const folded = fold(secret.trim());
    const isWord = folded.length < MIN_WITHIN_WORDS;
    if (folded === '' || (isWord && secret === shown)) return;
    const start = isWord ? folded : folded.slice(0, MIN_START_ALONE);
    // The final full stop of a message is dropped, and may be that of the secret.
    const minMatch = start.replace(/(?<=.)\.$/, '').length;
    const staysInQueries = folded.length < MIN_MASKED_IN_QUERIES;
    this.#secrets.set(secret, { folded, isWord, minMatch, staysInQueries });
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

  /** @param isQuery short secrets stay: the text is a command that repeats the words of a query */
  apply(text: string, isQuery = false): string {
    const all = [...this.#secrets.values()];
    const secrets = isQuery ? all.filter(({ staysInQueries }) => !staysInQueries) : all;
    if (secrets.length === 0) return text;
    const ranges = decodings(text).flatMap((decoded) => {
      return secrets.flatMap((secret) => find(secret, decoded));
    });
    return mask(text, ranges);
  }
}

/** A part of the original text. */
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

/** Returns where the secret is in the original text. */
function find(secret: Secret, { text, starts }: Decoded): readonly Range[] {
  // Less is never masked.
  const beginning = secret.folded.slice(0, Math.min(secret.minMatch, MIN_START_BEFORE_ELLIPSIS));
  const ranges: Range[] = [];
  let start = text.indexOf(beginning);
  while (start >= 0) {
    const end = endOf(secret, text, start);
    if (end !== undefined) ranges.push([starts[start] ?? 0, starts[end] ?? 0]);
    start = text.indexOf(beginning, end ?? start + 1);
  }
  return ranges;
}

/**
 * Returns where the part to mask ends, or undefined if it is too little of the secret `hunter2`:
 *
 *     text        masked     why
 *     hunter2, x  hunter2    the whole secret
 *     hunter3     nothing    6 of its 7 characters, and no ellipsis
 *     hunt…       hunt       3 or more characters before an ellipsis
 *     hunt%2…     hunt%2     the ellipsis cuts an escape
 *
 * In the secret `hunt…r2` itself, the ellipsis is no cut: all of it is masked.
 */
function endOf({ folded, isWord, minMatch }: Secret, text: string, start: number) {
  let end = start;
  while (end - start < folded.length && text[end] === folded[end - start]) end += 1;
  const ellipsis = findEllipsis(text, start + MIN_START_BEFORE_ELLIPSIS, end);
  const isEnough = end - start >= minMatch;
  const isPartOfWord = isWord && (isWordAt(text, start - 1) || isWordAt(text, end));
  if (isEnough && !isPartOfWord) return Math.max(end, ellipsis ?? end);
  return ellipsis;
}

function isWordAt(text: string, index: number): boolean {
  return /[\p{L}\p{N}_]/u.test(text[index] ?? '');
}

/** An ellipsis behind nothing, or behind the beginning of an escape of JSON, URLs or HTML. */
const ELLIPSIS = /(?:\\(?:u[\da-f]{0,3})?|\ufffd?(?:%[\da-f]{0,2}){0,4}|&#?\w{0,8})…/y;
/** A character has at most four bytes. */
const MAX_ESCAPE = '\ufffd%f0%9f%98%8'.length;

/**
 * Returns where an ellipsis stands that follows on a place, or on an escape that begins there. The
 * last place counts first. The start of the secret `hunt%er` ends behind the `%` of `hunt%2…`, so
 * earlier places count too.
 */
function findEllipsis(text: string, first: number, last: number): number | undefined {
  for (let at = last; at >= Math.max(first, last - MAX_ESCAPE); at -= 1) {
    ELLIPSIS.lastIndex = at;
    if (ELLIPSIS.test(text)) return ELLIPSIS.lastIndex - 1;
  }
  return undefined;
}
