// imgctl __complete: prints completions for the cursor of a shell. Never contacts the service, never fails.

import type { Context } from '../context.ts';
import { findCandidates } from './complete/candidates.ts';
import { readLine } from './complete/line.ts';
import { readRequest } from './complete/shells.ts';

export async function run(
  context: Context,
  _options: object,
  shell = '',
  passed: readonly string[] = [],
): Promise<void> {
  try {
    const { words, current, format } = readRequest(shell, passed);
    const position = readLine(context.program, words, current);
    context.useOptions(position.scope);
    const { mode, candidates } = findCandidates(context, position);
    const records = [mode, position.lead, ...format(candidates)];
    await context.console.print(records.map((record) => `${record}\0`).join(''));
  } catch {
    // The user is typing a line, where a message would only disturb.
  }
}
