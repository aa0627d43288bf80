// imgctl help: the page of a command, or a topic.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { loadStyle } from '../output/terminal.ts';
import { nearest } from '../query/suggest.ts';
import { renderPage, renderRoot } from './help/page.ts';
import { renderBlocks } from './help/text.ts';
import { TOPIC_NAMES, TOPICS } from './table/topics.ts';

const MAX_WIDTH = 80;
const MAX_QUOTED = 200;

/** Prints the page that these words name. @throws ImgctlError usage */
export async function run(
  context: Context,
  _options: object,
  words: readonly string[],
): Promise<void> {
  const width = Math.min(context.io.stdout.columns || MAX_WIDTH, MAX_WIDTH);
  const topic = TOPICS.find(({ name }) => words.length === 1 && name === words[0]);
  const page = topic
    ? renderBlocks(await topic.load(), width)
    : renderCommand(context, words, { width, bold: (await loadStyle(context.terminal)).heading });
  await context.console.print(page);
}

function renderCommand(
  context: Context,
  words: readonly string[],
  style: Parameters<typeof renderPage>[2],
): string {
  const path = ['imgctl'];
  let { commands } = context.program;
  let command: (typeof commands)[number] | undefined;
  for (const word of words) {
    command = commands.find(({ name, aliases }) => name === word || aliases?.includes(word));
    if (command === undefined) {
      const names = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
      const meant = nearest(word, path.length === 1 ? [...names, ...TOPIC_NAMES] : names);
      const page = ['imgctl help', ...path.slice(1)].join(' ');
      const text = words.join(' ').slice(0, MAX_QUOTED);
      throw new ImgctlError('usage', `no command or topic: ${text}`, {
        hint: meant === undefined ? `see: ${page}` : `did you mean ${page} ${meant}?`,
      });
    }
    path.push(command.name);
    commands = command.subcommands ?? [];
  }
  return command ? renderPage(path.join(' '), command, style) : renderRoot(style);
}
