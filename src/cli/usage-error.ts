// Usage errors: what is wrong with a command line, and what was probably meant.

import type { CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, shellQuote, shorten } from '../words.ts';
import { ALL_GLOBAL_OPTIONS, BASE_URL_OPTION } from './command.ts';
import {
  argumentTerm,
  findSubcommand,
  flagsOf,
  longFlag,
  type OptionDeclaration,
  takesSearchWords,
} from './declarations.ts';
import { guess, guessOption, isPlain } from './guesses.ts';
import type { TypedLine, UnknownOption } from './typed.ts';

/** Words and messages of commander are as long as what was typed. */
const MAX_SHOWN = 200;

type Advice = string | Facts;

/** Returns the error of a line that commander refuses, or that has an unknown option. */
export function usageError(typed: TypedLine, stop: CommanderError | undefined): ImgctlError {
  const { unknown, pending, path, command, rest } = typed;
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
      const [name = ''] = rest[0]?.split('=') ?? [];
      return misuse(path, `unknown command '${shorten(name, MAX_SHOWN)}'`, meantCommand(typed));
    }
    case 'commander.conflictingOption': {
      // '-c, --columns <a,b>' cannot be used with option '--get <field>'
      const [one = '', other = ''] = first.match(/--[\w-]+/g) ?? [];
      return incompatible(one, other);
    }
    case 'commander.missingArgument':
      return misuse(path, first, missingHint(typed));
    case 'commander.excessArguments': {
      const { length } = command.arguments ?? [];
      const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
      const problem = `${path.join(' ')} takes ${limit} (got ${rest.length})`;
      return misuse(path, problem, addressHint(typed) ?? guess(path, rest));
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
function missingHint({ path, command, rest: [word = ''] }: TypedLine): Facts {
  const [key = ''] = word.split('=');
  if (path[0] === 'config' && isSettingKey(key)) return hint`use: ${imgctl(...path, key, 'VALUE')}`;
  const names = command.arguments?.map(argumentTerm) ?? [];
  return hint`use: ${imgctl(...path)} ${names.join(' ')}`;
}

/** `login localhost:8080`. Nothing that could be a password is shown. */
function addressHint({ path, rest: [word = ''] }: TypedLine): Facts | undefined {
  const isAddress = /^(https?:\/\/[\w.:-]+(\/[\w./-]*)?|localhost(:\d+)?)$/.test(word);
  if (path[0] !== 'login' || !isAddress) return undefined;
  return hint`use: ${imgctl('login', '--base-url', word)}`;
}

/** Returns the hint for words that are no command. */
function meantCommand({ path, command, words, unknown }: TypedLine): Advice | undefined {
  // What follows an unknown option may be its value.
  const known = words.slice(0, unknown?.index);
  const typed = known.filter(({ kind }) => kind === 'argument').map(({ text }) => text);
  const [first = '', second = ''] = typed;
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
  if (near !== undefined) {
    const below = findSubcommand(findSubcommand(command, near) ?? {}, second);
    return hint`did you mean ${imgctl(...path, near, ...(below ? [below.name] : []))}?`;
  }
  // images lock web ubuntu
  if (path.join(' ') !== 'images lock') return undefined;
  const name = /^[\w.-]+$/.test(first) ? first : 'NAME';
  const text = second ? typed.slice(1) : ['TEXT'];
  return hint`use: ${imgctl('images', 'lock', 'add', name, ...text)}`;
}

/** The option that a word names, without its value, which may be a secret. */
const FLAG = /^(?:--[^\s=]+|-[^\s-])/;

/** An option that the command does not have, with what a hint about it needs. */
interface TypedOption extends UnknownOption {
  /** The whole word: `--os=ubuntu`, `-rc`. */
  readonly text: string;
  /** The option in it: `--os`, `-r`. */
  readonly flag: string;
  /** `os`, or empty for `-r`. */
  readonly name: string;
  /** What may be its value. */
  readonly value: string | undefined;
  /** The other words behind the path of the command. */
  readonly others: readonly string[];
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
  ({ name, options }) => didYouMean(nearest(name, namesOf(options))),
];

/** Says which option the command does not have, and what it probably means. */
function unknownOption({ words }: TypedLine, unknown: UnknownOption): ImgctlError {
  const { path, options, index } = unknown;
  const text = words[index]?.text ?? '';
  // With one dash commander would read -limit as -l with the value imit.
  const [oneDash = ''] = text.split('=');
  if (options.some((each) => longFlag(each) === `-${oneDash}`)) {
    return misuse(path, `unknown option '${oneDash}'`, `did you mean -${oneDash}?`);
  }
  const [flag] = FLAG.exec(text) ?? ['-'];
  const name = flag.slice(2);
  const declared = options.find((each) => flagsOf(each).includes(flag));
  if (declared?.value) {
    return misuse(path, `option '${flag}' and its value are one word`, 'type them as two words');
  }
  if (declared) {
    const longer = namesOf(options).find((each) => each.startsWith(`${name}-`));
    return misuse(path, `option '${flag}' takes no value`, didYouMean(longer));
  }
  const value = valueBehind(words, index);
  const typed = { ...unknown, text, flag, name, value, others: othersOf(words, index) };
  for (const hintFor of OPTION_HINTS) {
    const advice = hintFor(typed);
    if (advice !== undefined) return misuse(path, `unknown option '${flag}'`, advice);
  }
  return misuse(path, `unknown option '${flag}'`);
}

/** Returns what may be the value of the unknown option: `web` for `--name web` and `--name=web`. */
function valueBehind(words: TypedLine['words'], index: number): string | undefined {
  const [, assigned] = /=(.*)$/s.exec(words[index]?.text ?? '') ?? [];
  return mayBeValue(words, index + 1) ? words[index + 1]?.text : assigned;
}

/** True if the word may be the value of an unknown option before it. */
function mayBeValue(words: TypedLine['words'], at: number): boolean {
  const [before, word] = [words[at - 1], words[at]];
  const isWord = word?.kind === 'argument' || word?.kind === 'command';
  return isWord && before?.kind === 'unknown' && !before.text.includes('=');
}

/**
 * Returns the words that a hint repeats behind the path: `ubuntu -n 5` for `images list ubuntu --name
 * web -n 5`. No unknown option is repeated, since the value may be a secret, and no base URL, which
 * the hint names itself.
 */
function othersOf(words: TypedLine['words'], index: number): string[] {
  const others = words.filter(({ kind, option }, at) => {
    const isOfPath = kind === 'command' && at < index;
    const isUnknown = kind === 'unknown' || mayBeValue(words, at);
    return !isOfPath && !isUnknown && option !== BASE_URL_OPTION;
  });
  return others.map(({ text }) => text);
}

/** Returns a hint for a word with a dash before it, as other tools leave out words. */
function dashedWordHint({ text, command }: TypedOption): string | undefined {
  const [, word] = /^-([\p{L}\p{N}][\p{L}\p{N}._-]+)$/u.exec(text) ?? [];
  if (word === undefined || !takesSearchWords(command)) return undefined;
  if (/^(?:a|de)sc$/i.test(word)) return `to sort in this direction: -s FIELD,${word}`;
  return `to leave out names that contain it: -f ${shellQuote(`name!~${word}`)}`;
}

/** Returns a hint for a subcommand that was typed as an option, as git has it. */
function subcommandHint({ command, name, path, value = '' }: TypedOption): Facts | undefined {
  const found = findSubcommand(command, name);
  // Another word may be a secret.
  const isShown = path[0] === 'config' ? isSettingKey(value) : isPlain(value);
  return found && hint`use: ${imgctl(...path, found.name, ...(isShown ? [value] : []))}`;
}

/** Returns a hint for an option of a subcommand, which is typed too or the first that has it. */
function misplacedHint({ command, path, flag, value, others }: TypedOption): Facts | undefined {
  let target = command;
  const names: string[] = [];
  const rest: string[] = [];
  for (const word of value === undefined ? others : [value, ...others]) {
    const found = findSubcommand(target, word);
    if (found) {
      target = found;
      names.push(found.name);
    } else rest.push(word);
  }
  const hasFlag = ({ options = [] }: typeof target) => options.flatMap(flagsOf).includes(flag);
  const isOfImgctl = path.length + names.length === 0;
  const below = isOfImgctl ? undefined : target.subcommands?.find(hasFlag);
  if (below) names.push(below.name);
  else if (!hasFlag(target) || names.length === 0) return undefined;
  // Before the first command, what was typed may be a secret: --user demo:PASSWORD emulator.
  if (path.length === 0) return hint`put it after the command; see: ${imgctl(...names, '--help')}`;
  return hint`use: ${imgctl(...path, ...names, flag, ...rest)}`;
}

/** The long names of options, without dashes. */
function namesOf(options: readonly OptionDeclaration[]): string[] {
  return options.map((option) => longFlag(option).slice(2));
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean --${name}?`;
}
