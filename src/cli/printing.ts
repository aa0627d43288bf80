// What several commands print in the same way: the values of --get, times and single values.

import type { Context } from '../context.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Row } from '../output/writers.ts';
import { incompatible, parseChoice } from '../query/suggest.ts';
import { formatTimestamp, type TimeStyle } from '../query/timestamp.ts';

export interface GetOptions {
  get?: string | undefined;
}

/** Returns the field whose bare values are printed. @throws ImgctlError usage */
export function readGet(
  context: Context,
  { get }: GetOptions,
  fields: readonly string[],
): string | undefined {
  if (get === undefined) return undefined;
  const { output, json } = context.options;
  const other = json ? '--json' : output !== undefined ? '--output' : undefined;
  if (other !== undefined) throw incompatible('--get', other);
  return parseChoice(get, { noun: 'field', valid: fields, where: `--get '${get}'` });
}

/** Prints a record before an error is thrown; a missing value of --get must not replace that error. */
export async function printBeforeError(printed: Promise<void>): Promise<void> {
  await printed.catch((error: unknown) => {
    if (!hasCode(error, 'not-found')) throw error;
  });
}

/**
 * Returns the fields and the format of times, as --time asks, or the setting if they are for a table; undefined if
 * they stay as sent. A bare value of --get is data, whatever the format.
 * @throws ImgctlError usage
 */
export function timesOf(
  context: Context,
  fields: readonly string[],
  get?: string,
  option?: TimeStyle,
) {
  const { format, settings } = context;
  const isTable = format === 'table' && get === undefined;
  const style = option ?? (isTable ? (settings.get('time') ?? 'local') : 'raw');
  if (format !== 'table' && get === undefined && (style === 'local' || style === 'age')) {
    throw new ImgctlError('usage', `--time ${style} cannot be used with the format ${format}`, {
      hint: 'use --time iso, or -o table',
    });
  }
  if (style === 'raw') return undefined;
  return { fields, format: (time: string) => formatTimestamp(time, style, context.io.now()) };
}

/**
 * Prints the value of `key` alone, or with -o or --json the whole record. A format in the settings or the
 * environment does not count, since `$(imgctl token)` must be the token.
 */
export async function printValue(context: Context, record: Row, key: string): Promise<void> {
  const { json, output = json ? 'json' : 'table' } = context.options;
  if (output === 'table' || context.quiet) return context.console.print(`${record[key]}\n`);
  await context.printRecord(record, { idField: key });
}
