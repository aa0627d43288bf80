// Writes docs/cli.md: every command and topic on one page.

const INTRODUCTION = `<!-- Made from the command table by: npm run generate -->

# The commands of imgctl

The text of \`imgctl help COMMAND\` and \`imgctl help TOPIC\`, with exit codes and JSON output. \`man imgctl\` shows the same.`;

export function markdownOf({ usage, overview, sections }) {
  const titles = sections.map(({ title }) => title);
  const parts = [
    INTRODUCTION,
    ...[usage, ...overview].map((each) => block(each, titles)),
    ...sections.flatMap(({ title, blocks }) => [
      `## ${title}`,
      ...blocks.map((each) => block(each, titles)),
    ]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function block(each, titles) {
  if (typeof each === 'string') return escapeMarkdown(each);
  if ('see' in each) return `See also: ${each.see.map(link).join(', ')}`;
  if ('terms' in each) {
    const rows = each.terms.map(([term, text]) => [
      titles.includes(term) ? link(term) : codeSpan(term),
      escapeMarkdown(text),
    ]);
    const cells = [[each.heading ?? 'Term', 'Meaning'], ['---', '---'], ...rows];
    return cells.map((row) => `| ${row.join(' | ')} |`).join('\n');
  }
  const [language, lines] =
    'shell' in each ? [each.language ?? 'sh', each.shell] : ['text', each.lines];
  return [`\`\`\`${language}`, ...lines, '```'].join('\n');
}

/** Returns a link to the anchor that GitHub creates for the heading. */
function link(title) {
  return `[${title}](#${title.replaceAll(' ', '-')})`;
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
