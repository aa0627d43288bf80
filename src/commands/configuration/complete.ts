// imgctl __complete: prints completions for the cursor of a shell. Never contacts the service, never fails.

import { argument, command } from '../../cli/command.ts';
import {
  type CommandDeclaration,
  type OptionDeclaration,
  optionTerm,
} from '../../cli/declarations.ts';
import { TOPICS } from '../../cli/topics.ts';
import {
  divide,
  flagsOf,
  followersOf,
  longFlag,
  readTyped,
  type TypedLine,
} from '../../cli/typed.ts';
import { NO_CONFIG, readConfigFile } from '../../config/config-file.ts';
import { isSettingKey, SETTING_KEYS, SETTINGS } from '../../config/definitions.ts';
import { type Settings, settle } from '../../config/settings.ts';
import type { Value } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { tryOr } from '../../errors.ts';
import { DEFAULT_LOCK_FILE, expandHome, findPaths } from '../../files/paths.ts';
import { printable } from '../../output/text.ts';
import { FIELDS } from '../../query/fields.ts';
import { OPERATORS } from '../../query/filter.ts';
import { DIRECTIONS, SORT_FIELDS } from '../../query/sort.ts';
import { cursorNames } from '../images/changes.ts';
import { readImageNames } from '../images/image-names.ts';
import { readLocks } from '../images/lock-file.ts';
import { readHistory } from '../packages/history.ts';

export const complete = (all: () => readonly CommandDeclaration[]): CommandDeclaration =>
  command({
    name: '__complete',
    summary: 'print completions of a command line',
    examples: [],
    hidden: true,
    arguments: [argument('word', 'words up to the cursor', { variadic: true })],
    run: (context, _options, words) => run(context, all(), words),
  });

type Candidate = readonly [value: string, description?: string | undefined];

interface Candidates {
  readonly mode: 'space' | 'nospace' | 'files' | 'folders' | 'packages';
  readonly candidates: readonly Candidate[];
}

/** Prints `value<TAB>description` lines, then `:` with the mode. The shell selects those that begin with the last word. */
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

async function completeWord(
  context: Context,
  commands: readonly CommandDeclaration[],
  words: readonly string[],
  current: string,
): Promise<Candidates> {
  const topics = TOPICS.map((topic) => ({ ...topic, examples: [] }));
  const line = readTyped(commands, words, topics);
  const { command, options, pending, isEnded, rest } = line;
  const values = valuesOf(line);
  const { env } = context.io;
  const config = tryOr(() => readConfigFile(findPaths(context.io).config, context.io), NO_CONFIG);
  const named = settle(config, env, values.get('--profile') || undefined);
  const url = values.get('--base-url');
  const settings = tryOr(() => named.with({ 'base-url': url || undefined }), named);
  const file = expandHome(values.get('--file') ?? DEFAULT_LOCK_FILE, '--file', env);
  const given = { context, settings, rest, lockFile: file };
  /** @param lead the text before the value in the same word: `--output=` */
  const ofValue = async (value: Value | undefined, lead = ''): Promise<Candidates> => {
    const wouldBeOption = (text: string) => !isEnded && lead === '' && text.startsWith('-');
    const typed = current.slice(lead.length);
    const { mode, candidates } = await candidatesOf(given, value, typed);
    const offered = candidates.filter(([text]) => SAFE.test(text) && !wouldBeOption(text));
    return { mode, candidates: offered.map(([text, meaning]) => [`${lead}${text}`, meaning]) };
  };
  if (pending) return ofValue(pending.value);
  if (!isEnded && current.startsWith('-')) {
    const [flag, value] = divide(current);
    const typed = options.find((each) => flagsOf(each).includes(flag));
    if (value !== undefined) return ofValue(typed?.value, `${flag}=`);
    const left = options.filter((option) => option.repeatable || !values.has(longFlag(option)));
    // The short flag if it was typed, else the long one: both would be the same line twice.
    const typedOrLong = (option: OptionDeclaration) =>
      flagsOf(option).includes(current) ? current : longFlag(option);
    return space(left.map((option) => [typedOrLong(option), optionTerm(option)[1]]));
  }
  const subcommands = isEnded ? [] : followersOf(command, rest);
  if (subcommands.length > 0) {
    const named = ({ name, aliases = [], summary }: CommandDeclaration) =>
      [name, ...aliases].map((each): Candidate => [each, summary]);
    return space(subcommands.flatMap(named));
  }
  const declared = command.arguments ?? [];
  const last = declared.at(-1);
  return ofValue((declared[rest.length] ?? (last?.variadic ? last : undefined))?.value);
}

function valuesOf({ words }: TypedLine): ReadonlyMap<string, string> {
  const values = words.flatMap(({ kind, text, option }) => {
    if (option === undefined) return [];
    return [[longFlag(option), kind === 'value' ? text : ''] as const];
  });
  return new Map(values);
}

/** What is known of the line. */
interface Line {
  readonly context: Context;
  readonly settings: Settings;
  readonly rest: readonly string[];
  readonly lockFile: string;
}

async function candidatesOf(
  line: Line,
  value: Value | undefined,
  typed: string,
): Promise<Candidates> {
  const { context, settings, rest, lockFile } = line;
  const { state } = findPaths(context.io);
  const { from, listed } = value ?? {};
  if (listed) return columns(listed, typed);
  switch (from) {
    case undefined:
      return words(value?.words ?? value?.suggested ?? []);
    case 'cursors':
      return words(cursorNames(state));
    case 'files':
    case 'folders':
    case 'packages':
      return { mode: from, candidates: [] };
    case 'filters':
      return filters(line, typed);
    case 'images':
      return words([...new Set(cachedImages(line).map(([name]) => name))]);
    case 'locks':
      return words([...(await readLocks(context, { file: lockFile })).keys()]);
    case 'profiles':
      return words([...settings.config.profiles.keys()]);
    case 'setting-keys':
      return space(SETTING_KEYS.map((key) => [key, SETTINGS[key].summary]));
    case 'setting-values': {
      const key = rest.at(-1) ?? '';
      const { value: kind } = isSettingKey(key) ? SETTINGS[key] : {};
      return candidatesOf({ ...line, rest: [] }, kind, typed);
    }
    case 'sorts':
      return typed.includes(',')
        ? words(DIRECTIONS, typed.slice(0, typed.indexOf(',') + 1))
        : words(SORT_FIELDS, '', ',');
    case 'sync-ids': {
      const { syncState } = await import('../../api/sync-requests.ts');
      const { profile, baseUrl } = settings.account;
      const newestFirst = readHistory(state, profile, baseUrl).reverse();
      return space(newestFirst.map(({ id, status }) => [`${id}`, syncState(status ?? undefined)]));
    }
  }
}

function filters(line: Line, typed: string): Candidates {
  if (typed.startsWith('folder=')) return words(cachedFolders(line), 'folder=');
  const [field = '', operator, value] = typed.split(',');
  if (operator === undefined) return words(FIELDS, '', ',');
  if (value === undefined) return words(OPERATORS, `${field},`, ',');
  return words(field === 'folder' ? cachedFolders(line) : [], `${field},${operator},`);
}

function cachedFolders(line: Line): string[] {
  const folders = cachedImages(line).map(([, folder]) => folder);
  return [...new Set(folders)].filter(Boolean).sort();
}

function columns(listed: readonly string[], typed: string): Candidates {
  const chosen = typed.slice(0, typed.lastIndexOf(',') + 1);
  const taken = chosen.split(',');
  const all = chosen === '' ? [...listed, 'all'] : listed;
  const left = all.filter((each) => !taken.includes(each));
  return { ...words(left, chosen), mode: 'nospace' };
}

function cachedImages({ context, settings }: Line) {
  return [...readImageNames(findPaths(context.io).cache, settings.account).values()];
}

function space(candidates: readonly Candidate[]): Candidates {
  return { mode: 'space', candidates };
}

/** Puts `start` before each value and `end` behind it; an end means that more follows in the same word. */
function words(values: readonly string[], start = '', end = ''): Candidates {
  const candidates = values.map((value): Candidate => [`${start}${value}${end}`]);
  return { mode: end === '' ? 'space' : 'nospace', candidates };
}
