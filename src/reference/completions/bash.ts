// The completion script for bash: names alone, as bash shows no descriptions.

import type { CommandModel, CompletionModel, OptionModel } from './model.ts';
import { commandCase, kindTables, quoted } from './posix.ts';
import { fillTemplate } from './template.ts';

export function bashScript(models: CompletionModel): string {
  const [root, ...others] = models;
  return fillTemplate('template.bash', {
    ...kindTables(models),
    commands: [{ ...root, options: [] }, ...others].map(bashCase).join('\n'),
    global: flagsOf(root.options),
  });
}

function bashCase(model: CommandModel): string {
  const words = {
    subcommands: model.subcommands.map(({ word }) => word).join(' '),
    flags: flagsOf(model.options),
  };
  const assignments = Object.entries(words)
    .filter(([, text]) => text !== '')
    .map(([name, text]) => `${name}=${quoted(text)}`);
  return commandCase(model, assignments);
}

function flagsOf(options: readonly OptionModel[]): string {
  return options.flatMap(({ flags }) => flags).join(' ');
}
