// imgctl config: shows and changes the settings of a profile.

import { parseChoice } from '../../choices.ts';
import { type CommandDeclaration, terms } from '../../cli/command-types.ts';
import { argument, command, GET_OPTION, option } from '../../cli/declare.ts';
import { SET_VARIABLE } from '../../cli/guesses.ts';
import { oneValue, type Result } from '../../cli/result.ts';
import { suggestRows, suggestValue } from '../../cli/suggestions.ts';
import {
  readCertificates,
  requireBaseUrl,
  requireRedisAddress,
  requireUploadTarget,
} from '../../config/addresses.ts';
import {
  changeProfile,
  configFilePath,
  requireDirectory,
  serviceOf,
} from '../../config/config-file.ts';
import {
  isOfService,
  isSettingKey,
  SETTING_GROUPS,
  SETTING_KEYS,
  SETTINGS,
  type SettingDefinition,
  type SettingKey,
  variableOf,
} from '../../config/definitions.ts';
import { findPaths } from '../../config/paths.ts';
import { addressOf, type Settings, storedSettings, storedText } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { attempt, ImgctlError, tryOr } from '../../errors.ts';
import { hint, imgctl } from '../../facts.ts';
import { column, namesOf } from '../../output/columns.ts';
import type { OutputOptions } from '../../output/output.ts';
import { requireProfile, unknownProfile } from './profile.ts';

const LIST_COLUMNS = [
  column('key', 'string', 'name of the setting', { isId: true }),
  column('value', 'string or null', 'value, or null if it is invalid or not set'),
  column('origin', 'string or null', 'where the value comes from'),
  column('error', 'string or null', 'why the value is invalid'),
  column('group', 'string', `what it is for: ${Object.keys(SETTING_GROUPS).join(', ')}`),
];

const GET_COLUMNS = [
  column('key', 'string', 'name of the setting'),
  column('value', 'string', 'value'),
  column('origin', 'string', 'where the value comes from'),
];

const PATH_COLUMNS = [column('path', 'string', 'path of the settings file')];

const KEY = argument('key', 'name of the setting', {
  required: true,
  suggest: () => suggestRows(SETTING_KEYS.map((key) => [key, SETTINGS[key].summary])),
});

const VALUE = argument('value', 'new value', {
  required: true,
  suggest({ args, typed }) {
    const key = args.at(-1) ?? '';
    return suggestValue(isSettingKey(key) ? SETTINGS[key].value : undefined, typed);
  },
});

export const config: CommandDeclaration = {
  name: 'config',
  summary: 'show and change settings',
  details: [
    'Settings:',
    terms(...SETTING_KEYS.map((key) => [key, describe(SETTINGS[key])] as const)),
  ],
  examples: ['imgctl config set base-url https://images.example.com', 'imgctl config list'],
  seeAlso: ['profile', 'help environment'],
  subcommands: [
    command({
      name: 'list',
      otherNames: ['ls', 'show', 'view'],
      summary: 'list settings with their values and origins',
      description: [
        'Lists settings from options, the environment and the profile. --all adds the others, with defaults and groups.',
        'If a value is invalid, the table shows why in an extra column, and the exit code is 2.',
      ],
      examples: ['imgctl config list', 'imgctl config list --all --json'],
      options: [option('--all', 'also list settings that are not set'), GET_OPTION],
      fields: LIST_COLUMNS,
      run: list,
    }),
    command({
      name: 'get',
      summary: 'print the value of a setting',
      description: ['Prints only the value, unless you add -o or --json.'],
      examples: ['imgctl config get base-url', 'imgctl config get timeout'],
      arguments: [KEY],
      exitCodes: [5],
      fields: GET_COLUMNS,
      run: get,
    }),
    command({
      name: 'set',
      summary: 'set the value of a setting',
      examples: [
        'imgctl config set base-url https://images.example.com',
        'imgctl config set columns.images id,name,path',
      ],
      arguments: [KEY, VALUE],
      run: set,
    }),
    command({
      name: 'unset',
      otherNames: ['rm', 'remove', 'delete'],
      summary: 'remove a setting',
      description: ['The key can be a setting that this version does not know.'],
      examples: ['imgctl config unset ca-file', 'imgctl config unset time --profile staging'],
      arguments: [KEY],
      exitCodes: [5],
      run: unset,
    }),
    command({
      name: 'path',
      otherNames: ['file', 'where'],
      summary: 'print the path of the settings file',
      description: ['Prints only the path, unless you add -o or --json.'],
      examples: ['imgctl config path', 'cat "$(imgctl config path)"'],
      fields: PATH_COLUMNS,
      run: showPath,
    }),
  ],
};

function describe({ summary, value: { words }, fallback }: SettingDefinition): string {
  const values = words === undefined ? '' : `: ${words.join(', ')}`;
  return `${summary}${values}${fallback === undefined ? '' : ` (${fallback})`}`;
}

type ListOptions = Pick<OutputOptions, 'get'> & { all?: boolean };

async function list(context: Context, options: ListOptions): Promise<Result> {
  const { settings } = context;
  const problems: ImgctlError[] = [];
  const keys = SETTING_KEYS.filter((key) => options.all || settings.find(key).layer !== 'default');
  const rows = keys.map((key) => {
    const { origin } = settings.find(key);
    // An invalid value may hold a password; the error shows the rest.
    const { value = null, error: problem } = attempt(() => settings.text(key));
    if (problem) problems.push(problem);
    const error = problem?.message ?? null;
    const [group] = Object.entries(SETTING_GROUPS).find(([, each]) => key in each) ?? [];
    return { key, value, origin: origin || null, error, group };
  });
  const cells = namesOf(LIST_COLUMNS);
  const shown = cells.filter((name) => {
    if (name === 'error') return problems.length > 0;
    return name !== 'group' || options.all;
  });
  // The format may be what is wrong.
  const output = context.output(
    LIST_COLUMNS,
    { ...options, shown, lineColumns: cells },
    context.safeFormat,
  );
  const afterwards = () => {
    const { console } = context;
    const defaults = hint`list the defaults with: ${imgctl('config', 'list', '--all')}`;
    if (settings.isUnknown) {
      const { message, facts } = unknownProfile(settings.config, settings.profile);
      console.warn(message, facts);
    } else if (rows.length === 0) console.note('nothing is set', defaults);
    if (problems[0]) throw problems[0];
  };
  return { output, rows, afterwards };
}

async function get(context: Context, _options: object, name: string): Promise<Result> {
  const key = requireKey(name);
  const value = context.settings.text(key);
  const { origin } = context.settings.find(key);
  if (value === undefined) {
    const facts = hint`set it with: ${imgctl('config', 'set', key, 'VALUE')}`;
    throw new ImgctlError('not-found', `${key} is not set`, { facts });
  }
  return oneValue(context, GET_COLUMNS, { key, value, origin }, 'value');
}

async function set(context: Context, _options: object, name: string, value: string): Promise<void> {
  const key = requireKey(name);
  refuseOtherService(context, key);
  const settings = context.settings.with({ [key]: value });
  const stored = storedText(settings, key, context.io.cwd);
  if (key === 'ca-file' || key === 'upload-ca-file') readCertificates(settings, context.io, key);
  await changeProfile(context.io, settings.profile, { [key]: stored });
  const variable = variableOf(key);
  const overriding = context.io.env[variable];
  if (overriding && overriding !== value) {
    context.console.warn(`${variable} overrides this setting`, `run: unset ${variable}`);
  }
  if (key === 'base-url') reportMove(context, addressOf(value));
  warnIfUnusable(context, settings, key);
}

/** @throws ImgctlError usage: the run uses another service than the one that the setting is for */
function refuseOtherService(
  { settings: { replacedUrl, profile } }: Context,
  key: SettingKey,
): void {
  if (replacedUrl === undefined || !isOfService(key)) return;
  const facts = hint`for the service of this run: ${imgctl('config', 'set', key, 'VALUE')}`;
  throw new ImgctlError('usage', `profile ${profile} belongs to ${replacedUrl}`, { facts });
}

/** Says what goes to the new address, and what belongs to the former one after a login to it. */
function reportMove(context: Context, baseUrl: string): void {
  const { config, profile } = context.settings;
  const texts = config.profiles.get(profile) ?? {};
  const former = serviceOf(texts);
  const { console, io } = context;
  if (former === undefined || addressOf(former) === baseUrl) return;
  const source = (['password-file', 'password-command'] as const).find((key) => texts[key]);
  if (source !== undefined) {
    const unset = imgctl('config', 'unset', source, '--profile', profile);
    const message = `${baseUrl} will get the password of the setting ${source}`;
    console.report(message, hint`if it is another service, run: ${unset}`);
  }
  const stored = storedSettings(config, profile, io.env, { IMGCTL_BASE_URL: former });
  const account = tryOr(() => stored.account, undefined);
  if (!account || !context.tokenFiles(account).read()) return;
  const message = `lock files, snapshots, cursors and history still belong to ${account.baseUrl}`;
  const advice = `if it is the same service, put ${baseUrl} into base_url of lock files and snapshots`;
  console.report(message, advice);
}

/** Warns now of a URL that every command which uses it will refuse, such as one without TLS. */
function warnIfUnusable({ console }: Context, settings: Settings, key: SettingKey): void {
  const { error } = attempt(() => {
    if (key === 'base-url') requireBaseUrl(settings);
    if (key === 'token-store') requireRedisAddress(settings);
    if (key === 'upload-url') requireUploadTarget(settings);
  });
  if (error) console.warn(error.message, error.facts);
}

async function unset(context: Context, _options: object, name: string): Promise<void> {
  const { config, profile, isUnknown, replacedUrl } = context.settings;
  if (isUnknown) requireProfile(config, profile);
  const stored = config.profiles.get(profile) ?? {};
  // Also one of another version, or the mark of a stored password that cannot be deleted.
  const key = Object.hasOwn(stored, name) ? name : requireKey(name);
  await changeProfile(context.io, profile, { [key]: undefined });
  if (replacedUrl !== undefined && isOfService(key) && Object.hasOwn(stored, key)) {
    context.console.report(`removed the setting ${key}, which was for ${replacedUrl}`);
  }
}

async function showPath(context: Context): Promise<Result> {
  const file = configFilePath(requireDirectory(findPaths(context.io).config));
  return oneValue(context, PATH_COLUMNS, { path: file }, 'path');
}

function requireKey(text: string): SettingKey {
  const command = imgctl('config', 'list', '--all');
  // A value after it may be a secret.
  const key = text.replace(/=.*/s, '=…');
  // The nearest setting would be password-file, which takes no password.
  if (/^(?:password|passwd|token|(?:https?[-_])?proxy)$/i.test(key)) {
    throw new ImgctlError('usage', `unknown setting '${key}'`, { facts: SET_VARIABLE });
  }
  return parseChoice(key, { noun: 'setting', valid: SETTING_KEYS, command });
}
