// The completion script for bash: names alone, as bash shows no descriptions.

import { shellQuote } from '../../output/index.ts';
import type { CommandModel, CompletionModel, OptionModel } from './model.ts';
import { commandCase, kindTables } from './posix.ts';
import { fillTemplate } from './template.ts';

export function bashScript(model: CompletionModel): string {
  return fillTemplate('template.bash', {
    ...kindTables(model),
    commands: model.commands.map(bashCase).join('\n'),
    global: flagsOf(model.global),
  });
}

function bashCase(model: CommandModel): string {
  const words = {
    subcommands: model.subcommands.map(({ word }) => word).join(' '),
    flags: flagsOf(model.options),
  };
  const assignments = Object.entries(words)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name}=${shellQuote(text)}`);
  return commandCase(model, assignments);
}

function flagsOf(options: readonly OptionModel[]): string {
  return options.flatMap(({ flags }) => flags).join(' ');
}
