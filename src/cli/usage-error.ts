// Usage errors that commander finds, in the words of imgctl.

import type { Command, CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { nearest } from '../spelling.ts';
import { counted, shellQuote } from '../words.ts';
import { guess } from './guesses.ts';

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** Converts commander's error: one line, the probable meaning as the hint, options without their values. */
export function usageError(error: CommanderError, command: Command, path: readonly string[]) {
  const [first = ''] = error.message.replace(/^error: /, '').split('\n');
  const help = `${['imgctl', ...path].join(' ')} --help`;
  const fail = (message: string, hint = `see: ${help}`) =>
    new ImgctlError('usage', message, { hint });
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  if (option !== undefined) return fail(...explainOption(option, command, path, first));
  const [, one, other] = /'.*(--[\w-]+).*' cannot be used with .*(--[\w-]+)/.exec(first) ?? [];
  if (one !== undefined && other !== undefined) return incompatible(one, other);
  const incomplete = /^option '(?:-., )?(\S+) .*' argument missing/.exec(first)?.[1];
  if (incomplete !== undefined) {
    const hint = command.parent ? undefined : 'see: imgctl help options';
    return fail(`option '${incomplete}' needs a value`, hint);
  }
  if (error.code === 'commander.missingArgument') {
    const [key, assigned] = command.args[0]?.split('=') ?? [];
    const usage = path[0] === 'config' && assigned !== undefined ? `${key} VALUE` : command.usage();
    return fail(first, `use: ${['imgctl', ...path, usage].join(' ')}`);
  }
  if (error.code === 'commander.excessArguments') {
    const { length } = command.registeredArguments;
    const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
    const [word = ''] = command.args;
    // Nothing that could be a password is shown.
    const isAddress =
      path[0] === 'login' && /^(https?:\/\/[\w.:-]+(\/[\w./-]*)?|localhost(:\d+)?)$/.test(word);
    const meant = isAddress
      ? `use: imgctl login --base-url ${word}`
      : (guessWords(command.args, path.join(' ')) ?? guess(`${path.join(' ')} ${word}`, ''));
    return fail(`${path.join(' ')} takes ${limit} (got ${command.args.length})`, meant);
  }
  const message = first.replace(/\.$/, '').slice(0, MAX_MESSAGE);
  const isCommand = error.code === 'commander.unknownCommand';
  return fail(message, isCommand ? meantCommand(command, path) : undefined);
}

/** Returns what to say about the first three words, or else about fewer. */
function guessWords(words: readonly string[], path: string): string | undefined {
  const of = (count: number) =>
    guess(words.slice(0, count).join(' '), path, [], words.slice(count));
  return of(3) ?? of(2) ?? of(1);
}

function meantCommand(command: Command, path: readonly string[]): string | undefined {
  const words = command.args.filter((word) => !word.startsWith('-'));
  const group = path.join(' ');
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());
  const meant = nearest(words[0] === 'ls' ? 'list' : (words[0] ?? ''), names);
  const below = command.commands.find((each) => each.name() === meant)?.commands ?? [];
  const next =
    below.find((each) => [each.name(), each.alias()].includes(words[1] ?? ''))?.name() ?? [];
  const didYouMean = meant && `did you mean ${['imgctl', ...path, meant].concat(next).join(' ')}?`;
  const further = meant && guessWords(words.slice(1), [...path, meant].join(' '));
  const query = words.length === 1 ? [...words, 'TEXT'] : ['NAME', ...words];
  const lock =
    group === 'images lock'
      ? `use: ${['imgctl', ...path, 'add', ...query.map(shellQuote)].join(' ')}`
      : undefined;
  const key = group === 'config' && isSettingKey(words[0] ?? '') ? words[0] : undefined;
  const ofKey = key && `use: imgctl config ${words.length > 1 ? `set ${key} VALUE` : `get ${key}`}`;
  return guessWords(words, group) ?? ofKey ?? (further || didYouMean) ?? lock;
}

/** Commander also calls an option unknown if it takes no value. */
function explainOption(
  option: string,
  command: Command,
  path: readonly string[],
  error: string,
): [message: string, hint: string | undefined] {
  const page = command.createHelp();
  const options = [...page.visibleOptions(command), ...page.visibleGlobalOptions(command)];
  const known = options.flatMap(({ long }) => long?.slice(2) ?? []);
  const name = option.slice(2);
  const didYouMean = (meant: string | undefined) => meant && `did you mean --${meant}?`;
  if (known.includes(name)) {
    const longer = known.find((each) => each.startsWith(`${name}-`));
    return [`option '${option}' takes no value`, didYouMean(longer)];
  }
  const [, word] = /^unknown option '-([^-'][^']+)'/.exec(error) ?? [];
  const isText = command.registeredArguments.some((argument) => argument.name() === 'text');
  const without =
    isText && word
      ? `to leave out names that contain it: -f ${shellQuote(`name!~${word}`)}`
      : undefined;
  const at = command.args.findIndex((each) => each.startsWith(option));
  const rest = command.args.slice(at).flatMap((each) => each.split('='));
  const ownerOf = (each: Command) => path.length > 0 && flagsOf(each).includes(option);
  const owner = command.commands.find(ownerOf)?.name();
  const ofOther = owner && `use: ${['imgctl', ...path, owner, option].join(' ')}`;
  // Without dashes, which would make short names look alike.
  const hint =
    guess(option, path.join(' '), known, rest.slice(1)) ??
    without ??
    ofOther ??
    didYouMean(nearest(name, known));
  const target = targetOf(command);
  const isBefore = target && flagsOf(target).includes(option);
  const after = 'put it after the command; only global options can come first: imgctl help options';
  return [`unknown option '${option}'`, hint ?? (isBefore ? after : undefined)];
}

function flagsOf(command: Command): string[] {
  return command.options.flatMap(({ short = '', long = '' }) => [short, long]);
}

/** Returns the command that the words behind an option of the root name. */
function targetOf(root: Command): Command | undefined {
  const below = (parent: Command | undefined, word: string) =>
    (parent ?? root).commands.find((each) => each.name() === word) ?? parent;
  return root.parent ? undefined : root.args.reduce(below, undefined);
}
