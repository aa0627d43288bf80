// Finds completions: fixed words from the command table, and values from the files of this machine.

import fs from 'node:fs';
import path from 'node:path';
import { cursorNames } from '../../catalogue/change-state.ts';
import type { Context } from '../../context.ts';
import {
  type CommandDeclaration,
  type OptionDeclaration,
  optionTerm,
  type ValueSource,
} from '../../declarations.ts';
import { valueOr } from '../../errors.ts';
import { DEFAULT_LOCK_FILE } from '../../files/paths.ts';
import { printable } from '../../output/text.ts';
import { FIELDS } from '../../query/fields.ts';
import { OPERATORS } from '../../query/filter.ts';
import { DIRECTIONS, SORT_FIELDS } from '../../query/sort.ts';
import { readHistory } from '../../session/history.ts';
import { readImageNames } from '../../session/image-names.ts';
import {
  isSettingKey,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
} from '../../session/setting-table.ts';
import { TOPICS } from '../table/topics.ts';
import { flagsOf, namesOf, type Position, visible } from './line.ts';

export interface Candidate {
  readonly value: string;
  readonly description?: string | undefined;
  /** True for any text, such as an image name; all other values need no quotes. */
  readonly isText?: boolean;
}

/** What the shell does after a candidate, or which paths it offers instead. */
export type Mode = 'space' | 'nospace' | 'files' | 'folders';

interface Candidates {
  readonly mode: Mode;
  readonly candidates: readonly Candidate[];
}

const PATHS = ['/v2', '/v2/image', '/v2/user/image/vm', '/v2/request/image_sync/'];
const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

const FILTER_FIELDS = words(withComma(FIELDS), '', 'nospace');
const SORT_KEYS = words(withComma(SORT_FIELDS), '', 'nospace');
const OPERATOR_STEPS = withComma(OPERATORS);

/** Fields whose values are cached, with their place in a cached image. */
const PLACES: ReadonlyMap<string, 1 | 2> = new Map([
  ['folder', 1],
  ['data_store', 2],
]);

/** Returns all completions at the cursor, even those that do not begin with the typed text. */
export function findCandidates(context: Context, position: Position): Candidates {
  const { subcommands, options, value, lead } = position;
  if (options.length > 0) return space(options.map((option) => flagFor(option, position.typed)));
  if (subcommands.length > 0) return space(entriesOf(subcommands));
  if (value?.kind === 'choice') return words(value.words, lead);
  if (value?.kind !== 'text' || value.from === undefined) return words([], lead);
  const { mode, candidates } = fromSource(context, position, value.from);
  return { mode, candidates: candidates.filter(canStand(position)).map(after(lead)) };
}

/** Returns the short flag if it was typed, else the long one: both would be the same line twice. */
function flagFor(option: OptionDeclaration, typed: string): Candidate {
  const flags = flagsOf(option);
  const value = flags.find((flag) => flag === typed) ?? flags.at(-1) ?? '';
  return { value, description: optionTerm(option)[1] };
}

function fromSource(context: Context, position: Position, source: ValueSource): Candidates {
  const { typed, rest } = position;
  switch (source) {
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
      return space(SETTING_KEYS.map((value) => ({ value, description: SETTINGS[value].summary })));
    case 'setting-values':
      return settingValues(rest.at(-1) ?? '', typed);
    case 'sorts':
      return typed.includes(',') ? steps(typed, DIRECTIONS, 'space') : SORT_KEYS;
    case 'sync-ids':
      return space(syncIds(context));
  }
}

function filters(context: Context, typed: string): Candidates {
  const [field = '', operator] = typed.split(',');
  if (operator === undefined) return FILTER_FIELDS;
  const start = `${field},${operator},`;
  if (!typed.startsWith(start)) return steps(typed, OPERATOR_STEPS, 'nospace');
  const column = PLACES.get(field);
  if (column === undefined) return words([]);
  const places = cachedImages(context).map(([, image]) => image[column]);
  const known = [...new Set(places)].filter((place) => place !== '').sort();
  const single = known.filter((place) => !place.includes(','));
  const { mode, candidates } =
    operator === 'in' ? list(single, typed.slice(start.length)) : words(known);
  return { mode, candidates: candidates.map(after(start)).map(asText) };
}

/** Returns the words that can follow a typed `field,`. */
function steps(typed: string, next: readonly string[], mode: Mode): Candidates {
  const [field = '', ...more] = typed.split(',');
  if (!SORT_FIELDS.some((each) => each === field) || more.length > 1) return words([]);
  return words(next, `${field},`, mode);
}

function withComma(values: readonly string[]): string[] {
  return values.map((value) => `${value},`);
}

/** Completes a list of these words, separated by commas. */
function list(all: readonly string[], typed: string): Candidates {
  const chosen = typed.slice(0, typed.lastIndexOf(',') + 1);
  const taken = chosen.split(',');
  const left = all.filter((each) => !taken.includes(each) && (chosen === '' || each !== 'all'));
  return words(left, chosen, 'nospace');
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
  const names = [...new Set(cached.map(([, [name]]) => name))].map((value) => ({ value }));
  const ids = cached
    .map(([id, [name]]) => ({ value: String(id), description: name }))
    .filter(({ value }) => /^\d+$/.test(typed) && value.startsWith(typed));
  return [...names.map(asText), ...ids];
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
  const entries = readHistory(context.paths.state, profile, baseUrl).reverse();
  return entries.map(({ id, status }) =>
    asText({ value: String(id), description: status ?? undefined }),
  );
}

function helpPages({ program }: Context, rest: readonly string[]): Candidate[] {
  let below = visible({ subcommands: program.commands });
  for (const word of rest) {
    const found = below.find((each) => namesOf(each).includes(word));
    below = found ? visible(found) : [];
  }
  return entriesOf(rest.length > 0 ? below : [...below, ...TOPICS]);
}

type Entry = Pick<CommandDeclaration, 'name' | 'aliases' | 'summary'>;

function entriesOf(commands: readonly Entry[]): Candidate[] {
  return commands.flatMap((command) =>
    namesOf(command).map((value) => ({ value, description: command.summary })),
  );
}

/**
 * True if a shell shows the value as it is: shells escape control characters, but not marks that reorder or hide
 * text. No argument can hold a NUL, and before `--` a value that starts with a dash would be an option.
 */
function canStand({ ended }: Position): (candidate: Candidate) => boolean {
  return ({ value }) => {
    const rest = value.replace(/[\u0001-\u001f\u007f-\u009f]/g, '');
    return printable(rest) === rest && (ended || !value.startsWith('-'));
  };
}

function after(lead: string): (candidate: Candidate) => Candidate {
  return (candidate) => ({ ...candidate, value: `${lead}${candidate.value}` });
}

function asText(candidate: Candidate): Candidate {
  return { ...candidate, isText: true };
}

function space(candidates: readonly Candidate[]): Candidates {
  return { mode: 'space', candidates };
}

function words(values: readonly string[], lead = '', mode: Mode = 'space'): Candidates {
  return { mode, candidates: values.map((value) => ({ value: `${lead}${value}` })) };
}
