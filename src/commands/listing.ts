// What images list, images get and my-images share: their options, the query, and how the result is shown.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { defaultTimeStyle, type Format } from '../output/writers.ts';
import { FIELDS, type Field, kindOf, resolveField } from '../query/fields.ts';
import { planQuery, type QueryPlan } from '../query/plan.ts';
import { parseChoice } from '../query/suggest.ts';
import { formatTimestamp, TIME_STYLES, type TimeStyle } from '../query/timestamp.ts';
import { type ImageNames, rememberImages } from '../session/image-names.ts';
import type { SettingKey } from '../session/settings.ts';

/** Options of a listing, as commander hands them over. */
export interface ListingOptions extends ViewOptions {
  filter?: string[];
  sort?: string[];
  limit?: number;
  failEmpty?: boolean;
  meta?: boolean;
}

/** Options of everything that shows images. */
export interface ViewOptions {
  columns?: string;
  header?: boolean;
  time?: string;
}

/** The query of the command line. @throws ImgctlError usage */
export function readQuery(
  context: Context,
  words: readonly string[],
  options: ListingOptions,
): QueryPlan {
  const { filter = [], sort = [] } = options;
  return planQuery({ words, filters: filter, sorts: sort }, { now: context.io.now() });
}

export interface ImageView {
  readonly columns: readonly Field[];
  /** No columns were chosen, so formats that can hold every field do. */
  readonly allFields: boolean;
  readonly header: boolean;
  readonly times: { fields: readonly string[]; format(text: string): string } | undefined;
}

/** Columns and time stamps by options, settings, and what is usual for the command. */
export function readView(
  context: Context,
  options: ViewOptions,
  usual: { readonly columns: readonly Field[]; readonly setting: SettingKey | undefined },
): ImageView {
  const chosen = options.columns;
  const setting = usual.setting === undefined ? undefined : context.settings.text(usual.setting);
  const style = readTimeStyle(context, options, context.format);
  const { now } = context.io;
  return {
    columns:
      chosen !== undefined
        ? readColumns(chosen, '--columns')
        : setting !== undefined
          ? readColumns(setting, `setting ${usual.setting}`)
          : usual.columns,
    allFields: chosen === undefined,
    header: options.header !== false,
    times:
      style === 'wire'
        ? undefined
        : {
            fields: FIELDS.filter((field) => kindOf(field) === 'time'),
            format: (text) => formatTimestamp(text, style, { now: now() }),
          },
  };
}

/** @throws ImgctlError usage: a column that is no field */
export function readColumns(text: string, where: string): readonly Field[] {
  if (text.trim().toLowerCase() === 'all') return FIELDS;
  return text.split(',').map((name) => resolveField(name.trim(), `${where} '${text}'`));
}

function readTimeStyle(context: Context, options: ViewOptions, format: Format): TimeStyle {
  const text = options.time ?? context.settings.text('time') ?? defaultTimeStyle(format);
  return parseChoice(text, { noun: 'time style', valid: TIME_STYLES, where: '--time' });
}

/** Keeps what completion offers for `images get`; `isWhole`: the catalogue holds nothing else. */
export async function rememberNames(
  context: Context,
  names: ImageNames,
  isWhole: boolean,
): Promise<void> {
  const { account } = await context.session();
  await rememberImages(context.paths.cache, account, names, isWhole, context.io.system);
}

/** What is said of an empty result. @throws ImgctlError empty, where the user asked for that */
export function reportEmpty(context: Context, options: ListingOptions, message: string): void {
  if (options.failEmpty) throw new ImgctlError('empty', message);
  if (context.format === 'table') context.console.note(message);
}
