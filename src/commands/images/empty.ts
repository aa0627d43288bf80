// Says that no image matches, how many each condition matches, and what was probably meant.

import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { type Advice, hint, imgctl } from '../../facts.ts';
import type { Output } from '../../output/output.ts';
import { FIELDS, kindOf } from '../../query/fields.ts';
import type { Filter } from '../../query/filter.ts';
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
  const slip = slipIn(empty);
  // A slip is worth a warning beside data as well.
  if (how === 'note' && !slip && !output.isTableFormat) return;
  const error = noMatchError(empty);
  if (how === 'error') throw error;
  const say = slip ? console.warn : console[how];
  say(error.message, error.facts);
}

/** Counts what each word and filter matches. */
export function noMatchError(empty: EmptyQuery): ImgctlError {
  const { query, tally } = empty;
  const message = ['no images match', ...countsOf(tally)].join('; ');
  return new ImgctlError('empty', message, { facts: slipIn(empty) ?? guessAbout(query, tally) });
}

/** Returns `rocky: 2, of these 4: 0`, or nothing for a single word or filter: it matches none. */
function countsOf(tally: Tally): string[] {
  const { counts, withinFirst } = tally.counts();
  const [first, ...others] = counts.map(({ text, count }) => `${shorten(text)}: ${count}`);
  if (first === undefined || others.length === 0) return [];
  if (withinFirst && counts[0]?.count === 0) return [first];
  return [`${first}, ${withinFirst ? 'of these ' : ''}${others.join(', ')}`];
}

/** A word or filter that is probably a mistake. */
interface Slip {
  readonly finds: RegExp;
  /** Returns what to type instead. @param input the whole word or filter */
  readonly advise: (match: RegExpExecArray) => Advice;
}

const FIELD = `(?:${FIELDS.join('|')})`;

const INVISIBLE: Slip = {
  // 'ubuntu\u200b', copied with a text: a carriage return, spaces that do not break, hyphens and
  // joiners without width
  finds: /[\r\u00a0\u00ad\u200b\u2060\ufeff]/,
  advise: ({ 0: character, input }) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, '0');
    const shown = shorten(input.replaceAll(character, `\\u${code}`));
    return `remove the invisible character (U+${code.toUpperCase()}): ${shown}`;
  },
};

/** Signs of patterns, quotes, and a comma at the end. An apostrophe counts only at an end. */
const SIGNS = /\.?[*?%^$"\u201c\u201d]|^['\u2018]|['\u2019]$|,$/g;

const SLIPS_OF_WORDS: readonly Slip[] = [
  {
    // https://alice:pass@host: a part of it could show the password
    finds: /:\/\//,
    advise: () => 'words match names, not URLs',
  },
  INVISIBLE,
  {
    // -q '.[].id' or '{{.id}}'
    finds: new RegExp(`^\\.(?:\\[|${FIELD}$)|^\\{`, 'i'),
    advise: () => 'to choose fields: -c or --get, or --json and a pipe to jq',
  },
  {
    // 'id>=1100'
    finds: new RegExp(`^${FIELD} ?[=!<>~]`, 'i'),
    advise: ({ input }) => `did you mean -f ${shellQuote(input)}?`,
  },
  {
    // '!ubuntu'
    finds: /^!(.+)/s,
    advise: ([, word]) => `to leave out names that contain it: -f ${shellQuote(`name!~${word}`)}`,
  },
  {
    // 'ubuntu*', '.*' or '"ubuntu"'
    finds: new RegExp(SIGNS.source),
    advise: ({ input }) => {
      const signs = input.match(SIGNS)?.join('');
      const bare = input.replace(SIGNS, '');
      return `a word matches any part of the name; omit ${bare === '' ? signs : `${signs}: ${bare}`}`;
    },
  },
  {
    // ubuntu/web.ova or ubuntu/
    finds: /^(?:[^/\s]+\/[^/\s]*|\/[^/\s]+)$/,
    advise: ([label]) =>
      `words match names; to match folder and name: -f ${shellQuote(`label~${label}`)}`,
  },
  {
    // debian,ubuntu or ubuntu>=22.04
    finds: /\S[,|:/=@<>~+]\S/,
    advise: ({ input }) => {
      const all = input
        .split(/[,|:/()=@<>~+]+/)
        .filter(Boolean)
        .map(shellQuote)
        .join(' ');
      return `every word must match; write ${all}, or run the command once for each`;
    },
  },
  {
    // debian or ubuntu
    finds: /^(?:and|or|&&?|\|\|?)$/i,
    advise: ([word]) => `every word must match; omit ${word}, or run the command once for each`,
  },
  {
    // ubuntu latest
    finds: /^(?:latest|newest)$/i,
    advise: ([word]) =>
      hint`words match names; omit ${word}, and use: ${imgctl('images', 'latest', 'TEXT')}`,
  },
  {
    // -s name desc
    finds: /^(?:asc|desc)$/i,
    advise: ([word]) => `to sort in this direction: -s FIELD,${word}`,
  },
  {
    // -c id name
    finds: new RegExp(`^${FIELD}$`, 'i'),
    advise: ([word]) => `to show this field: -c ${word}; to search for it: -f 'name~${word}'`,
  },
  {
    // list help, my-images delete web.ova
    finds: /^(?:help|get|show|describe|delete|remove|rm)$/i,
    advise: () => 'words match names; for help, add --help',
  },
  {
    // 'ubuntu 22.04'
    finds: /\S\s+\S/,
    advise: ({ input }) => {
      const separate = input.split(/\s+/).map(shellQuote).join(' ');
      return `to match each word separately, omit the quotes: ${separate}`;
    },
  },
];

const SLIPS_OF_FILTERS: readonly Slip[] = [
  INVISIBLE,
  {
    // -f 'name~a && name~b', -f 'name~a or name~b' or -f 'name~a,name~b'
    finds: new RegExp(
      `^(\\w+ ?[=!<>~].*?\\S)(?:\\s+(?:&&?|\\|\\|?|and|or)\\s+|\\s*,\\s*)(${FIELD} ?[=!<>~].*)$`,
      'i',
    ),
    advise: ([, first = '', second = '']) =>
      `every filter must match; use -f for each: -f ${shellQuote(first)} -f ${shellQuote(second)}`,
  },
  {
    // -f name==web
    finds: /^(\w+ ?)==(.*)/s,
    advise: ([, field = '', value = '']) => `did you mean -f ${shellQuote(`${field}=${value}`)}?`,
  },
  {
    // -f 'name="web"' or -f 'name,in,"a","b"'
    finds: /^(\w+ ?[=~] ?|\w+,(?:eq|like|in),)(["'].+["'])$/s,
    advise: ([, start = '', value = '']) => {
      const meant = shellQuote(start + value.replaceAll(/["']/g, ''));
      return `quotes are part of the value; did you mean -f ${meant}?`;
    },
  },
];

/** Returns what to do about the first filter or word with a slip. */
function slipIn({ query, tally }: EmptyQuery): Advice | undefined {
  const { filters, words } = query;
  const texts = filters.map(({ text }) => text);
  const advice = adviceFor(texts, SLIPS_OF_FILTERS) ?? adviceFor(words, SLIPS_OF_WORDS);
  return advice ?? firstOf(unmatched(filters, tally), signInFilter);
}

/** Returns the filters that, by themselves, match none of the images that were counted. */
function unmatched(filters: readonly Filter[], tally: Tally): Filter[] {
  const found = tally.counts().counts.filter(({ count }) => count > 0);
  return filters.filter((filter) => !found.some(({ text }) => text === filter.text));
}

function firstOf(
  filters: readonly Filter[],
  advise: (filter: Filter) => string | undefined,
): string | undefined {
  for (const filter of filters) {
    const advice = advise(filter);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** @param slips of which the first that applies to a text counts */
function adviceFor(texts: readonly string[], slips: readonly Slip[]): Advice | undefined {
  for (const text of texts) {
    for (const { finds, advise } of slips) {
      const match = finds.exec(text);
      if (match) return advise(match);
    }
  }
  return undefined;
}

/** Returns what was probably meant by a query that may be right as it is. */
function guessAbout({ filters, words }: Query, tally: Tally): string | undefined {
  const guess = firstOf(unmatched(filters, tally), guessOfFilter);
  if (guess !== undefined) return guess;
  // 2204
  const { dotted } = tally;
  if (dotted.length > 0) {
    return `a number matches only as a whole; write ${dotted.map(shellQuote).join(' ')}`;
  }
  // 1467
  const [word = '', ...others] = words;
  const isId = others.length === 0 && /^[1-9]\d{2,8}$/.test(word);
  return isId ? `words match names; to select by id: -f id=${word}` : undefined;
}

/** Returns `name,like,ubuntu%` for ^ubuntu; undefined for a text without anchors. */
function anchored(field: string, text: string): string | undefined {
  const [, start, part = '', end] = /^(\^?)([\w-]+)(\$?)$/.exec(text) ?? [];
  if (!start && !end) return undefined;
  return shellQuote(`${field},like,${start ? '' : '%'}${part}${end ? '' : '%'}`);
}

/** Returns the value of a filter of a text. */
function textOf({ field, operands }: Filter): string | undefined {
  const value = operands[0]?.value;
  return kindOf(field) === 'text' && typeof value === 'string' ? value : undefined;
}

/** Returns what to type instead of a sign that means nothing in this filter of a text. */
function signInFilter(filter: Filter): string | undefined {
  const { field, operator } = filter;
  const value = textOf(filter) ?? '';
  // -f folder=debian,ubuntu
  if (operator === 'eq' && value.includes(',')) {
    return `to match one of several values: -f ${shellQuote(`${field},in,${value}`)}`;
  }
  // -f folder=lin*
  if (operator !== 'contains') return value.includes('*') ? partHint(filter) : undefined;
  // -f 'name~^rocky'
  const meant = anchored(field, value);
  if (meant !== undefined) return `~ takes ^ and $ literally; did you mean -f ${meant}?`;
  // -f 'name~rocky.*'
  const bare = value.replaceAll(/^\.?\*|\.?\*$/g, '');
  if (bare === value || bare === '') return undefined;
  return `~ takes * literally; did you mean -f ${shellQuote(`${field}~${bare}`)}?`;
}

/** Returns what was probably meant by a filter of a text that may be right as it is. */
function guessOfFilter(filter: Filter): string | undefined {
  // -f folder=none
  if (filter.operator === 'eq' && /^(null|none|nil|""|'')$/i.test(textOf(filter) ?? '')) {
    return `did you mean -f ${filter.field}=null, for images that have none?`;
  }
  return partHint(filter);
}

/** Returns `name~web` for `name=web`, `name=web*` and `name,like,web`. */
function partHint(filter: Filter): string | undefined {
  const { field, operator } = filter;
  const value = textOf(filter);
  if (value === undefined || value.includes('%')) return undefined;
  if (operator !== 'eq' && operator !== 'like') return undefined;
  const part = shellQuote(`${field}~${value.replaceAll('*', '')}`);
  return `= and like compare the whole value; to find a part of it: -f ${part}`;
}
