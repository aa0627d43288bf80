// Usage errors that commander finds, in the words of imgctl.

import type { Command, CommanderError } from 'commander';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { nearest, suggest } from '../query/suggest.ts';
import { guessArguments, guessCommand, guessInGroup, guessOption } from './guesses.ts';
import { fullName, isOperand, pathOf } from './names.ts';

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** Converts commander's error: one line, its suggestion as the hint, options without their values. */
export function usageError(error: CommanderError, command: Command): ImgctlError {
  const [first = '', ...rest] = error.message.replace(/^error: /, '').split('\n');
  const words = [...pathOf(command), ...command.args.filter(isOperand)];
  const help = `${fullName(command)} --help`;
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  if (option !== undefined) return optionError(option, command, help);
  const incomplete = /^option '(?:-., )?(\S+) .*' argument missing/.exec(first)?.[1];
  if (incomplete !== undefined) {
    const message = `option '${incomplete}' needs a value`;
    return new ImgctlError('usage', message, { hint: suggest(undefined, help) });
  }
  if (error.code === 'commander.excessArguments') {
    const given = command.args.length;
    const name = pathOf(command).join(' ');
    const message = `${name} takes ${limitOf(command)} (got ${given})`;
    return new ImgctlError('usage', message, {
      hint: guessCommand(words) ?? guessArguments(name, command.args) ?? suggest(undefined, help),
    });
  }
  const suggestion = /\(Did you mean (.+?)\?\)/.exec(rest.join(' '))?.[1];
  const message = first.replace(/\.$/, '').slice(0, MAX_MESSAGE);
  const isUnknown = error.code === 'commander.unknownCommand';
  const guess = isUnknown ? guessCommand(words) : undefined;
  const last = isUnknown && suggestion === undefined ? guessInGroup(command.name()) : undefined;
  return new ImgctlError('usage', message, { hint: guess ?? last ?? suggest(suggestion, help) });
}

/** Commander also calls an option unknown if it takes no value. */
function optionError(option: string, command: Command, help: string): ImgctlError {
  const known = optionNames(command);
  if (known.includes(option)) {
    const message = `option '${option}' takes no value`;
    const longer = known.find((name) => name.startsWith(`${option}-`));
    return new ImgctlError('usage', message, { hint: suggest(longer, help) });
  }
  const hint =
    guessOption(pathOf(command).join(' '), option) ?? suggest(nearest(option, known), help);
  return new ImgctlError('usage', `unknown option '${option}'`, { hint });
}

function limitOf({ registeredArguments: { length } }: Command): string {
  return length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
}

/** Returns the long names of the options of a command, including global ones. */
function optionNames(command: Command): string[] {
  const help = command.createHelp();
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  return options.flatMap(({ long }) => long ?? []);
}
