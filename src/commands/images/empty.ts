// Says that no image matches, how many each condition matches, and what was probably meant.

import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { Output } from '../../output/output.ts';
import { kindOf } from '../../query/fields.ts';
import type { Filter } from '../../query/filter.ts';
import { anchored } from '../../query/filter-hints.ts';
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
  const isSlip = hintFrom(SLIPS, empty) !== undefined;
  if (how === 'note' && !isSlip && !output.hasNotes) return;
  const error = noMatchError(empty);
  if (how === 'error') throw error;
  const say = isSlip ? console.warn : console[how];
  say(error.message, error.facts);
}

/** Counts what each word and filter matches alone, if all images were read. */
export function noMatchError(empty: EmptyQuery): ImgctlError {
  const { tally } = empty;
  const counts = tally.hasSeenAll ? tally.counts() : [];
  const each = counts.map(({ text, count }) => `${shorten(text)}: ${count}`).join(', ');
  // A single count is always 0.
  const message = counts.length > 1 ? `no images match; ${each}` : 'no images match';
  const facts = hintFrom(SLIPS, empty) ?? hintFrom(GUESSES, empty);
  return new ImgctlError('empty', message, { facts });
}

type Hint = string | false | undefined;

/** Looks for one kind of mistake in the query. */
type Check = (empty: EmptyQuery) => Hint;

const ofWord = (hint: (word: string) => Hint): Check => {
  return ({ query }) => firstHint(query.words, hint);
};

const ofFilter = (hint: (filter: Filter) => Hint): Check => {
  return ({ query }) => firstHint(query.filters, hint);
};

interface TextFilter extends Pick<Filter, 'field' | 'operator'> {
  /** The first of the values. */
  readonly value: string;
  /** All values. */
  readonly typed: string;
}

/** Operators that exclude images, so that they are not why none matches. */
const EXCLUDING = ['ne', 'lacks', 'notlike'];

/** Checks the filters that search for a text. */
const ofText = (hint: (filter: TextFilter) => Hint): Check =>
  ofFilter(({ field, operator, operands }) => {
    const value = operands[0]?.value;
    if (kindOf(field) !== 'text' || EXCLUDING.includes(operator)) return undefined;
    if (typeof value !== 'string') return undefined;
    return hint({ field, operator, value, typed: operands.map(({ text }) => text).join(',') });
  });

/** What is surely not part of a name, with an example of each. The first that applies counts. */
const SLIPS: readonly Check[] = [
  // 'ubuntu\u200b', copied with a text
  ofWord(invisibleHint),
  ofFilter(({ text }) => invisibleHint(text)),
  // -f 'name~zz && name~yy'
  ofFilter(joinedHint),
  // -f "name~'zz'"
  ofText(quotedHint),
  // 'id>=1100'
  ofWord((word) => {
    const [, field] = /^(\w+) ?[=!<>~]/.exec(word) ?? [];
    return isField(field) && `did you mean -f ${shellQuote(word)}?`;
  }),
  // '!ubuntu'
  ofWord((word) => {
    const filter = shellQuote(`name!~${word.slice(1)}`);
    return /^!./.test(word) && `to leave out names that contain it: -f ${filter}`;
  }),
  // 'ubuntu*' or '.*'
  ofWord((word) => {
    const signs = word.match(/\.?[*%^$]/g)?.join('');
    const bare = word.replace(/\.?[*%^$]/g, '');
    const omitted = bare === '' ? signs : `${signs}: ${bare}`;
    return signs && `a word matches any part of the name; omit ${omitted}`;
  }),
  // debian,ubuntu
  ofWord((word) => {
    const all = word.split(/[,|]+/).filter(Boolean).map(shellQuote).join(' ');
    const advice = `every word must match; write ${all}, or run the command once for each`;
    return /\S[,|]\S/.test(word) && advice;
  }),
  // -s name desc
  ofWord((word) => /^(?:asc|desc)$/i.test(word) && `to sort in this direction: -s FIELD,${word}`),
  // -c id name
  ofWord((word) => {
    const advice = `to show this field: -c ${word}; to search for the word: -f 'name~${word}'`;
    return isField(word) && advice;
  }),
  // help
  ofWord((word) => /^help$/i.test(word) && 'for help, add --help'),
  // 'ubuntu 22.04'
  ofWord((word) => {
    const separate = word.split(/\s+/).map(shellQuote).join(' ');
    return /\S\s+\S/.test(word) && `to match each word separately, omit the quotes: ${separate}`;
  }),
];

/** What may be right, but was probably meant otherwise. The first that applies counts. */
const GUESSES: readonly Check[] = [
  // -f folder=none
  ofText(({ field, operator, value }) => {
    const isNone = operator === 'eq' && /^(null|none|nil|""|'')$/i.test(value);
    return isNone && `did you mean -f ${field}=null, for images that have none?`;
  }),
  // -f 'name~^rocky'
  ofText(({ field, operator, value }) => {
    const meant = operator === 'contains' && anchored(field, value);
    return meant && `~ takes ^ and $ as they are; did you mean -f ${meant}?`;
  }),
  // -f folder=debian,ubuntu
  ofText(({ field, operator, value }) => {
    const filter = shellQuote(`${field},in,${value}`);
    return (
      operator === 'eq' && value.includes(',') && `to match one of several values: -f ${filter}`
    );
  }),
  // -f folder=lin
  ofText(({ field, operator, value }) => {
    const isWhole = (operator === 'eq' || operator === 'like') && !value.includes('%');
    const part = shellQuote(`${field}~${value.replaceAll('*', '')}`);
    return isWhole && `= and like compare the whole value; to find a part of it: -f ${part}`;
  }),
  // 2204
  ({ tally: { dotted } }) => {
    const words = dotted.map(shellQuote).join(' ');
    return dotted.length > 0 && `a number matches only as a whole; write ${words}`;
  },
  // 1467
  ({ query: { words } }) => {
    const isId = words.length === 1 && /^[1-9]\d{2,8}$/.test(`${words[0]}`);
    return isId && `words match names; to select by id: -f id=${words[0]}`;
  },
];

function hintFrom(checks: readonly Check[], empty: EmptyQuery): string | undefined {
  return firstHint(checks, (check) => check(empty));
}

function firstHint<Item>(items: readonly Item[], hint: (item: Item) => Hint): string | undefined {
  for (const item of items) {
    const found = hint(item);
    if (found) return found;
  }
  return undefined;
}

/** Seen nowhere: a carriage return, spaces that do not break, hyphens and joiners without width. */
const INVISIBLE = /[\r\u00a0\u00ad\u200b\u2060\ufeff]/;

function invisibleHint(text: string): Hint {
  const [character] = INVISIBLE.exec(text) ?? [];
  if (character === undefined) return undefined;
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  const shown = shorten(text.replaceAll(character, `\\u${code}`));
  return `remove the invisible character (U+${code.toUpperCase()}): ${shown}`;
}

/** Two filters in one: `name~a && name~b`, `name~a or name~b`, `name~a,name~b`. */
const JOINED_FILTERS =
  /^(?<first>\w+ ?[=!<>~].*?\S)(?:\s+(?<sign>&&?|\|\|?|and|or)\s+|\s*,\s*)(?<second>(?<field>\w+) ?[=!<>~].*)$/is;

function joinedHint({ text }: Filter): Hint {
  const { first = '', sign = '', second = '', field } = JOINED_FILTERS.exec(text)?.groups ?? {};
  if (!isField(field)) return undefined;
  const [one, other] = [`-f ${shellQuote(first)}`, `-f ${shellQuote(second)}`];
  return /^(?:\||or)/i.test(sign)
    ? `every filter must match; run the command once with ${one}, once with ${other}`
    : `use -f for each filter: ${one} ${other}`;
}

function quotedHint({ field, operator, typed }: TextFilter): Hint {
  // A path begins with its data store in brackets.
  const list = field === 'path' ? typed : typed.replace(/^(%?)[([](.*)[)\]](%?)$/s, '$1$2$3');
  const items = operator === 'in' ? list.split(',') : [list];
  const bare = items.map((item) => item.replace(/^(%?)(["'])(.*)\2(%?)$/s, '$1$3$4')).join(',');
  if (bare === typed || bare === '') return undefined;
  const sign = operator === 'contains' ? '~' : `,${operator},`;
  const filter = shellQuote(`${field}${sign}${bare}`);
  return `quotes and brackets belong to the value; did you mean -f ${filter}?`;
}
