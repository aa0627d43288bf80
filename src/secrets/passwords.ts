// Where the password of the account comes from: a variable, a file, a command or a keychain.

import type { Settings } from '../config/settings.ts';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { describeLocation, openPasswordStore } from './keychain.ts';
import { findSecret, type SecretSource } from './secrets.ts';

export interface PasswordSource extends SecretSource {
  /** The hint if the service refuses the password. */
  readonly hint: string;
}

export function unattendedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  return givenPassword(settings, io) ?? storedPassword(settings, io);
}

export function givenPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const secret = findSecret(settings, io, 'password');
  const list = `imgctl config list${settings.serviceFlags}`;
  const hint = `check ${secret?.origin} and the user name ${settings.account.username}: ${list}`;
  return secret && { ...secret, hint };
}

export function storedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const [location] = settings.passwordLocations;
  if (location === undefined) return undefined;
  const origin = describeLocation(location);
  const replace = `${settings.loginCommand} --store-password`;
  return {
    origin,
    hint: `replace the password in ${origin}: ${replace}`,
    async read() {
      const { account } = settings;
      const password = await openPasswordStore(io, location).lookup(account);
      if (password) return password;
      const { username, baseUrl } = account;
      const message = `${origin} has no password for ${username} at ${baseUrl}`;
      throw new ImgctlError('not-logged-in', message, { hint: `run: ${replace}` });
    },
  };
}
