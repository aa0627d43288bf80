// imgctl login: requests a token with what was given or typed, and saves the login in the profile.

import path from 'node:path';
import type { IssuedToken } from '../../api/token-request.ts';
import {
  BASE_URL_OPTION,
  command,
  option,
  type Parsed,
  SERVICE_CODES,
  settingOption,
} from '../../cli/command.ts';
import { requireBaseUrl } from '../../config/addresses.ts';
import { changeProfile } from '../../config/config-file.ts';
import { STORED_PASSWORD, UNPROVEN_ADDRESS } from '../../config/definitions.ts';
import type { Account, Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { EXIT_CODES, hasCode, ImgctlError } from '../../errors.ts';
import { printable } from '../../output/text.ts';
import { describeLocation, openPasswordStore } from '../../secrets/keychain.ts';
import { givenPassword, storedPassword } from '../../secrets/passwords.ts';
import { ask } from '../../secrets/prompt.ts';
import { passwordOfStdin } from '../../secrets/secrets.ts';
import { givenToken, type Session } from '../../session/session.ts';
import { counted, describeDuration } from '../../words.ts';

const OPTIONS = [
  BASE_URL_OPTION,
  settingOption('-u, --username <name>', 'username', 'user name of the account'),
  option('--password-stdin', 'read the password from standard input', {
    conflicts: ['passwordCommand', 'passwordFile'],
  }),
  settingOption(
    '--password-command <command>',
    'password-command',
    'shell command whose first output line is the password',
  ),
  { ...settingOption('--password-file <file>', 'password-file'), conflicts: ['passwordCommand'] },
  option('--store-password', 'store the password in the keychain or the credential helper'),
  option('--ignore-limit', 'request a token even if the remembered limit is reached'),
] as const;

type Options = Parsed<typeof OPTIONS>;

export const login = command({
  name: 'login',
  summary: 'log in to a service',
  description: [
    'You are prompted for anything you leave out, and again after a wrong password, up to three times. If the login fails, a new address and user name are saved, but replace no earlier ones; an address that never worked is asked for again.',
    'A password command or file is saved in the profile, so that other commands can renew an expired token. A command must finish within 30 s and cannot prompt.',
  ],
  details: [
    '--store-password uses the system keychain, by secret-tool (Linux) or security (macOS), or the credential helper that is set (on Windows, wincred). To replace the password, run the command again; to delete it, run "imgctl logout". Jobs cannot use a locked keychain: give them a password command.',
    'The service limits token requests. At the limit, imgctl sends none until it has passed; --ignore-limit sends one anyway, for example after correcting the clock.',
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

async function run(context: Context, options: Options): Promise<void> {
  const { io, console } = context;
  const isNameTyped = context.settings.find('username').text === undefined;
  const settings = await completeSettings(context, options);
  const session = await context.openSession(settings);
  const { account } = session;
  const location = settings.passwordLocation;
  const { storedAt: former = location } = settings;
  if (options.storePassword) await saveWhatIsMissing(context, account);
  const store = options.storePassword ? openPasswordStore(io, location) : undefined;
  // An unusable store fails before it uses up a token request.
  await store?.lookup(account);
  const { password, token } = await requestFirstToken(
    context,
    options,
    session,
    settings,
    isNameTyped,
  );

  const { passwordCommand: command, passwordFile } = options;
  // Other commands run in other folders.
  const file = passwordFile && path.resolve(io.cwd, passwordFile);
  await changeProfile(io, settings.profile, {
    'base-url': account.baseUrl,
    username: account.username,
    [UNPROVEN_ADDRESS]: undefined,
    // One of them replaces the other.
    ...((command ?? file) && { 'password-command': command, 'password-file': file }),
    // Written before the password is stored, so that a logout always finds the password.
    ...(store ? { [STORED_PASSWORD]: former } : {}),
  }).catch((error: unknown) => {
    // The login itself worked, even if the settings cannot be written.
    if (store || !hasCode(error, 'config', 'locked')) throw error;
    console.warn(error.message, error.hint);
    if (command ?? file) context.exitCode = EXIT_CODES.failed;
  });
  report(context, account, token);
  // The disk may have filled up meanwhile, which was a warning.
  if (session.cache.writeFailed) context.exitCode = EXIT_CODES.failed;
  if (!store) return;
  await store.store(account, password);
  if (former !== location) {
    await changeProfile(io, settings.profile, { [STORED_PASSWORD]: location });
    await openPasswordStore(io, former).forget(account);
  }
  console.success(`The password is stored in ${describeLocation(location)}`);
}

async function completeSettings(context: Context, options: Options): Promise<Settings> {
  let given = context.settings;
  checkConflicts(context, options, given);
  const label = 'Address of the service, such as images.example.com';
  const known = given.text('base-url');
  // One that never worked may be mistyped.
  const isDoubtful =
    isUnproven(context) && given.find('base-url').layer === 'profile' && context.io.stdin.isTTY;
  if (known === undefined || isDoubtful) {
    const others = '--base-url or IMGCTL_BASE_URL';
    const typed = await prompt(context, 'base URL', label, others, known);
    given = given.with({ 'base-url': typed }, (key) => `--${key}`);
  }
  // Rejected before the next prompt.
  requireBaseUrl(given);
  const username =
    given.get('username') ??
    (await prompt(context, 'user name', 'User name', '--username or IMGCTL_USERNAME'));
  return given.with({ username });
}

function checkConflicts(context: Context, options: Options, given: Settings): void {
  if (givenToken(context.io)) {
    throw new ImgctlError('usage', 'IMGCTL_TOKEN is set and would override this login', {
      hint: 'unset IMGCTL_TOKEN, then run: imgctl login',
    });
  }
  const keys = ['password-command', 'password-file'] as const;
  const key = keys.find((each) => given.find(each).layer !== 'default');
  if (key === undefined || !options.storePassword) return;
  const { layer, origin } = given.find(key);
  const remove = {
    default: '',
    option: `omit --${key}`,
    variable: `unset ${origin}`,
    profile: `run: imgctl config unset ${key}${given.profileFlag}`,
  }[layer];
  const message = `the ${key.replace('-', ' ')} (${origin}) would override a stored password`;
  throw new ImgctlError('usage', message, { hint: `omit --store-password, or ${remove}` });
}

function isUnproven({ settings: { config, profile } }: Context): boolean {
  return config.profiles.get(profile)?.[UNPROVEN_ADDRESS] !== undefined;
}

/** @param alternative how to give it without a prompt. @param usual the answer for an empty line */
async function prompt(
  { console, io }: Context,
  what: string,
  label: string,
  alternative: string,
  usual?: string,
) {
  await console.flush();
  const shown = usual === undefined ? label : `${label} [${printable(usual)}]`;
  return ask(io, { what, label: shown, alternative, usual, hidden: what === 'password' });
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
  { account, tokens, store }: Session,
  settings: Settings,
  isNameTyped: boolean,
): Promise<{ password: string; token: IssuedToken }> {
  if (tokens === undefined) throw new Error('a login does not use IMGCTL_TOKEN');
  const given = await readPassword(context, settings, options);
  let password = given?.password ?? (await promptForPassword(context, account));
  // A token that cannot be stored is not worth one of the few requests.
  await store.testWrite();
  await saveWhatIsMissing(context, account);
  const otherUser = `check the password, or log in as another user: ${settings.loginCommand} --username NAME`;
  const hint = given?.hint ?? (isNameTyped ? otherUser : undefined);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { password, token: await tokens.login(password, hint, options) };
    } catch (error) {
      if (!(error instanceof ImgctlError)) throw error;
      await noteAddress(context, hasCode(error, ...OF_SERVICE));
      if (error.code === 'unreachable') {
        // It is saved, so the next login does not ask for it.
        const another = `for another address: imgctl login${settings.profileFlag} --base-url URL`;
        throw error.with({ hint: [error.hint, another].filter(Boolean).join('; ') });
      }
      const left = MAX_ATTEMPTS - attempt;
      const limit = await store.readLimit(context.io.now());
      const mayRetry = given === undefined && left > 0 && limit?.remaining !== 0;
      if (error.code !== 'wrong-credentials' || !mayRetry) throw error;
      context.console.warn(`${error.message} (${counted(left, 'attempt')} left)`);
      password = await promptForPassword(context, account);
    }
  }
}

/** Errors that only the service itself sends. */
const OF_SERVICE = ['wrong-credentials', 'not-permitted', 'rate-limited'] as const;

/** Remembers whether the stored address is that of a service. */
async function noteAddress(context: Context, isProven: boolean): Promise<void> {
  const { profile } = context.settings;
  // As it was when the run began.
  const isNew = context.settings.config.profiles.get(profile)?.['base-url'] === undefined;
  if (!isNew && !isUnproven(context)) return;
  const mark = { [UNPROVEN_ADDRESS]: isProven ? undefined : 'true' };
  await changeProfile(context.io, profile, mark).catch(() => {});
}

/** A login that fails need not ask for it again. What the profile has is only replaced by a login that works. */
async function saveWhatIsMissing(context: Context, account: Account): Promise<void> {
  const { profile, baseUrl, username } = account;
  const known = context.settings.config.profiles.get(profile) ?? {};
  const found = Object.entries({ 'base-url': baseUrl, username });
  const missing = found.filter(
    ([key]) => !(key in known) || (key === 'base-url' && isUnproven(context)),
  );
  if (missing.length === 0) return;
  // If nothing can be written, the end of the login says so.
  await changeProfile(context.io, profile, Object.fromEntries(missing)).catch(() => {});
}

/** Returns undefined if the password has to be typed. */
async function readPassword(context: Context, settings: Settings, options: Options) {
  const { io } = context;
  if (options.passwordStdin) return { password: await passwordOfStdin(io) };
  const given = givenPassword(settings, io);
  if (given) return { password: await given.read(), hint: given.hint };
  // --store-password replaces the stored password, so it must not read it.
  const stored = options.storePassword ? undefined : storedPassword(settings, io);
  const password = await stored?.read().catch((error: unknown) => {
    // A session without the keychain, such as over ssh, can still prompt.
    if (!io.stdin.isTTY || !(error instanceof ImgctlError)) throw error;
    context.console.warn(error.message);
  });
  return password === undefined ? undefined : { password, hint: stored?.hint };
}

function report(context: Context, { baseUrl, username }: Account, token: IssuedToken): void {
  const now = context.io.now();
  const lifetime = describeDuration(token.expiresAt - now);
  const whom = `${baseUrl} as ${printable(username)}`;
  context.console.success(`Logged in to ${whom} (token valid for ${lifetime})`);
  const { remaining, resetsAt } = token.limit;
  if (remaining !== undefined && remaining <= 2) {
    const until = resetsAt === undefined ? '' : ` in the next ${describeDuration(resetsAt - now)}`;
    const more = ['cannot log in again', 'can log in once more', 'can log in 2 more times'];
    context.console.note(`you ${more[remaining]}${until}`);
  }
}
