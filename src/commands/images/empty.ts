// Says that no image matches, how many each condition matches, and what was probably meant.

import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import { FIELDS, kindOf } from '../../query/fields.ts';
import type { Filter } from '../../query/filter.ts';
import { anchored } from '../../query/filter-hints.ts';
import type { Query } from '../../query/query.ts';
import type { Tally } from '../../query/tally.ts';
import { shellQuote, shorten } from '../../words.ts';

interface EmptyQuery {
  readonly query: Query;
  readonly tally: Tally;
}

/**
 * Says that no image matches.
 * @param how as a note, only beside tables on a terminal; as a report, everywhere; or as an error
 * @throws ImgctlError empty
 */
export function reportNoMatch(
  { console }: Context,
  output: Output,
  empty: EmptyQuery,
  how: 'note' | 'report' | 'error',
): void {
  // A slip is worth a warning beside data as well.
  const isSlip = slipIn(empty.query) !== undefined;
  if (how === 'note' && !isSlip && !output.hasNotes) return;
  const error = noMatchError(empty);
  if (how === 'error') throw error;
  const say = isSlip ? console.warn : console[how];
  say(error.message, error.facts);
}

/** Counts what each word and filter matches alone, if all images were read. */
export function noMatchError({ query, tally }: EmptyQuery): ImgctlError {
  const counts = tally.hasSeenAll ? tally.counts() : [];
  const each = counts.map(({ text, count }) => `${shorten(text)}: ${count}`).join(', ');
  // A single count is always 0.
  const message = counts.length > 1 ? `no images match; ${each}` : 'no images match';
  const facts = slipIn(query) ?? guessAbout(query, tally);
  return new ImgctlError('empty', message, { facts });
}

/** Returns what to do about a condition that surely no image can match. */
function slipIn({ filters, words }: Query): string | undefined {
  return firstHint(filters, slipOfFilter) ?? firstHint(words, slipOfWord);
}

/** Returns what was probably meant by a query that may be right as it is. */
function guessAbout({ filters, words }: Query, { dotted }: Tally): string | undefined {
  const guess = firstHint(filters, guessOfFilter);
  if (guess !== undefined) return guess;
  // 2204
  if (dotted.length > 0) {
    return `a number matches only as a whole; write ${dotted.map(shellQuote).join(' ')}`;
  }
  // 1467
  const [word = '', ...others] = words;
  const isId = others.length === 0 && /^[1-9]\d{2,8}$/.test(word);
  return isId ? `words match names; to select by id: -f id=${word}` : undefined;
}

function firstHint<Item>(
  items: readonly Item[],
  hintOf: (item: Item) => string | undefined,
): string | undefined {
  for (const item of items) {
    const found = hintOf(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isField(text = ''): boolean {
  return FIELDS.some((field) => field === text.toLowerCase());
}

/** Each word that surely is no part of a name, with an example. The first that applies counts. */
function slipOfWord(word: string): string | undefined {
  // 'ubuntu\u200b', copied with a text
  if (INVISIBLE.test(word)) return invisibleHint(word);
  // 'id>=1100'
  const [, field] = /^(\w+) ?[=!<>~]/.exec(word) ?? [];
  if (isField(field)) return `did you mean -f ${shellQuote(word)}?`;
  // '!ubuntu'
  if (/^!./.test(word)) {
    return `to leave out names that contain it: -f ${shellQuote(`name!~${word.slice(1)}`)}`;
  }
  // 'ubuntu*' or '.*'
  const signs = word.match(/\.?[*%^$]/g)?.join('');
  if (signs !== undefined) {
    const bare = word.replace(/\.?[*%^$]/g, '');
    return `a word matches any part of the name; omit ${bare === '' ? signs : `${signs}: ${bare}`}`;
  }
  // debian,ubuntu
  if (/\S[,|]\S/.test(word)) {
    const all = word.split(/[,|]+/).filter(Boolean).map(shellQuote).join(' ');
    return `every word must match; write ${all}, or run the command once for each`;
  }
  // -s name desc
  if (/^(?:asc|desc)$/i.test(word)) return `to sort in this direction: -s FIELD,${word}`;
  // -c id name
  if (isField(word)) {
    return `to show this field: -c ${word}; to search for the word: -f 'name~${word}'`;
  }
  // help
  if (/^help$/i.test(word)) return 'for help, add --help';
  // 'ubuntu 22.04'
  if (/\S\s+\S/.test(word)) {
    const separate = word.split(/\s+/).map(shellQuote).join(' ');
    return `to match each word separately, omit the quotes: ${separate}`;
  }
  return undefined;
}

/** Each filter that surely matches no image, with an example. The first that applies counts. */
function slipOfFilter(filter: Filter): string | undefined {
  // -f 'name~ubuntu\u200b'
  if (INVISIBLE.test(filter.text)) return invisibleHint(filter.text);
  // -f 'name~zz && name~yy', or -f "name~'zz'"
  return joinedHint(filter) ?? quotedHint(filter);
}

/** Each filter that may be right, with an example. The first that applies counts. */
function guessOfFilter(filter: Filter): string | undefined {
  const { field, operator } = filter;
  const [value] = searchedTexts(filter);
  if (value === undefined) return undefined;
  // -f folder=none
  if (operator === 'eq' && /^(null|none|nil|""|'')$/i.test(value)) {
    return `did you mean -f ${field}=null, for images that have none?`;
  }
  // -f 'name~^rocky'
  const meant = operator === 'contains' ? anchored(field, value) : undefined;
  if (meant !== undefined) return `~ takes ^ and $ as they are; did you mean -f ${meant}?`;
  // -f folder=debian,ubuntu
  if (operator === 'eq' && value.includes(',')) {
    return `to match one of several values: -f ${shellQuote(`${field},in,${value}`)}`;
  }
  // -f folder=lin
  if ((operator === 'eq' || operator === 'like') && !value.includes('%')) {
    const part = shellQuote(`${field}~${value.replaceAll('*', '')}`);
    return `= and like compare the whole value; to find a part of it: -f ${part}`;
  }
  return undefined;
}

/** Operators that exclude images, so that they are not why none matches. */
const EXCLUDING = ['ne', 'lacks', 'notlike'];

/** Returns the texts that a filter of a text field searches for. */
function searchedTexts({ field, operator, operands }: Filter): string[] {
  if (kindOf(field) !== 'text' || EXCLUDING.includes(operator)) return [];
  return operands.map(({ value }) => value).filter((value) => typeof value === 'string');
}

/** Seen nowhere: a carriage return, spaces that do not break, hyphens and joiners without width. */
const INVISIBLE = /[\r\u00a0\u00ad\u200b\u2060\ufeff]/;

function invisibleHint(text: string): string {
  const [character = ''] = INVISIBLE.exec(text) ?? [];
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  const shown = shorten(text.replaceAll(character, `\\u${code}`));
  return `remove the invisible character (U+${code.toUpperCase()}): ${shown}`;
}

/** Two filters in one: `name~a && name~b`, `name~a or name~b`, `name~a,name~b`. */
const JOINED_FILTERS =
  /^(?<first>\w+ ?[=!<>~].*?\S)(?:\s+(?<sign>&&?|\|\|?|and|or)\s+|\s*,\s*)(?<second>(?<field>\w+) ?[=!<>~].*)$/is;

function joinedHint({ text }: Filter): string | undefined {
  const { first = '', sign = '', second = '', field } = JOINED_FILTERS.exec(text)?.groups ?? {};
  if (!isField(field)) return undefined;
  const [one, other] = [`-f ${shellQuote(first)}`, `-f ${shellQuote(second)}`];
  return /^(?:\||or)/i.test(sign)
    ? `every filter must match; run the command once with ${one}, once with ${other}`
    : `use -f for each filter: ${one} ${other}`;
}

function quotedHint(filter: Filter): string | undefined {
  const { field, operator } = filter;
  const typed = searchedTexts(filter).join(',');
  // A path begins with its data store in brackets.
  const list = field === 'path' ? typed : typed.replace(/^(%?)[([](.*)[)\]](%?)$/s, '$1$2$3');
  const items = operator === 'in' ? list.split(',') : [list];
  const bare = items.map((item) => item.replace(/^(%?)(["'])(.*)\2(%?)$/s, '$1$3$4')).join(',');
  if (bare === typed || bare === '') return undefined;
  const sign = operator === 'contains' ? '~' : `,${operator},`;
  const meant = shellQuote(`${field}${sign}${bare}`);
  return `quotes and brackets belong to the value; did you mean -f ${meant}?`;
}
