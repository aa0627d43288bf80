// imgctl logout: deletes cached tokens and the stored password.

import { command, option } from '../../cli/declare.ts';
import { STORED_PASSWORD } from '../../config/definitions.ts';
import { findPaths } from '../../config/paths.ts';
import { type Settings, storedSettings } from '../../config/settings.ts';
import { passwordsToDelete } from '../../config/stored-password.ts';
import type { Context } from '../../context.ts';
import { attempt, hasCode, ImgctlError, tryOr } from '../../errors.ts';
import { type Facts, hint, imgctl, setting } from '../../facts.ts';
import { printable } from '../../output/text.ts';
import { findSecret } from '../../secrets/secrets.ts';
import { openSharedStore } from '../../session/session.ts';
import { forgetTokens } from '../../session/token-files.ts';
import { SharedStoreError } from '../../session/token-store.ts';
import { counted } from '../../words.ts';
import { unknownProfile } from '../configuration/profile.ts';
import {
  deleteStoredPasswords,
  profilesSharing,
  profilesWith,
  throwFailures,
} from '../stored-login.ts';

export const logout = command({
  name: 'logout',
  otherNames: ['signout', 'sign-out', 'logoff'],
  summary: 'delete cached tokens and the stored password',
  description: [
    'Deletes the token of the profile, shared by profiles with the same user and base URL. The token of an earlier user stays until it expires, or until --all deletes it.',
    'Also deletes the password that "imgctl login --store-password" stored, but no settings. The service is not contacted, and cannot revoke tokens. Only --all deletes a token in a shared store (see "imgctl help fleet").',
  ],
  examples: ['imgctl logout', 'imgctl logout --profile staging', 'imgctl logout --all'],
  seeAlso: ['login', 'profile delete'],
  options: [option('--all', 'log out of all profiles, and delete shared tokens')],
  exitCodes: [3],
  run: (context, { all = false }) => (all ? logOutEverywhere(context) : logOut(context)),
});

async function logOut(context: Context): Promise<void> {
  const { io, console, settings } = context;
  const { account } = settings;
  const count = forgetTokens(findPaths(io).config, account);
  if (count > 0) {
    const whom = `${account.baseUrl} as ${printable(account.username)}`;
    console.success(`Logged out of ${whom}${describeTokens(count)}`);
    const others = profilesSharing(context, account);
    if (others.length > 0) {
      console.report(`also logged out, because they share the token: ${others.join(', ')}`);
    }
  } else sayNotLoggedIn(context);
  const sharers = passwordsToDelete(settings).flatMap((each) => profilesWith(context, each));
  const { isDeleted, failures } = await deleteStoredPasswords(context, settings);
  if (isDeleted) {
    console.success('Deleted the stored password');
    const names = [...new Set(sharers)].join(', ');
    if (names !== '') console.report(`other profiles used the password: ${names}`);
  }
  notePasswords(context, [settings]);
  throwFailures(
    context,
    failures.map((error) => error.with({ facts: whatIsLeft(settings) })),
  );
}

function whatIsLeft({ profile, storedAt }: Settings): Facts {
  const again = hint`when the password store works again, run: ${imgctl('logout', '--profile', profile)}`;
  if (storedAt === undefined) return again;
  const forget = imgctl('config', 'unset', STORED_PASSWORD, '--profile', profile);
  return hint`${again}; to forget the password without deleting it: ${forget}`;
}

function sayNotLoggedIn({ console, settings }: Context): void {
  const { config, profile, isUnknown, replacedUrl } = settings;
  if (isUnknown) {
    const { message, facts } = unknownProfile(config, profile);
    console.warn(message, facts);
  } else if (replacedUrl !== undefined) {
    const message = `profile ${profile} was not logged out: it belongs to ${replacedUrl}`;
    console.warn(message, setting('unset', 'base-url'));
  } else console.note('you were not logged in');
}

async function logOutEverywhere(context: Context): Promise<void> {
  const { io, console, settings } = context;
  const directory = findPaths(io).config;
  const failures: ImgctlError[] = [];
  const { value: count, error: failure } = attempt(() => forgetTokens(directory));
  if (failure) failures.push(failure);
  else if (count > 0) console.success(`Logged out${describeTokens(count)}`);
  else console.note('you were not logged in');
  const { config } = settings;
  const { IMGCTL_TOKEN_STORE } = io.env;
  const profiles = [...config.profiles.keys()].map((name) => {
    return storedSettings(config, name, io.env, { IMGCTL_TOKEN_STORE });
  });
  for (const each of profiles) {
    const deletion = await deleteStoredPasswords(context, each);
    if (deletion.isDeleted) {
      console.success(`Deleted the stored password of profile ${each.profile}`);
    }
    for (const error of deletion.failures) failures.push(error.with({ facts: whatIsLeft(each) }));
  }
  notePasswords(context, [settings, ...profiles]);
  try {
    failures.push(...(await deleteSharedTokens(context, [settings, ...profiles])));
  } finally {
    // A run that was still storing its shared token has written it to a file too.
    const { error } = attempt(() => forgetTokens(directory));
    if (error && !failure) failures.push(error);
  }
  throwFailures(context, failures);
}

function describeTokens(count: number): string {
  return count > 1 ? ` (deleted ${counted(count, 'token')})` : '';
}

/** Names the sources of passwords that stay. */
function notePasswords({ io, console }: Context, profiles: readonly Settings[]): void {
  const originOf = (each: Settings) =>
    tryOr(() => findSecret(each, io, 'password')?.origin, undefined);
  const origins = [...new Set(profiles.flatMap((each) => originOf(each) ?? []))];
  if (origins.length > 0) console.note(`commands log in again with ${origins.join(' or ')}`);
}

/** Deletes the tokens that other machines use too. @returns what could not be deleted */
async function deleteSharedTokens(
  context: Context,
  profiles: readonly Settings[],
): Promise<ImgctlError[]> {
  const seen = new Set<string>();
  const failures: ImgctlError[] = [];
  for (const settings of profiles) {
    try {
      const address = settings.text('token-store') ?? 'file';
      if (address === 'file') continue;
      const { baseUrl, username } = settings.account;
      const key = [address, baseUrl, username].join('\0');
      if (baseUrl === '' || seen.has(key)) continue;
      seen.add(key);
      await deleteSharedToken(context, settings, address);
    } catch (error) {
      if (!hasCode(error, 'config', 'unreachable')) throw error;
      failures.push(error);
    }
  }
  return failures;
}

/** @throws ImgctlError unreachable; config: the store cannot be opened */
async function deleteSharedToken(
  context: Context,
  settings: Settings,
  address: string,
): Promise<void> {
  const store = await openSharedStore(context.sessionOptions(settings));
  try {
    if (await store?.account.forgetToken())
      context.console.success(`Deleted the token in ${address}`);
  } catch (error) {
    if (!(error instanceof SharedStoreError)) throw error;
    const message = `cannot delete the token in ${store?.location}: ${error.message}`;
    const facts = hint`when the token store works again, run: ${imgctl('logout', '--all')}`;
    throw new ImgctlError('unreachable', message, { facts });
  } finally {
    await store?.account.close();
  }
}
