// imgctl logout: deletes cached tokens and the stored password.

import { suggest } from '../../choices.ts';
import { command, option } from '../../cli/command.ts';
import { findPaths } from '../../config/paths.ts';
import { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { ImgctlError, tryOr } from '../../errors.ts';
import { hint, imgctl, setting } from '../../facts.ts';
import { printable } from '../../output/text.ts';
import { findSecret } from '../../secrets/secrets.ts';
import { openSharedStore } from '../../session/session.ts';
import { forgetTokens } from '../../session/token-files.ts';
import { SharedStoreError } from '../../session/token-store.ts';
import { counted, quoted } from '../../words.ts';
import { deleteStoredPassword, profilesSharing } from '../stored-login.ts';

export const logout = command({
  name: 'logout',
  otherNames: ['signout', 'sign-out', 'logoff'],
  summary: 'delete cached tokens and the stored password',
  description: [
    'Deletes the token of the profile, which profiles with the same user and base URL share. The token of an earlier user stays until it expires, or until --all deletes it.',
    'Also deletes the password that "imgctl login --store-password" stored, but no settings. The service is not contacted, and cannot revoke tokens. Only --all deletes a token in a shared store (see "imgctl help fleet").',
  ],
  examples: ['imgctl logout', 'imgctl logout --profile staging', 'imgctl logout --all'],
  seeAlso: ['login', 'profile delete'],
  options: [option('--all', 'log out of all profiles, and delete shared tokens')],
  exitCodes: [3],
  run: (context, { all = false }) => run(context, all),
});

async function run(context: Context, all: boolean): Promise<void> {
  const { console, settings } = context;
  const { config } = settings;
  const { IMGCTL_TOKEN_STORE } = context.io.env;
  const count = forgetTokens(findPaths(context.io).config, all ? undefined : settings.account);
  const { baseUrl, username } = settings.account;
  const whom = all ? '' : ` of ${baseUrl} as ${printable(username)}`;
  const several = count > 1 ? ` (deleted ${counted(count, 'token')})` : '';
  if (count > 0) console.success(`Logged out${whom}${several}`);
  else if (settings.isUnknown && !all) {
    const list = imgctl('profile', 'list');
    console.warn(
      `unknown profile ${quoted(settings.profile)}`,
      suggest(settings.profile, [...config.profiles.keys()], list),
    );
  } else if (settings.owner !== undefined && !all) {
    const message = `profile ${settings.profile} belongs to ${settings.owner}, and was not logged out`;
    console.warn(message, setting('unset', 'base-url'));
  } else console.note('you were not logged in');
  const others = all || count === 0 ? [] : profilesSharing(context, settings.account);
  if (others.length > 0) {
    console.report(`also logged out, because they share the token: ${others.join(', ')}`);
  }
  const profiles = all
    ? [...config.profiles.keys()].map((name) => new Settings(config, name, { IMGCTL_TOKEN_STORE }))
    : [settings];
  for (const each of profiles) {
    const whose = all ? ` of profile ${each.profile}` : '';
    const isDeleted = await deleteStoredPassword(context, each);
    if (isDeleted) console.success(`Deleted the stored password${whose}`);
  }
  const originOf = (each: Settings) =>
    tryOr(() => findSecret(each, context.io, 'password')?.origin, undefined);
  const origins = [...new Set([settings, ...profiles].flatMap((each) => originOf(each) ?? []))];
  if (origins.length > 0) console.note(`commands log in again with ${origins.join(' or ')}`);
  if (!all) return;
  // A run that was still storing its shared token has written it to a file too.
  await deleteSharedTokens(context, [settings, ...profiles]).finally(() =>
    forgetTokens(findPaths(context.io).config),
  );
}

/** Deletes the tokens that other machines use too. @throws ImgctlError unreachable */
async function deleteSharedTokens(context: Context, profiles: readonly Settings[]): Promise<void> {
  const seen = new Set<string>();
  for (const settings of profiles) {
    const address = settings.text('token-store') ?? 'file';
    if (address === 'file') continue;
    const { baseUrl, username } = settings.account;
    const key = [address, baseUrl, username].join('\0');
    if (baseUrl === '' || seen.has(key)) continue;
    seen.add(key);
    const store = await openSharedStore(context.sessionOptions(settings));
    try {
      if (await store?.forget()) context.console.success(`Deleted the token in ${address}`);
    } catch (error) {
      if (!(error instanceof SharedStoreError)) throw error;
      const message = `cannot delete the token in ${store?.location}: ${error.message}`;
      const facts = hint`when the token store works again, run: ${imgctl('logout', '--all')}`;
      throw new ImgctlError('unreachable', message, { facts });
    } finally {
      await store?.close();
    }
  }
}
