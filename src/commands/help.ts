// imgctl help: the help of a command, or a topic page.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { nearest, suggest } from '../query/suggest.ts';
import { renderBlocks } from './help-text.ts';
import { TOPIC_NAMES, TOPICS } from './table/topics.ts';

const MAX_WIDTH = 80;
const MAX_QUOTED = 200;

export async function run(
  context: Context,
  _options: object,
  words: readonly string[],
): Promise<void> {
  const topic = TOPICS.find(({ name }) => words.length === 1 && name === words[0]);
  if (topic === undefined) return context.program.showHelp(findPath(context, words));
  const width = Math.min(context.io.stdout.columns || MAX_WIDTH, MAX_WIDTH);
  context.console.printHelp(renderBlocks(await topic.load(), width));
}

/** Returns the names of the command that these words select. @throws ImgctlError usage */
function findPath(context: Context, words: readonly string[]): readonly string[] {
  const path: string[] = [];
  let { commands } = context.program;
  for (const word of words) {
    const found = commands.find(({ name, aliases }) => name === word || aliases?.includes(word));
    if (found === undefined) {
      const names = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
      const meant = nearest(word, path.length === 0 ? [...names, ...TOPIC_NAMES] : names);
      const text = words.join(' ').slice(0, MAX_QUOTED);
      throw new ImgctlError('usage', `no command or topic: ${text}`, {
        hint: suggest(meant, 'imgctl help'),
      });
    }
    path.push(found.name);
    commands = found.subcommands ?? [];
  }
  return path;
}
