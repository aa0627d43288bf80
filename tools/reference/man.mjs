// Writes the man pages: imgctl(1), one page per command, and a page in section 7 per topic outside imgctl(1).

import { FILES, FILES_NOTE } from './files.mjs';
import { relativesOf, relativesOfTopic } from './pages.mjs';
import { block, bold, escapeRoff, quoted, shell, syntax, terms, textLine } from './roff.mjs';

/** The topics that are sections of imgctl(1), and their headings. */
const SECTIONS = { 'exit-codes': 'EXIT STATUS', environment: 'ENVIRONMENT' };

const IN_ROOT = '.BR imgctl (1)';

/** Returns every page by its path from the root of the project. */
export function manPages(manual, version) {
  const files = new Map();
  const add = (page, sections, others) => {
    const { name, section } = titleOf(page);
    const references = others
      .filter(hasPage)
      .map(titleOf)
      .map((other) => `.BR ${escapeRoff(other.name)} (${other.section})`);
    const text = [
      header(name, section, version),
      manSection('NAME', `${escapeRoff(name)} \\- ${escapeRoff(page.summary)}`),
      ...sections,
      manSection('SEE ALSO', references.join(',\n')),
    ];
    files.set(`man/${name}.${section}`, `${text.join('\n')}\n`);
  };
  for (const page of manual.commands) {
    const isRoot = page.words.length === 1;
    const sections = isRoot ? rootSections(page, manual.topics) : commandSections(page);
    add(page, sections, relativesOf(page, manual));
  }
  for (const topic of manual.topics.filter(hasPage)) {
    const sections = [manSection('DESCRIPTION', ...topic.blocks.map(block))];
    add(topic, sections, relativesOfTopic(topic, manual));
  }
  return files;
}

function hasPage({ name }) {
  return !Object.hasOwn(SECTIONS, name ?? '');
}

function titleOf({ words, blocks }) {
  return blocks
    ? { name: `imgctl-${words.at(-1)}`, section: 7 }
    : { name: words.join('-'), section: 1 };
}

function header(name, section, version) {
  const manual = section === 1 ? 'User Commands' : 'Miscellaneous Information';
  // A date would change with every build.
  const words = [quoted(name.toUpperCase()), section, '""', quoted(`imgctl ${version}`)];
  return [
    '.\\" Made from the command table by: npm run generate',
    `.TH ${words.join(' ')} ${quoted(manual)}`,
    // Without hyphenation, names can be copied.
    '.nh',
    '.ad l',
  ].join('\n');
}

function manSection(heading, first, ...rest) {
  // .SH already starts a paragraph.
  return [`.SH ${heading}`, first.replace(/^\.PP\n/, ''), ...rest].join('\n');
}

function rootSections(page, topics) {
  const parts = Object.entries(SECTIONS).map(([name, heading]) => {
    const { blocks } = topics.find((topic) => topic.name === name);
    return manSection(heading, ...blocks.map(block));
  });
  return [
    manSection('SYNOPSIS', synopsis(page)),
    manSection('DESCRIPTION', ...page.description.map(block)),
    manSection('COMMANDS', subcommands(page)),
    manSection('GLOBAL OPTIONS', options(page)),
    manSection('EXAMPLES', shell(page.examples)),
    ...parts,
    manSection('FILES', terms(FILES, bold), `.PP\n${textLine(FILES_NOTE)}`),
  ];
}

function commandSections(page) {
  const names = page.arguments.map(({ name, description }) => [name, description]);
  return [
    manSection('SYNOPSIS', synopsis(page)),
    manSection('DESCRIPTION', ...page.description.map(block)),
    ...(page.subcommands.length === 0 ? [] : [manSection('COMMANDS', subcommands(page))]),
    manSection(
      'OPTIONS',
      ...(names.length === 0 ? [] : [terms(names, (name) => syntax(`<${name}>`))]),
      ...(page.options.length === 0 ? [] : [options(page)]),
      `.PP\nEvery command also takes the global options of\n${IN_ROOT}.`,
    ),
    manSection('EXAMPLES', shell(page.examples)),
    ...(page.fields.length === 0
      ? []
      : [manSection('JSON OUTPUT', terms(page.fields.map(fieldTerm), bold))]),
    manSection('EXIT STATUS', `${page.exitCodes.join(', ')}; the meanings are in\n${IN_ROOT}.`),
    manSection('ENVIRONMENT', `The variables that every command reads are in\n${IN_ROOT}.`),
    manSection('FILES', `The files that imgctl writes are in\n${IN_ROOT}.`),
  ];
}

function synopsis({ names, usage }) {
  return names.map((name) => `${bold(name)} ${syntax(usage)}`).join('\n.br\n');
}

function subcommands(page) {
  return terms(
    page.subcommands.map(({ name, summary }) => [name, summary]),
    bold,
  );
}

function fieldTerm([name, type, meaning]) {
  return [name, `${meaning} (${type})`];
}

function options(page) {
  return terms(page.options, syntax);
}
