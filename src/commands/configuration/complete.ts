// imgctl __complete: prints completions for the cursor of a shell; never contacts the service.

import {
  type CommandDeclaration,
  findOption,
  flagsOf,
  longFlag,
  type OptionDeclaration,
  optionTerm,
} from '../../cli/command-types.ts';
import { argument, command } from '../../cli/declare.ts';
import {
  type Candidate,
  type Candidates,
  suggestRows,
  suggestValue,
  type Typing,
} from '../../cli/suggestions.ts';
import { TOPICS } from '../../cli/topics.ts';
import { followersOf, readTyped, splitLongOption, type TypedLine } from '../../cli/typed.ts';
import { NO_CONFIG } from '../../config/config-file.ts';
import { type Settings, settle } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { tryOr } from '../../errors.ts';
import { printable } from '../../output/text.ts';

export const complete = (all: () => readonly CommandDeclaration[]): CommandDeclaration =>
  command({
    name: '__complete',
    summary: 'print completions of a command line',
    examples: [],
    hidden: true,
    arguments: [argument('word', 'words up to the cursor', { variadic: true })],
    run: (context, _options, words) => run(context, all(), words),
  });

/**
 * Prints `value<TAB>description` lines, then `:` with the mode. The shell selects those that begin
 * with the last word.
 */
async function run(
  context: Context,
  commands: readonly CommandDeclaration[],
  words: readonly string[],
): Promise<void> {
  try {
    const [before, current = ''] = [words.slice(0, -1), words.at(-1)];
    const { mode, candidates } = await completeWord(context, commands, before, current);
    const lines = candidates.map(([value, description]) =>
      description === undefined ? value : `${value}\t${printable(description)}`,
    );
    await context.console.print(`${[...lines, `:${mode}`].join('\n')}\n`);
  } catch {
    // The user is typing a line, where a message would only disturb.
  }
}

async function completeWord(
  context: Context,
  commands: readonly CommandDeclaration[],
  words: readonly string[],
  current: string,
): Promise<Candidates> {
  const topics = TOPICS.map((topic) => ({ ...topic, examples: [] }));
  const line = readTyped(commands, words, topics);
  const { command, options, pending, isEnded, args } = line;
  const values = valuesOf(line);
  const settings = settingsOf(context, values);
  const typing = { context, settings, args, values, typed: current };
  if (pending) return offerValues(pending, typing);
  if (!isEnded && current.startsWith('-')) {
    const [flag, value] = splitLongOption(current);
    if (value === undefined) return offerOptions(options, values, current);
    const lead = `${flag}=`;
    return offerValues(findOption(options, flag), { ...typing, typed: value }, { lead });
  }
  const followers = isEnded ? [] : followersOf(line);
  if (followers.length > 0) return offerCommands(followers);
  const declared = command.arguments ?? [];
  const last = declared.at(-1);
  const argument = declared[args.length] ?? (last?.variadic ? last : undefined);
  return offerValues(argument, typing, { isEnded });
}

/** Returns the last value of each option, by its long name; empty if it has none. */
function valuesOf({ words }: TypedLine): ReadonlyMap<string, string> {
  const values = words.flatMap(({ kind, text, option }) => {
    if (option === undefined) return [];
    return [[longFlag(option), kind === 'value' ? text : ''] as const];
  });
  return new Map(values);
}

/** Returns the settings that the command would have; none if its profile is invalid. */
function settingsOf(context: Context, values: ReadonlyMap<string, string>): Settings {
  const { env } = context.io;
  const config = tryOr(() => context.config, NO_CONFIG);
  const profile = values.get('--profile') || undefined;
  const settings = tryOr(() => settle(config, env, profile), settle(NO_CONFIG, {}));
  const url = values.get('--base-url') || undefined;
  return tryOr(() => settings.with({ 'base-url': url }), settings);
}

/** Values that need no quotes in any shell; others are not offered. */
const SAFE = /^[\p{L}\p{M}\p{N}_./+:,=%-]+$/u;

/**
 * @param lead the text before the value in the same word: `--output=`
 * @param isEnded if no option can follow, so that a value may begin with a dash
 */
async function offerValues(
  declared: Pick<OptionDeclaration, 'suggest' | 'value'> | undefined,
  typing: Typing,
  { lead = '', isEnded = false } = {},
): Promise<Candidates> {
  const { suggest, value } = declared ?? {};
  const { mode, candidates } = await (suggest?.(typing) ?? suggestValue(value, typing.typed));
  const mayHaveDash = isEnded || lead !== '';
  const offered = candidates.filter(
    ([text]) => SAFE.test(text) && (mayHaveDash || !text.startsWith('-')),
  );
  return { mode, candidates: offered.map(([text, meaning]) => [`${lead}${text}`, meaning]) };
}

function offerOptions(
  options: readonly OptionDeclaration[],
  values: ReadonlyMap<string, string>,
  typed: string,
): Candidates {
  const left = options.filter((option) => option.repeatable || !values.has(longFlag(option)));
  // The short flag if it was typed, else the long one: both would be the same line twice.
  const typedOrLong = (option: OptionDeclaration) =>
    flagsOf(option).includes(typed) ? typed : longFlag(option);
  return suggestRows(left.map((option) => [typedOrLong(option), optionTerm(option)[1]]));
}

function offerCommands(commands: readonly CommandDeclaration[]): Candidates {
  return suggestRows(
    commands.flatMap(({ name, aliases = [], summary }) =>
      [name, ...aliases].map((each): Candidate => [each, summary]),
    ),
  );
}
