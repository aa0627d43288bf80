// Says why no image matches: what was probably meant, and what a wider search would find.

import type { ReceivedImage } from '../../api/types.ts';
import { commandOf, noMatch, type Selection } from '../../catalogue/newest.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { kindOf } from '../../query/fields.ts';
import { parseFilter } from '../../query/filter.ts';
import { planQuery, type QueryPlan } from '../../query/plan.ts';
import { shellQuote } from '../../words.ts';
import { isField, type ListingOptions } from './options.ts';

/** A query of `command` without a result. */
export interface EmptyQuery {
  /** `imgctl images list` */
  readonly command: string;
  readonly plan: QueryPlan;
  readonly words: readonly string[];
  readonly filters?: readonly string[] | undefined;
  /** Yields the images that match another plan. */
  search(plan: QueryPlan): AsyncIterable<readonly ReceivedImage[]>;
}

/** Prints a note for an empty result. @throws ImgctlError empty, with --fail-empty */
export async function reportNoMatch(
  context: Context,
  view: View,
  options: ListingOptions,
  query: EmptyQuery,
  page?: number,
): Promise<void> {
  const { console, io } = context;
  const { words, filters = [], plan } = query;
  const hint = slipHint(query.command, options, words) ?? patternHint(filters, words);
  const where = page === undefined ? '' : ` on page ${page}`;
  const message = `no images match${where}`;
  // A slip is worth a note beside data as well.
  if (hint !== undefined) return reportEmpty(options, message, hint, console.warn);
  if (where !== '') return reportEmpty(options, message, undefined, view.note);
  const found = io.stderr.isTTY ? await explainEmpty(query, io.now()) : undefined;
  if (found) return reportEmpty(options, found.message, found.hint, console.note);
  if (options.failEmpty) throw noMatch(plan, words, query.command);
  view.note(message);
}

/** Names for the same processors. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['amd64', 'x86_64'],
  ['x86_64', 'amd64'],
  ['arm64', 'aarch64'],
  ['aarch64', 'arm64'],
]);

/** Searches for what was probably meant; undefined if that finds nothing either. */
export async function explainEmpty(
  { command, plan, words, filters = [], search }: EmptyQuery,
  now: number,
): Promise<ImgctlError | undefined> {
  if (plan.nearMisses() !== undefined) return noMatch(plan, words, command);
  const find = async (selection: Selection) => {
    const found: { count: number; first?: ReceivedImage | undefined } = { count: 0 };
    for await (const images of search(planQuery(selection, { now }))) {
      found.first ??= images[0];
      found.count += images.length;
    }
    return found;
  };
  const word = words.find((each) => ALIASES.has(each.toLowerCase()));
  const alias = ALIASES.get(word?.toLowerCase() ?? '');
  if (word !== undefined && alias !== undefined) {
    const other = { words: words.map((each) => (each === word ? alias : each)), filters };
    const { count } = await find(other);
    const contain = count === 1 ? '1 contains' : `${count} contain`;
    const message = `no name contains ${word}; ${contain} ${alias}`;
    if (count > 0)
      return new ImgctlError('empty', message, {
        hint: `list them with: ${commandOf(command, other)}`,
      });
  }
  for (const [index, text] of filters.entries()) {
    const { field, operator, operands } = parseFilter(text, now);
    const [{ text: value } = { text: '' }] = operands;
    if (operator !== 'eq' || kindOf(field) !== 'text' || value.includes('%')) continue;
    const { first: image } = await find({
      words,
      filters: filters.with(index, `${field},like,${value}`),
    });
    if (image === undefined) continue;
    const hint = `did you mean -f ${shellQuote(`${field}=${image[field]}`)}?`;
    return new ImgctlError('empty', 'no images match', { hint });
  }
  return undefined;
}

/** Returns a hint for words with a comma or -f forgotten before them, or with quotes around several. */
function slipHint(
  command: string,
  { columns, sort }: ListingOptions,
  words: readonly string[],
): string | undefined {
  const filter = words.find((word) => isField(/^(\w+) ?[=!<>~]/.exec(word)?.[1]));
  if (filter) return `did you mean -f ${shellQuote(filter)}?`;
  const negated = words.find((word) => /^!./.test(word));
  if (negated)
    return `to leave out names that contain it: -f ${shellQuote(`name!~${negated.slice(1)}`)}`;
  const fields = words.filter(isField);
  if (columns !== undefined && fields.length > 0) {
    return `${fields[0]} is a field: did you mean -c ${[columns, ...fields].join(',')}?`;
  }
  const direction = words.find((word) => /^(asc|desc)$/i.test(word));
  if (sort && direction) return `did you mean --sort ${sort.at(-1)},${direction}?`;
  if (!words.some((word) => /\s/.test(word.trim()))) return undefined;
  const all = words.flatMap((word) => word.trim().split(/\s+/));
  return `to match each word separately, omit the quotes: ${[command, ...all.map(shellQuote)].join(' ')}`;
}

/** Returns a hint for the first word or `like` filter whose pattern probably does not mean what the user wants. */
function patternHint(filters: readonly string[], words: readonly string[]): string | undefined {
  const starred = words.find((word) => word.includes('*'))?.replaceAll('*', '');
  if (starred) return `a word matches any part of the name; omit the *: ${starred}`;
  for (const text of filters) {
    const { field, operator, operands } = parseFilter(text, 0);
    const pattern = operands[0]?.text ?? '';
    if (operator !== 'like') continue;
    if (/^%?\^|\$%?$/.test(pattern)) return '~ finds text, not a regular expression; omit ^ and $';
    const meant = pattern.replace(/%?\*%?/g, '%');
    if (meant !== pattern) return `% matches any text, * only itself: -f ${field},like,${meant}`;
    if (!pattern.includes('%')) {
      return `like compares the whole value; to search in it: -f '${field}~${pattern}'`;
    }
  }
  return undefined;
}

/** Prints a note for an empty result. @throws ImgctlError empty, with --fail-empty */
export function reportEmpty(
  options: ListingOptions,
  message: string,
  hint: string | undefined,
  note: (message: string, hint?: string) => void,
): void {
  if (options.failEmpty) throw new ImgctlError('empty', message, { hint });
  note(message, hint);
}
