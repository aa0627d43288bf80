// Says that no image matches, how many each word and filter matches alone, and what was probably meant.

import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import { kindOf } from '../../query/fields.ts';
import { anchored, type Filter } from '../../query/filter.ts';
import type { Query } from '../../query/query.ts';
import type { Tally } from '../../query/tally.ts';
import { shellQuote, shorten } from '../../words.ts';
import { isField } from './options.ts';

interface EmptyQuery {
  readonly query: Query;
  readonly tally: Tally;
}

/**
 * Says that no image matches.
 * @param how as a note, in tables on a terminal; as a report, in every format and everywhere; or as an error
 * @throws ImgctlError empty
 */
export function reportNoMatch(
  { console }: Context,
  output: Output,
  empty: EmptyQuery,
  how: 'note' | 'report' | 'error',
): void {
  // A slip is worth a warning beside data as well.
  const isSlip = slipHint(empty.query) !== undefined;
  if (how === 'note' && !isSlip && !output.hasNotes) return;
  const error = noMatchError(empty);
  if (how === 'error') throw error;
  const say = isSlip ? console.warn : console[how];
  say(error.message, error.facts);
}

/** Returns the error for an empty result. It counts what each word and filter matches if all images were read. */
export function noMatchError({ query: { words, filters }, tally }: EmptyQuery): ImgctlError {
  const counts = tally.hasSeenAll ? tally.counts() : [];
  const each = counts.map(({ text, count }) => `${shorten(text)}: ${count}`).join(', ');
  // A single count is always 0.
  const message = counts.length > 1 ? `no images match; ${each}` : 'no images match';
  const facts =
    slipHint({ words, filters }) ??
    foreignHint(filters) ??
    wholeValueHint(filters) ??
    dottedHint(tally) ??
    idHint(words);
  return new ImgctlError('empty', message, { facts });
}

function dottedHint({ dotted }: Tally): string | undefined {
  if (dotted.length === 0) return undefined;
  return `a number matches only as a whole; write ${dotted.map(shellQuote).join(' ')}`;
}

/** Returns a hint for a number of three digits or more, which may be an id. */
function idHint(words: readonly string[]): string | undefined {
  const [id] = words;
  if (words.length !== 1 || !/^[1-9]\d{2,8}$/.test(id ?? '')) return undefined;
  return `words match names; to select by id: -f id=${id}`;
}

/** Copied with a text, and seen nowhere. */
const INVISIBLE = /[\r\u00a0\u00ad\u200b\u2060\ufeff]/;

/** Two filters in one, as other tools take them: `name~a && name~b`, `name~a,name~b`. */
const JOINED_FILTERS =
  /^(\w+ ?[=!<>~].*?\S)(?:\s+(&&?|\|\|?|and|or)\s+|\s*,\s*)((\w+) ?[=!<>~].*)$/is;

type Advice = (word: string) => string;

/** What a word is that is surely no part of a name, and what to do about it; in the order in which slips count. */
const WORD_SLIPS: readonly (readonly [is: (word: string) => boolean, advice: Advice])[] = [
  // A filter without -f.
  [
    (word) => isField(/^(\w+) ?[=!<>~]/.exec(word)?.[1]),
    (word) => `did you mean -f ${shellQuote(word)}?`,
  ],
  [
    (word) => /^!./.test(word),
    (word) => `to leave out names that contain it: -f ${shellQuote(`name!~${word.slice(1)}`)}`,
  ],
  // A pattern.
  [
    (word) => /[*%^$]/.test(word),
    (word) => {
      const [bare, signs] = [word.replace(/\.?[*%^$]/g, ''), word.match(/\.?[*%^$]/g) ?? []];
      return `a word matches any part of the name; omit ${signs.join('')}: ${bare}`.replace(
        /: $/,
        '',
      );
    },
  ],
  [
    (word) => /\S[,|]\S/.test(word),
    (word) => {
      const all = word.split(/[,|]+/).filter(Boolean).map(shellQuote).join(' ');
      return `every word must match; write ${all}, or run the command once for each`;
    },
  ],
  [(word) => /^(?:asc|desc)$/i.test(word), (word) => `to sort in this direction: -s FIELD,${word}`],
  [isField, (word) => `to show this field: -c ${word}; to search for the word: -f 'name~${word}'`],
  [(word) => /^help$/i.test(word), () => 'for help, add --help'],
  // A phrase.
  [
    (word) => /\S\s+\S/.test(word),
    (word) => {
      const separate = word.split(/\s+/).map(shellQuote).join(' ');
      return `to match each word separately, omit the quotes: ${separate}`;
    },
  ],
];

/** Returns a hint for what is surely no part of a name: invisible characters, signs, names of fields, a phrase. */
function slipHint({ words, filters }: Pick<Query, 'words' | 'filters'>): string | undefined {
  const texts = [...words, ...filters.map(({ text }) => text)];
  const hint = invisibleHint(texts) ?? joinedHint(filters) ?? quotedHint(filters);
  if (hint !== undefined) return hint;
  for (const [is, advice] of WORD_SLIPS) {
    const word = words.find(is);
    if (word !== undefined) return advice(word);
  }
  return undefined;
}

function invisibleHint(texts: readonly string[]): string | undefined {
  const odd = texts.find((text) => INVISIBLE.test(text));
  const [character] = INVISIBLE.exec(odd ?? '') ?? [];
  if (!odd || !character) return undefined;
  const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
  const shown = shorten(odd.replaceAll(character, `\\u${code}`));
  return `remove the invisible character (U+${code.toUpperCase()}): ${shown}`;
}

function joinedHint(filters: readonly Filter[]): string | undefined {
  for (const { text } of filters) {
    const [, first = '', sign = '', next = '', field] = JOINED_FILTERS.exec(text) ?? [];
    if (!isField(field)) continue;
    const [one, other] = [`-f ${shellQuote(first)}`, `-f ${shellQuote(next)}`];
    const isEither = /^(?:\||or)/i.test(sign);
    if (!isEither) return `use -f for each filter: ${one} ${other}`;
    return `every filter must match; run the command once with ${one}, once with ${other}`;
  }
  return undefined;
}

/** Returns a hint if the shell has not removed the quotes of a filter. */
function quotedHint(filters: readonly Filter[]): string | undefined {
  const isQuoted = filters.some(({ text }) => /[=~,]\s*(["']).*\1$/s.test(text));
  return isQuoted ? foreignHint(filters) : undefined;
}

/** Operators that are written as signs alone. */
const SIGNS: ReadonlyMap<string, string> = new Map([
  ['contains', '~'],
  ['lacks', '!~'],
]);

/** Returns a hint for what filters of other programs mean: quotes, brackets, NULL, ^ and $ in ~, and a list behind =. */
function foreignHint(filters: readonly Filter[]): string | undefined {
  for (const { field, operator, operands } of filters) {
    const value = operands[0]?.value;
    if (kindOf(field) !== 'text' || typeof value !== 'string') continue;
    const given = operands.map(({ text }) => text).join(',');
    const bare = given.replace(/^(%?)["'([](.*)["')\]](%?)$/s, '$1$2$3');
    if (bare !== given && bare !== '') {
      const sign = SIGNS.get(operator) ?? `,${operator},`;
      const filter = shellQuote(`${field}${sign}${bare}`);
      return `quotes and brackets belong to the value; did you mean -f ${filter}?`;
    }
    if (operator === 'eq' && /^(null|none|nil|""|'')$/i.test(value)) {
      return `did you mean -f ${field}=null, for images that have none?`;
    }
    const meant = operator === 'contains' ? anchored(field, value) : undefined;
    if (meant) return `~ takes ^ and $ as they are; did you mean -f ${meant}?`;
    if (operator === 'eq' && value.includes(',')) {
      return `to match one of several values: -f ${shellQuote(`${field},in,${value}`)}`;
    }
  }
  return undefined;
}

function wholeValueHint(filters: readonly Filter[]): string | undefined {
  for (const { field, operator, operands } of filters) {
    const value = operands[0]?.value;
    if (operator !== 'eq' && operator !== 'like') continue;
    if (kindOf(field) !== 'text' || typeof value !== 'string' || value.includes('%')) continue;
    const part = shellQuote(`${field}~${value.replaceAll('*', '')}`);
    return `= and like compare the whole value; to find a part of it: -f ${part}`;
  }
  return undefined;
}
