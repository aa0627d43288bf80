// Usage errors that commander finds, in the words of imgctl.

import type { Command, CommanderError } from 'commander';
import { incompatible } from '../choices.ts';
import { isSettingKey } from '../config/definitions.ts';
import { ImgctlError } from '../errors.ts';
import { type Facts, hint, imgctl } from '../facts.ts';
import { nearest } from '../spelling.ts';
import { counted, shellQuote, shorten } from '../words.ts';
import { guess } from './guesses.ts';

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** Converts commander's error: one line, the probable meaning as the hint, options without their values. */
export function usageError(error: CommanderError, command: Command, path: readonly string[]) {
  const [first = '', second = ''] = error.message.replace(/^error: /, '').split('\n');
  const [, suggestion] = /^\(Did you mean (?:one of )?([\w-]+)/.exec(second) ?? [];
  const help = hint`see: ${imgctl(...path, '--help')}`;
  const fail = (message: string, said: string | Facts = help) =>
    new ImgctlError('usage', message, { hint: said });
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  if (option !== undefined) return fail(...explainOption(option, command, path, first));
  const [, one, other] = /'.*(--[\w-]+).*' cannot be used with .*(--[\w-]+)/.exec(first) ?? [];
  if (one !== undefined && other !== undefined) return incompatible(one, other);
  const incomplete = /^option '(?:-., )?(\S+) .*' argument missing/.exec(first)?.[1];
  if (incomplete !== undefined) {
    const options = command.parent ? undefined : hint`see: ${imgctl('help', 'options')}`;
    return fail(`option '${incomplete}' needs a value`, options);
  }
  if (error.code === 'commander.missingArgument') {
    const [key = '', assigned] = command.args[0]?.split('=') ?? [];
    if (path[0] === 'config' && assigned !== undefined) {
      return fail(first, hint`use: ${imgctl(...path, key, 'VALUE')}`);
    }
    return fail(first, hint`use: ${imgctl(...path)} ${command.usage()}`);
  }
  if (error.code === 'commander.excessArguments') {
    const { length } = command.registeredArguments;
    const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
    const [word = ''] = command.args;
    // Nothing that could be a password is shown.
    const isAddress =
      path[0] === 'login' && /^(https?:\/\/[\w.:-]+(\/[\w./-]*)?|localhost(:\d+)?)$/.test(word);
    const meant = isAddress
      ? hint`use: ${imgctl('login', '--base-url', word)}`
      : guess(path, command.args);
    return fail(`${path.join(' ')} takes ${limit} (got ${command.args.length})`, meant);
  }
  const message = shorten(first.replace(/\.$/, ''), MAX_MESSAGE);
  const isCommand = error.code === 'commander.unknownCommand';
  return fail(message, isCommand ? meantCommand(command, path, suggestion) : undefined);
}

/** @param suggestion of commander */
function meantCommand(command: Command, path: readonly string[], suggestion: string | undefined) {
  const words = command.args.filter((word) => !word.startsWith('-'));
  const [first = '', second = ''] = words;
  const below = (parent: Command | undefined, name: string) =>
    parent?.commands.find((each) => each.name() === name || each.aliases().includes(name));
  // As gh and aws have it: auth login.
  const behind = /^(?:auth|sso)$/.test(first) && below(command, second);
  if (behind) return hint`use: ${imgctl(behind.name())}`;
  const meant = guess(path, words);
  if (meant) return meant;
  if (path.join() === 'config' && isSettingKey(first))
    return hint`use: ${imgctl('config', ...(second ? ['set', first, 'VALUE'] : ['get', first]))}`;
  const near = suggestion && below(command, suggestion);
  if (near) {
    const names = [...path, near.name(), below(near, second)?.name() ?? []].flat();
    return hint`did you mean ${imgctl(...names)}?`;
  }
  if (path.join(' ') !== 'images lock') return undefined;
  const query = second ? ['NAME', ...words] : [first, 'TEXT'];
  return hint`use: ${imgctl('images', 'lock', 'add', ...query)}`;
}

/** Commander also calls an option unknown if it takes no value. */
function explainOption(
  option: string,
  command: Command,
  path: readonly string[],
  error: string,
): [message: string, hint: string | Facts | undefined] {
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
  const ofOther = owner && hint`use: ${imgctl(...path, owner, option)}`;
  // As git has it: config --unset.
  const asOption = command.commands.find((each) => [each.name(), ...each.aliases()].includes(name));
  const ofCommand = asOption && hint`use: ${imgctl(...path, asOption.name())}`;
  const flags = options.flatMap(({ short, long }) => [short ?? '', long ?? '']);
  const meant =
    guess(path, [option, ...rest.slice(1)], flags) ??
    without ??
    ofOther ??
    ofCommand ??
    didYouMean(nearest(name, known));
  const target = targetOf(command);
  const isBefore = target && flagsOf(target).includes(option);
  const help = imgctl('help', 'options');
  const after = hint`put it after the command; only global options can come first: ${help}`;
  return [`unknown option '${option}'`, meant || (isBefore ? after : undefined)];
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
