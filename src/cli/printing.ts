// What several commands print in the same way: the values of --get, times and single values.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Row } from '../output/writers.ts';
import { parseChoice } from '../query/suggest.ts';
import { formatTimestamp, TIME_STYLES } from '../query/timestamp.ts';

export interface GetOptions {
  get?: string;
}

/** Returns the field whose bare values are printed. @throws ImgctlError usage */
export function readGet(
  context: Context,
  { get }: GetOptions,
  fields: readonly string[],
): string | undefined {
  if (get === undefined) return undefined;
  const { output, json, quiet } = context.options;
  const other = json ? '--json' : output !== undefined ? '--output' : quiet ? '--quiet' : undefined;
  if (other !== undefined) {
    throw new ImgctlError('usage', `--get and ${other} cannot be used together`, {
      hint: `omit --get or ${other}`,
    });
  }
  return parseChoice(get, { noun: 'field', valid: fields, where: `--get '${get}'` });
}

/** Prints a record before an error is thrown; a missing value of --get must not replace that error. */
export async function printBeforeError(printed: Promise<void>): Promise<void> {
  await printed.catch((error: unknown) => {
    if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
  });
}

/** Reads the style from --time, then the setting, then the default of the format; undefined if times stay as sent. */
export function timesOf(
  context: Context,
  fields: readonly string[],
  option?: string,
  format = context.format,
) {
  const text = option ?? context.settings.get('time');
  const choice = { noun: 'time style', valid: TIME_STYLES, where: '--time' };
  const usual = format === 'table' ? 'local' : 'wire';
  const style = text === undefined ? usual : parseChoice(text, choice);
  if (style === 'wire') return undefined;
  return { fields, format: (time: string) => formatTimestamp(time, style, context.io.now()) };
}

/** Does the same for commands without --time, whose data has one form. @param get the field that --get prints */
export function timesOfTable(context: Context, fields: readonly string[], get?: string) {
  return context.format === 'table' && get === undefined ? timesOf(context, fields) : undefined;
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
