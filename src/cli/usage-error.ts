// Usage errors that commander finds, in the words of imgctl.

import type { Command, CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, shellQuote, shorten } from '../words.ts';
import { BASE_URL_OPTION } from './command.ts';
import type { CommandDeclaration, OptionDeclaration } from './declarations.ts';
import { guess, guessOption, isPlain } from './guesses.ts';
import { commandNames, flagsOf, longFlag, type TypedLine, type UnknownOption } from './typed.ts';

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** The options that commander quotes, without their values: `'-c, --columns <a,b>'`, `'--foo=bar'`, `'-zfoo'`. */
const QUOTED_OPTION = /(?<=')(?:-\w, )?(--[^\s=']+|-[^\s'-])/g;

/**
 * Converts commander's error: one line, and the probable meaning as the hint.
 * @param declared is the command as it is declared
 */
export function usageError(
  error: CommanderError,
  command: Command,
  path: readonly string[],
  declared: Partial<CommandDeclaration>,
) {
  const [first = ''] = error.message.replace(/^error: /, '').split('\n');
  const fail = (message: string, said: string | Facts = hint`see: ${imgctl(...path, '--help')}`) =>
    new ImgctlError('usage', message, { facts: said });
  const [option = '', other = ''] = [...first.matchAll(QUOTED_OPTION)].map(([, flag]) => flag);
  switch (error.code) {
    case 'commander.unknownOption':
      return fail(`unknown option '${option}'`);
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
      return fail(unknownCommand(command), meantCommand(command, path, declared));
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
function meantCommand(
  { args }: Command,
  path: readonly string[],
  declared: Partial<CommandDeclaration>,
) {
  const end = args.findIndex((word) => word.startsWith('-'));
  // Values of options are no words.
  const words = end < 0 ? args : args.slice(0, end);
  const [first = '', second = ''] = words;
  // As gh and aws have it: auth login.
  const behind = /^(?:auth|sso)$/.test(first) ? childOf(declared, second) : undefined;
  if (behind) return hint`use: ${imgctl(behind.name)}`;
  const meant = guess(path, words);
  if (meant !== undefined) return meant;
  const [key = '', assigned = second] = first.split('=');
  if (path.join() === 'config' && isSettingKey(key)) {
    return hint`use: ${imgctl('config', ...(assigned ? ['set', key, 'VALUE'] : ['get', key]))}`;
  }
  const { subcommands = [] } = declared;
  const near = nearest(
    first,
    subcommands.filter(({ hidden }) => !hidden).map(({ name }) => name),
  );
  if (near !== undefined) {
    const below = childOf(childOf(declared, near) ?? {}, second);
    return hint`did you mean ${imgctl(...path, near, ...(below ? [below.name] : []))}?`;
  }
  if (path.join(' ') !== 'images lock') return undefined;
  const name = /^[\w.-]+$/.test(first) ? first : 'NAME';
  const text = second ? words.slice(1) : ['TEXT'];
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
  /** All words of the line. */
  readonly words: TypedLine['words'];
  /** All commands of imgctl. */
  readonly commands: readonly CommandDeclaration[];
}

/** What an unknown option probably means: the first that has a hint counts. */
const OPTION_HINTS: readonly ((option: TypedOption) => string | Facts | undefined)[] = [
  // images list --sort-by name: use -s name
  foreignHint,
  // images list ubuntu -rc: to leave out names that contain it
  dashedWordHint,
  // images --filter name=web: use: imgctl images list --filter name=web
  subcommandOptionHint,
  // config --unset time: use: imgctl config unset time
  subcommandHint,
  // --wait sync: put it after the command
  placeHint,
  // images list --colums id: did you mean --columns?
  similarHint,
];

/** Says which option the command does not have, and what it probably means. */
export function unknownOption(
  { words }: TypedLine,
  unknown: UnknownOption,
  commands: readonly CommandDeclaration[],
): ImgctlError {
  const { path, options, index } = unknown;
  const text = words[index]?.text ?? '';
  const [flag] = FLAG.exec(text) ?? ['-'];
  const name = flag.slice(2);
  const help = hint`see: ${imgctl(...path, '--help')}`;
  const fail = (message: string, advice: string | Facts | undefined) =>
    new ImgctlError('usage', message, { facts: advice ?? help });
  const declared = options.find((each) => flagsOf(each).includes(flag));
  if (declared?.value) {
    return fail(`option '${flag}' and its value are one word`, 'type them as two words');
  }
  if (declared) {
    const longer = namesOf(options).find((each) => each.startsWith(`${name}-`));
    return fail(`option '${flag}' takes no value`, didYouMean(longer));
  }
  const around = wordsAround(words, index, text);
  const option: TypedOption = { ...unknown, ...around, text, flag, name, words, commands };
  for (const hintFor of OPTION_HINTS) {
    const advice = hintFor(option);
    if (advice !== undefined) return fail(`unknown option '${flag}'`, advice);
  }
  return fail(`unknown option '${flag}'`, help);
}

/**
 * Returns what may be the value of the unknown option, and the other words behind the path of its command. For
 * `images list ubuntu --name web -n 5` these are `web`, and `ubuntu -n 5`. Of other unknown options nothing is
 * repeated: their values may be secrets.
 */
function wordsAround(words: TypedLine['words'], index: number, text: string) {
  const next = words[index + 1];
  const isNext = next?.kind === 'argument' || next?.kind === 'command';
  const [, assigned] = /=(.*)$/s.exec(text) ?? [];
  const value = assigned ?? (isNext ? next.text : undefined);
  const others = words.filter(({ kind }, at) => {
    if (kind === 'unknown' || (kind === 'command' && at < index)) return false;
    const before = words[at - 1];
    return before?.kind !== 'unknown' || before.text.includes('=') || kind === 'option';
  });
  // The hint names the service itself.
  const shown = others.filter(({ option }) => option !== BASE_URL_OPTION);
  return { value, others: shown.map((word) => word.text) };
}

/** Returns a hint for an option of another program. */
function foreignHint({ path, flag, value, options, others }: TypedOption) {
  return guessOption(path, flag, value, { options: options.flatMap(flagsOf), others });
}

/** Returns a hint for a word with a dash before it, as other tools leave out words or sort. */
function dashedWordHint({ text, command }: TypedOption): string | undefined {
  const [, word] = /^-([^-'][^']+)/.exec(text) ?? [];
  if (word === undefined) return undefined;
  if (/^(?:a|de)sc$/i.test(word)) return `to sort in this direction: -s FIELD,${word}`;
  const isText = command.arguments?.some((argument) => argument.name === 'text');
  if (!isText) return undefined;
  return `to leave out names that contain it: -f ${shellQuote(`name!~${word}`)}`;
}

/** Returns a hint for an option of a subcommand. */
function subcommandOptionHint(option: TypedOption): Facts | undefined {
  const { flag, path, value, others } = option;
  if (path.length === 0) return undefined;
  const typed = value === undefined ? others : [value, ...others];
  const owner = findOwner(option, typed);
  if (owner === undefined) return undefined;
  const at = typed.findIndex((word) => commandNames(owner).includes(word));
  const rest = typed.filter((_, index) => index !== at);
  return hint`use: ${imgctl(...path, owner.name, flag, ...rest)}`;
}

/** Returns the subcommand that is meant by its option: the one that is typed too, or else the first that has it. */
function findOwner({ command, flag, name }: TypedOption, typed: readonly string[]) {
  const { subcommands = [] } = command;
  const hasFlag = ({ options = [] }: CommandDeclaration) => options.flatMap(flagsOf).includes(flag);
  const named = subcommands.find((each) => commandNames(each).some((word) => typed.includes(word)));
  if (named && hasFlag(named)) return named;
  // config --get time: config list has --get, but config get is meant.
  if (childOf(command, name)) return undefined;
  return subcommands.find(hasFlag);
}

/** Returns a hint for a subcommand that was typed as an option, as git has it. */
function subcommandHint({ command, name, path, value = '' }: TypedOption): Facts | undefined {
  const found = childOf(command, name);
  // Another word may be a secret.
  const isShown = path[0] === 'config' ? isSettingKey(value) : isPlain(value);
  return found && hint`use: ${imgctl(...path, found.name, ...(isShown ? [value] : []))}`;
}

/** Returns a hint for an option of a command that stands before the command. */
function placeHint({ flag, words, index, path, commands }: TypedOption): Facts | undefined {
  if (path.length > 0) return undefined;
  const root: Partial<CommandDeclaration> = { subcommands: commands };
  const behind = words.slice(index + 1);
  const target = behind.reduce((found, { text }) => childOf(found, text) ?? found, root);
  if (!target.options?.flatMap(flagsOf).includes(flag)) return undefined;
  const help = imgctl('help', 'options');
  return hint`put it after the command; only global options can come first: ${help}`;
}

function similarHint({ name, options }: TypedOption): string | undefined {
  return didYouMean(nearest(name, namesOf(options)));
}

/** The long names of options, without dashes. */
function namesOf(options: readonly OptionDeclaration[]): string[] {
  return options.map((option) => longFlag(option).slice(2));
}

function didYouMean(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `did you mean --${name}?`;
}

function childOf(
  { subcommands = [] }: Partial<CommandDeclaration>,
  name: string,
): CommandDeclaration | undefined {
  return subcommands.find((each) => commandNames(each).includes(name));
}
