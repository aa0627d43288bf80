// The pages of the program's own command tree, and of small trees made for a test.

import { Command } from 'commander';
import { TOPICS } from '../../src/commands/help.ts';
import { Context } from '../../src/context.ts';
import { run } from '../../src/main.ts';
import { completeProgram } from '../../src/program.ts';
import { commandPage, topicPage, withSubcommands } from '../../src/reference/pages.ts';
import type { Manual } from '../../src/reference/relatives.ts';
import { fakeIo } from '../support/io.ts';

export function ownProgram(): Promise<Command> {
  return completeProgram(new Context(fakeIo(), run));
}

export async function ownManual(): Promise<Manual> {
  const topics = Object.entries(TOPICS).map(async ([name, read]) => topicPage(name, await read()));
  return manualOf(await ownProgram(), await Promise.all(topics));
}

export function manualOf(root: Command, topics: Manual['topics'] = []): Manual {
  return { commands: withSubcommands(commandPage(root)), topics };
}

/** A root with a shown and a hidden command, and characters that have a meaning in every format. */
export function smallTree(): Command {
  const root = new Command('imgctl').description('A tool.').version('1.2.3').helpCommand(false);
  root
    .command('list')
    .summary('list *all* of it')
    .description('.dot first, back\\slash and <tag>.')
    .alias('ls')
    .argument('[word...]', "a user's word")
    .option('-a, --all <a|b>', 'one of a|b_c_')
    .addHelpText(
      'after',
      "\nMore of it: imgctl\ndrop.\n\nExamples:\n  $ imgctl list 'it''s' | tee out\n",
    );
  root.command('drop').description('Drops it.');
  root.command('secret', { hidden: true }).description('Not shown.');
  return root;
}
