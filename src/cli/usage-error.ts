// Usage errors that commander finds, in the words of imgctl.

import type { Command, CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, shellQuote, shorten } from '../words.ts';
import { ALL_GLOBAL_OPTIONS } from './command.ts';
import { guess, guessOption } from './guesses.ts';
import { flagsOf } from './typed.ts';

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** The options that commander quotes, without their values: `'-c, --columns <a,b>'`, `'--foo=bar'`, `'-zfoo'`. */
const QUOTED_OPTION = /(?<=')(?:-\w, )?(--[^\s=']+|-[^\s'-])/g;

/** Converts commander's error: one line, and the probable meaning as the hint. */
export function usageError(error: CommanderError, command: Command, path: readonly string[]) {
  const [first = ''] = error.message.replace(/^error: /, '').split('\n');
  const fail = (message: string, said: string | Facts = hint`see: ${imgctl(...path, '--help')}`) =>
    new ImgctlError('usage', message, { facts: said });
  const [option = '', other = ''] = [...first.matchAll(QUOTED_OPTION)].map(([, flag]) => flag);
  switch (error.code) {
    case 'commander.unknownOption':
      return fail(...explainOption(option, command, path, first));
    case 'commander.conflictingOption':
      return incompatible(option, other);
    case 'commander.optionMissingArgument': {
      const options = command.parent ? undefined : hint`see: ${imgctl('help', 'options')}`;
      return fail(`option '${option}' needs a value`, options);
    }
    case 'commander.missingArgument': {
      const [key = ''] = command.args[0]?.split('=') ?? [];
      const isSetting = path[0] === 'config' && isSettingKey(key);
      const assign = hint`use: ${imgctl(...path, key, 'VALUE')}`;
      return fail(first, isSetting ? assign : hint`use: ${imgctl(...path)} ${command.usage()}`);
    }
    case 'commander.excessArguments': {
      const { length } = command.registeredArguments;
      const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
      const message = `${path.join(' ')} takes ${limit} (got ${command.args.length})`;
      return fail(message, addressHint(command, path) ?? guess(path, command.args));
    }
    case 'commander.unknownCommand':
      return fail(unknownCommand(command), meantCommand(command, path));
    default:
      return fail(shorten(first, MAX_MESSAGE));
  }
}

/** What is assigned to a setting may be a secret, and is not shown. */
function unknownCommand({ args: [word = ''] }: Command): string {
  const [name = ''] = word.split('=');
  return `unknown command '${shorten(name, MAX_MESSAGE)}'`;
}

/** Nothing that could be a password is shown. */
function addressHint({ args: [word = ''] }: Command, path: readonly string[]) {
  const isAddress = /^(https?:\/\/[\w.:-]+(\/[\w./-]*)?|localhost(:\d+)?)$/.test(word);
  if (path[0] !== 'login' || !isAddress) return undefined;
  return hint`use: ${imgctl('login', '--base-url', word)}`;
}

/** Returns the hint for words that are no command: what other programs call it, a setting, or a similar name. */
function meantCommand(command: Command, path: readonly string[]) {
  const end = command.args.findIndex((word) => word.startsWith('-'));
  // Values of options are no words.
  const words = end < 0 ? command.args : command.args.slice(0, end);
  const [first = '', second = ''] = words;
  // As gh and aws have it: auth login.
  const behind = /^(?:auth|sso)$/.test(first) ? childOf(command, second) : undefined;
  if (behind) return hint`use: ${imgctl(behind.name())}`;
  const meant = guess(path, words);
  if (meant !== undefined) return meant;
  const [key = '', assigned = second] = first.split('=');
  if (path.join() === 'config' && isSettingKey(key)) {
    return hint`use: ${imgctl('config', ...(assigned ? ['set', key, 'VALUE'] : ['get', key]))}`;
  }
  const near = nearest(first, namesBelow(command));
  if (near !== undefined) {
    const below = childOf(childOf(command, near), second);
    return hint`did you mean ${imgctl(...path, near, ...(below ? [below.name()] : []))}?`;
  }
  if (path.join(' ') !== 'images lock') return undefined;
  const name = /^[\w.-]+$/.test(first) ? first : 'NAME';
  const text = second ? words.slice(1) : ['TEXT'];
  return hint`use: ${imgctl('images', 'lock', 'add', name, ...text)}`;
}

function childOf(parent: Command | undefined, name: string): Command | undefined {
  return parent?.commands.find((each) => each.name() === name || each.aliases().includes(name));
}

/** Returns the names that help shows. */
function namesBelow(command: Command): string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());
}

/** Commander also calls an option unknown if it takes no value. */
function explainOption(
  option: string,
  command: Command,
  path: readonly string[],
  error: string,
): [message: string, hint: string | Facts | undefined] {
  const flags = [...command.options, ...ALL_GLOBAL_OPTIONS].flatMap(flagsOf);
  const known = flags.filter((flag) => flag.startsWith('--')).map((flag) => flag.slice(2));
  const name = option.slice(2);
  const didYouMean = (meant: string | undefined) => meant && `did you mean --${meant}?`;
  if (known.includes(name)) {
    const longer = known.find((each) => each.startsWith(`${name}-`));
    return [`option '${option}' takes no value`, didYouMean(longer)];
  }
  const meant =
    guessOption(path, option, valueBehind(option, command), flags) ??
    dashedWordHint(error, command) ??
    ownerHint(option, command, path) ??
    commandHint(name, command, path) ??
    didYouMean(nearest(name, known)) ??
    placeHint(option, command);
  return [`unknown option '${option}'`, meant];
}

/** Returns the value that was typed behind the option. */
function valueBehind(option: string, { args }: Command): string | undefined {
  const at = args.findIndex((each) => each.startsWith(option));
  const [, value] = args.slice(at).flatMap((each) => each.split('='));
  return value;
}

/** Returns a hint for a word with a dash before it, as other tools leave out words or sort. */
function dashedWordHint(error: string, command: Command): string | undefined {
  const [, word] = /^unknown option '-([^-'][^']+)'/.exec(error) ?? [];
  if (word === undefined) return undefined;
  if (/^(?:a|de)sc$/i.test(word)) return `to sort in this direction: -s FIELD,${word}`;
  const isText = command.registeredArguments.some((argument) => argument.name() === 'text');
  if (!isText) return undefined;
  return `to leave out names that contain it: -f ${shellQuote(`name!~${word}`)}`;
}

/** Returns a hint for an option of a subcommand. */
function ownerHint(option: string, command: Command, path: readonly string[]): Facts | undefined {
  if (path.length === 0) return undefined;
  const owner = command.commands.find((each) => each.options.flatMap(flagsOf).includes(option));
  return owner && hint`use: ${imgctl(...path, owner.name(), option)}`;
}

/** Returns a hint for a subcommand that was typed as an option, as git has it: config --unset. */
function commandHint(name: string, command: Command, path: readonly string[]): Facts | undefined {
  const found = command.commands.find((each) => [each.name(), ...each.aliases()].includes(name));
  return found && hint`use: ${imgctl(...path, found.name())}`;
}

/** Returns a hint for an option of a command that stands before the command. */
function placeHint(option: string, command: Command): Facts | undefined {
  if (!targetOf(command)?.options.flatMap(flagsOf).includes(option)) return undefined;
  const help = imgctl('help', 'options');
  return hint`put it after the command; only global options can come first: ${help}`;
}

/** Returns the command that the words behind an option of the root name. */
function targetOf(root: Command): Command | undefined {
  const below = (parent: Command | undefined, word: string) =>
    (parent ?? root).commands.find((each) => each.name() === word) ?? parent;
  return root.parent ? undefined : root.args.reduce(below, undefined);
}
