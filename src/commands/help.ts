// imgctl help: the help of a command, or a topic page.

import type { Command } from 'commander';
import type { Context } from '../context.ts';

/** The topics and their texts, each loaded when it is asked for. */
export const TOPICS: Readonly<Record<string, () => Promise<string>>> = {
  filters: async () => (await import('./help/filters.ts')).FILTERS_HELP,
  output: async () => (await import('./help/output.ts')).OUTPUT_HELP,
  environment: async () => (await import('./help/environment.ts')).ENVIRONMENT_HELP,
  'exit-codes': async () => (await import('./help/exit-codes.ts')).EXIT_CODES_HELP,
};

export function define(command: Command, context: Context): void {
  command
    .argument('[command or topic...]', `a command, or ${Object.keys(TOPICS).join(', ')}`)
    .addHelpText('after', '\nExamples:\n  $ imgctl help images list\n  $ imgctl help filters\n')
    .action(async (words: string[]) => {
      const [topic = ''] = words;
      if (words.length === 1 && Object.hasOwn(TOPICS, topic)) {
        await context.console.print((await TOPICS[topic]?.()) ?? '');
      } else {
        (await context.findCommand(words, Object.keys(TOPICS))).outputHelp();
      }
    });
}
