// The completion script for bash: names alone, as bash shows no descriptions.

import type { CommandModel, OptionModel } from './model.ts';
import { type Case, fillTemplate, settingCases, valueCases } from './template.ts';

export function bashScript(models: readonly CommandModel[]): string {
  const kindCase = ({ texts, result }: Case<string>) =>
    `    ${texts.map(pattern).join(' | ')}) kind=${quoted(result)} ;;`;
  return fillTemplate('template.bash', {
    commands: models.map(commandCase).join('\n'),
    values: valueCases(models).map(kindCase).join('\n'),
    settings: settingCases().map(kindCase).join('\n'),
    global: flagsOf(models[0]?.options ?? []),
  });
}

function commandCase(model: CommandModel): string {
  const isRoot = model.paths[0] === '';
  const lines = [
    ['subcommands', model.subcommands.map(({ word }) => word).join(' ')],
    ['flags', isRoot ? '' : flagsOf(model.options)],
  ]
    .filter(([, words]) => words !== '')
    .map(([name, words = '']) => `      ${name}=${quoted(words)}`);
  const kinds = model.arguments.map(quoted).join(' ');
  if (kinds !== '') lines.push(`      kinds=(${kinds})${model.isVariadic ? ' variadic=1' : ''}`);
  return [`    ${model.paths.map(quoted).join(' | ')})`, ...lines, '      ;;'].join('\n');
}

function flagsOf(options: readonly OptionModel[]): string {
  return options.flatMap(({ flags }) => flags).join(' ');
}

/** A star at the front stands for any command. */
function pattern(text: string): string {
  return text.startsWith('*') ? `*${quoted(text.slice(1))}` : quoted(text);
}

/** As both bash and zsh read it, whatever is in it. */
export function quoted(text: string): string {
  return /^[\w:.,/=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
