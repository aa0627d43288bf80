// imgctl images lock list: lists the locked images as the file has them.

import { command, type Parsed } from '../../../cli/declare.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { noteIfNone, readLocks } from './lock-file.ts';
import { LOCK_COLUMNS, LOCK_OPTIONS, SHOWN_COLUMNS } from './options.ts';

export const lockList = command({
  name: 'list',
  otherNames: ['ls'],
  summary: 'list locked images',
  description: ['Does not contact the service.'],
  examples: ['imgctl images lock list', 'imgctl images lock list --get path'],
  options: LOCK_OPTIONS,
  fields: LOCK_COLUMNS,
  exitCodes: [5],
  run,
});

async function run(context: Context, options: Parsed<typeof LOCK_OPTIONS>): Promise<Result> {
  const output = context.output(LOCK_COLUMNS, { ...options, shown: SHOWN_COLUMNS });
  const locks = await readLocks(context, options);
  const rows = [...locks].map(([name, locked]) => ({ lock: name, ...locked }));
  return { output, rows, afterwards: () => noteIfNone(context, output, locks) };
}
