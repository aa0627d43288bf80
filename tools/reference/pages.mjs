// Reads the command table and the help topics as pages, for the man pages and docs/cli.md.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const ENTRY = '\0manual';

/** Returns every command and topic as a page: `{ commands: [root, ...], topics }`. */
export async function readManual(root) {
  const { ROOT, GLOBAL_OPTIONS, VERSION_OPTION, HELP_OPTION, TOPICS, PAGES, ...texts } =
    await importTable(root);
  const options = [VERSION_OPTION, ...GLOBAL_OPTIONS, HELP_OPTION];
  const commands = pagesBelow(ROOT, [], texts);
  commands[0] = {
    ...commands[0],
    options: options.map(texts.optionTerm),
    usage: '<command> [options]',
  };
  // The page of imgctl itself lists the global options.
  const topics = TOPICS.filter(({ name }) => name !== 'options').map(({ name, summary }) => {
    return { words: ['imgctl', 'help', name], name, summary, blocks: PAGES[name] };
  });
  return { commands, topics };
}

/** Bundles the declarations of src/ without the commands themselves, and imports them. */
async function importTable(root) {
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'node',
    cwd: root,
    plugins: [tableOnly(join(root, 'src'))],
  });
  const folder = mkdtempSync(join(tmpdir(), 'imgctl-table-'));
  try {
    const file = join(folder, 'table.mjs');
    await bundle.write({ file, codeSplitting: false });
    return await import(pathToFileURL(file));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function tableOnly(source) {
  const files = [
    'commands/command-table.ts',
    'commands/table/global-options.ts',
    'commands/table/topics.ts',
    'commands/help/pages.ts',
    'declarations.ts',
  ];
  const code = files
    .map((file) => `export * from ${JSON.stringify(join(source, file))};\n`)
    .join('');
  return {
    name: 'table-only',
    resolveId(id, _importer, { kind }) {
      if (id === ENTRY) return id;
      return kind === 'dynamic-import' ? { id, external: true } : undefined;
    },
    load: (id) => (id === ENTRY ? code : undefined),
  };
}

/** Returns the command and then its subcommands, in the order of the help. */
function pagesBelow(spec, parents, texts) {
  const { name, aliases = [], summary, description = [], examples, seeAlso = [] } = spec;
  const words = [...parents, name];
  const declared = spec.arguments ?? [];
  const shown = (spec.subcommands ?? []).filter(({ hidden }) => !hidden);
  const page = {
    words,
    usage: [
      '[options]',
      ...(shown.length > 0 ? ['<command>'] : []),
      ...declared.map(texts.argumentTerm),
    ].join(' '),
    /** The full name and its aliases: `imgctl images list`, `imgctl images ls`. */
    names: [name, ...aliases].map((each) => [...parents, each].join(' ')),
    summary,
    description: [sentence(summary), ...description],
    arguments: declared,
    options: (spec.options ?? []).map(texts.optionTerm),
    examples,
    seeAlso,
    fields: spec.fields ?? [],
    exitCodes: texts.exitCodesOf(spec),
    subcommands: shown,
  };
  return [page, ...shown.flatMap((each) => pagesBelow(each, words, texts))];
}

/** Returns the pages that a page refers to: the root, its group, its subcommands and its seeAlso. */
export function relativesOf(page, { commands, topics }) {
  const path = page.words.join(' ');
  const group = page.words.slice(0, -1).join(' ');
  const isRelated = (other) => {
    const parent = other.words.slice(0, -1).join(' ');
    return (
      other.words.length === 1 ||
      parent === path ||
      (group !== 'imgctl' && [parent, other.words.join(' ')].includes(group)) ||
      page.seeAlso.includes(other.words.slice(1).join(' '))
    );
  };
  return [...commands, ...topics].filter((other) => other !== page && isRelated(other));
}

/** Returns the root and the commands that refer to the topic. */
export function relativesOfTopic({ name }, { commands }) {
  return commands.filter(
    ({ words, seeAlso }) =>
      words.length === 1 || (words.at(-1) !== 'help' && seeAlso.includes(`help ${name}`)),
  );
}

function sentence(text) {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
