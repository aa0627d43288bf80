// What is generated from the command tree: completion scripts, man pages and the reference in docs.

import type { Command } from 'commander';
import { TOPICS } from '../commands/help.ts';
import { completionFiles } from './completions/index.ts';
import { manPages } from './man.ts';
import { commandReference } from './markdown.ts';
import { commandPage, topicPage, withSubcommands } from './pages.ts';

/** The text of each generated file by its path from the root of the project. */
export async function referenceFiles(root: Command): Promise<ReadonlyMap<string, string>> {
  const topics = await Promise.all(
    Object.entries(TOPICS).map(async ([name, read]) => topicPage(name, await read())),
  );
  const manual = { commands: withSubcommands(commandPage(root)), topics };
  return new Map([
    ...completionFiles(root),
    ...manPages(manual, root.version() ?? ''),
    ['docs/cli.md', commandReference(manual)],
  ]);
}
