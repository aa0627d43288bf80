// Usage errors: what is wrong with a command line, and what was probably meant.

import type { CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Advice, type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, quoted, shorten } from '../words.ts';
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

/** A message of commander is as long as what was typed. */
const MAX_MESSAGE = 200;

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
  if (unknown && code !== 'commander.unknownCommand') return unknownOption(words, unknown);
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
      return one && other ? incompatible(one, other) : misuse(path, first);
    }
    case 'commander.missingArgument':
      return misuse(path, first, missingArgumentHint(typed));
    case 'commander.excessArguments': {
      const { length } = command.arguments ?? [];
      const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
      const problem = `${path.join(' ')} takes ${limit} (got ${args.length})`;
      return misuse(path, problem, guess(path, words.filter(isArgument)));
    }
    default:
      return misuse(path, shorten(first, MAX_MESSAGE));
  }
}

const isArgument = ({ kind }: TypedWord) => kind === 'argument';

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
  const names = command.arguments?.map(argumentTerm) ?? [];
  return hint`use: ${imgctl(...path)} ${names.join(' ')}`;
}

/**
 * Returns the hint for words that are no command. The first that applies counts:
 *
 *     search ubuntu        use: imgctl images list ubuntu
 *     config time          use: imgctl config get time
 *     config time=iso      use: imgctl config set time VALUE, as for time iso
 *     imags ls             did you mean imgctl images list?
 */
function meantCommand({ path, command, words, unknown }: TypedLine): Advice | undefined {
  // What follows an unknown option may be its value.
  const args = words.slice(0, unknown?.index).filter(isArgument);
  const guessed = guess(path, args);
  if (guessed !== undefined) return guessed;
  const [first = '', second = ''] = args.map(({ text }) => text);
  const [key = '', value = second] = first.split('=');
  if (path[0] === 'config' && isSettingKey(key)) {
    return hint`use: ${imgctl('config', ...(value ? ['set', key, 'VALUE'] : ['get', key]))}`;
  }
  const names = listedCommands(command).map(({ name }) => name);
  const near = findSubcommand(command, nearest(first, names) ?? '');
  if (near === undefined) return undefined;
  const below = findSubcommand(near, second);
  return hint`did you mean ${imgctl(...path, near.name, ...(below ? [below.name] : []))}?`;
}

/** An option that the command does not have, with what an error of it needs. */
interface TypedOption extends UnknownOption {
  /** The whole word, `-rc` or `--os`. */
  readonly text: string;
  /**
   * The option in it, `-r` or `--os`. What is behind may be a secret: -phunter2, or '--limit 5' as
   * one word.
   */
  readonly flag: string;
  /** What may be its value: `web` of `--name web` and of `--name=web`. */
  readonly value: TypedWord | undefined;
  readonly behind: readonly TypedWord[];
}

/** Says what is wrong with the option, and what it probably means. */
function unknownOption(words: readonly TypedWord[], unknown: UnknownOption): ImgctlError {
  const { index, path, options } = unknown;
  const { text = '' } = words[index] ?? {};
  const [flag] = /^(?:--\S+|-[^\s-])/.exec(text) ?? ['-'];
  const behind = words.slice(index + 1);
  const [next] = behind;
  const value = next?.option || next?.kind === 'unknown' ? undefined : next;
  const option = { ...unknown, text, flag, value, behind };
  const problem = misspelt(option) ?? oneWord(option) ?? needlessValue(option);
  if (problem) return problem;
  const advice =
    dashedWordHint(option) ??
    guessOption(flag, value, unknown) ??
    subcommandHint(option) ??
    misplacedHint(option) ??
    didYouMean(nearest(flag.slice(2), namesOf(options)));
  return misuse(path, `unknown option ${quoted(flag)}`, advice);
}

/** `-limit` and `-limit=5` for --limit. */
function misspelt({ path, options, text }: TypedOption): ImgctlError | undefined {
  const [oneDash = ''] = text.split('=');
  const isLong = options.some((each) => longFlag(each) === `-${oneDash}`);
  if (!isLong) return undefined;
  return misuse(path, `unknown option '${oneDash}'`, `did you mean -${oneDash}?`);
}

/** `'--limit 5'` */
function oneWord({ path, options, flag }: TypedOption): ImgctlError | undefined {
  if (!findOption(options, flag)?.value) return undefined;
  return misuse(path, `option '${flag}' and its value are one word`, 'type them as two words');
}

/** `--wait=10m`, `-q=true` */
function needlessValue({ path, options, flag }: TypedOption): ImgctlError | undefined {
  if (!findOption(options, flag)) return undefined;
  const longer = namesOf(options).find((each) => each.startsWith(`${flag.slice(2)}-`));
  return misuse(path, `option '${flag}' takes no value`, didYouMean(longer));
}

/** `images list ubuntu -rc`: other tools leave out words that way. */
function dashedWordHint({ text, command }: TypedOption): string | undefined {
  const isDashedWord = /^-[\p{L}\p{N}][\p{L}\p{N}._-]+$/u.test(text);
  if (!isDashedWord || !takesSearchWords(command)) return undefined;
  const [, direction] = /^-((?:a|de)sc)$/i.exec(text) ?? [];
  if (direction) return `to sort in this direction: -s FIELD,${direction}`;
  return "to leave out names that contain a word: -f 'name!~WORD'";
}

/** `config --unset time`: a subcommand, typed as git has it. */
function subcommandHint({ command, flag, path, value }: TypedOption): Facts | undefined {
  const found = findSubcommand(command, flag.slice(2));
  const shown = value?.mayShow ? [value.text] : [];
  return found && hint`use: ${imgctl(...path, found.name, ...shown)}`;
}

/** `images -n 5 list`: of the command behind it; `images -n 5`: of the first that has the option. */
function misplacedHint({ command, path, flag, value, behind }: TypedOption): Facts | undefined {
  const named = followNames(command, behind);
  const last = named.at(-1) ?? command;
  const names = [...path, ...named.map(({ name }) => name)];
  // Any command of imgctl could be the first that has it.
  if (names.length === 0) return undefined;
  for (const candidate of [last, ...(last.subcommands ?? [])]) {
    const option = findOption(candidate.options ?? [], flag);
    const below = candidate === last ? [] : [candidate.name];
    if (option) return hint`use: ${imgctl(...names, ...below, ...withValue(option, flag, value))}`;
  }
  return undefined;
}

/** Returns the subcommands that words name: of `5 list` behind `images -n` that is list. */
function followNames(command: CommandDeclaration, words: readonly TypedWord[]) {
  const named: CommandDeclaration[] = [];
  for (const { text } of words) {
    const found = findSubcommand(named.at(-1) ?? command, text);
    if (found) named.push(found);
  }
  return named;
}

/** The long names of options, without dashes. */
function namesOf(options: readonly OptionDeclaration[]): string[] {
  return options.map((option) => longFlag(option).slice(2));
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean --${name}?`;
}
