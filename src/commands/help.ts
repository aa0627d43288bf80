// imgctl help: the page of a command, laid out by commander, or a topic.

import { Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { argumentTerm, type CommandDeclaration, optionTerm } from '../declarations.ts';
import { ImgctlError } from '../errors.ts';
import { loadStyle } from '../output/terminal.ts';
import { nearest } from '../query/suggest.ts';
import { renderBlocks, renderTerm } from './help/text.ts';
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
    ? renderBlocks((await import('./help/pages.ts')).PAGES[topic.name], width)
    : renderCommand(context, words, width, (await loadStyle(context.terminal)).heading);
  await context.console.print(page);
}

function renderCommand(
  context: Context,
  words: readonly string[],
  width: number,
  bold: (text: string) => string,
): string {
  const path = ['imgctl'];
  let { commands } = context.program;
  let command: CommandDeclaration | undefined;
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
  const page = new Command(path.join(' '))
    .helpOption(false)
    .helpCommand(false)
    // Colour is decided already.
    .configureOutput({ getOutHelpWidth: () => width, getOutHasColors: () => true })
    .configureHelp({
      styleTitle: bold,
      subcommandTerm: (each) => each.name(),
      // The description has its lines already.
      boxWrap: (text) => text,
      formatItem: (term, termWidth, meaning) => renderTerm(term, meaning, termWidth, width),
    });
  for (const { name, summary, group = 'Commands', hidden = false } of commands) {
    const listed = new Command(name).summary(summary).helpGroup(`${group}:`);
    page.addCommand(listed, { hidden });
  }
  if (command === undefined) {
    page.usage('<command> [options]');
    const use = 'Use "imgctl COMMAND --help" for the options and examples of a command.';
    const topics = `Help topics: ${TOPIC_NAMES.join(', ')}`;
    const tail = [use, topics].map((line) => renderBlocks([line], width));
    return `${page.helpInformation()}\n${tail.join('')}`;
  }
  const { aliases = [], summary, description = [], examples, seeAlso = [], fields = [] } = command;
  const declared = command.arguments ?? [];
  const usage = ['[options]', ...declared.map(argumentTerm)];
  if (commands.length > 0) usage.push('<command>');
  const group = path.slice(0, -1).join(' ');
  const names = aliases.map((alias) => `${group} ${alias}`).join(', ');
  page.usage(`${usage.join(' ')}${names === '' ? '' : `\nAlias: ${names}`}`);
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  page.description(renderBlocks([sentence, ...description], width).trimEnd());
  for (const each of declared) page.argument(`[${each.name}]`, each.description);
  for (const option of command.options ?? []) page.addOption(new Option(...optionTerm(option)));
  const terms = fields.map(([name, type, text]) => [name, `${text} (${type})`] as const);
  const others = seeAlso.map((each) => `imgctl ${each}`.replaceAll(' ', NO_BREAK)).join(', ');
  return [
    page.helpInformation(),
    ...(terms.length > 0 ? [`${bold('JSON fields:')}\n${renderBlocks([{ terms }], width)}`] : []),
    `${bold('Examples:')}\n${renderBlocks([{ shell: examples }], width)}`,
    [
      others === '' ? '' : renderBlocks([`See also: ${others}`], width).replaceAll(NO_BREAK, ' '),
      'Global options: imgctl help options\n',
    ].join(''),
  ].join('\n');
}

/** A name is never broken at the end of a line. */
const NO_BREAK = '\u00a0';
