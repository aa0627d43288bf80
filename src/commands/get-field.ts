// The option --get, which several commands share.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { parseChoice } from '../query/suggest.ts';

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
      hint: 'use one of them',
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
