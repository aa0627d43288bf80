// imgctl __complete: prints completions for the cursor of a shell. Never contacts the service, never fails.

import fs from 'node:fs';
import path from 'node:path';
import { cursorNames } from '../catalogue/changes.ts';
import {
  type CommandDeclaration,
  type OptionDeclaration,
  optionTerm,
  type Value,
} from '../cli/declarations.ts';
import type { CommandSpec } from '../cli/spec.ts';
import { TOPICS } from '../cli/topics.ts';
import type { Context } from '../context.ts';
import { valueOr } from '../errors.ts';
import { DEFAULT_LOCK_FILE } from '../files/paths.ts';
import { printable } from '../output/text.ts';
import { FIELDS } from '../query/fields.ts';
import { OPERATORS } from '../query/filter.ts';
import { DIRECTIONS, SORT_FIELDS } from '../query/sort.ts';
import { readHistory } from '../session/history.ts';
import { readImageNames } from '../session/image-names.ts';
import {
  isSettingKey,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
} from '../session/setting-table.ts';

/** The completion scripts run this. */
export const complete: CommandSpec = {
  name: '__complete',
  summary: 'print completions of a command line',
  examples: [],
  hidden: true,
  arguments: [{ name: 'word', description: 'words up to the cursor', variadic: true }],
  run,
};

type Candidate = readonly [value: string, description?: string | undefined];

interface Candidates {
  /** What the shell does after a candidate, or which paths it offers instead. */
  readonly mode: 'space' | 'nospace' | 'files' | 'folders' | 'packages';
  readonly candidates: readonly Candidate[];
}

/**
 * Prints one line per candidate, `value<TAB>description`, and then `:` with the mode. The shell selects those that
 * begin with the word at the cursor.
 * @param words those before the cursor without the program, then the word up to the cursor
 */
async function run(context: Context, _options: object, words: string[] = []): Promise<void> {
  try {
    const current = words.pop() ?? '';
    const { mode, candidates } = completeWord(context, words, current);
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

function completeWord(context: Context, words: readonly string[], current: string): Candidates {
  const { program } = context;
  let command: Partial<CommandDeclaration> = { subcommands: program.commands };
  let options = program.options;
  let pending: OptionDeclaration | undefined;
  let ended = false;
  const rest: string[] = [];
  const values = new Map<string, string>();
  const followers = () => (ended || rest.length > 0 ? [] : visible(command));
  for (const word of words) {
    if (pending) {
      values.set(nameOf(pending), word);
      pending = undefined;
    } else if (!ended && word === '--') ended = true;
    else if (!ended && /^-./.test(word)) {
      const { given, lead } = readOptions(word, options);
      for (const option of given) values.set(nameOf(option), word.slice(lead?.length));
      if (lead === word && !word.endsWith('=')) pending = given.at(-1);
    } else {
      const found = followers().find((each) => namesOf(each).includes(word));
      if (found === undefined) rest.push(word);
      else {
        command = found;
        options = [...(found.options ?? []), ...program.options];
      }
    }
  }
  context.useOptions({ profile: values.get('--profile'), baseUrl: values.get('--base-url') });
  /** @param lead the text before the value in the same word: `--output=`, `-o` */
  const ofValue = (value: Value | undefined, lead = ''): Candidates => {
    const wouldBeOption = (text: string) => !ended && lead === '' && text.startsWith('-');
    const { mode, candidates } = candidatesOf(context, rest, value, current.slice(lead.length));
    const offered = candidates.filter(([text]) => SAFE.test(text) && !wouldBeOption(text));
    return { mode, candidates: offered.map(([text, meaning]) => [`${lead}${text}`, meaning]) };
  };
  if (pending) return ofValue(pending.value);
  if (!ended && current.startsWith('-')) {
    const { given, lead } = readOptions(current, options);
    if (lead !== undefined && (lead !== current || current.endsWith('='))) {
      return ofValue(given.at(-1)?.value, lead);
    }
    const left = options.filter((option) => option.repeatable || !values.has(nameOf(option)));
    // The short flag if it was typed, else the long one: both would be the same line twice.
    return space(
      left.map((option) => [
        flagsOf(option).find((flag) => flag === current) ?? nameOf(option),
        optionTerm(option)[1],
      ]),
    );
  }
  const subcommands = followers();
  if (subcommands.length > 0) return space(entriesOf(subcommands));
  const declared = command.arguments ?? [];
  const last = declared.at(-1);
  return ofValue((declared[rest.length] ?? (last?.variadic ? last : undefined))?.value);
}

/** Returns the options in a word with a dash. If the last one takes a value, `lead` is the text before it. */
function readOptions(
  word: string,
  options: readonly OptionDeclaration[],
): { readonly given: readonly OptionDeclaration[]; readonly lead?: string } {
  const find = (flag: string) => options.filter((option) => flagsOf(option).includes(flag));
  if (word.startsWith('--')) {
    const [flag = ''] = word.split('=', 1);
    const given = find(flag).slice(0, 1);
    return given[0]?.value ? { given, lead: word.slice(0, flag.length + 1) } : { given };
  }
  const given: OptionDeclaration[] = [];
  for (let index = 1; index < word.length; index += 1) {
    const [option] = find(`-${word[index]}`);
    if (option) given.push(option);
    if (option?.value) return { given, lead: word.slice(0, index + 1) };
  }
  return { given };
}

/** `['-o', '--output']` */
function flagsOf({ flags }: OptionDeclaration): readonly string[] {
  return (flags.split(' <')[0] ?? '').split(', ');
}

/** `--output` */
function nameOf(option: OptionDeclaration): string {
  return flagsOf(option).at(-1) ?? '';
}

type Entry = Pick<CommandDeclaration, 'name' | 'aliases' | 'summary'>;

function namesOf({ name, aliases = [] }: Entry): readonly string[] {
  return [name, ...aliases];
}

function visible({ subcommands = [] }: Partial<CommandDeclaration>): readonly CommandDeclaration[] {
  return subcommands.filter(({ hidden }) => !hidden);
}

const PATHS = ['/v2', '/v2/image', '/v2/user/image/vm', '/v2/request/image_sync/'];
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** @param rest the arguments before the cursor */
function candidatesOf(
  context: Context,
  rest: readonly string[],
  value: Value | undefined,
  typed: string,
): Candidates {
  if (value?.kind === 'choice') return words(value.words);
  const source = value?.kind === 'text' ? value.from : undefined;
  switch (source) {
    case undefined:
      return words([]);
    case 'api-paths':
      return words(PATHS);
    case 'columns':
      return list([...FIELDS, 'all'], typed);
    case 'commands':
      return space(helpPages(context, rest));
    case 'cursors':
      return words(cursorNames(context.paths.state));
    case 'fields':
      return words(FIELDS);
    case 'files':
    case 'folders':
    case 'packages':
      return { mode: source, candidates: [] };
    case 'filters':
      return filters(context, typed);
    case 'images':
      return space(images(context, typed));
    case 'locks':
      return words(lockNames(context));
    case 'methods':
      return words(METHODS);
    case 'profiles':
      return words([...context.config.profiles.keys()]);
    case 'setting-keys':
      return space(SETTING_KEYS.map((key) => [key, SETTINGS[key].summary]));
    case 'setting-values':
      return settingValues(rest.at(-1) ?? '', typed);
    case 'sorts':
      return typed.includes(',') ? steps(typed, DIRECTIONS, '') : words(SORT_FIELDS, '', ',');
    case 'sync-ids':
      return space(syncIds(context));
  }
}

/** Fields whose values are cached, with their place in a cached image. */
const PLACES: ReadonlyMap<string, 1 | 2> = new Map([
  ['folder', 1],
  ['data_store', 2],
]);

function filters(context: Context, typed: string): Candidates {
  const [field = '', operator] = typed.split(',');
  if (operator === undefined) return words(FIELDS, '', ',');
  const start = `${field},${operator},`;
  if (!typed.startsWith(start)) return steps(typed, OPERATORS, ',');
  const column = PLACES.get(field);
  if (column === undefined) return words([]);
  const places = cachedImages(context).map(([, image]) => image[column]);
  const known = [...new Set(places)].filter((place) => place !== '').sort();
  if (operator !== 'in') return words(known, start);
  const single = known.filter((place) => !place.includes(','));
  return list(single, typed.slice(start.length), start);
}

/** Returns the words that can follow a typed `field,`, with this end. */
function steps(typed: string, next: readonly string[], end: string): Candidates {
  const [field = '', ...more] = typed.split(',');
  if (!SORT_FIELDS.some((each) => each === field) || more.length > 1) return words([]);
  return words(next, `${field},`, end);
}

/** Completes a list of these words, separated by commas. */
function list(all: readonly string[], typed: string, start = ''): Candidates {
  const chosen = typed.slice(0, typed.lastIndexOf(',') + 1);
  const taken = chosen.split(',');
  const left = all.filter((each) => !taken.includes(each) && (chosen === '' || each !== 'all'));
  return { ...words(left, `${start}${chosen}`), mode: 'nospace' };
}

function settingValues(key: string, typed: string): Candidates {
  if (key.startsWith('columns.')) return list([...FIELDS, 'all'], typed);
  if (key === 'ca-file') return { mode: 'files', candidates: [] };
  const setting: SettingDefinition | undefined = isSettingKey(key) ? SETTINGS[key] : undefined;
  return words(setting?.valid ?? setting?.suggested ?? []);
}

/** Returns names, and ids if one is being typed. */
function images(context: Context, typed: string): Candidate[] {
  const cached = cachedImages(context);
  const names = new Set(cached.map(([, [name]]) => name));
  const ids = cached.filter(([id]) => /^\d+$/.test(typed) && String(id).startsWith(typed));
  return [
    ...[...names].map((name): Candidate => [name]),
    ...ids.map(([id, [name]]): Candidate => [String(id), name]),
  ];
}

function cachedImages(context: Context) {
  return [...readImageNames(context.paths.cache, context.settings.account)];
}

function lockNames({ io }: Context): string[] {
  return valueOr(() => {
    const text = fs.readFileSync(path.join(io.cwd, DEFAULT_LOCK_FILE), 'utf8');
    return Object.keys(JSON.parse(text).images);
  }, []);
}

function syncIds(context: Context): Candidate[] {
  const { profile, baseUrl } = context.settings.account;
  const newestFirst = readHistory(context.paths.state, profile, baseUrl).reverse();
  return newestFirst.map(({ id, status }) => [String(id), status ?? undefined]);
}

function helpPages({ program }: Context, rest: readonly string[]): Candidate[] {
  let below = visible({ subcommands: program.commands });
  for (const word of rest) {
    const found = below.find((each) => namesOf(each).includes(word));
    below = found ? visible(found) : [];
  }
  return entriesOf(rest.length > 0 ? below : [...below, ...TOPICS]);
}

function entriesOf(commands: readonly Entry[]): Candidate[] {
  return commands.flatMap((command) =>
    namesOf(command).map((name): Candidate => [name, command.summary]),
  );
}

function space(candidates: readonly Candidate[]): Candidates {
  return { mode: 'space', candidates };
}

/** Puts `start` before each value and `end` behind it; an end means that more follows in the same word. */
function words(values: readonly string[], start = '', end = ''): Candidates {
  const candidates = values.map((value): Candidate => [`${start}${value}${end}`]);
  return { mode: end === '' ? 'space' : 'nospace', candidates };
}
