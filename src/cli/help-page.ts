// Lays out and prints the help page of a command or a topic.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Column } from '../output/columns.ts';
import { loadStyle } from '../output/terminal.ts';
import { wrapWords } from '../output/text.ts';
import { nearest } from '../spelling.ts';
import { shorten } from '../words.ts';
import { ALL_GLOBAL_OPTIONS } from './command.ts';
import {
  argumentTerm,
  type Block,
  type CommandDeclaration,
  optionTerm,
  type Term,
  UNLISTED,
} from './declarations.ts';
import { guess } from './guesses.ts';
import { PAGES, TOPIC_NAMES, TOPICS } from './topics.ts';
import { commandNames } from './typed.ts';

const GLOBAL_FLAGS = ALL_GLOBAL_OPTIONS.map(({ flags }) => flags.split(/[ ,]/, 1)[0]).join(', ');

const MAX_WIDTH = 80;
const MAX_QUOTED = 200;

export async function showPage(
  context: Context,
  commands: readonly CommandDeclaration[],
  words: readonly string[],
): Promise<void> {
  const width = Math.min(context.io.stdout.columns || MAX_WIDTH, MAX_WIDTH);
  const topic = TOPICS.find(({ name }) => words.length === 1 && name === words[0]);
  const page = topic
    ? renderBlocks(PAGES[topic.name], width)
    : renderCommand(commands, words, width, (await loadStyle(context.terminal)).heading);
  await context.console.print(page);
}

function renderCommand(
  all: readonly CommandDeclaration[],
  words: readonly string[],
  width: number,
  bold: (text: string) => string,
): string {
  const path = ['imgctl'];
  let commands = all;
  let command: CommandDeclaration | undefined;
  for (const word of words) {
    command = commands.find((each) => commandNames(each).includes(word));
    if (command === undefined) {
      const names = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
      const meant = nearest(word, path.length === 1 ? [...names, ...TOPIC_NAMES] : names);
      const page = ['imgctl help', ...path.slice(1)].join(' ');
      const text = shorten(words.join(' '), MAX_QUOTED);
      throw new ImgctlError('usage', `unknown command or topic '${text}'`, {
        hint:
          guess(['help'], words) ??
          (meant && `did you mean ${page} ${meant}?`) ??
          guess(path.slice(1), [word]) ??
          `see: ${page}`,
      });
    }
    path.push(command.name);
    commands = command.subcommands ?? [];
  }
  const lists = new Map<string, Term[]>([
    ['Arguments', (command?.arguments ?? []).map(({ name, description }) => [name, description])],
    ['Options', (command?.options ?? []).map(optionTerm)],
  ]);
  for (const { name, summary, group = 'Commands', hidden } of commands) {
    if (!hidden && group !== UNLISTED)
      lists.set(group, [...(lists.get(group) ?? []), [name, summary]]);
  }
  const longest = Math.max(...[...lists.values()].flat().map(([term]) => term.length));
  const sections = [...lists]
    .filter(([, terms]) => terms.length > 0)
    .map(([heading, terms]) => `${bold(`${heading}:`)}\n${renderTerms(terms, width, longest)}\n`);
  const start = `${bold('Usage:')} ${path.join(' ')}`;
  if (command === undefined) {
    const use = 'Use "imgctl COMMAND --help" for the options and examples of a command.';
    const topics = `Use "imgctl help TOPIC" for a topic: ${TOPIC_NAMES.join(', ')}.`;
    const tail = [use, topics].map((line) => renderBlocks([line], width)).join('');
    const what = renderBlocks([ABOUT], width);
    const examples = `${bold('Examples:')}\n${renderBlocks([{ shell: EXAMPLES }], width)}`;
    return [`${start} <command> [options]\n`, what, examples, ...sections, tail].join('\n');
  }
  const { aliases = [], summary, description = [], details = [] } = command;
  const { examples, seeAlso = [], fields = [] } = command;
  const usage = ['[options]', ...(command.arguments ?? []).map(argumentTerm)];
  if (commands.length > 0) usage.push('<command>');
  const names = aliases.map((alias) => [...path.slice(0, -1), alias].join(' ')).join(', ');
  const sentence = `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const jsonFields = listFields(fields);
  const others = seeAlso.map((each) => `imgctl ${each}`.replaceAll(' ', NO_BREAK)).join(', ');
  return [
    `${start} ${usage.join(' ')}\n${names === '' ? '' : `Alias: ${names}\n`}`,
    renderBlocks([sentence, ...description], width),
    `${bold('Examples:')}\n${renderBlocks([{ shell: examples }], width)}`,
    ...sections,
    ...(details.length > 0 ? [renderBlocks(details, width)] : []),
    [
      jsonFields === '' ? '' : renderBlocks([`JSON fields: ${jsonFields}`], width),
      others === '' ? '' : renderBlocks([`See also: ${others}`], width).replaceAll(NO_BREAK, ' '),
      renderBlocks([`Global options: ${GLOBAL_FLAGS} (imgctl help options)`], width),
    ].join(''),
  ].join('\n');
}

const ABOUT = 'Lists, checks and uploads the OVA and OVF images of a deployment service.';
const EXAMPLES = [
  'imgctl login',
  'imgctl images latest ubuntu server',
  'imgctl push appliance.ova',
];

/** A name is never broken at the end of a line. */
const NO_BREAK = '\u00a0';

/** A longer term gets its own line above its meaning. */
const MAX_TERM = 30;
/** In a terminal with less room beside the terms, each meaning is below its term, with this indent. */
const MIN_MEANING = 24;
const INDENT = 6;

/** Separates blocks by a blank line, except after a paragraph that introduces the next one. */
export function renderBlocks(blocks: readonly Block[], width: number): string {
  return blocks
    .map((block, index) => {
      const introduces = typeof block === 'string' && block.endsWith(':');
      const isLast = index === blocks.length - 1;
      return `${renderBlock(block, width)}\n${introduces || isLast ? '' : '\n'}`;
    })
    .join('');
}

function renderBlock(block: Block, width: number): string {
  if (typeof block === 'string') return wrapWords(block, width).join('\n');
  if ('shell' in block) return block.shell.map((line) => `  $ ${line}`).join('\n');
  if ('lines' in block) return block.lines.map((line) => `  ${line}`).join('\n');
  return renderTerms(block.terms, width, Math.max(...block.terms.map(([term]) => term.length)));
}

/** Returns terms and, beside each, its meaning. @param longest length of the longest term of the page or block */
function renderTerms(terms: readonly Term[], width: number, longest: number): string {
  const beside = Math.min(MAX_TERM, longest) + 4;
  const column = width - beside < MIN_MEANING ? INDENT : beside;
  const rendered = terms.map(([term, meaning]) => {
    const start = `  ${term}`;
    const lines = wrapWords(meaning, width - column);
    const [first, ...rest] = start.length > column - 2 ? ['', ...lines] : lines;
    const indented = rest.map((line) => `\n${' '.repeat(column)}${line}`).join('');
    return `  ${`${start.padEnd(column)}${first}`.trim()}${indented}`;
  });
  return rendered.join('\n');
}

/** Returns the names of fields, grouped by the options that they need, with which their meanings begin. */
function listFields(fields: readonly Column[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, meaning } of fields) {
    const [options = ''] = /^with [^:]+: /.exec(meaning) ?? [];
    groups.set(options, [...(groups.get(options) ?? []), name]);
  }
  return [...groups].map(([options, names]) => options + names.join(', ')).join('; ');
}
