// What the value of an option or argument can be, in the words that every completion script understands.

import { TOPICS } from '../../commands/help.ts';
import { FORMATS } from '../../output/index.ts';
import { COLOR_CHOICES } from '../../output/terminal.ts';
import { FIELDS } from '../../query/fields.ts';
import { OPERATORS } from '../../query/filter.ts';
import { DIRECTIONS } from '../../query/sort.ts';
import { TIME_STYLES } from '../../query/timestamp.ts';
import { SETTING_KEYS, SETTINGS } from '../../session/settings.ts';

/**
 * A kind, and the words it takes, separated by spaces. One of
 * - `none`: anything, so that nothing is offered;
 * - `words a b`: one of these; one that ends in a comma goes on without a space;
 * - `list a b`: some of these, separated by commas;
 * - `steps a b : c d`: first `a,`, then `a,c`; as with words a comma at the end goes on;
 * - `files`, `directories`;
 * - `ask kind`: what `imgctl __complete <kind>` says;
 * - `setting`: what the setting named by the argument before can be;
 * - `help a b`: a command by its words, or one of these.
 */
export type ValueKind = string;

const NONE = 'none';
const COLUMNS = words('list', [...FIELDS, 'all']);
const STYLES = words('words', TIME_STYLES);
const PROFILES = 'ask profiles';

/** By option, by command and argument, or by what either is called in the help: the first that is known holds. */
const RULES: ReadonlyMap<string, ValueKind> = new Map([
  ['--profile', PROFILES],
  ['profile <name>', PROFILES],
  ['<profile>', PROFILES],
  ['sync-status <id>', 'ask sync-ids'],
  ['images get <id|name>', 'ask image-names'],
  ['api <path>', 'words /v2 /v2/image /v2/user/image/vm /v2/request/image_sync/'],
  ['help <command or topic>', words('help', Object.keys(TOPICS))],
  ['config <key>', words('words', SETTING_KEYS)],
  ['config set <value>', 'setting'],
  ['<format>', words('words', FORMATS)],
  ['--color', words('words', COLOR_CHOICES)],
  ['<style>', STYLES],
  ['<a,b>', COLUMNS],
  [
    '<field,op,value>',
    steps(
      FIELDS,
      OPERATORS.map((operator) => `${operator},`),
    ),
  ],
  ['<field,direction>', steps(FIELDS, DIRECTIONS)],
  ['<method>', 'words GET HEAD OPTIONS POST PUT PATCH DELETE'],
  ['<file>', 'files'],
  ['<dir>', 'directories'],
]);

/** `choices` are those that commander knows of. */
export function kindOfValue(names: readonly string[], choices?: readonly string[]): ValueKind {
  if (choices) return words('words', choices);
  return names.map((name) => RULES.get(name)).find((kind) => kind !== undefined) ?? NONE;
}

/** What each setting can be, where that is known. */
export function settingKinds(): ReadonlyMap<string, ValueKind> {
  const kinds = new Map<string, ValueKind>([
    ['columns.images', COLUMNS],
    ['columns.my-images', COLUMNS],
    ['ca-file', 'files'],
  ]);
  for (const key of SETTING_KEYS) {
    const setting = SETTINGS[key];
    if ('valid' in setting) kinds.set(key, words('words', setting.valid));
  }
  return kinds;
}

function words(kind: string, values: readonly string[]): ValueKind {
  return [kind, ...values].join(' ');
}

function steps(first: readonly string[], second: readonly string[]): ValueKind {
  return ['steps', ...first, ':', ...second].join(' ');
}
