// The completion script for zsh: names with what they mean.

import { shellQuote } from '../../output/index.ts';
import { type CommandModel, type CompletionModel, type Entry, flagEntries } from './model.ts';
import { commandCase, kindTables } from './posix.ts';
import { fillTemplate } from './template.ts';

export function zshScript(model: CompletionModel): string {
  return fillTemplate('template.zsh', {
    ...kindTables(model),
    commands: model.commands.map(zshCase).join('\n'),
    global: lines(flagEntries(model.global)),
  });
}

function zshCase(model: CommandModel): string {
  const entries = { subcommands: model.subcommands, flags: flagEntries(model.options) };
  const assignments = Object.entries(entries)
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}=(\n${lines(list)}\n      )`);
  return commandCase(model, assignments);
}

/** As _describe reads them, one a line. */
function lines(entries: readonly Entry[]): string {
  return entries
    .map(({ word, summary }) => `        ${shellQuote(`${word}:${summary}`)}`)
    .join('\n');
}
