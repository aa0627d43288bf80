// imgctl login: asks for what it was not given, fetches a token, remembers where it logged in.

import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { printable } from '../output/sanitize.ts';
import {
  givenPassword,
  passwordOfCommand,
  passwordOfStdin,
  storedPassword,
} from '../session/password.ts';
import { changeProfile } from '../session/profile.ts';
import { ask } from '../session/prompt.ts';
import type { Session } from '../session/session.ts';
import { describeDuration, type Settings, STORED_PASSWORD } from '../session/settings.ts';
import type { LoginResult } from '../session/tokens.ts';

interface LoginOptions {
  username?: string;
  passwordStdin?: boolean;
  passwordCommand?: string;
  storePassword?: boolean;
}

export async function run(context: Context, options: LoginOptions): Promise<void> {
  const { io } = context;
  const flags = { username: options.username, 'password-command': options.passwordCommand };
  const given = context.settingsWith(flags);
  refuseContradictions(context, options, given);
  const baseUrl = await findBaseUrl(context, given);
  const username = given.text('username') ?? (await ask(io, USER_NAME));
  const settings = context.settingsWith({ ...flags, username, 'base-url': baseUrl });
  const session = await context.openSession(settings);
  const { account, tokens } = session;
  if (tokens === undefined) throw new Error('a login without IMGCTL_TOKEN has a source of tokens');
  const keychain = options.storePassword
    ? (await import('../session/keychain.ts')).openKeychain(io)
    : undefined;
  // Where there is no keychain, no token request is spent.
  await keychain?.lookup(account);
  const { password, remedy } = await readPassword(context, options, settings, session);
  const token = await tokens.login(password, remedy);

  await changeProfile(context.paths.config, io, settings.profile, {
    'base-url': session.baseUrl,
    username,
    ...(options.passwordCommand === undefined
      ? {}
      : { 'password-command': options.passwordCommand }),
    // Written before the password is stored: none is ever there that a logout would not find.
    ...(keychain ? { [STORED_PASSWORD]: 'keychain' } : {}),
  }).catch((error: unknown) => {
    // The login itself has worked; without a place to keep the rest it holds for this run.
    if (keychain || !(error instanceof ImgctlError) || error.code !== 'config') throw error;
    // Where the token could not be kept either, one warning has said so.
    if (!session.cache.writeFailed) context.console.warn(error.message, error.hint);
  });
  report(context, session, token);
  await keychain?.store(account, password).catch(async (error: unknown) => {
    // After an interrupt, or where there was one before, the keychain may well hold one.
    const holdsNone = error instanceof ImgctlError && error.code === 'config';
    if (holdsNone && !settings.hasStoredPassword) {
      const nothing = { [STORED_PASSWORD]: undefined };
      await changeProfile(context.paths.config, io, settings.profile, nothing);
    }
    throw error;
  });
  if (keychain) context.console.note('the password is kept in the system keychain');
}

const BASE_URL = { what: 'base URL', hidden: false, instead: '--base-url or IMGCTL_BASE_URL' };
const USER_NAME = { what: 'user name', hidden: false, instead: '--username or IMGCTL_USERNAME' };
const PASSWORD = {
  what: 'password',
  hidden: true,
  instead: '--password-stdin, --password-command, IMGCTL_PASSWORD or IMGCTL_PASSWORD_FILE',
};

/** One that cannot be used is refused before anything else is asked. */
async function findBaseUrl(context: Context, given: Settings): Promise<string> {
  const baseUrl = given.text('base-url') ?? (await ask(context.io, BASE_URL));
  const { requireBaseUrl } = await import('../session/session.ts');
  requireBaseUrl(context.settingsWith({ 'base-url': baseUrl }));
  return baseUrl;
}

/** @throws ImgctlError usage */
function refuseContradictions(context: Context, options: LoginOptions, given: Settings): void {
  if (context.io.env.IMGCTL_TOKEN) {
    throw new ImgctlError('usage', 'IMGCTL_TOKEN is set: it would be used instead of this login', {
      hint: 'unset IMGCTL_TOKEN, then log in',
    });
  }
  if (options.passwordStdin && options.passwordCommand !== undefined) {
    throw new ImgctlError('usage', '--password-stdin and --password-command contradict', {
      hint: 'give one of them',
    });
  }
  const command = given.resolve('password-command');
  if (options.storePassword && command.value) {
    throw new ImgctlError(
      'usage',
      `there is a password command (${command.origin}): a stored password would not be used`,
      {
        hint: `leave out --store-password, or first: imgctl config unset password-command${given.profileFlag}`,
      },
    );
  }
}

/** The password of this login, and what helps where the service refuses it. */
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
  // One that is to be stored does not come from the store.
  const stored = options.storePassword ? undefined : storedPassword(settings, io, account);
  const password = await stored?.read().catch((error: unknown) => {
    // Without a session that has the keychain, such as over ssh, a person can still be asked.
    if (!io.stdin.isTTY || !(error instanceof ImgctlError)) throw error;
    context.console.warn(error.message);
  });
  if (password !== undefined) return { password, remedy: stored?.remedy };
  return { password: await context.console.exclusively(() => ask(io, PASSWORD)) };
}

/** Says what the login has brought, and how many more the service allows when those are few. */
function report(context: Context, { baseUrl, account }: Session, token: LoginResult): void {
  const now = context.io.now();
  const lifetime = describeDuration(token.expiresAt - now);
  context.console.note(
    `logged in to ${baseUrl} as ${printable(account.username)}; the token is valid for ${lifetime}`,
  );
  const { remaining, resetsAt } = token.limit;
  if (remaining !== undefined && remaining <= 2) {
    const until = resetsAt === undefined ? '' : ` in the next ${describeDuration(resetsAt - now)}`;
    context.console.note(`${counted(remaining, 'token request')} left${until}`);
  }
}
