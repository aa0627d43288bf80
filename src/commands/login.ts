// imgctl login: prompts for what is missing, requests a token and stores the login.

import type { IssuedToken } from '../api/token.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { printable } from '../output/sanitize.ts';
import { describeDuration } from '../session/duration.ts';
import { passwordOfCommand, passwordOfStdin } from '../session/password.ts';
import { nameOfPlace, openPasswordStore, placeOfHelper } from '../session/password-store.ts';
import { changeProfile } from '../session/profile.ts';
import { ask } from '../session/prompt.ts';
import { givenPassword, requireBaseUrl, type Session, storedPassword } from '../session/session.ts';
import { STORED_PASSWORD } from '../session/setting-table.ts';
import type { Settings } from '../session/settings.ts';

interface LoginOptions {
  username?: string;
  passwordStdin?: boolean;
  passwordCommand?: string;
  storePassword?: boolean;
  ignoreLimit?: boolean;
}

export async function run(context: Context, options: LoginOptions): Promise<void> {
  const { io } = context;
  const flags = { username: options.username, 'password-command': options.passwordCommand };
  const given = context.settingsWith(flags);
  checkConflicts(context, options, given);
  const baseUrl = await findBaseUrl(context, given);
  const username = given.text('username') ?? (await ask(io, USER_NAME));
  const settings = context.settingsWith({ ...flags, username, 'base-url': baseUrl });
  const session = await context.openSession(settings);
  const { account, tokens } = session;
  if (tokens === undefined) throw new Error('a login does not use IMGCTL_TOKEN');
  const place = placeOfHelper(settings.text('credential-helper'));
  const store = options.storePassword ? await openPasswordStore(io, place) : undefined;
  // An unusable store fails before it uses up a token request.
  await store?.check(account);
  const { password, remedy } = await readPassword(context, options, settings, session);
  const token = await tokens.login(password, remedy, options);

  await changeProfile(context.paths.config, io, settings.profile, {
    'base-url': session.baseUrl,
    username,
    ...(options.passwordCommand === undefined
      ? {}
      : { 'password-command': options.passwordCommand }),
    // Written before the password is stored, so that a logout always finds the password.
    ...(store ? { [STORED_PASSWORD]: place } : {}),
  }).catch((error: unknown) => {
    // The login itself worked, even if the settings cannot be written.
    if (store || !(error instanceof ImgctlError) || error.code !== 'config') throw error;
    // One warning is enough if the token could not be stored either.
    if (!session.cache.writeFailed) context.console.warn(error.message, error.hint);
  });
  report(context, session, token);
  await store?.store(account, password).catch(async (error: unknown) => {
    // After an interrupt the store may hold the password.
    if (error instanceof ImgctlError && error.code === 'config') {
      const former = { [STORED_PASSWORD]: settings.storedAt };
      await changeProfile(context.paths.config, io, settings.profile, former);
    }
    throw error;
  });
  const { storedAt: former = place } = settings;
  if (store && former !== place) await (await openPasswordStore(io, former)).forget(account);
  if (store) context.console.success(`The password is stored in ${nameOfPlace(place)}`);
}

const BASE_URL = { what: 'base URL', hidden: false, instead: '--base-url or IMGCTL_BASE_URL' };
const USER_NAME = { what: 'user name', hidden: false, instead: '--username or IMGCTL_USERNAME' };
const PASSWORD = {
  what: 'password',
  hidden: true,
  instead: '--password-stdin, --password-command, IMGCTL_PASSWORD or IMGCTL_PASSWORD_FILE',
};

/** Rejects an unusable URL before the next prompt. */
async function findBaseUrl(context: Context, given: Settings): Promise<string> {
  const baseUrl = given.text('base-url') ?? (await ask(context.io, BASE_URL));
  requireBaseUrl(context.settingsWith({ 'base-url': baseUrl }));
  return baseUrl;
}

function checkConflicts(context: Context, options: LoginOptions, given: Settings): void {
  if (context.io.env.IMGCTL_TOKEN) {
    throw new ImgctlError('usage', 'IMGCTL_TOKEN is set and would override this login', {
      hint: 'unset IMGCTL_TOKEN, then run: imgctl login',
    });
  }
  if (options.passwordStdin && options.passwordCommand !== undefined) {
    const message = '--password-stdin and --password-command cannot be used together';
    throw new ImgctlError('usage', message, { hint: 'omit one of them' });
  }
  const command = given.resolve('password-command');
  if (options.storePassword && command.value) {
    const message = `the password command (${command.origin}) would override a stored password`;
    const remove = command.origin.startsWith('profile ')
      ? `run: imgctl config unset password-command${given.profileFlag}`
      : `remove ${command.origin}`;
    throw new ImgctlError('usage', message, { hint: `omit --store-password, or ${remove}` });
  }
}

async function readPassword(
  context: Context,
  options: LoginOptions,
  settings: Settings,
  { account }: Session,
): Promise<{ password: string; remedy?: string | undefined }> {
  const { io } = context;
  if (options.passwordStdin) return { password: await passwordOfStdin(io) };
  if (options.passwordCommand !== undefined) {
    return { password: await passwordOfCommand(options.passwordCommand, io) };
  }
  const given = givenPassword(settings, io);
  if (given) return { password: await given.read(), remedy: given.remedy };
  // --store-password replaces the stored password, so it must not read it.
  const stored = options.storePassword ? undefined : storedPassword(settings, io, account);
  const password = await stored?.read().catch((error: unknown) => {
    // A session without the keychain, such as over ssh, can still prompt.
    if (!io.stdin.isTTY || !(error instanceof ImgctlError)) throw error;
    context.console.warn(error.message);
  });
  if (password !== undefined) return { password, remedy: stored?.remedy };
  return { password: await context.console.exclusively(() => ask(io, PASSWORD)) };
}

/** Reports the lifetime of the token, and the token requests left if they are few. */
function report(context: Context, { baseUrl, account }: Session, token: IssuedToken): void {
  const now = context.io.now();
  const lifetime = describeDuration(token.expiresAt - now);
  context.console.success(
    `Logged in to ${baseUrl} as ${printable(account.username)} (token valid for ${lifetime})`,
  );
  const { remaining, resetsAt } = token.limit;
  if (remaining !== undefined && remaining <= 2) {
    const until = resetsAt === undefined ? '' : ` in the next ${describeDuration(resetsAt - now)}`;
    context.console.note(`${counted(remaining, 'token request')} left${until}`);
  }
}
