// The completion script for PowerShell: names with what they mean.

import { type CommandModel, type CompletionModel, type Entry, flagEntries } from './model.ts';
import { fillTemplate, type KindCase, settingCases, valueCases } from './template.ts';

export function powershellScript(model: CompletionModel): string {
  return fillTemplate('template.ps1', {
    commands: model.commands.map(commandCase).join('\n'),
    values: valueCases(model).map(kindCase).join('\n'),
    settings: settingCases().map(kindCase).join('\n'),
    global: pairLines(flagEntries(model.global)),
  });
}

function commandCase(model: CommandModel): string {
  const { paths, subcommands, options, arguments: kinds, isVariadic } = model;
  const lists = { subcommands, flags: flagEntries(options) };
  const lines = Object.entries(lists)
    .filter(([, entries]) => entries.length > 0)
    .map(
      ([name, entries]) =>
        `                $${name} = @(\n${pairLines(entries)}\n                )`,
    );
  if (kinds.length > 0) lines.push(`                $kinds = @(${list(kinds)})`);
  if (isVariadic) lines.push('                $variadic = $true');
  return [`            ${condition(paths)} {`, ...lines, '            }'].join('\n');
}

function kindCase({ texts, kind }: KindCase): string {
  return `            ${condition(texts)} { return ${quoted(kind)} }`;
}

/** A plain text as a case would be compared without regard to case, and -v is not -V. */
function condition(texts: readonly string[]): string {
  return `{ $_ -cin ${list(texts)} }`;
}

function pairLines(entries: readonly Entry[]): string {
  return entries
    .map(({ word, summary }) => `                    ${list([word, summary])}`)
    .join('\n');
}

function list(texts: readonly string[]): string {
  return texts.map(quoted).join(', ');
}

/** The text as one string, nothing in it expanded; typographic apostrophes are quotes to PowerShell. */
export function quoted(text: string): string {
  return `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
}
