// What the program says to do: the hint of each kind of facts, and how a command in it is printed.

import type { Settings } from '../config/settings.ts';
import { type Facts, hint, type Invocation, imgctl } from '../facts.ts';
import { describeLater, shellQuote } from '../words.ts';

type Said = string | Facts;

type Table = {
  readonly [Kind in Exclude<Facts['kind'], 'hint'>]: (
    facts: Extract<Facts, { kind: Kind }>,
    settings: () => Settings,
  ) => Said;
};

/** From facts to hints. */
const HINTS: Table = {
  advice: ({ text }) => text,
  // Logins and tokens
  'login-needed': (_, settings) => {
    const { owner, home, isHomeNew } = settings();
    if (owner === undefined || isHomeNew) return hint`run: ${imgctl('login')}`;
    return `use the profile of this service: --profile ${home}`;
  },
  'username-needed': () =>
    hint`set IMGCTL_USERNAME, or run: ${imgctl('login', '--username', 'NAME')}`,
  'token-refused': ({ given }) =>
    given
      ? `set ${given} to a new token, or unset it to use the login`
      : hint`log in again: ${imgctl('login')}`,
  'password-refused': ({ origin, username }) =>
    origin
      ? hint`check ${origin} and the user name ${username ?? ''}: ${imgctl('config', 'list')}`
      : hint`check the user name and password, then: ${imgctl('login')}`,
  'stored-password': ({ problem }) => hint`${problem}: ${imgctl('login', '--store-password')}`,
  'token-limit': ({ resetsAt, wait }) => {
    const minutes = Math.max(5, Math.ceil(wait / 60_000));
    return `try again ${describeLater(resetsAt, resetsAt - wait)}, or wait with --wait-for-token ${minutes}m`;
  },
  'store-failed': () => hint`using the tokens of this machine; check: ${imgctl('doctor')}`,
  'store-token': ({ needsKey }) => {
    const start = needsKey ? 'set the key that encrypted it, or ' : '';
    return hint`${start}delete it: ${imgctl('logout', '--all')}`;
  },
  'not-writable': () =>
    'check disk space and permissions, or set IMGCTL_CONFIG_DIR to a writable directory',
  // Addresses
  'plain-http': ({ secure }) =>
    hint`use ${secure}, or allow plain http: ${imgctl('config', 'set', 'allow-http', 'true')}`,
  'credentials-in-url': () => hint`remove them from the URL, then run: ${imgctl('login')}`,
  // Secrets
  keychain: ({ fix }) =>
    hint`${fix ?? hint`use wincred: ${imgctl('config', 'set', 'credential-helper', 'wincred')}`}, or use a password command: ${imgctl('login', '--password-command', 'COMMAND')}`,
  'helper-missing': () =>
    hint`install it, or use another one: ${imgctl('config', 'set', 'credential-helper', 'NAME')}`,
  'secret-command': ({ setting, command, isTyped }) =>
    isTyped
      ? `run it by hand: ${command}`
      : hint`run it by hand; to show it: ${imgctl('config', 'get', setting)}`,
};

/** Returns the hint as a run with these settings prints it. */
export function hintText(facts: string | Facts, settings: () => Settings): string {
  if (typeof facts === 'string') return facts;
  if (facts.kind === 'hint') return facts.parts.map((part) => partText(part, settings)).join('');
  const hintOf = HINTS[facts.kind] as (facts: Facts, settings: () => Settings) => Said;
  return hintText(hintOf(facts, settings), settings);
}

function partText(part: string | Invocation | Facts, settings: () => Settings): string {
  const isCommand = typeof part === 'object' && 'imgctl' in part;
  return isCommand ? commandText(part.imgctl, settings()) : hintText(part, settings);
}

/** Commands that use no profile, with all words behind them. Others use one, and its service. */
const LOCAL = [
  ['help'],
  ['version'],
  ['completion'],
  ['demo'],
  ['emulator'],
  ['profile'],
  ['inspect'],
  ['validate'],
  ['config', 'path'],
  ['images', 'lock', 'list'],
  ['images', 'lock', 'remove'],
];

/** Prints a command that does its work in the profile and the service of the run. */
function commandText(words: readonly string[], settings: Settings): string {
  const end = words.indexOf('--');
  const options = end < 0 ? words : words.slice(0, end);
  const flags = flagsFor(options, settings).filter(([name = '']) => !options.includes(name));
  const rest = words.slice(options.length);
  return ['imgctl', ...[...options, ...flags.flat(), ...rest].map(shellQuote)].join(' ');
}

function flagsFor(words: readonly string[], settings: Settings): string[][] {
  const isLocal = LOCAL.some((start) => start.every((word, index) => words[index] === word));
  if (isLocal || words.includes('--from') || words.includes('--help')) return [];
  const { profile, home, isHomeNew, owner } = settings;
  const profileOf = (name: string) => (settings.isUsual(name) ? [] : [['--profile', name]]);
  const { text = '' } = settings.find('base-url');
  const url = [['--base-url', text]];
  if (words[0] === 'config') return profileOf(words.includes('base-url') ? profile : home);
  // A profile belongs to one service: a login to another one is a login of another profile.
  if (words[0] === 'login' && owner !== undefined) {
    return [...profileOf(home), ...(isHomeNew ? url : [])];
  }
  const isUsual = text === (settings.find('base-url', new Map()).text ?? '');
  return [...profileOf(profile), ...(isUsual ? [] : url)];
}
