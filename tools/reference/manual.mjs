// Reads the command table and the help topics as sections of one document, for docs/cli.md and the man page.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

const SOURCE = fileURLToPath(import.meta.resolve('../../src/'));
/** The modules with the declarations of commands and the texts of topics. */
const DECLARATIONS = ['commands/index.ts', 'cli/topics.ts', 'cli/command-types.ts'];

const NAME = 'imgctl';
const EXAMPLES = [
  'imgctl demo',
  'imgctl login --username alice',
  'imgctl images latest ubuntu server --get path',
  'imgctl images list ubuntu --sort name:version,desc --limit 10',
  'imgctl sync --wait',
];

const FILES = [
  ['~/.config/imgctl/config.json', 'settings of all profiles'],
  ['~/.config/imgctl/tokens/', 'access tokens, readable only by their owner'],
  ['~/.local/state/imgctl/sync-history.json', 'sync requests submitted from this machine'],
  ['~/.local/state/imgctl/changes/', 'the last run of images changes'],
  ['~/.cache/imgctl/images/', 'names of images, for completion'],
  ['~/.cache/imgctl/uploads.*.json', 'what push proved to be in each storage'],
  ['~/.cache/imgctl/compiled/', 'compiled code, for a fast start'],
];
const FILES_NOTE = 'Variables move them: see "imgctl help environment".';

/**
 * Returns the summary, the usage and an overview of the program, its sections: `{ title, blocks }`, and their titles by
 * group. Blocks are those of the help, where terms may have a heading, and `{ see: [title, ...] }` refers to sections.
 */
export async function readManual() {
  const { COMMANDS, TOPICS, PAGES, ...texts } = await importDeclarations();
  const commands = COMMANDS.flatMap((each) => sectionsOf(each, [NAME], texts));
  const topics = TOPICS.map(({ name }) => ({ title: `imgctl help ${name}`, blocks: PAGES[name] }));
  const overview = [
    firstSentence(),
    { heading: 'Command', terms: commands.map(({ title, summary }) => [title, summary]) },
    { heading: 'Topic', terms: TOPICS.map(({ summary }, at) => [topics[at].title, summary]) },
    { shell: EXAMPLES },
  ];
  const files = [{ heading: 'File', terms: FILES }, FILES_NOTE];
  return {
    summary: JSON.parse(readText('package.json')).description,
    usage: { lines: ['imgctl <command> [options]'] },
    overview,
    groups: [...new Set(commands.map(({ group }) => group)), 'Topics'].map((name) => {
      const members = name === 'Topics' ? topics : commands.filter(({ group }) => group === name);
      return [name || 'Also', members.map(({ title }) => title)];
    }),
    sections: [...commands, ...topics, { title: 'Files', blocks: files }],
  };
}

/** Returns the first sentence of the README, without links. */
function firstSentence() {
  const [, sentence] = /^# \w+\n\n(.+?\.)\s/s.exec(readText('README.md')) ?? [];
  return sentence.replaceAll('\n', ' ').replaceAll(/\[(.+?)\]\(.+?\)/g, '$1');
}

function readText(name) {
  return readFileSync(fileURLToPath(import.meta.resolve(`../../${name}`)), 'utf8');
}

/** Returns the section of a command and then those of its subcommands, in the order of the help. */
function sectionsOf(spec, parents, texts, group = spec.group) {
  if (spec.hidden) return [];
  const { name, aliases = [], summary, description = [], details = [] } = spec;
  const { examples, fields = [] } = spec;
  const { arguments: args = [], options = [], subcommands = [], seeAlso = [] } = spec;
  const words = [...parents, name];
  const rest = ['[options]', ...(subcommands.length > 0 ? ['<command>'] : [])];
  const usage = [...rest, ...args.map(texts.argumentTerm)].join(' ');
  const fieldTerms = fields.map(({ name: field, needs, meaning, type }) => {
    return [field, `${needs ? `with ${needs}: ` : ''}${meaning} (${type})`];
  });
  // Signals end every command; its topic says how.
  const own = texts.exitCodesOf(spec).filter((code) => code < 128);
  const exitCodes = `Exit codes: ${rangesOf(own)}`;
  const blocks = [
    { lines: [name, ...aliases].map((each) => [...parents, each, usage].join(' ')) },
    sentence(summary),
    ...description,
    { shell: examples },
    { heading: 'Argument', terms: args.map((each) => [each.name, each.description]) },
    { heading: 'Option', terms: options.map(texts.optionTerm) },
    ...details,
    { heading: 'JSON field', terms: fieldTerms },
    ...(subcommands.length > 0 ? [] : [exitCodes]),
    { see: seeAlso.map((each) => `imgctl ${each}`) },
  ];
  const shown = blocks.filter(({ terms, see }) => (terms ?? see)?.length !== 0);
  const below = subcommands.flatMap((each) => sectionsOf(each, words, texts, group));
  return [{ title: words.join(' '), group, summary, blocks: shown }, ...below];
}

/** Returns `0-2, 5` for 0, 1, 2 and 5. */
function rangesOf(numbers) {
  const ranges = [];
  for (const each of numbers) {
    const range = ranges.at(-1);
    if (range?.at(-1) === each - 1) range[1] = each;
    else ranges.push([each]);
  }
  return ranges.map((range) => range.join('-')).join(', ');
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Bundles the declarations without what commands load when they run, and imports them. */
async function importDeclarations() {
  const folder = mkdtempSync(join(tmpdir(), 'imgctl-manual-'));
  const file = join(folder, 'declarations.mjs');
  const entry = '\0declarations';
  const code = DECLARATIONS.map((name) => `export * from ${JSON.stringify(join(SOURCE, name))};\n`);
  try {
    await build({
      input: entry,
      platform: 'node',
      output: { file, codeSplitting: false },
      plugins: [
        {
          name: 'declarations',
          resolveId: (id, _importer, { kind }) =>
            id === entry || kind === 'dynamic-import' ? { id, external: id !== entry } : undefined,
          load: (id) => (id === entry ? code.join('') : undefined),
        },
      ],
    });
    return await import(pathToFileURL(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
