// Guesses what people meant who know other programs.

import { type Advice, adviceOf, GUESSES, type Place, phrasesOf } from './guess-table.ts';

/**
 * Guesses what was meant with words that are no command, or too many: the first two words behind the path are tried, then
 * one, then the path alone. `get image web.ova` is `get image`, behind which `web.ova` was typed.
 */
export function guess(path: readonly string[], typed: readonly string[]): Advice | undefined {
  for (const count of [2, 1, 0]) {
    const phrase = typed.slice(0, count).join(' ');
    const behind = typed.slice(count);
    const words = behind.every(isPlain) ? behind : [];
    const advice =
      find([...path, phrase].join(' ').trim(), words, { path }) ??
      (path.join() === 'images' ? find(phrase, words, { path }) : undefined);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** Guesses what was meant with an unknown option. @param value behind it. @param place has what else was typed */
export function guessOption(
  path: readonly string[],
  unknown: string,
  value: string | undefined,
  place: Required<Omit<Place, 'path'>>,
): Advice | undefined {
  const words = value !== undefined && isPlain(value) ? [value] : [];
  const where = { ...place, path };
  // A row for one command makes a whole command: it keeps what else was typed.
  return (
    find([...path, unknown].join(' '), [...words, ...place.others], where) ??
    find(unknown, words, where)
  );
}

/** True if a word may be shown: one with other characters could be the password of a URL. */
export function isPlain(word: string): boolean {
  return /^[\p{L}\p{N}/][\p{L}\p{N}._:,/ -]{0,59}$/u.test(word);
}

function find(phrase: string, words: readonly string[], place: Place): Advice | undefined {
  const row = GUESSES.find((each) => phrasesOf(each).includes(phrase));
  return row && adviceOf(row.advice, words, place);
}
