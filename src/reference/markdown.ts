// docs/cli.md: every command and topic on one page, for people who read in a browser.

import { type Block, isShell, type Term } from './blocks.ts';
import { FILES, FILES_NOTE } from './files.ts';
import type { CommandPage, TopicPage } from './pages.ts';
import { type Manual, relativesOf } from './relatives.ts';

const INTRODUCTION = `<!-- Made from the command tree by: npm run generate -->

# The commands of imgctl

The same as \`imgctl help COMMAND\` shows, and as the man pages have it (\`man imgctl-images-list\`).`;

export function commandReference(manual: Manual): string {
  const { commands, topics } = manual;
  const parts = commands.flatMap((page) =>
    page.words.length === 1 ? rootSection(page, manual) : commandSection(page, manual),
  );
  const topicParts = topics.flatMap((topic) => [
    `## ${titleOf(topic)}`,
    ...topic.blocks.map(block),
  ]);
  const files = ['## Files', termTable('File', FILES), escapeMarkdown(FILES_NOTE)];
  return `${[INTRODUCTION, ...parts, ...topicParts, ...files].join('\n\n')}\n`;
}

function rootSection(root: CommandPage, { commands, topics }: Manual): string[] {
  const below = commands.filter((page) => page !== root);
  return [
    ...root.description.map(block),
    usage(root),
    table(
      ['Command', 'Does'],
      below.map((page) => [link(page), escapeMarkdown(page.summary)]),
    ),
    `Topics: ${topics.map(link).join(', ')}`,
    '## Options of every command',
    'They may stand before or after the name of the command.',
    termTable('Option', root.options),
    ...examples(root),
  ];
}

function commandSection(page: CommandPage, manual: Manual): string[] {
  const related = relativesOf(page, manual);
  const others = [...related.commands.filter(({ words }) => words.length > 1), ...related.topics];
  return [
    `## ${titleOf(page)}`,
    ...page.description.map(block),
    usage(page),
    ...(page.arguments.length === 0 ? [] : [termTable('Argument', page.arguments)]),
    ...(page.options.length === 0 ? [] : [termTable('Option', page.options)]),
    ...examples(page),
    ...(others.length === 0 ? [] : [`See also: ${others.map(link).join(', ')}`]),
  ];
}

/** What is typed to get there: the heading of its section. */
function titleOf(page: CommandPage | TopicPage): string {
  return 'words' in page ? page.words.join(' ') : `imgctl help ${page.name}`;
}

/** To the anchor that GitHub and others make of a heading. */
function link(page: CommandPage | TopicPage): string {
  const title = titleOf(page);
  return `[${title}](#${title.replaceAll(' ', '-')})`;
}

function usage({ names, usage: rest }: CommandPage): string {
  return code(names.map((name) => `${name} ${rest}`));
}

function examples(page: CommandPage): string[] {
  return page.examples.length === 0 ? [] : ['Examples:', code(page.examples)];
}

function block(each: Block): string {
  if (each.kind === 'paragraph') return escapeMarkdown(each.text);
  if (each.kind === 'terms') {
    return each.terms
      .map(({ term, text }) => `- ${codeSpan(term)}: ${escapeMarkdown(text)}`)
      .join('\n');
  }
  return code(each.lines);
}

/** Shell lines lose their prompt, so that they can be copied as they stand. */
function code(lines: readonly string[]): string {
  const opening = isShell(lines) ? '```sh' : '```text';
  return [opening, ...lines.map((line) => line.replace(/^\$ /, '')), '```'].join('\n');
}

function termTable(heading: string, terms: readonly Term[]): string {
  return table(
    [heading, 'Meaning'],
    terms.map(({ term, text }) => [codeSpan(term), escapeMarkdown(text)]),
  );
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = headings.map(() => '---');
  return [headings, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** In a table a bar ends the cell, even in code. */
function codeSpan(text: string): string {
  const mark = text.includes('`') ? '``' : '`';
  return `${mark}${text.replaceAll('|', '\\|')}${mark}`;
}

/** What is written is what shows: nothing in it turns into emphasis, links, tags or cells. */
function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*<|]|\](?=\()|\b_|_\b/g, '\\$&');
}
