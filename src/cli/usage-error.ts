// Usage errors: what is wrong with a command line, and what was probably meant.

import type { CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Advice, type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, shorten } from '../words.ts';
import {
  argumentTerm,
  type CommandDeclaration,
  findSubcommand,
  flagsOf,
  longFlag,
  type OptionDeclaration,
  takesSearchWords,
} from './command-types.ts';
import { ALL_GLOBAL_OPTIONS } from './global-options.ts';
import { guess, guessOption, withValue } from './guesses.ts';
import type { TypedLine, TypedWord, UnknownOption } from './typed.ts';

/** Words and messages of commander are as long as what was typed. */
const MAX_SHOWN = 200;

/** Returns the error of a line that commander refuses, or that has an unknown option. */
export function usageError(typed: TypedLine, stop: CommanderError | undefined): ImgctlError {
  const { unknown, pending, path, command, words, args } = typed;
  const { code, message = '' } = stop ?? {};
  if (unknown && code !== 'commander.unknownCommand') return unknownOption(typed, unknown);
  if (pending) {
    const isGlobal = ALL_GLOBAL_OPTIONS.includes(pending);
    const help = isGlobal ? hint`see: ${imgctl('help', 'options')}` : undefined;
    return misuse(path, `option '${longFlag(pending)}' needs a value`, help);
  }
  const [first = ''] = message.replace(/^error: /, '').split('\n');
  switch (code) {
    case 'commander.unknownCommand': {
      // What is assigned to a setting may be a secret.
      const [name = ''] = args[0]?.split('=') ?? [];
      return misuse(path, `unknown command '${shorten(name, MAX_SHOWN)}'`, meantCommand(typed));
    }
    case 'commander.conflictingOption': {
      // '-c, --columns <a,b>' cannot be used with option '--get <field>'
      const [one = '', other = ''] = first.match(/--[\w-]+/g) ?? [];
      return one && other ? incompatible(one, other) : misuse(path, first);
    }
    case 'commander.missingArgument':
      return misuse(path, first, missingHint(typed));
    case 'commander.excessArguments': {
      const { length } = command.arguments ?? [];
      const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
      const problem = `${path.join(' ')} takes ${limit} (got ${args.length})`;
      return misuse(path, problem, guess(path, argumentsIn(words)));
    }
    default:
      return misuse(path, shorten(first, MAX_SHOWN));
  }
}

function misuse(path: readonly string[], message: string, advice?: Advice): ImgctlError {
  const facts = advice ?? hint`see: ${imgctl(...path, '--help')}`;
  return new ImgctlError('usage', message, { facts });
}

/** `config set time` needs a value, and `images lock add` all its arguments. */
function missingHint({ path, command, args: [word = ''] }: TypedLine): Facts {
  const [key = ''] = word.split('=');
  if (path[0] === 'config' && isSettingKey(key)) return hint`use: ${imgctl(...path, key, 'VALUE')}`;
  const names = command.arguments?.map(argumentTerm) ?? [];
  return hint`use: ${imgctl(...path)} ${names.join(' ')}`;
}

function argumentsIn(words: readonly TypedWord[]): readonly TypedWord[] {
  return words.filter(({ kind }) => kind === 'argument');
}

/** Returns the hint for words that are no command. */
function meantCommand({ path, command, words, unknown }: TypedLine): Advice | undefined {
  // What follows an unknown option may be its value.
  const typed = argumentsIn(words.slice(0, unknown?.index));
  const [first = '', second = ''] = typed.map(({ text }) => text);
  // search ubuntu
  const meant = guess(path, typed);
  if (meant !== undefined) return meant;
  // config time, config time=iso, config time iso
  const [key = '', assigned = second] = first.split('=');
  if (path[0] === 'config' && isSettingKey(key)) {
    return hint`use: ${imgctl('config', ...(assigned ? ['set', key, 'VALUE'] : ['get', key]))}`;
  }
  // imags list
  const names = command.subcommands?.filter(({ hidden }) => !hidden).map(({ name }) => name);
  const near = nearest(first, names ?? []);
  if (near === undefined) return undefined;
  const below = findSubcommand(findSubcommand(command, near) ?? {}, second);
  return hint`did you mean ${imgctl(...path, near, ...(below ? [below.name] : []))}?`;
}

/** An option that the command does not have, with what a hint about it needs. */
interface TypedOption extends UnknownOption {
  /** The whole word, `-rc` or `--os`, and the option in it, `-r` or `--os`. */
  readonly text: string;
  readonly flag: string;
  /** What may be its value: `web` of `--name web` and of `--name=web`. */
  readonly value: TypedWord | undefined;
  readonly behind: readonly TypedWord[];
}

/** What an unknown option probably means: the first that has a hint counts. */
const OPTION_HINTS: readonly ((option: TypedOption) => Advice | undefined)[] = [
  // images list ubuntu -rc: to leave out names that contain it
  dashedWordHint,
  // images list --sort-by name: use --sort name
  guessOption,
  // config --unset time: use: imgctl config unset time
  subcommandHint,
  // images -n 5 list, images -n 5: use: imgctl images list -n 5
  misplacedHint,
  // images list --colums id: did you mean --columns?
  ({ flag, options }) => didYouMean(nearest(flag.slice(2), namesOf(options))),
];

/** Says which option the command does not have, and what it probably means. */
function unknownOption({ words }: TypedLine, unknown: UnknownOption): ImgctlError {
  const { path, options, index } = unknown;
  const text = words[index]?.text ?? '';
  // What is behind the name may be a secret: -phunter2, or '--limit 5' as one word.
  const [flag] = /^(?:--\S+|-[^\s-])/.exec(text) ?? ['-'];
  // -limit, -limit=5
  const [oneDash = ''] = text.split('=');
  if (options.some((each) => longFlag(each) === `-${oneDash}`)) {
    return misuse(path, `unknown option '${oneDash}'`, `did you mean -${oneDash}?`);
  }
  const declared = options.find((each) => flagsOf(each).includes(flag));
  // '--limit 5'
  if (declared?.value) {
    return misuse(path, `option '${flag}' and its value are one word`, 'type them as two words');
  }
  // --wait=10m, -q=true
  if (declared) {
    const longer = namesOf(options).find((each) => each.startsWith(`${flag.slice(2)}-`));
    return misuse(path, `option '${flag}' takes no value`, didYouMean(longer));
  }
  const behind = words.slice(index + 1);
  const [next] = behind;
  const value = next?.option || next?.kind === 'unknown' ? undefined : next;
  const typed = { ...unknown, text, flag, value, behind };
  const advice = OPTION_HINTS.map((hintFor) => hintFor(typed)).find(Boolean);
  return misuse(path, `unknown option '${flag}'`, advice);
}

/** Returns a hint for a word with a dash before it, as other tools leave out words. */
function dashedWordHint({ text, command }: TypedOption): string | undefined {
  if (!/^-[\p{L}\p{N}][\p{L}\p{N}._-]+$/u.test(text) || !takesSearchWords(command))
    return undefined;
  const [, direction] = /^-((?:a|de)sc)$/i.exec(text) ?? [];
  if (direction) return `to sort in this direction: -s FIELD,${direction}`;
  return "to leave out names that contain a word: -f 'name!~WORD'";
}

/** Returns a hint for a subcommand that was typed as an option, as git has it. */
function subcommandHint({ command, flag, path, value }: TypedOption): Facts | undefined {
  const found = findSubcommand(command, flag.slice(2));
  const shown = value?.mayShow ? [value.text] : [];
  return found && hint`use: ${imgctl(...path, found.name, ...shown)}`;
}

/** Returns a hint for an option of a subcommand, which is typed too or the first that has it. */
function misplacedHint({ command, path, flag, value, behind }: TypedOption): Facts | undefined {
  const { target, names } = followNames(command, behind);
  const below = [...path, ...names];
  // Any command of imgctl could be the first that has it.
  const candidates = below.length === 0 ? [] : [target, ...(target.subcommands ?? [])];
  for (const candidate of candidates) {
    const option = candidate.options?.find((each) => flagsOf(each).includes(flag));
    const last = candidate === target ? [] : [candidate.name ?? ''];
    if (option) return hint`use: ${imgctl(...below, ...last, ...withValue(option, flag, value))}`;
  }
  return undefined;
}

/** Follows the words that name subcommands: of `5 list` behind `images -n` that is list. */
function followNames(command: Partial<CommandDeclaration>, words: readonly TypedWord[]) {
  let target = command;
  const names: string[] = [];
  for (const { text } of words) {
    const found = findSubcommand(target, text);
    if (!found) continue;
    target = found;
    names.push(found.name);
  }
  return { target, names };
}

/** The long names of options, without dashes. */
function namesOf(options: readonly OptionDeclaration[]): string[] {
  return options.map((option) => longFlag(option).slice(2));
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean --${name}?`;
}
