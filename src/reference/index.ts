// What is generated from the command tree: completion scripts, man pages and the reference in docs.

import type { Command } from 'commander';
import { completionFiles } from './completions/index.ts';

/** The text of each generated file by its path from the root of the project. */
export function referenceFiles(root: Command): ReadonlyMap<string, string> {
  return new Map([...completionFiles(root)]);
}
