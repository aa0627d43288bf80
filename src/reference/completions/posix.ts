// What the scripts for bash and zsh have in common: cases, and words in quotes.

import { shellQuote } from '../../output/index.ts';
import type { CommandModel, CompletionModel } from './model.ts';
import { type KindCase, settingCases, valueCases } from './template.ts';

/** The cases that set $kind, for the slots `values` and `settings`. */
export function kindTables(model: CompletionModel) {
  return {
    values: valueCases(model).map(kindCase).join('\n'),
    settings: settingCases().map(kindCase).join('\n'),
  };
}

function kindCase({ texts, kind }: KindCase): string {
  return `    ${texts.map(pattern).join(' | ')}) kind=${shellQuote(kind)} ;;`;
}

/** A star at the front stands for any command. */
function pattern(text: string): string {
  return text.startsWith('*') ? `*${shellQuote(text.slice(1))}` : shellQuote(text);
}

/** The case of a command that sets some variables; those that are to be empty are so already. */
export function commandCase(
  { paths, arguments: kinds, isVariadic }: CommandModel,
  assignments: readonly string[],
): string {
  const lines = assignments.map((assignment) => `      ${assignment}`);
  if (kinds.length > 0) {
    lines.push(
      `      kinds=(${kinds.map(shellQuote).join(' ')})${isVariadic ? ' variadic=1' : ''}`,
    );
  }
  return [`    ${paths.map(shellQuote).join(' | ')})`, ...lines, '      ;;'].join('\n');
}
