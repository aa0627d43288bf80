// Says that no image matches, how many each word and filter matches alone, and what was probably meant.

import type { Catalogue } from '../../catalogue/catalogue.ts';
import { commandOf } from '../../catalogue/newest.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import type { View } from '../../output/view.ts';
import { kindOf } from '../../query/fields.ts';
import { parseFilter } from '../../query/filter.ts';
import { planQuery, type QueryPlan } from '../../query/plan.ts';
import { shorten } from '../../suggest.ts';
import { shellQuote } from '../../words.ts';
import { isField, type ListingOptions } from './options.ts';
import { readAll } from './read.ts';

/** A query of `command` without a result. */
export interface EmptyQuery {
  /** `imgctl images list` */
  readonly command: string;
  readonly plan: QueryPlan;
  readonly words: readonly string[];
  readonly filters?: readonly string[] | undefined;
  readonly catalogue: Catalogue;
}

/** Prints a note for an empty result. @throws ImgctlError empty, with --fail-empty */
export async function reportNoMatch(
  context: Context,
  view: View,
  options: ListingOptions,
  query: EmptyQuery,
): Promise<void> {
  // A slip is worth a note beside data as well.
  const isSlip = slipHint(query.words) !== undefined;
  if (!isSlip && !view.hasNotes && !options.failEmpty) return;
  const { message, hint } = await noMatch(context, query);
  reportEmpty(options, message, hint, isSlip ? context.console.warn : view.note);
}

/** Returns the error for an empty result. On a terminal, reads the catalogue for it. */
export async function noMatch(context: Context, query: EmptyQuery): Promise<ImgctlError> {
  const { command, plan, words, filters = [] } = query;
  const counts = (await isCounted(context, query)) ? plan.counts() : [];
  const each = counts.map(({ text, count }) => `${shorten(text)}: ${count}`).join(', ');
  // One count is 0, as the list shows.
  const message = counts.length > 1 ? `no images match; ${each}` : 'no images match';
  const asText = `digits match whole numbers; to find them anywhere: ${commandOf(command, plan.plain)}`;
  const hint =
    slipHint(words) ?? wholeValueHint(filters) ?? (plan.matchesAsText() ? asText : undefined);
  return new ImgctlError('empty', message, { hint });
}

/** Returns true if the plan has seen every image. */
async function isCounted(context: Context, { plan, catalogue }: EmptyQuery): Promise<boolean> {
  if (!plan.isFiltered) return true;
  const { io } = context;
  if (!io.stderr.isTTY) return false;
  try {
    for await (const images of readAll(context, catalogue, planQuery({}, { now: 0 }))) {
      for (const image of images) plan.matches(image);
    }
    return true;
  } catch {
    io.signal.throwIfAborted();
    return false;
  }
}

/** Returns a hint for a sign, a * or a phrase in a word. */
function slipHint(words: readonly string[]): string | undefined {
  if (words.length === 1 && words[0] === 'help') return 'see: imgctl images --help';
  const filter = words.find((word) => isField(/^(\w+) ?[=!<>~]/.exec(word)?.[1]));
  if (filter) return `did you mean -f ${shellQuote(filter)}?`;
  const negated = words.find((word) => /^!./.test(word))?.slice(1);
  if (negated) return `to leave out names that contain it: -f ${shellQuote(`name!~${negated}`)}`;
  const starred = words.find((word) => word.includes('*'))?.replaceAll('*', '');
  if (starred) return `a word matches any part of the name; omit the *: ${starred}`;
  const phrase = words.find((word) => /\S\s+\S/.test(word))?.split(/\s+/);
  if (phrase) {
    return `to match each word separately, omit the quotes: ${phrase.map(shellQuote).join(' ')}`;
  }
  return undefined;
}

/** Returns a hint for the first = or like without a wildcard. */
function wholeValueHint(filters: readonly string[]): string | undefined {
  for (const text of filters) {
    const { field, operator, operands } = parseFilter(text, 0);
    const value = operands[0]?.value;
    if (operator !== 'eq' && operator !== 'like') continue;
    if (kindOf(field) !== 'text' || typeof value !== 'string' || value.includes('%')) continue;
    const part = shellQuote(`${field}~${value.replaceAll('*', '')}`);
    return `= and like compare the whole value; to find a part of it: -f ${part}`;
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
