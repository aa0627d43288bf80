// Usage errors: what is wrong with a command line, and what was probably meant.

import type { CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Advice, type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, quoted } from '../words.ts';
import {
  argumentTerm,
  type CommandDeclaration,
  findOption,
  findSubcommand,
  listedCommands,
  longFlag,
  type OptionDeclaration,
  takesSearchWords,
} from './command-types.ts';
import { ALL_GLOBAL_OPTIONS } from './global-options.ts';
import { guess, guessOption, withValue } from './guesses.ts';
import type { TypedLine, TypedWord, UnknownOption } from './typed.ts';

/**
 * Returns the error of a line that commander refuses, or that has an unknown option. The first that
 * applies counts:
 *
 *     images list -n --json    option '--limit' needs a value
 *     images list --bogus      unknown option '--bogus', unless a command before it is unknown
 *     images list -n           option '--limit' needs a value
 *     imags, images lock add   what commander says, in our words
 */
export function usageError(typed: TypedLine, stop: CommanderError | undefined): ImgctlError {
  const { unknown, withoutValue, pending, path, command, words, args } = typed;
  const { code, message = '' } = stop ?? {};
  if (withoutValue) return missingValue(path, withoutValue);
  if (unknown && code !== 'commander.unknownCommand') return unknownOption(unknown, words);
  if (pending) return missingValue(path, pending);
  const [first = ''] = message.replace(/^error: /, '').split('\n');
  switch (code) {
    case 'commander.unknownCommand': {
      // What is assigned to a setting may be a secret.
      const [name = ''] = args[0]?.split('=') ?? [];
      return misuse(path, `unknown command ${quoted(name)}`, meantCommand(typed));
    }
    case 'commander.conflictingOption': {
      // '-c, --columns <a,b>' cannot be used with option '--get <field>'
      const [one = '', other = ''] = first.match(/--[\w-]+/g) ?? [];
      return incompatible(typedFlag(one, words), typedFlag(other, words));
    }
    case 'commander.excessArguments': {
      const { length } = command.arguments ?? [];
      const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
      const problem = `${path.join(' ')} takes ${limit} (got ${args.length})`;
      return misuse(path, problem, guess(path, args));
    }
    default:
      // missing required argument 'name'
      return misuse(path, first, missingArgumentHint(typed));
  }
}

/** Returns the flag, or if nobody typed it, that of the typed option that implies it. */
function typedFlag(flag: string, words: readonly TypedWord[]): string {
  const options = words.flatMap(({ option }) => option ?? []);
  if (options.some((option) => longFlag(option) === flag)) return flag;
  const implies = ({ implies = {} }: OptionDeclaration) => flag.slice(2) in implies;
  const typed = options.find(implies);
  return typed ? longFlag(typed) : flag;
}

function misuse(path: readonly string[], message: string, advice?: Advice): ImgctlError {
  const facts = advice ?? hint`see: ${imgctl(...path, '--help')}`;
  return new ImgctlError('usage', message, { facts });
}

function missingValue(path: readonly string[], option: OptionDeclaration): ImgctlError {
  const isGlobal = ALL_GLOBAL_OPTIONS.includes(option);
  const help = isGlobal ? hint`see: ${imgctl('help', 'options')}` : undefined;
  return misuse(path, `option '${longFlag(option)}' needs a value`, help);
}

/** `config set time` needs a value, and `images lock add` all its arguments. */
function missingArgumentHint({ path, command, args: [word = ''] }: TypedLine): Facts {
  const [key = ''] = word.split('=');
  if (path[0] === 'config' && isSettingKey(key)) return hint`use: ${imgctl(...path, key, 'VALUE')}`;
  return usageHint(path, command);
}

/** `use: imgctl images get <id...>` */
function usageHint(path: readonly string[], command: CommandDeclaration): Facts {
  if (command.subcommands) return hint`see: ${imgctl(...path, '--help')}`;
  const names = command.arguments?.map((each) => ` ${argumentTerm(each)}`) ?? [];
  return hint`use: ${imgctl(...path)}${names.join('')}`;
}

/**
 * Returns the hint for words that are no command. The first that applies counts:
 *
 *     delete profile x     use: imgctl profile delete <profile>
 *     upload web.ova       use: imgctl push FILE
 *     config time          use: imgctl config get time
 *     config time=iso      use: imgctl config set time VALUE; also for config time iso
 *     ls ubuntu            use: imgctl images list [text...]
 *     imags ls             did you mean imgctl images list?
 */
function meantCommand({ path, command, args, unknown }: TypedLine): Advice | undefined {
  // What follows an unknown option may be its value.
  const known = unknown?.args ?? args;
  const [first = '', second = ''] = known;
  const group = findSubcommand(command, second);
  const swapped = group && findSubcommand(group, first);
  if (swapped) return usageHint([...path, group.name, swapped.name], swapped);
  const guessed = guess(path, known);
  if (guessed !== undefined) return guessed;
  const [key = '', value = second] = first.split('=');
  if (path[0] === 'config' && isSettingKey(key)) {
    return hint`use: ${imgctl('config', ...(value ? ['set', key, 'VALUE'] : ['get', key]))}`;
  }
  for (const group of listedCommands(command)) {
    const found = findSubcommand(group, first);
    if (found) return usageHint([...path, group.name, found.name], found);
  }
  const names = listedCommands(command).map(({ name }) => name);
  const near = findSubcommand(command, nearest(first, names) ?? '');
  if (near === undefined) return undefined;
  const below = findSubcommand(near, second);
  return hint`did you mean ${imgctl(...path, near.name, ...(below ? [below.name] : []))}?`;
}

/** Says what is wrong with the option, and what it probably means: the first guess counts. */
function unknownOption(unknown: UnknownOption, words: readonly TypedWord[]): ImgctlError {
  const { why, flag, path, options } = unknown;
  const names = options.map((option) => longFlag(option).slice(2));
  switch (why) {
    case 'one-dash':
      return misuse(path, `unknown option '${flag}'`, `did you mean -${flag}?`);
    case 'one-word':
      return misuse(path, `option '${flag}' and its value are one word`, 'type them as two words');
    case 'equals-sign': {
      const option = findOption(options, flag);
      const advice = option && `use ${withValue(option, flag).join(' ')}`;
      return misuse(path, `option '${flag}' takes its value without =`, advice);
    }
    case 'needless-value': {
      const longer = names.find((each) => each.startsWith(`${flag.slice(2)}-`));
      return misuse(path, `option '${flag}' takes no value`, didYouMean(longer));
    }
    case 'unknown': {
      const behind = words.slice(words.findIndex(({ kind }) => kind === 'unknown'));
      const advice =
        // images list --name web
        guessOption(unknown) ??
        // images -n 5 list
        misplacedHint(unknown, behind) ??
        // images list rocky -testing, where -t is no [text...]
        dashedWordHint(unknown, behind[0]?.text ?? '') ??
        // push --file web.ova, completion -s bash
        argumentHint(unknown) ??
        // images list --colunms id
        didYouMean(nearest(flag.slice(2), names));
      return misuse(path, `unknown option ${quoted(flag)}`, advice);
    }
  }
}

/** Returns the usage of a command with an argument, not an option, of that name or first letter. */
function argumentHint({ command, path, flag }: UnknownOption): Facts | undefined {
  const names = command.arguments?.flatMap(({ name }) => name.split('|')) ?? [];
  const isMeant = names.some((name) => flag === `--${name}` || flag === `-${name.charAt(0)}`);
  return isMeant ? usageHint(path, command) : undefined;
}

/** `images -n 5 list`: names the command after it; `images -n 5`: the first that has the option. */
function misplacedHint(
  { command, path, flag }: UnknownOption,
  behind: readonly TypedWord[],
): Facts | undefined {
  const named = followNames(command, behind);
  const last = named.at(-1) ?? command;
  const names = [...path, ...named.map(({ name }) => name)];
  // Any command of imgctl could be the first that has it.
  if (names.length === 0) return undefined;
  for (const candidate of [last, ...(last.subcommands ?? [])]) {
    const option = findOption(candidate.options ?? [], flag);
    const below = candidate === last ? [] : [candidate.name];
    if (option) return hint`use: ${imgctl(...names, ...below, ...withValue(option, flag))}`;
  }
  return undefined;
}

/** Other tools leave out words that way. The word may be a secret: `-phunter2`. */
function dashedWordHint({ command }: UnknownOption, text: string) {
  if (!/^-[^-]./.test(text) || !takesSearchWords(command)) return undefined;
  return "to leave out names that contain a word: -f 'name!~WORD'";
}

/** Returns the subcommands that words name: for `-n 5 list` after `images`, that is list. */
function followNames(command: CommandDeclaration, words: readonly TypedWord[]) {
  const named: CommandDeclaration[] = [];
  for (const { text } of words) {
    const found = findSubcommand(named.at(-1) ?? command, text);
    if (found) named.push(found);
  }
  return named;
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean --${name}?`;
}
