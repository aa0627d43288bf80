// The pages of imgctl help: that of a command, which commander lays out, and that of a topic.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Column } from '../output/columns.ts';
import { loadStyle } from '../output/style.ts';
import { wrapWords } from '../output/text.ts';
import { nearest } from '../spelling.ts';
import { shorten } from '../words.ts';
import {
  type Block,
  type CommandDeclaration,
  findSubcommand,
  rootOf,
  type Term,
  UNLISTED,
} from './command-types.ts';
import { ALL_GLOBAL_OPTIONS } from './global-options.ts';
import { PAGES, TOPIC_NAMES, TOPICS } from './topics.ts';

const GLOBAL_FLAGS = ALL_GLOBAL_OPTIONS.map(({ flags }) => flags.split(/[ ,]/, 1)[0]).join(', ');

const MAX_WIDTH = 80;
const MAX_QUOTED = 200;

/** Prints the page of the topic or of the command that the words name. @throws ImgctlError usage */
export async function showPage(
  context: Context,
  { root, commands }: { root: Command; commands: readonly CommandDeclaration[] },
  words: readonly string[],
): Promise<void> {
  const width = Math.min(context.io.stdout.columns || MAX_WIDTH, MAX_WIDTH);
  const topic = TOPICS.find(({ name }) => words.length === 1 && name === words[0]);
  if (topic) return context.console.print(renderBlocks(PAGES[topic.name], width));
  const { heading } = await loadStyle(context.terminal);
  const found = findPage(root, commands, words);
  const { command, page } = found;
  const parts = [layOut(found, width, heading)];
  if (page.details) parts.push(renderBlocks(page.details, width));
  const lines = command === root ? ROOT_END : referencesOf(page);
  parts.push(lines.map((line) => renderBlocks([line], width)).join(''));
  await context.console.print(parts.join('\n').replaceAll(NO_BREAK, ' '));
}

/** Returns the page as commander lays it out: usage, description, examples, options, commands. */
function layOut(
  { command, page, path }: ReturnType<typeof findPage>,
  width: number,
  heading: (text: string) => string,
): string {
  const { aliases = [], summary, description = [], examples } = page;
  const sentence = summary && `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const start = renderBlocks([sentence, ...description].filter(Boolean), width);
  const shown = renderBlocks([{ shell: examples }], width).trimEnd();
  command.description(`${start}\n${heading('Examples:')}\n${shown}`).configureHelp({
    styleTitle: heading,
    commandUsage: () => {
      const usage = command.usage().replace('[command]', '<command>');
      const names = aliases.map((alias) =>
        ['Alias: imgctl', ...path.slice(0, -1), alias].join(' '),
      );
      return [['imgctl', ...path, usage].join(' '), ...names].join('\n');
    },
    // The options of the root have a topic.
    visibleOptions: ({ parent, options }) => (parent ? [...options] : []),
    visibleCommands: ({ commands: all }) => all.filter((each) => isListed(page, each.name())),
    // The description has its default already.
    optionDescription: (option) => option.description,
    // Without its options and arguments.
    subcommandTerm: (each) => each.name(),
    formatItem: (term, longest, meaning) => renderTerm([term, meaning], width, longest),
    // The description is wrapped already.
    boxWrap: (wrapped) => wrapped,
  });
  return command.helpInformation();
}

/** Finds the command, in commander's tree and as it is declared. @throws ImgctlError usage */
function findPage(
  root: Command,
  commands: readonly CommandDeclaration[],
  words: readonly string[],
) {
  let command = root;
  let page = rootOf(commands);
  const path: string[] = [];
  for (const word of words) {
    const found = findSubcommand(page, word);
    if (found === undefined) throw unknownPage(page, path, words);
    path.push(found.name);
    command = command.commands.find((each) => each.name() === found.name) ?? command;
    page = found;
  }
  return { command, page, path };
}

function isListed({ subcommands = [] }: CommandDeclaration, name: string): boolean {
  const found = subcommands.find((each) => each.name === name);
  return found !== undefined && !found.hidden && found.group !== UNLISTED;
}

function unknownPage(
  { subcommands = [] }: CommandDeclaration,
  path: readonly string[],
  words: readonly string[],
): ImgctlError {
  const word = words[path.length] ?? '';
  const names = subcommands.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const meant = nearest(word, path.length === 0 ? [...names, ...TOPIC_NAMES] : names);
  const page = ['imgctl help', ...path].join(' ');
  // What is assigned to a setting may be a secret.
  const text = shorten(words.map((each) => each.split('=')[0]).join(' '), MAX_QUOTED);
  const facts = meant ? `did you mean ${page} ${meant}?` : `see: ${page}`;
  return new ImgctlError('usage', `unknown command or topic '${text}'`, { facts });
}

const ROOT_END = [
  'Use "imgctl COMMAND --help" for the options and examples of a command.',
  `Use "imgctl help TOPIC" for a topic: ${TOPIC_NAMES.join(', ')}.`,
];

/** A name is never broken at the end of a line. */
const NO_BREAK = '\u00a0';

function referencesOf({ fields = [], seeAlso = [] }: CommandDeclaration): string[] {
  const pages = seeAlso.map((each) => `imgctl ${each}`.replaceAll(' ', NO_BREAK));
  return [
    ...(fields.length > 0 ? [`JSON fields: ${listFields(fields)}`] : []),
    ...(pages.length > 0 ? [`See also: ${pages.join(', ')}`] : []),
    `Global options: ${GLOBAL_FLAGS} (imgctl help options)`,
  ];
}

/** A longer term gets its own line above its meaning. */
const MAX_TERM = 30;
/** With less room than this beside the terms, each meaning is below its term. */
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
  const longest = Math.max(...block.terms.map(([term]) => term.length));
  return block.terms.map((term) => renderTerm(term, width, longest)).join('\n');
}

/** Returns a term with its meaning. @param longest length of the longest term around it */
function renderTerm([term, meaning]: Term, width: number, longest: number): string {
  const beside = Math.min(MAX_TERM, longest) + 4;
  const column = width - beside < MIN_MEANING ? INDENT : beside;
  const start = `  ${term}`;
  const isAbove = start.length > column - 2;
  const lines = wrapWords(meaning, width - column).map((line) => ' '.repeat(column) + line);
  if (isAbove) return [start, ...lines].join('\n');
  const [first = '', ...rest] = lines;
  return [start + first.slice(start.length), ...rest].join('\n');
}

/** Returns `id, name; with -c or --get: version`: the names of fields by the options they need. */
function listFields(fields: readonly Column[]): string {
  const groups = new Map<string, string[]>();
  for (const { name, needs } of fields) {
    const start = needs ? `with ${needs}: ` : '';
    groups.set(start, [...(groups.get(start) ?? []), name]);
  }
  return [...groups].map(([start, names]) => start + names.join(', ')).join('; ');
}
