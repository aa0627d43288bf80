// How a command in a hint is printed: with the options that keep profile and service of the run.

import { isOfService, isSettingKey, type SettingKey, variableOf } from '../config/definitions.ts';
import type { Settings } from '../config/settings.ts';
import { tryOr } from '../errors.ts';
import { printable } from '../output/text.ts';
import { shellQuote } from '../words.ts';

/** What a command uses of the profile and the service. */
type Use = 'nothing' | 'profile' | 'serviceSetting' | 'login' | 'service';

/** Commands that use no profile, whatever words follow; a test finds one that is missing. */
export const LOCAL_COMMANDS = [
  ...['help', 'version', 'completion', 'demo', 'emulator', 'profile', 'inspect', 'validate'],
  ...['config path', 'images lock list', 'images lock remove'],
];

function useOf(words: readonly string[]): Use {
  const line = `${words.join(' ')} `;
  const isLocal = LOCAL_COMMANDS.some((command) => line.startsWith(`${command} `));
  if (isLocal || words.includes('--from') || words.includes('--help')) return 'nothing';
  if (words[0] === 'login') return 'login';
  if (words[0] === 'config') return isOfServiceKey(words[2]) ? 'serviceSetting' : 'profile';
  return 'service';
}

function isOfServiceKey(key = ''): key is SettingKey {
  return isSettingKey(key) && isOfService(key);
}

/**
 * The service of the run: that of its profile; or that of another base URL, which an option or a
 * variable gives, and which another profile has (`known`) or none (`new`).
 */
type ServiceOfRun = 'same' | 'known' | 'new';

export function serviceOfRun({ replacedUrl, serviceProfile }: Settings): ServiceOfRun {
  if (replacedUrl === undefined) return 'same';
  return serviceProfile.isNew ? 'new' : 'known';
}

/** The options with their values, as words; none if the command would use these values anyway. */
const OPTIONS = {
  profile: (settings: Settings) => profileFlag(settings.profile, settings),
  /** The profile of the service of the run; if it has none, a name for a new one. */
  otherProfile: (settings: Settings) => profileFlag(settings.serviceProfile.name, settings),
  url: urlFlag,
  givenUrl: (settings: Settings) => {
    const isUsual = settings.find('base-url').text === settings.findUngiven('base-url').text;
    return isUsual ? [] : urlFlag(settings);
  },
  username: (settings: Settings) => {
    const { text = '', origin } = settings.find('username');
    const { serviceProfile, config } = settings;
    const stored = config.profiles.get(serviceProfile.name)?.username;
    const usual = settings.findUngiven('username').text ?? stored ?? text;
    return origin === '--username' && text !== usual ? ['--username', text] : [];
  },
} as const satisfies Record<string, (settings: Settings) => readonly string[]>;

function profileFlag(name: string, settings: Settings): readonly string[] {
  return settings.isUsual(name) ? [] : ['--profile', name];
}

/** An invalid base URL may hold a password, and is not shown. */
function urlFlag(settings: Settings): readonly string[] {
  const isValid = tryOr(() => settings.get('base-url'), undefined) !== undefined;
  return isValid ? ['--base-url', settings.find('base-url').text ?? ''] : [];
}

type Added = readonly (keyof typeof OPTIONS)[];

/** What is added to a command by what it uses: always the same, or by the service of the run. */
const ADDED: Readonly<Record<Use, Added | Readonly<Record<ServiceOfRun, Added>>>> = {
  // help filters
  nothing: [],
  // config set timeout 5s
  profile: ['profile'],
  // images list
  service: ['profile', 'givenUrl'],
  // config get upload-url
  serviceSetting: { same: ['profile'], known: ['otherProfile'], new: ['otherProfile'] },
  // A profile belongs to one service: a login to another service is one of another profile.
  login: {
    same: ['profile', 'givenUrl', 'username'],
    known: ['otherProfile', 'username'],
    new: ['otherProfile', 'url', 'username'],
  },
};

/** Prints a command that does its work in the profile and the service of the run. */
export function commandText(words: readonly string[], settings: Settings): string {
  const service = serviceOfRun(settings);
  const [group, verb, key, value = 'VALUE'] = words;
  const isSet = group === 'config' && verb === 'set';
  if (isSet && isOfServiceKey(key) && service === 'new') {
    // Without a profile of this service, only a variable counts.
    return `${variableOf(key)}=${shellQuote(value)}`;
  }
  const end = words.includes('--') ? words.indexOf('--') : words.length;
  const before = words.slice(0, end);
  const added = ADDED[useOf(before)];
  const names = 'same' in added ? added[service] : added;
  const options = names.map((name) => OPTIONS[name](settings));
  const missing = options.filter(([flag = '']) => !before.includes(flag));
  const all = [...before, ...missing.flat(), ...words.slice(end)];
  return ['imgctl', ...all.map(quoteWord)].join(' ');
}

/** Quotes a word for the shell. A word that a terminal must not show is `$'a\u001b'`. */
function quoteWord(word: string): string {
  if (printable(word) === word) return shellQuote(word);
  return `$'${printable(word.replace(/[\\']/g, '\\$&'))}'`;
}
