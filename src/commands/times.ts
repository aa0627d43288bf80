// Times in the style that people read; data keeps the text of the service.

import type { Context } from '../context.ts';
import { defaultTimeStyle } from '../output/writers.ts';
import { parseChoice } from '../query/suggest.ts';
import { formatTimestamp, TIME_STYLES } from '../query/timestamp.ts';

/** Reads the style from --time, then the setting, then the default of the format; undefined if times stay as sent. */
export function timesOf(
  context: Context,
  fields: readonly string[],
  option?: string,
  format = context.format,
) {
  const text = option ?? context.settings.text('time') ?? defaultTimeStyle(format);
  const style = parseChoice(text, { noun: 'time style', valid: TIME_STYLES, where: '--time' });
  if (style === 'wire') return undefined;
  return { fields, format: (time: string) => formatTimestamp(time, style, context.io.now()) };
}

/** Does the same for commands without --time, whose data has one form. @param get the field that --get prints */
export function timesOfTable(context: Context, fields: readonly string[], get?: string) {
  return context.format === 'table' && get === undefined ? timesOf(context, fields) : undefined;
}
