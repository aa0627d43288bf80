// Prints a single value: bare for other programs, or a record if a format was asked for.

import type { Context } from '../context.ts';
import type { Row } from '../output/writers.ts';

/**
 * Prints the value of `key` alone, or with -o or --json the whole record. A format in the settings or the
 * environment does not count, since `$(imgctl token)` must be the token.
 */
export async function printValue(context: Context, record: Row, key: string): Promise<void> {
  const { json, output = json ? 'json' : 'table' } = context.options;
  if (output === 'table' || context.quiet) return context.console.print(`${record[key]}\n`);
  await context.printRecord(record, { idField: key });
}
