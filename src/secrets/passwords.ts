// Where the password of the account comes from: a variable, a file, a command or a keychain.

import type { Settings } from '../config/settings.ts';
import { locationToRead } from '../config/stored-password.ts';
import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Io } from '../io.ts';
import { describeLocation, openPasswordStore } from './password-store.ts';
import { findSecret, type SecretSource } from './secrets.ts';

export interface PasswordSource extends SecretSource {
  /** If the service refuses the password. */
  readonly factsIfRefused: Facts;
}

/** Returns the password that needs no prompt: one that is given, or else a stored one. */
export function unattendedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  return givenPassword(settings, io) ?? storedPassword(settings, io);
}

/** Returns the password of an option, a variable or a setting: itself, a file or a command. */
export function givenPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const secret = findSecret(settings, io, 'password');
  if (secret === undefined) return undefined;
  const { origin } = secret;
  const { username } = settings.account;
  return { ...secret, factsIfRefused: { kind: 'password-refused', origin, username } };
}

/** Returns the password that a login has stored. */
export function storedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const location = locationToRead(settings);
  if (location === undefined) return undefined;
  const origin = describeLocation(location);
  return {
    // A login does not write this source to the profile again.
    layer: 'profile',
    origin,
    factsIfRefused: { kind: 'stored-password', lead: `replace the password in ${origin}` },
    async read() {
      const { account } = settings;
      const password = await openPasswordStore(io, location).lookup(account);
      if (password) return password;
      const { username, baseUrl } = account;
      const message = `${origin} has no password for ${username} at ${baseUrl}`;
      throw new ImgctlError('not-logged-in', message, {
        facts: { kind: 'stored-password', lead: 'run' },
      });
    },
  };
}
