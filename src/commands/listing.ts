// The options, query and view that images list, images get and my-images share.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { FIELDS, type Field, resolveField, TIME_FIELDS } from '../query/fields.ts';
import { patternHint } from '../query/filter.ts';
import { planQuery } from '../query/plan.ts';
import { type ListedNames, rememberImages } from '../session/image-names.ts';
import type { SettingKey } from '../session/setting-table.ts';
import { type GetOptions, readGet, timesOf } from './shared-options.ts';

export interface ListingOptions extends ViewOptions {
  filter?: string[];
  sort?: string[];
  /** Milliseconds. */
  since?: number;
  limit?: number;
  failEmpty?: boolean;
  meta?: boolean;
}

export interface ViewOptions extends GetOptions {
  columns?: string;
  header?: boolean;
  time?: string;
  trunc?: boolean;
}

export function readQuery(context: Context, words: readonly string[], options: ListingOptions) {
  const { filter = [], sort: sorts = [], since } = options;
  const now = context.io.now();
  const recent =
    since === undefined ? [] : [`updated_on,ge,${new Date(now - since).toISOString()}`];
  return planQuery({ words, filters: [...filter, ...recent], sorts }, { now });
}

interface DefaultView {
  readonly columns: readonly Field[];
  /** The setting that replaces these columns. */
  readonly setting?: SettingKey;
}

/** Reads columns and time style from options, then settings, then the command's defaults. */
export function readView(
  context: Context,
  options: ListingOptions,
  { columns, setting }: DefaultView,
) {
  const { format, quiet, settings } = context;
  if (options.meta && format !== 'json' && format !== 'yaml') {
    throw new ImgctlError('usage', `--meta cannot be used with the format ${format}`, {
      hint: 'add -o json or -o yaml, or omit --meta',
    });
  }
  if (quiet && options.columns !== undefined) {
    throw new ImgctlError('usage', '--quiet and --columns cannot be used together', {
      hint: 'omit --quiet or --columns',
    });
  }
  const get = readGet(context, options, FIELDS);
  const stored = setting && settings.text(setting);
  const [names, where] =
    options.columns === undefined ? [stored, `setting ${setting}`] : [options.columns, '--columns'];
  return {
    get,
    columns: names === undefined ? columns : readColumns(names, where),
    // Without --columns JSON and YAML show every field.
    allFields: options.columns === undefined,
    header: options.header !== false,
    trunc: options.trunc,
    // A bare value is data, whatever the format.
    times: timesOf(context, TIME_FIELDS, options.time, get === undefined ? format : 'tsv'),
  };
}

export function readColumns(text: string, where: string): readonly Field[] {
  if (text.trim().toLowerCase() === 'all') return FIELDS;
  return text.split(',').map((name) => resolveField(name.trim(), `${where} '${text}'`));
}

/** Caches names for completion. `isComplete` means that the catalogue has no others. */
export async function rememberNames(
  context: Context,
  names: ListedNames,
  isComplete: boolean,
): Promise<void> {
  const { account } = await context.session();
  await rememberImages(context.paths.cache, account, names, isComplete, context.io.system);
}

/** Returns `250 images` or `5 of 31 images (--limit)`. @param total of all that match, if known */
export function describeCount(
  count: number,
  { limit }: ListingOptions,
  total: number | undefined,
): string {
  if (limit === undefined || count < limit || count === total) return counted(count, 'image');
  const shown = total === undefined ? '' : `${count} of `;
  return `${shown}${counted(total ?? count, 'image')} (--limit)`;
}

/** Prints a note for an empty result of a query. @throws ImgctlError empty, with --fail-empty */
export function reportNoMatch(
  context: Context,
  options: ListingOptions,
  words: readonly string[],
): void {
  const hint = patternHint(options.filter ?? [], words);
  // A wrong pattern is worth a note beside data as well.
  reportEmpty(context, options, 'no images match', hint, hint !== undefined);
}

/** Prints a note for an empty result: in a table, or `always`. @throws ImgctlError empty, with --fail-empty */
export function reportEmpty(
  context: Context,
  options: ListingOptions,
  message: string,
  hint?: string,
  always = false,
): void {
  if (options.failEmpty) throw new ImgctlError('empty', message, { hint });
  if (always || context.format === 'table') context.console.note(message, hint);
}
