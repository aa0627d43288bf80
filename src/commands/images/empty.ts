// Says that no image matches, how many each word and filter matches alone, and what was probably meant.

import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { Facts } from '../../facts.ts';
import type { Output } from '../../output/output.ts';
import { kindOf } from '../../query/fields.ts';
import { anchored, type Filter } from '../../query/filter.ts';
import type { Query } from '../../query/query.ts';
import type { Tally } from '../../query/tally.ts';
import { shellQuote, shorten } from '../../words.ts';
import { isField, type ListingOptions } from './options.ts';

interface EmptyQuery {
  readonly query: Query;
  readonly tally: Tally;
}

/** Prints a note for an empty result. @throws ImgctlError empty, with --fail-empty */
export function reportNoMatch(
  context: Context,
  output: Output,
  options: ListingOptions,
  empty: EmptyQuery,
): void {
  // A slip is worth a note beside data as well.
  const isSlip = slipHint(empty.query) !== undefined;
  if (!isSlip && !output.hasNotes && !options.failEmpty) return;
  const { message, facts } = noMatchError(empty);
  if (isSlip && !options.failEmpty) context.console.warn(message, facts);
  else noteEmpty(context, output, options, message, facts);
}

/** Returns the error for an empty result. It counts what each word and filter matches if all images were read. */
export function noMatchError({ query: { words, filters }, tally }: EmptyQuery): ImgctlError {
  const counts = tally.hasSeenAll ? tally.counts() : [];
  const each = counts.map(({ text, count }) => `${shorten(text)}: ${count}`).join(', ');
  // A single count is always 0.
  const message = counts.length > 1 ? `no images match; ${each}` : 'no images match';
  const dotted = tally.dotted.map(shellQuote).join(' ');
  const facts =
    slipHint({ words, filters }) ??
    foreignHint(filters) ??
    wholeValueHint(filters) ??
    (dotted ? `digits match as a whole; write ${dotted}` : idHint(words));
  return new ImgctlError('empty', message, { facts });
}

/** Returns a hint for a number of three digits or more, which may be an id. */
function idHint(words: readonly string[]): string | undefined {
  const [id] = words;
  if (words.length !== 1 || !/^[1-9]\d{2,8}$/.test(id ?? '')) return undefined;
  return `words match names; to select by id: -f id=${id}`;
}

/** Copied with a text, and seen nowhere. */
const INVISIBLE = /[\u00a0\u200b\u2060\ufeff]/;

/** Two filters in one, as other tools take them: `name~a && name~b`, `name~a,name~b`. */
const JOINED_FILTERS =
  /^(\w+ ?[=!<>~].*?\S)(?:\s+(&&?|\|\|?|and|or)\s+|\s*,\s*)((\w+) ?[=!<>~].*)$/is;

/** Filters of which the shell has not removed the quotes. */
const QUOTED_VALUE = /[=~,]\s*(["']).*\1$/s;

/** Returns a hint for what is surely no part of a name: invisible characters, signs, names of fields, a phrase. */
export function slipHint({ words, filters }: Pick<Query, 'words' | 'filters'>): string | undefined {
  const odd = [...words, ...filters.map(({ text }) => text)].find((text) => INVISIBLE.test(text));
  const [character] = INVISIBLE.exec(odd ?? '') ?? [];
  if (odd && character) {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    const shown = shorten(odd.replaceAll(character, `\\u${code}`));
    return `remove the invisible character (U+${code.toUpperCase()}): ${shown}`;
  }
  for (const { text } of filters) {
    const [, first = '', sign = '', next = '', field] = JOINED_FILTERS.exec(text) ?? [];
    if (!isField(field)) continue;
    if (/^(?:\||or)/i.test(sign)) {
      return `every filter must match; run the command once with -f ${shellQuote(first)}, once with -f ${shellQuote(next)}`;
    }
    return `use -f for each filter: -f ${shellQuote(first)} -f ${shellQuote(next)}`;
  }
  if (filters.some(({ text }) => QUOTED_VALUE.test(text))) return foreignHint(filters);
  const filter = words.find((word) => isField(/^(\w+) ?[=!<>~]/.exec(word)?.[1]));
  if (filter) return `did you mean -f ${shellQuote(filter)}?`;
  const negated = words.find((word) => /^!./.test(word))?.slice(1);
  if (negated) return `to leave out names that contain it: -f ${shellQuote(`name!~${negated}`)}`;
  const starred = words.find((word) => /[*%^$]/.test(word));
  if (starred) {
    const signs = (starred.match(/[*%^$]/g) ?? []).join('');
    return `a word matches any part of the name; omit ${signs}: ${starred.replace(/[*%^$]/g, '')}`;
  }
  const several = words.find((word) => /\S[,|]\S/.test(word))?.split(/[,|]+/);
  if (several) {
    const all = several.filter(Boolean).map(shellQuote).join(' ');
    return `every word must match; write ${all}, or run the command once for each`;
  }
  const direction = words.find((word) => /^(?:asc|desc)$/i.test(word));
  if (direction) return `to sort in this direction: -s FIELD,${direction}`;
  const field = words.find(isField);
  if (field) return `to show this field: -c ${field}; to search for the word: -f 'name~${field}'`;
  if (words.some((word) => /^help$/i.test(word))) return 'for help, add --help';
  const phrase = words.find((word) => /\S\s+\S/.test(word))?.split(/\s+/);
  if (phrase) {
    return `to match each word separately, omit the quotes: ${phrase.map(shellQuote).join(' ')}`;
  }
  return undefined;
}

/** Returns a hint for what filters of other programs mean: quotes, brackets, NULL, ^ and $ in ~, and a list behind =. */
function foreignHint(filters: readonly Filter[]): string | undefined {
  for (const { field, operator, operands } of filters) {
    const value = operands[0]?.value;
    if (kindOf(field) !== 'text' || typeof value !== 'string') continue;
    const given = operands.map(({ text }) => text).join(',');
    const bare = given.replace(/^(%?)["'([](.*)["')\]](%?)$/s, '$1$2$3');
    if (bare !== given) {
      const sign = operator === 'contains' ? '~' : operator === 'lacks' ? '!~' : undefined;
      const filter = shellQuote(sign ? `${field}${sign}${bare}` : `${field},${operator},${bare}`);
      return `quotes and brackets belong to the value; did you mean -f ${filter}?`;
    }
    if (operator === 'eq' && /^(null|none|nil)$/i.test(value)) {
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

/** Prints a note for an empty result. @throws ImgctlError empty, with --fail-empty */
export function noteEmpty(
  { console }: Context,
  output: Output,
  options: Pick<ListingOptions, 'failEmpty'>,
  message: string,
  facts?: string | Facts,
): void {
  if (options.failEmpty) throw new ImgctlError('empty', message, { facts });
  if (output.hasNotes) console.note(message, facts);
}
