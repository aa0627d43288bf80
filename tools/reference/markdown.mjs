// Writes docs/cli.md: every command and topic on one page.

import { FILES, FILES_NOTE } from './files.mjs';
import { relativesOf } from './pages.mjs';

const INTRODUCTION = `<!-- Made from the command table by: npm run generate -->

# The commands of imgctl

The text of \`imgctl help COMMAND\`, with exit codes and JSON output, as in the man pages (\`man imgctl-images-list\`).`;

export function commandReference(manual) {
  const [root, ...below] = manual.commands;
  const parts = [
    INTRODUCTION,
    ...rootSection(root, below, manual.topics),
    ...below.flatMap((page) => commandSection(page, manual)),
    ...manual.topics.flatMap((topic) => [`## ${titleOf(topic)}`, ...topic.blocks.map(block)]),
    '## Files',
    termTable('File', FILES),
    escapeMarkdown(FILES_NOTE),
  ];
  return `${parts.join('\n\n')}\n`;
}

function rootSection(root, below, topics) {
  return [
    ...root.description.map(block),
    usage(root),
    table(
      ['Command', 'Does'],
      below.map((page) => [link(page), escapeMarkdown(page.summary)]),
    ),
    `Topics: ${topics.map(link).join(', ')}`,
    '## Options of every command',
    'They work before or after the name of the command. A duration is a number with a unit: `500ms`, `30s`, `5m`, `1h`, `2d` or `3w`.',
    options(root),
    ...examples(root),
  ];
}

function commandSection(page, manual) {
  const others = relativesOf(page, manual).filter(({ words }) => words.length > 1);
  const names = page.arguments.map(({ name, description }) => [name, description]);
  return [
    `## ${titleOf(page)}`,
    ...page.description.map(block),
    usage(page),
    ...(names.length === 0 ? [] : [termTable('Argument', names)]),
    ...(page.options.length === 0 ? [] : [options(page)]),
    ...examples(page),
    ...outcome(page),
    ...(others.length === 0 ? [] : [`See also: ${others.map(link).join(', ')}`]),
  ];
}

/** Returns the heading of a page: the command line that shows it. */
function titleOf({ words }) {
  return words.join(' ');
}

/** Returns a link to the anchor that GitHub creates for the heading. */
function link(page) {
  const title = titleOf(page);
  return `[${title}](#${title.replaceAll(' ', '-')})`;
}

function usage({ names, usage: rest }) {
  return code(
    'text',
    names.map((name) => `${name} ${rest}`),
  );
}

function options(page) {
  return termTable('Option', page.options);
}

/** Returns the fields of the JSON output and the exit codes of a command; nothing for a group. */
function outcome(page) {
  if (page.subcommands.length > 0) return [];
  const exit = `Exit codes: ${page.exitCodes.join(', ')}`;
  if (page.fields.length === 0) return [exit];
  const fields = page.fields.map(([name, type, meaning]) => [
    codeSpan(name),
    type,
    escapeMarkdown(meaning),
  ]);
  return [table(['JSON field', 'Type', 'Meaning'], fields), exit];
}

function examples(page) {
  return ['Examples:', code('sh', page.examples)];
}

function block(each) {
  if (typeof each === 'string') return escapeMarkdown(each);
  if ('terms' in each) {
    return each.terms
      .map(([term, text]) => `- ${codeSpan(term)}: ${escapeMarkdown(text)}`)
      .join('\n');
  }
  return 'shell' in each ? code(each.language ?? 'sh', each.shell) : code('text', each.lines);
}

function code(language, lines) {
  return [`\`\`\`${language}`, ...lines, '```'].join('\n');
}

function termTable(heading, terms) {
  return table(
    [heading, 'Meaning'],
    terms.map(([term, text]) => [codeSpan(term), escapeMarkdown(text)]),
  );
}

function table(headings, rows) {
  const rule = headings.map(() => '---');
  return [headings, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Escapes bars, which end a table cell even in code. */
function codeSpan(text) {
  const mark = text.includes('`') ? '``' : '`';
  return `${mark}${text.replaceAll('|', '\\|')}${mark}`;
}

/** Escapes everything that Markdown would show as emphasis, links, tags or cells. */
function escapeMarkdown(text) {
  return text.replace(/[\\`*<|]|\](?=\()|\b_|_\b/g, '\\$&');
}
