// Man pages: imgctl(1), one for each command, and one in section 7 for each topic that is no part of imgctl(1).

import { FILES, FILES_NOTE } from './files.ts';
import type { CommandPage, TopicPage } from './pages.ts';
import { type Manual, relativesOf, relativesOfTopic } from './relatives.ts';
import { blocks, bold, escapeRoff, literal, quoted, syntax, terms, textLine } from './roff.ts';

/** Topics that are sections of imgctl(1), under the names that man pages have for them. */
const SECTIONS: ReadonlyMap<string, string> = new Map([
  ['exit-codes', 'EXIT STATUS'],
  ['environment', 'ENVIRONMENT'],
]);

/** A page's name, and the section of the manual that it is in. */
interface Title {
  readonly name: string;
  readonly section: 1 | 7;
}

/** Every page by its path from the root of the project. */
export function manPages(manual: Manual, version: string): Map<string, string> {
  const apart = manual.topics.filter(({ name }) => !SECTIONS.has(name));
  const files = new Map<string, string>();
  const add = (title: Title, summary: string, sections: readonly string[], others: Title[]) => {
    const { name, section } = title;
    const opening = manSection('NAME', `${escapeRoff(name)} \\- ${escapeRoff(summary)}`);
    const text = [header(title, version), opening, ...sections, seeAlso(others)];
    files.set(`man/${name}.${section}`, `${text.join('\n')}\n`);
  };
  for (const page of manual.commands) {
    const isRoot = page.words.length === 1;
    const { commands, topics } = relativesOf(page, manual);
    const near = apart.filter((topic) => isRoot || topics.includes(topic));
    const others = [...commands.map(titleOf), ...near.map(titleOfTopic)];
    const sections = isRoot ? rootSections(page, manual.topics) : commandSections(page);
    add(titleOf(page), page.summary, sections, others);
  }
  for (const topic of apart) {
    const others = relativesOfTopic(topic, manual).map(titleOf);
    const sections = [manSection('DESCRIPTION', ...blocks(topic.blocks))];
    add(titleOfTopic(topic), topic.summary, sections, others);
  }
  return files;
}

function titleOf({ words }: CommandPage): Title {
  return { name: words.join('-'), section: 1 };
}

function titleOfTopic({ name }: TopicPage): Title {
  return { name: `imgctl-${name}`, section: 7 };
}

function header({ name, section }: Title, version: string): string {
  const manual = section === 1 ? 'User Commands' : 'Miscellaneous Information';
  // No date: it would change with every build. The version says how old the page is.
  const words = [quoted(name.toUpperCase()), section, '""', quoted(`imgctl ${version}`)];
  return [
    '.\\" Made from the command tree by: npm run generate',
    `.TH ${words.join(' ')} ${quoted(manual)}`,
    // Words are not divided, so that names that are copied are whole.
    '.nh',
    '.ad l',
  ].join('\n');
}

function manSection(heading: string, ...parts: readonly string[]): string {
  const [first = '', ...rest] = parts;
  // A section begins with a paragraph of its own.
  return [`.SH ${heading}`, first.replace(/^\.PP\n/, ''), ...rest].join('\n');
}

function rootSections(page: CommandPage, topics: readonly TopicPage[]): string[] {
  return [
    manSection('SYNOPSIS', synopsis(page)),
    manSection('DESCRIPTION', ...blocks(page.description)),
    manSection('COMMANDS', subcommands(page)),
    manSection('GLOBAL OPTIONS', terms(page.options, syntax)),
    manSection('EXAMPLES', literal(page.examples)),
    ...[...SECTIONS].flatMap(([name, heading]) =>
      topics
        .filter((topic) => topic.name === name)
        .map((topic) => manSection(heading, ...blocks(topic.blocks))),
    ),
    manSection('FILES', terms(FILES, bold), `.PP\n${textLine(FILES_NOTE)}`),
  ];
}

function commandSections(page: CommandPage): string[] {
  const inRoot = '.BR imgctl (1)';
  return [
    manSection('SYNOPSIS', synopsis(page)),
    manSection('DESCRIPTION', ...blocks(page.description)),
    ...(page.subcommands.length === 0 ? [] : [manSection('COMMANDS', subcommands(page))]),
    manSection(
      'OPTIONS',
      ...(page.arguments.length === 0
        ? []
        : [terms(page.arguments, (term) => syntax(`<${term}>`))]),
      ...(page.options.length === 0 ? [] : [terms(page.options, syntax)]),
      `.PP\nEvery command takes the global options of\n${inRoot}\nas well.`,
    ),
    manSection('EXAMPLES', literal(page.examples)),
    manSection('EXIT STATUS', `0 when it is done; all codes are in\n${inRoot}.`),
    manSection('ENVIRONMENT', `The variables that every command heeds are in\n${inRoot}.`),
    manSection('FILES', `What imgctl keeps where is in\n${inRoot}.`),
  ];
}

function synopsis({ names, usage }: CommandPage): string {
  return names.map((name) => `${bold(name)} ${syntax(usage)}`).join('\n.br\n');
}

function subcommands(page: CommandPage): string {
  const named = page.subcommands.map(({ words, summary }) => ({
    term: words.at(-1) ?? '',
    text: summary,
  }));
  return terms(named, bold);
}

function seeAlso(titles: readonly Title[]): string {
  const references = titles.map(({ name, section }) => `.BR ${escapeRoff(name)} (${section})`);
  return manSection('SEE ALSO', references.join(',\n'));
}
