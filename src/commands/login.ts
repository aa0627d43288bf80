// imgctl login: requests a token with what was given or typed, and stores the login.

import type { IssuedToken } from '../api/token.ts';
import type { Context } from '../context.ts';
import { describeDuration } from '../duration.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { printable } from '../output/text.ts';
import { readAnswers, storeAnswers } from '../session/answers.ts';
import { nameOfPlace, openPasswordStore, placeOfHelper } from '../session/password-store.ts';
import { changeProfile } from '../session/profile.ts';
import { passwordOfStdin, secretOfCommand } from '../session/secrets.ts';
import { givenPassword, type Session, storedPassword } from '../session/session.ts';
import { STORED_PASSWORD } from '../session/setting-table.ts';
import type { Settings } from '../session/settings.ts';
import type { Account } from '../session/token-store.ts';
import { Dialogue } from './login-dialogue.ts';

interface LoginOptions {
  username?: string;
  passwordStdin?: boolean;
  passwordCommand?: string;
  storePassword?: boolean;
  ignoreLimit?: boolean;
}

export async function run(context: Context, options: LoginOptions): Promise<void> {
  const flags = { username: options.username, 'password-command': options.passwordCommand };
  const given = context.settingsWith(flags);
  checkConflicts(context, options, given);
  const { state } = context.paths;
  const { profile } = given;
  const dialogue = new Dialogue(context, given, readAnswers(state, profile));
  try {
    const settings = await dialogue.complete(flags);
    await logIn(context, options, settings, dialogue);
  } catch (error) {
    await storeAnswers(state, context.io, profile, dialogue.answers);
    throw error;
  }
  await storeAnswers(state, context.io, profile, undefined);
}

async function logIn(
  context: Context,
  options: LoginOptions,
  settings: Settings,
  dialogue: Dialogue,
): Promise<void> {
  const { io } = context;
  const session = await context.openSession(settings);
  const { account } = session;
  const { username } = account;
  const place = placeOfHelper(settings.get('credential-helper'));
  const store = options.storePassword ? await openPasswordStore(io, place) : undefined;
  // An unusable store fails before it uses up a token request.
  await store?.check(account);
  const { password, token } = await requestToken(context, options, settings, session, dialogue);

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

const MAX_ATTEMPTS = 3;

/** Asks again for a password that was typed wrong, while the service allows token requests. */
async function requestToken(
  context: Context,
  options: LoginOptions,
  settings: Settings,
  { account, baseUrl, tokens, store }: Session,
  dialogue: Dialogue,
): Promise<{ password: string; token: IssuedToken }> {
  if (tokens === undefined) throw new Error('a login does not use IMGCTL_TOKEN');
  const given = await readPassword(context, options, settings, account);
  for (let attempt = 1; ; attempt += 1) {
    const password = given?.password ?? (await dialogue.password(account));
    try {
      return { password, token: await tokens.login(password, given?.remedy, options) };
    } catch (error) {
      if (!(error instanceof ImgctlError)) throw error;
      const left = MAX_ATTEMPTS - attempt;
      const limit = await store.readLimit(context.io.now());
      const mayRetry = given === undefined && left > 0 && limit?.remaining !== 0;
      if (error.code !== 'wrong-credentials' || !mayRetry) throw withLoginHint(error, baseUrl);
      context.console.warn(`${error.message} (${counted(left, 'attempt')} left)`);
    }
  }
}

/** Nothing is stored yet that `imgctl config` could show. */
function withLoginHint(error: ImgctlError, baseUrl: string): ImgctlError {
  const hint = error.hint
    ?.replace(/: imgctl config list.*/, ` (${baseUrl})`)
    .replace('imgctl config set base-url', 'imgctl login --base-url');
  return error.with({ hint });
}

function checkConflicts(context: Context, options: LoginOptions, given: Settings): void {
  if (context.io.env.IMGCTL_TOKEN) {
    throw new ImgctlError('usage', 'IMGCTL_TOKEN is set and would override this login', {
      hint: 'unset IMGCTL_TOKEN, then run: imgctl login',
    });
  }
  const command = given.find('password-command');
  if (options.storePassword && given.get('password-command')) {
    const message = `the password command (${command.origin}) would override a stored password`;
    const remove =
      command.source === 'profile'
        ? `run: imgctl config unset password-command${given.profileFlag}`
        : `remove ${command.origin}`;
    throw new ImgctlError('usage', message, { hint: `omit --store-password, or ${remove}` });
  }
}

/** Returns undefined if the password has to be typed. */
async function readPassword(
  context: Context,
  options: LoginOptions,
  settings: Settings,
  account: Account,
): Promise<{ password: string; remedy?: string | undefined } | undefined> {
  const { io } = context;
  if (options.passwordStdin) return { password: await passwordOfStdin(io) };
  if (options.passwordCommand !== undefined) {
    const command = options.passwordCommand;
    return { password: await secretOfCommand(command, io) };
  }
  const given = givenPassword(settings, io);
  if (given) {
    const remedy = `check ${given.origin} and the user name ${printable(account.username)}`;
    return { password: await given.read(), remedy };
  }
  // --store-password replaces the stored password, so it must not read it.
  const stored = options.storePassword ? undefined : storedPassword(settings, io, account);
  const password = await stored?.read().catch((error: unknown) => {
    // A session without the keychain, such as over ssh, can still prompt.
    if (!io.stdin.isTTY || !(error instanceof ImgctlError)) throw error;
    context.console.warn(error.message);
  });
  return password === undefined ? undefined : { password, remedy: stored?.remedy };
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
