// The pages of imgctl help: that of a command, which commander lays out, and that of a topic.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Column } from '../output/columns.ts';
import { loadStyle } from '../output/style.ts';
import { wrapWords } from '../output/text.ts';
import { nearest } from '../spelling.ts';
import { quoted } from '../words.ts';
import {
  type Block,
  type CommandDeclaration,
  findSubcommand,
  listedCommands,
  rootCommand,
  type Term,
  UNLISTED,
} from './command-types.ts';
import type { CommandTree } from './commander-tree.ts';
import { ALL_GLOBAL_OPTIONS } from './global-options.ts';
import { guess } from './guesses.ts';
import { PAGES, TOPIC_NAMES, TOPICS } from './topics.ts';

const GLOBAL_FLAGS = ALL_GLOBAL_OPTIONS.map(({ flags }) => flags.split(/[ ,]/, 1)[0]).join(', ');

const MAX_WIDTH = 80;

/** Prints the page of the topic or of the command with these names. @throws ImgctlError usage */
export async function showPage(
  context: Context,
  { root, commands }: CommandTree,
  names: readonly string[],
): Promise<void> {
  const width = Math.min(context.io.stdout.columns || MAX_WIDTH, MAX_WIDTH);
  const topic = TOPICS.find(({ name }) => names.length === 1 && name === names[0]);
  if (topic) return context.console.print(renderBlocks(PAGES[topic.name], width));
  const { heading } = await loadStyle(context.terminal);
  const found = findCommand(root, commands, names);
  const { command, declaration } = found;
  const lines = command === root ? ROOT_END : referencesOf(declaration);
  const parts = [
    layOut(found, width, heading),
    ...(declaration.details ? [renderBlocks(declaration.details, width)] : []),
    lines.map((line) => renderBlocks([line], width)).join(''),
  ];
  return context.console.print(parts.join('\n').replaceAll(NO_BREAK, ' '));
}

interface FoundCommand {
  /** In commander's tree. */
  readonly command: Command;
  readonly declaration: CommandDeclaration;
  /** The names that lead to it, without aliases. */
  readonly path: readonly string[];
}

/** @throws ImgctlError usage: there is none with these names */
function findCommand(
  root: Command,
  commands: readonly CommandDeclaration[],
  names: readonly string[],
): FoundCommand {
  let command = root;
  let declaration = rootCommand(commands);
  const path: string[] = [];
  for (const word of names) {
    const found = findSubcommand(declaration, word);
    if (found === undefined) throw unknownPage(declaration, path, names);
    path.push(found.name);
    command = command.commands.find((each) => each.name() === found.name) ?? command;
    declaration = found;
  }
  return { command, declaration, path };
}

function unknownPage(
  group: CommandDeclaration,
  path: readonly string[],
  names: readonly string[],
): ImgctlError {
  const listed = listedCommands(group);
  const topics = path.length === 0 ? TOPIC_NAMES : [];
  const page = ['imgctl help', ...path].join(' ');
  const words = names.slice(path.length);
  const [word = ''] = words;
  // What follows the first unknown name, or is assigned to it, may be a secret.
  const unknown = names.slice(0, path.length + 1).map((each) => each.split('=')[0]);
  const isTopic = TOPIC_NAMES.includes(unknown.join(' '));
  const text = quoted([...unknown, ...(isTopic ? ['…'] : [])].join(' '));
  const owner = listed.find((each) => findSubcommand(each, word));
  const below = owner && `${owner.name} ${findSubcommand(owner, word)?.name}`;
  const near = nearest(word, [...listed.map(({ name }) => name), ...topics]);
  // help filter, help list or help columns, but not help upload
  const meant = near ?? below ?? (path.length === 0 ? topicAbout(word) : undefined);
  const otherwise = guess(path, words) ?? `see: ${page}`;
  const facts = meant ? `did you mean ${page} ${meant}?` : otherwise;
  return new ImgctlError('usage', `unknown command or topic ${text}`, { facts });
}

/** Returns the topic whose summary has a word that begins like this one: output for formats. */
function topicAbout(word: string): string | undefined {
  const [stem] = /^[a-z]{4,20}?(?=s?$)/i.exec(word) ?? [];
  if (stem === undefined) return undefined;
  const isAbout = new RegExp(`\\b${stem}`, 'i');
  return TOPICS.find(({ summary }) => isAbout.test(summary))?.name;
}

/** Returns what commander lays out: usage, description, examples, options and subcommands. */
function layOut(
  { command, declaration, path }: FoundCommand,
  width: number,
  heading: (text: string) => string,
): string {
  const { aliases = [], summary, description = [], examples } = declaration;
  const sentence = summary && `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
  const start = renderBlocks([sentence, ...description].filter(Boolean), width);
  const shown = renderBlocks([{ shell: examples }], width).trimEnd();
  const listed = listedCommands(declaration).filter(({ group }) => group !== UNLISTED);
  command.description(`${start}\n${heading('Examples:')}\n${shown}`).configureHelp({
    styleTitle: heading,
    commandUsage: () => {
      const usage = command.usage().replace('[command]', '<command>');
      const others = aliases.map(
        (alias) => `Alias: imgctl ${[...path.slice(0, -1), alias].join(' ')}`,
      );
      return [['imgctl', ...path, usage].join(' '), ...others].join('\n');
    },
    // The options of imgctl itself have a topic.
    visibleOptions: ({ parent, options }) => (parent ? [...options] : []),
    visibleCommands: ({ commands }) =>
      commands.filter((each) => listed.some(({ name }) => name === each.name())),
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
  const lines = wrapWords(meaning, width - column);
  const indented = lines.map((line) => ' '.repeat(column) + line);
  const isAbove = start.length > column - 2;
  if (isAbove) return [start, ...indented].join('\n');
  return [start.padEnd(column) + (lines[0] ?? ''), ...indented.slice(1)].join('\n');
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
