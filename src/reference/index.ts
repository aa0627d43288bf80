// What is generated from the command tree: completion scripts, man pages and the reference in docs.

import type { Command } from 'commander';

/** The text of each generated file by its path from the root of the project. */
export function referenceFiles(_root: Command): ReadonlyMap<string, string> {
  return new Map();
}
