// The help page of a command, and the page of imgctl itself, as text for a terminal.

import {
  argumentTerm,
  type Block,
  type CommandDeclaration,
  optionTerm,
} from '../../declarations.ts';
import { GROUPS } from '../table/groups.ts';
import { TOPIC_NAMES } from '../table/topics.ts';
import { renderBlocks } from './text.ts';

interface PageStyle {
  readonly width: number;
  /** Marks a heading. */
  readonly bold: (text: string) => string;
}

/** Returns the page of the command with this full name, such as `imgctl images list`. */
export function renderPage(name: string, command: CommandDeclaration, style: PageStyle): string {
  const { aliases = [], summary, description = [], examples, seeAlso = [] } = command;
  const { options = [], subcommands = [], fields = [] } = command;
  const group = name.slice(0, -command.name.length);
  const declared = command.arguments ?? [];
  const usage = [name, '[options]', ...declared.map(argumentTerm)];
  if (subcommands.length > 0) usage.push('<command>');
  const head = [`Usage: ${usage.join(' ')}\n`];
  if (aliases.length > 0) head.push(`Alias: ${aliases.map((each) => group + each).join(', ')}\n`);
  const section = (title: string, block: Block) =>
    `${style.bold(`${title}:`)}\n${renderBlocks([block], style.width)}`;
  const termSection = (title: string, terms: readonly (readonly [string, string])[]) =>
    terms.length === 0 ? [] : [section(title, { terms })];
  const tail = ['Global options: imgctl --help\n'];
  if (seeAlso.length > 0) {
    // A name is never broken at the end of a line.
    const names = seeAlso.map((words) => `imgctl ${words}`.replaceAll(' ', '\u00a0'));
    const text = renderBlocks([`See also: ${names.join(', ')}`], style.width);
    tail.unshift(text.replaceAll('\u00a0', ' '));
  }
  return [
    head.join(''),
    renderBlocks([sentence(summary), ...description], style.width),
    ...termSection(
      'Arguments',
      declared.map((each) => [each.name, each.description]),
    ),
    ...termSection('Options', options.map(optionTerm)),
    ...termSection(
      'Commands',
      subcommands.map((each) => [each.name, each.summary]),
    ),
    ...termSection(
      'JSON fields',
      fields.map(([field, type, meaning]) => [field, `${meaning} (${type})`]),
    ),
    section('Examples', { shell: examples }),
    tail.join(''),
  ].join('\n');
}

/** Columns of the titles and of the commands. */
const TITLE = 18;
const TERM = 23;
const ROOT_WIDTH = 79;

/** Returns the page of imgctl itself, short enough for one screen of 80 columns and 24 lines. */
export function renderRoot({ bold, width }: PageStyle): string {
  if (width < ROOT_WIDTH) return renderNarrowRoot({ bold, width });
  const lines = ['Usage: imgctl <command> [options]', ''];
  for (const { title, entries } of GROUPS) {
    let heading = bold(title) + ' '.repeat(TITLE - title.length);
    for (const [names, text] of entries) {
      lines.push(`${heading}${names.padEnd(TERM)}${text}`);
      heading = ' '.repeat(TITLE);
    }
  }
  lines.push(`Help topics: ${TOPIC_NAMES.join(', ')}`);
  return `${lines.join('\n')}\n`;
}

function renderNarrowRoot({ bold, width }: PageStyle): string {
  const groups = GROUPS.map(
    ({ title, entries }) => `${bold(title)}\n${renderBlocks([{ terms: entries }], width)}`,
  );
  const topics = renderBlocks([`Help topics: ${TOPIC_NAMES.join(', ')}`], width);
  return ['Usage: imgctl <command> [options]\n', ...groups, topics].join('\n');
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
