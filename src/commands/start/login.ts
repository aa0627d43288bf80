// imgctl login: requests a token with what was given or typed, and saves the login in the profile.

import type { IssuedToken } from '../../api/token-request.ts';
import { command, option, type Parsed, SERVICE_CODES, settingOption } from '../../cli/declare.ts';
import { BASE_URL_OPTION } from '../../cli/global-options.ts';
import type { Result } from '../../cli/result.ts';
import { requireBaseUrl } from '../../config/addresses.ts';
import { changeProfile, serviceOf, type Texts } from '../../config/config-file.ts';
import { STORED_PASSWORD } from '../../config/definitions.ts';
import {
  type Account,
  addressOf,
  type Settings,
  shownAddress,
  storedText,
} from '../../config/settings.ts';
import {
  isSamePassword,
  markedPassword,
  markOf,
  passwordToStore,
} from '../../config/stored-password.ts';
import type { Context } from '../../context.ts';
import { attempt, EXIT_CODES, hasCode, ImgctlError } from '../../errors.ts';
import { advice, hint, imgctl, setting } from '../../facts.ts';
import { ask } from '../../output/prompt.ts';
import { printable } from '../../output/text.ts';
import { describeLocation, openPasswordStore } from '../../secrets/password-store.ts';
import { givenPassword, storedPassword } from '../../secrets/passwords.ts';
import { passwordOfStdin } from '../../secrets/secrets.ts';
import { givenToken, type Session } from '../../session/session.ts';
import { counted, describeDuration } from '../../words.ts';
import { deletePassword, profilesWith } from '../stored-login.ts';

const OPTIONS = [
  BASE_URL_OPTION,
  settingOption('-u, --username <name>', 'username', 'user name of the account'),
  option('--password-stdin', 'read the password from standard input', {
    conflicts: ['passwordCommand', 'passwordFile'],
  }),
  settingOption('--password-command <command>', 'password-command'),
  { ...settingOption('--password-file <file>', 'password-file'), conflicts: ['passwordCommand'] },
  option('--store-password', 'store the password in the keychain or the credential helper'),
  option('--ignore-limit', 'request a token even if the remembered limit is reached'),
] as const;

type Options = Parsed<typeof OPTIONS>;

export const login = command({
  name: 'login',
  otherNames: ['signin', 'sign-in', 'logon'],
  summary: 'log in to a service',
  description: [
    'You are prompted for anything you leave out, and again after a wrong password, up to three times. Nothing is saved until the login works.',
    'A profile belongs to one service. For another one, use another profile: --profile test.',
    'A password command or file is saved in the profile, so that other commands can renew an expired token. A command must finish within 30 s and cannot prompt.',
  ],
  details: [
    '--store-password uses the system keychain (secret-tool on Linux, security on macOS), or the credential helper that is set (on Windows, wincred). Run it again to replace the password; "imgctl logout" deletes it. Jobs cannot use a locked keychain: give them a password command.',
    'At the limit of token requests, imgctl sends none until the limit ends; --ignore-limit sends one anyway, for example after correcting the clock.',
  ],
  examples: [
    'imgctl login --base-url https://images.example.com -u alice',
    'imgctl login --store-password',
    "imgctl login --username backup --password-command 'cat /run/secrets/imgctl'",
    'pass show images | imgctl login --username alice --password-stdin',
  ],
  seeAlso: ['logout', 'whoami', 'help environment'],
  options: OPTIONS,
  exitCodes: SERVICE_CODES,
  run,
});

async function run(context: Context, options: Options): Promise<Result> {
  const settings = await completeSettings(context, options);
  const session = await context.openSession(settings);
  const { account } = session;
  const store = options.storePassword
    ? openPasswordStore(context.io, passwordToStore(settings).location)
    : undefined;
  // An unusable store fails before it uses up a token request.
  await store?.lookup(account);
  const { password, token, isOfProfile } = await requestFirstToken(
    context,
    options,
    session,
    settings,
  );
  const isSaved = await saveLogin(context, options, settings, isOfProfile);
  report(context, settings, token);
  if (store) await storePassword(context, settings, store, password);
  // The disk may have filled up meanwhile, which was a warning.
  const isComplete = isSaved && !session.files.writeFailed;
  return { exitCode: isComplete ? 0 : EXIT_CODES.failed };
}

/**
 * Saves the login in the profile.
 * @param isOfProfile true if the password is from the source that the profile names
 * @returns false if other commands will lack its source, the base URL or the user name
 */
async function saveLogin(
  { io, console }: Context,
  options: Options,
  settings: Settings,
  isOfProfile: boolean,
): Promise<boolean> {
  const { profile, baseUrl, username } = settings.account;
  const { source, removed } = changedSource(io, options, settings, isOfProfile);
  // Written before the password is stored, so that a logout always finds the password.
  const mark = options.storePassword
    ? { [STORED_PASSWORD]: settings.storedAt ?? markOf(passwordToStore(settings)) }
    : {};
  try {
    await changeProfile(io, profile, (stored) => {
      const address = serviceOf(stored) ?? baseUrl;
      // Another login may have come first.
      if (addressOf(address) !== baseUrl) throw belongsTo(settings, shownAddress(address));
      return { 'base-url': address, username, ...source, ...mark };
    });
    if (removed !== undefined) console.report(removed);
    return true;
  } catch (error) {
    // The login itself worked, even if the settings cannot be written.
    if (options.storePassword || !hasCode(error, 'config', 'locked')) throw error;
    console.warn(error.message, error.facts);
    const address = addressOf(settings.findUngiven('base-url').text);
    const isKnown = address === baseUrl && settings.findUngiven('username').text === username;
    return isKnown && !hasSource(options);
  }
}

function hasSource({ passwordCommand, passwordFile }: Options): boolean {
  return passwordCommand !== undefined || passwordFile !== undefined;
}

/**
 * Returns what the login changes of the source of the password, and says what it removes:
 * - with --password-file or --password-command: this one, instead of the other
 * - of another user than before, whose password the profile does not name: none, as no later
 *   command should send the password of the former user
 * - otherwise the source stays
 */
function changedSource(
  { cwd }: Context['io'],
  options: Options,
  settings: Settings,
  isOfProfile: boolean,
): { readonly source: Texts; readonly removed?: string | undefined } {
  if (hasSource(options)) {
    const { passwordCommand, passwordFile } = options;
    const file = passwordFile && storedText(settings, 'password-file', cwd);
    return { source: { 'password-command': passwordCommand, 'password-file': file } };
  }
  const { profile, username } = settings.account;
  const { username: former = username, ...texts } = settings.config.profiles.get(profile) ?? {};
  if (former === username || isOfProfile) return { source: {} };
  const key = ['password-file', 'password-command'].find((each) => texts[each]);
  return {
    source: { 'password-command': undefined, 'password-file': undefined },
    removed: key && `removed the setting ${key}, which was for user ${printable(former)}`,
  };
}

/** Stores the password, and deletes that of an earlier login. */
async function storePassword(
  context: Context,
  settings: Settings,
  store: ReturnType<typeof openPasswordStore>,
  password: string,
): Promise<void> {
  const stored = passwordToStore(settings);
  await store.store(stored.account, password);
  try {
    await changeProfile(context.io, settings.profile, (texts) => {
      // No later logout would find the password.
      if (texts[STORED_PASSWORD] === undefined) {
        const message = 'another imgctl logged out during this login';
        throw new ImgctlError('failed', message, { facts: 'run the command again' });
      }
      return { [STORED_PASSWORD]: markOf(stored) };
    });
  } catch (error) {
    await store.forget(stored.account);
    throw error;
  }
  context.console.success(`The password is stored in ${describeLocation(stored.location)}`);
  const former = markedPassword(settings);
  if (former === undefined) return;
  // A helper has one password per base URL, so it has replaced that of another user.
  const { username } = stored.account;
  const replaced = { ...former, account: { ...former.account, username } };
  if (isSamePassword(replaced, stored)) return;
  if (profilesWith(context, former).length === 0) await deletePassword(context, former);
}

/**
 * Returns the settings with what was typed.
 * @throws ImgctlError usage: the profile belongs to another service
 */
async function completeSettings(context: Context, options: Options): Promise<Settings> {
  let { settings } = context;
  checkConflicts(context, options);
  checkPasswordFile(context, options);
  if (settings.get('base-url') === undefined) {
    const label = 'Address of the service, such as images.example.com';
    const url = await prompt(context, 'base URL', label, '--base-url or IMGCTL_BASE_URL');
    settings = settings.with({ 'base-url': url }, (key) => `--${key}`);
  }
  if (settings.replacedUrl !== undefined) throw belongsTo(settings, settings.replacedUrl);
  // Rejected before the next prompt.
  requireBaseUrl(settings);
  if (settings.get('username') !== undefined) return settings;
  const others = '--username or IMGCTL_USERNAME';
  return settings.with({ username: await prompt(context, 'user name', 'User name', others) });
}

/**
 * A login never moves a profile to another service: it has the storage and the password of its own.
 */
function belongsTo(settings: Settings, profileUrl: string): ImgctlError {
  const { profile } = settings;
  const move = imgctl('config', 'set', 'base-url', settings.text('base-url') ?? '');
  const facts = hint`for the other service: ${imgctl('login')}; or if this one has moved: ${move}`;
  return new ImgctlError('usage', `profile ${profile} belongs to ${profileUrl}`, { facts });
}

function checkConflicts({ io, settings }: Context, options: Options): void {
  if (givenToken(io)) {
    const facts = hint`unset IMGCTL_TOKEN, then run: ${imgctl('login')}`;
    throw new ImgctlError('usage', 'IMGCTL_TOKEN is set and would override this login', { facts });
  }
  if (!options.storePassword) return;
  for (const key of ['password-command', 'password-file'] as const) {
    const { layer, origin } = settings.find(key);
    // IMGCTL_PASSWORD_FILE, like IMGCTL_PASSWORD, gives the password to store.
    if (layer === 'default' || (layer === 'variable' && key === 'password-file')) continue;
    const message = `the ${key.replace('-', ' ')} (${origin}) would override a stored password`;
    throw new ImgctlError('usage', message, {
      facts: hint`omit --store-password, or remove the ${key.replace('-', ' ')}: ${setting('unset', key)}`,
    });
  }
}

/** It is saved after the login. @throws ImgctlError usage: no later command could read it */
function checkPasswordFile({ io, settings }: Context, { passwordFile }: Options): void {
  if (passwordFile === undefined) return;
  const { error } = attempt(() => storedText(settings, 'password-file', io.cwd));
  if (error) throw error.with({ facts: 'use --password-command, or --password-stdin' });
}

/** @param alternative how to give it without a prompt */
async function prompt(
  { console, io }: Context,
  what: string,
  label: string,
  alternative: string,
): Promise<string> {
  await console.flush();
  const otherwise = advice(`provide it with ${alternative}`);
  return ask(io, { what, label, otherwise, hidden: what === 'password' });
}

function promptForPassword(context: Context, { username, baseUrl }: Account): Promise<string> {
  const label = `Password for ${printable(username)} at ${printable(baseUrl)}`;
  const others = '--password-stdin, --password-command, --password-file or IMGCTL_PASSWORD';
  return prompt(context, 'password', label, others);
}

const MAX_ATTEMPTS = 3;

/** Asks again for a password that was typed wrong, while the service allows token requests. */
async function requestFirstToken(
  context: Context,
  options: Options,
  { account, tokens, stores }: Session,
  settings: Settings,
): Promise<{ password: string; token: IssuedToken; isOfProfile: boolean }> {
  if (tokens === undefined) throw new Error('a login does not use IMGCTL_TOKEN');
  const given = await readPassword(context, settings, options);
  const isOfProfile = given?.layer === 'profile';
  let password = given?.password ?? (await promptForPassword(context, account));
  // A token that cannot be stored is not worth one of the few requests.
  await stores.use((store) => store.testWrite());
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { ignoreLimit } = options;
      const { factsIfRefused = { kind: 'password-refused' } } = given ?? {};
      const passwordSource = { read: async () => password, factsIfRefused };
      const token = await tokens.login({ passwordSource, ignoreLimit });
      return { password, token, isOfProfile };
    } catch (error) {
      const left = MAX_ATTEMPTS - attempt;
      const limit = await stores.use((store) => store.readLimit());
      const mayRetry = given === undefined && left > 0 && limit?.remaining !== 0;
      if (!hasCode(error, 'wrong-credentials') || !mayRetry) throw error;
      context.console.warn(`${error.message} (${counted(left, 'attempt')} left)`);
      password = await promptForPassword(context, account);
    }
  }
}

/** Returns undefined if the password has to be typed. */
async function readPassword(context: Context, settings: Settings, options: Options) {
  const { io } = context;
  if (options.passwordStdin && io.stdin.isTTY) {
    const message = '--password-stdin reads a pipe or file, not a terminal';
    throw new ImgctlError('usage', message, { facts: 'omit it to be prompted for the password' });
  }
  if (options.passwordStdin) return { password: await passwordOfStdin(io) };
  const given = givenPassword(settings, io);
  if (given) return { ...given, password: await given.read() };
  // --store-password replaces the stored password, so it must not read it.
  const stored = options.storePassword ? undefined : storedPassword(settings, io);
  const password = await stored?.read().catch((error: unknown) => {
    // A session without the keychain, such as over ssh, can still prompt.
    if (!io.stdin.isTTY || !(error instanceof ImgctlError)) throw error;
    context.console.warn(error.message);
  });
  return password === undefined ? undefined : { ...stored, password };
}

function report(context: Context, settings: Settings, token: IssuedToken): void {
  const { account, profile } = settings;
  const { baseUrl, username } = account;
  const now = context.io.now();
  const lifetime = describeDuration(token.expiresAt - now);
  const whom = `${baseUrl} as ${printable(username)}`;
  context.console.success(`Logged in to ${whom} (token valid for ${lifetime})`);
  if (!settings.isUsual(profile)) {
    const use = imgctl('profile', 'use', profile);
    const text = hint`use this profile with --profile ${profile}, or make it the default: ${use}`;
    context.console.note(context.hintOf(text));
  }
  const { remaining, resetsAt } = token.limit;
  if (remaining !== undefined && remaining <= 2) {
    const until = resetsAt === undefined ? '' : ` in the next ${describeDuration(resetsAt - now)}`;
    const more = ['cannot log in again', 'can log in once more', 'can log in 2 more times'];
    context.console.note(`you ${more[remaining]}${until}`);
  }
}
