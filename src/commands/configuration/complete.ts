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
} from '../../cli/suggestions.ts';
import { TOPICS } from '../../cli/topics.ts';
import { followersOf, readTyped, splitLongOption, type TypedLine } from '../../cli/typed.ts';
import { NO_CONFIG, readConfigFile } from '../../config/config-file.ts';
import { findPaths } from '../../config/paths.ts';
import { settle } from '../../config/settings.ts';
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

/** Values that need no quotes in any shell; others are not offered. */
const SAFE = /^[\p{L}\p{M}\p{N}_./+:,=%-]+$/u;

type Declared = Pick<OptionDeclaration, 'suggest' | 'value'>;

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
  const { env } = context.io;
  const config = tryOr(() => readConfigFile(findPaths(context.io).config, context.io), NO_CONFIG);
  const named = tryOr(
    () => settle(config, env, values.get('--profile') || undefined),
    settle(NO_CONFIG, {}),
  );
  const url = values.get('--base-url');
  const settings = tryOr(() => named.with({ 'base-url': url || undefined }), named);
  /** @param lead the text before the value in the same word: `--output=` */
  const ofValue = async (declared: Declared | undefined, lead = ''): Promise<Candidates> => {
    const wouldBeOption = (text: string) => !isEnded && lead === '' && text.startsWith('-');
    const typed = current.slice(lead.length);
    const { suggest, value } = declared ?? {};
    const { mode, candidates } = suggest
      ? await suggest({ context, settings, args, values, typed })
      : suggestValue(value, typed);
    const offered = candidates.filter(([text]) => SAFE.test(text) && !wouldBeOption(text));
    return { mode, candidates: offered.map(([text, meaning]) => [`${lead}${text}`, meaning]) };
  };
  if (pending) return ofValue(pending);
  if (!isEnded && current.startsWith('-')) {
    const [flag, value] = splitLongOption(current);
    const typed = findOption(options, flag);
    if (value !== undefined) return ofValue(typed, `${flag}=`);
    const left = options.filter((option) => option.repeatable || !values.has(longFlag(option)));
    // The short flag if it was typed, else the long one: both would be the same line twice.
    const typedOrLong = (option: OptionDeclaration) =>
      flagsOf(option).includes(current) ? current : longFlag(option);
    return suggestRows(left.map((option) => [typedOrLong(option), optionTerm(option)[1]]));
  }
  const subcommands = isEnded ? [] : followersOf(line);
  if (subcommands.length > 0) {
    const named = ({ name, aliases = [], summary }: CommandDeclaration) =>
      [name, ...aliases].map((each): Candidate => [each, summary]);
    return suggestRows(subcommands.flatMap(named));
  }
  const declared = command.arguments ?? [];
  const last = declared.at(-1);
  return ofValue(declared[args.length] ?? (last?.variadic ? last : undefined));
}

function valuesOf({ words }: TypedLine): ReadonlyMap<string, string> {
  const values = words.flatMap(({ kind, text, option }) => {
    if (option === undefined) return [];
    return [[longFlag(option), kind === 'value' ? text : ''] as const];
  });
  return new Map(values);
}
