// The command tree and the help topics as pages without a format: what man pages and docs/cli.md both show.

import type { Command, Option } from 'commander';
import { type Block, blocksOf, isShell, type Term } from './blocks.ts';

export interface CommandPage {
  /** `imgctl`, `images`, `list`. */
  readonly words: readonly string[];
  /** What follows the words on a command line. */
  readonly usage: string;
  /** What is typed to get there, by each alias: `imgctl images list`, `imgctl images ls`. */
  readonly names: readonly string[];
  /** A phrase: small first letter, no full stop. */
  readonly summary: string;
  readonly description: readonly Block[];
  readonly arguments: readonly Term[];
  /** Its own; of the root those of every command. */
  readonly options: readonly Term[];
  /** Shell lines, with the prompt. */
  readonly examples: readonly string[];
  readonly subcommands: readonly CommandPage[];
  /** All of its help that is prose, on one line, to find out what it refers to. */
  readonly prose: string;
}

export interface TopicPage {
  /** As `imgctl help` takes it. */
  readonly name: string;
  readonly summary: string;
  readonly blocks: readonly Block[];
  readonly prose: string;
}

/** The page of a command and, below it, those of its subcommands; what is hidden has none. */
export function commandPage(command: Command, parents: readonly string[] = []): CommandPage {
  const words = [...parents, command.name()];
  const help = command.createHelp();
  const isRoot = parents.length === 0;
  const prose = proseOf(command);
  const { description, examples } = sortBlocks(blocksOf(prose));
  const options = isRoot ? help.visibleOptions(command) : command.options.filter(isShown);
  const subcommands = help
    .visibleCommands(command)
    // Commander adds a help command to each group; there is one for all.
    .filter((subcommand) => command.commands.includes(subcommand));
  return {
    words,
    usage: command.usage(),
    names: [command.name(), ...command.aliases()].map((name) => [...parents, name].join(' ')),
    summary: phrase(command.summary() || command.description()),
    description: [{ kind: 'paragraph', text: command.description() }, ...description],
    arguments: help.visibleArguments(command).map((argument) => ({
      term: argument.name(),
      text: help.argumentDescription(argument),
    })),
    options: options.map((option) => ({
      term: help.optionTerm(option),
      text: help.optionDescription(option),
    })),
    examples,
    subcommands: subcommands.map((subcommand) => commandPage(subcommand, words)),
    prose: onOneLine(prose),
  };
}

/** A page and all below it, in the order of the help. */
export function withSubcommands(page: CommandPage): CommandPage[] {
  return [page, ...page.subcommands.flatMap(withSubcommands)];
}

/** The page of a topic; its opening loses the label that repeats the name. */
export function topicPage(name: string, prose: string): TopicPage {
  const [first, ...rest] = blocksOf(prose);
  const label = new RegExp(`^${name.replaceAll('-', '.')}: *`, 'i');
  const opening = first?.kind === 'paragraph' ? first.text.replace(label, '') : '';
  const title = opening === '' ? [] : [{ kind: 'paragraph', text: sentence(opening) } as const];
  return { name, summary: phrase(opening), blocks: [...title, ...rest], prose: onOneLine(prose) };
}

function isShown(option: Option): boolean {
  return !option.hidden;
}

/** What the help says after its lists of arguments, options and commands. */
function proseOf(command: Command): string {
  let text = '';
  const usual = command.configureOutput();
  command.configureOutput({
    writeOut: (written) => {
      text += written;
    },
  });
  command.outputHelp();
  const lists = command.helpInformation();
  command.configureOutput(usual);
  return text.slice(lists.length);
}

/** Examples apart; without lines that only name topics, since every format has links of its own. */
function sortBlocks(blocks: readonly Block[]) {
  const description: Block[] = [];
  const examples: string[] = [];
  for (const block of blocks) {
    if (block.kind === 'literal' && isShell(block.lines)) examples.push(...block.lines);
    else if (block.kind !== 'paragraph' || !/^(Examples:$|More: |Topics: )/.test(block.text)) {
      description.push(block);
    }
  }
  return { description, examples };
}

function onOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

function phrase(text: string): string {
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/\.$/, '');
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
