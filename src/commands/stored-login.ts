// The passwords that logins have stored, and their removal by logout and profile delete.

import { changeProfile } from '../config/config-file.ts';
import { STORED_PASSWORD } from '../config/definitions.ts';
import { type Account, type Settings, storedSettings } from '../config/settings.ts';
import {
  isSamePassword,
  passwordsToDelete,
  type StoredPassword,
} from '../config/stored-password.ts';
import type { Context } from '../context.ts';
import { hasCode, type ImgctlError, tryOr } from '../errors.ts';
import { describeLocation, openPasswordStore } from '../secrets/password-store.ts';

/** Returns the other profiles with this base URL and user name, which share the token. */
export function profilesSharing({ settings, io }: Context, account: Account): string[] {
  const { profile, baseUrl, username } = account;
  const { config } = settings;
  return [...config.profiles.keys()].filter((name) => {
    const other = tryOr(() => storedSettings(config, name, io.env).account, undefined);
    return name !== profile && other?.baseUrl === baseUrl && other.username === username;
  });
}

/** Returns the names of the other profiles that use a password of a credential helper. */
export function profilesWith(
  { settings: { config }, io }: Context,
  password: StoredPassword,
): string[] {
  return [...config.profiles.keys()].filter((name) => {
    const others = passwordsToDelete(storedSettings(config, name, io.env));
    const isUsed = others.some((other) => isSamePassword(other, password));
    return name !== password.account.profile && isUsed;
  });
}

/**
 * Deletes a password from where it is stored.
 * @returns true if there was one.
 * @throws ImgctlError config
 */
export async function deletePassword(
  { io }: Context,
  { location, account }: StoredPassword,
): Promise<boolean> {
  try {
    return await openPasswordStore(io, location).forget(account);
  } catch (error) {
    if (!hasCode(error, 'config')) throw error;
    const message = `cannot delete the password in ${describeLocation(location)}: ${error.message}`;
    throw error.with({ message, facts: 'delete it there by hand' });
  }
}

/**
 * Deletes the passwords of a profile, and its mark unless one cannot be deleted: `failures` do not
 * stop a command, but make it fail in the end.
 * @param keepsShared if a password that another profile uses is not deleted
 */
export async function deleteStoredPasswords(
  context: Context,
  settings: Settings,
  { keepsShared = false } = {},
) {
  const passwords = passwordsToDelete(settings).filter(
    (password) => !keepsShared || profilesWith(context, password).length === 0,
  );
  let isDeleted = false;
  const failures: ImgctlError[] = [];
  const deleteAll = async () => {
    for (const password of passwords) {
      try {
        if (await deletePassword(context, password)) isDeleted = true;
      } catch (error) {
        if (!hasCode(error, 'config')) throw error;
        failures.push(error);
      }
    }
  };
  await deleteAll();
  if (settings.storedAt !== undefined && failures.length === 0) {
    await changeProfile(context.io, settings.profile, { [STORED_PASSWORD]: undefined });
    // A login may have stored it again before that.
    await deleteAll();
  }
  return { isDeleted, failures };
}

/** Throws the first error, after warnings of the others. */
export function throwFailures({ console }: Context, failures: readonly ImgctlError[]): void {
  const [first, ...others] = failures;
  for (const { message, facts } of others) console.warn(message, facts);
  if (first) throw first;
}
