// imgctl images lock remove: removes a lock from the file.

import { argument, command, type Parsed } from '../../../cli/declare.ts';
import type { Context } from '../../../context.ts';
import { changeLocks, LOCK_FILE_OPTION, requireLock, suggestLocks } from './lock-file.ts';

const OPTIONS = [LOCK_FILE_OPTION] as const;

export const lockRemove = command({
  name: 'remove',
  otherNames: ['rm', 'delete', 'unlock'],
  summary: 'unlock an image',
  examples: ['imgctl images lock remove web', 'imgctl images lock remove db --file ci.lock.json'],
  arguments: [
    argument('name', 'name of a locked image', { required: true, suggest: suggestLocks }),
  ],
  options: OPTIONS,
  exitCodes: [5],
  run,
});

async function run(context: Context, options: Parsed<typeof OPTIONS>, name: string): Promise<void> {
  await changeLocks(context, options, {}, async (locks) => {
    requireLock(options, locks, name);
    return new Map([...locks].filter(([each]) => each !== name));
  });
  context.console.success(`Unlocked ${name}`);
}
