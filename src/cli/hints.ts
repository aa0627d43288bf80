// What the program says to do: the hint of each kind of facts.

import type { SettingKey } from '../config/definitions.ts';
import type { Settings } from '../config/settings.ts';
import { type Advice, type Facts, hint, type Invocation, imgctl, setting } from '../facts.ts';
import { describeLater, shellQuote } from '../words.ts';
import { commandText, serviceOfRun } from './hint-commands.ts';

const NAMES = { service: 'the base URL', storage: 'the upload URL' } as const;
const KEYS = { service: 'base-url', storage: 'upload-url' } as const;

/** By the kind of facts: the text of the hint, or the parts and facts that it is made of. */
const HINTS: {
  readonly [Kind in Exclude<Facts['kind'], 'hint'>]: (
    facts: Extract<Facts, { kind: Kind }>,
    settings: () => Settings,
  ) => Advice;
} = {
  advice: ({ text }) => text,
  // config set concurrency 1; or --concurrency 1, IMGCTL_CONCURRENCY=1 if these have set it
  setting: ({ verb, key, text }, settings) => {
    const { layer, origin } = settings().find(key as SettingKey);
    const isOption = layer === 'option';
    if (!isOption && layer !== 'variable') {
      return hint`${imgctl('config', verb, key, ...(text === undefined ? [] : [text]))}`;
    }
    if (verb === 'get') return origin;
    if (verb === 'unset') return isOption ? `omit ${origin}` : `unset ${origin}`;
    return `${origin}${isOption ? ' ' : '='}${shellQuote(text ?? '')}`;
  },
  // Logins and tokens
  'login-needed': (_, settings) => {
    const isJob = settings().find('username').layer === 'variable';
    const login = hint`${isJob ? 'set IMGCTL_PASSWORD, or ' : ''}run: ${imgctl('login')}`;
    return otherProfile(settings()) ?? login;
  },
  'storage-needed': (_, settings) => {
    const set = imgctl('config', 'set', 'upload-url', 'URL');
    const add = hint`add --to URL (file://, dav+https:// or s3+https://), or run: ${set}`;
    return otherProfile(settings()) ?? add;
  },
  'username-needed': () =>
    hint`set IMGCTL_USERNAME, or run: ${imgctl('login', '--username', 'NAME')}`,
  'token-refused': ({ given }) =>
    given
      ? `set ${given} to a new token, or unset it to use the login`
      : hint`log in again: ${imgctl('login')}`,
  'password-refused': ({ origin, username }) => {
    if (!origin) return hint`check the user name and password, then: ${imgctl('login')}`;
    const name = username === undefined ? '' : ` ${username}`;
    return hint`check ${origin} and the user name${name}: ${imgctl('config', 'list')}`;
  },
  'stored-password': ({ lead }) => hint`${lead}: ${imgctl('login', '--store-password')}`,
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
  'no-home': () => 'set HOME, such as HOME=/home/alice, or IMGCTL_CONFIG_DIR',
  // Lists and snapshots
  'list-too-large': () =>
    hint`list fewer images with --filter, or use: ${imgctl('images', 'list', '-o', 'ndjson')}`,
  snapshot: ({ file }) =>
    file === undefined
      ? hint`save a snapshot to another file: ${imgctl('images', 'snapshot', 'FILE')}`
      : hint`save a new one with: ${imgctl('images', 'snapshot', file)}`,
  // Addresses
  'check-address': ({ of, part, more }) => {
    const what = part === undefined ? NAMES[of] : `the ${part} of ${NAMES[of]}`;
    return hint`check ${what}: ${setting('get', KEYS[of])}${more ? `; ${more}` : ''}`;
  },
  'needs-tls': ({ of, otherwise }) => {
    const more = otherwise ? `; else ${otherwise}` : '';
    return hint`if the port expects TLS, use https in ${NAMES[of]}: ${setting('get', KEYS[of])}${more}`;
  },
  moved: ({ of }) => hint`if the ${of} has moved: ${setting('set', KEYS[of], 'URL')}`,
  'path-twice': ({ url }) => hint`omit /v2: ${setting('set', 'base-url', url)}`,
  untrusted: ({ of, hasOthers }) => {
    const key = of === 'service' ? 'ca-file' : 'upload-ca-file';
    const trust = setting('set', key, '/path/to/ca.pem');
    return hasOthers
      ? hint`add the certificate of its issuer, perhaps an intermediate one, to the file: ${trust}`
      : hint`for a private certificate authority: ${trust}`;
  },
  timeout: ({ of, milliseconds }) => {
    const twice = `${Math.ceil((2 * milliseconds) / 1_000)}s`;
    return hint`allow more time with --timeout ${twice}, or check ${NAMES[of]}: ${setting('get', KEYS[of])}`;
  },
  // What servers say
  'too-large': ({ of, hasQuery }) => {
    if (of === 'storage') return 'use an upload URL with fewer files';
    if (hasQuery) return 'reduce the page size, for example: --per-page 10';
    return hint`check ${NAMES[of]}: ${setting('get', KEYS[of])}`;
  },
  limited: () =>
    hint`try again later; for fewer requests at a time: ${setting('set', 'concurrency', '1')}`,
  'retry-later': ({ resetsAt, wait, hasFailed, wasRetried }) => {
    const start = hasFailed ? 'the service failed; ' : '';
    const when = resetsAt === undefined ? 'later' : describeLater(resetsAt, resetsAt - wait);
    return `${start}try again ${when}${wasRetried ? ', or with more --retries' : ''}`;
  },
  'no-such-image': () => hint`list the images with: ${imgctl('images', 'list')}`,
  'other-page': ({ page }) => `use --page ${page}`,
  'unread-body': ({ url }) => hint`print it with: ${imgctl('api', url)}`,
  'sync-unknown': () =>
    hint`check before you submit another: ${imgctl('my-images')}, or the email of the service`,
  region: ({ region = 'REGION', used }) => {
    const rest = used ? `; then replace ${used} in the upload URL` : '';
    return hint`set the region: ${setting('set', 'upload-region', region)}${rest}`;
  },
  'storage-user': () =>
    hint`check the user of the storage and its permissions: ${imgctl('config', 'list')}`,
  'temporary-keys': () =>
    hint`renew access key, secret key and session token together (see: ${imgctl('help', 'environment')})`,
  conflict: ({ note }) =>
    `${note ? `${note}; ` : ''}rename your file, or replace the stored one with: --on-conflict replace`,
  'plain-http': ({ secure }) =>
    hint`use ${secure}, or allow plain http: ${setting('set', 'allow-http', 'true')}`,
  'credentials-in-url': () => hint`remove them from the URL, then run: ${imgctl('login')}`,
  // Secrets
  keychain: ({ fix }) => {
    const helper = fix ?? hint`use wincred: ${setting('set', 'credential-helper', 'wincred')}`;
    const login = imgctl('login', '--password-command', 'COMMAND');
    return hint`${helper}, or use a password command: ${login}`;
  },
  'helper-missing': () =>
    hint`install it, or use another one: ${setting('set', 'credential-helper', 'NAME')}`,
  'secret-command': ({ setting: key, command, isTyped }, settings) => {
    if (isTyped) return `run it by hand: ${command}`;
    const { layer, origin } = settings().find(key as SettingKey);
    if (layer === 'variable') return `run the command in ${origin} by hand`;
    return hint`run it by hand; to show it: ${setting('get', key)}`;
  },
};

/** Returns the hint if the run uses the service of another profile than its own. */
function otherProfile(settings: Settings): string | undefined {
  if (serviceOfRun(settings) !== 'known') return undefined;
  return `use the profile of this service: --profile ${settings.serviceProfile.name}`;
}

/** Returns the hint as a run with these settings prints it. */
export function hintText(facts: Advice, settings: () => Settings): string {
  if (typeof facts === 'string') return facts;
  if (facts.kind === 'hint') return facts.parts.map((part) => partText(part, settings)).join('');
  const adviceFor = HINTS[facts.kind] as (facts: Facts, settings: () => Settings) => Advice;
  return hintText(adviceFor(facts, settings), settings);
}

function partText(part: string | Invocation | Facts, settings: () => Settings): string {
  const isCommand = typeof part === 'object' && 'imgctl' in part;
  return isCommand ? commandText(part.imgctl, settings()) : hintText(part, settings);
}
