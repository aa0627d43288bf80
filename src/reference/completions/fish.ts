// The completion script for fish: names with what they mean.

import { type CommandModel, type CompletionModel, type Entry, flagEntries } from './model.ts';
import { fillTemplate, type KindCase, settingCases, valueCases } from './template.ts';

export function fishScript(model: CompletionModel): string {
  return fillTemplate('template.fish', {
    commands: model.commands.map(commandCase).join('\n'),
    values: valueCases(model).map(kindCase).join('\n'),
    settings: settingCases().map(kindCase).join('\n'),
    global: entryLines(flagEntries(model.global)),
  });
}

function commandCase(model: CommandModel): string {
  const { paths, subcommands, options, arguments: kinds, isVariadic } = model;
  const lists = { subcommands, flags: flagEntries(options) };
  const lines = Object.entries(lists)
    .filter(([, entries]) => entries.length > 0)
    .map(([name, entries]) => `            set ${name} \\\n${entryLines(entries)}`);
  if (kinds.length > 0) lines.push(`            set kinds ${kinds.map(quoted).join(' ')}`);
  if (isVariadic) lines.push('            set variadic 1');
  return [`        case ${paths.map(quoted).join(' ')}`, ...lines].join('\n');
}

function kindCase({ texts, kind }: KindCase): string {
  return `        case ${texts.map(quoted).join(' ')}\n            set kind ${quoted(kind)}`;
}

/** One a line, the line goes on after each: a tab begins the description. */
function entryLines(entries: readonly Entry[]): string {
  return entries
    .map(({ word, summary }) => `                ${word}\\t${quoted(summary)}`)
    .join(' \\\n');
}

/** The text as one word of fish, nothing in it expanded. */
export function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
