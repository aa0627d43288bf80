// Where the password of the account comes from: a variable, a file, a command or a keychain.

import type { Settings } from '../config/settings.ts';
import { locationToRead } from '../config/stored-password.ts';
import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Io } from '../io.ts';
import { describeLocation, openPasswordStore } from './keychain.ts';
import { findSecret, type SecretSource } from './secrets.ts';

export interface PasswordSource extends SecretSource {
  /** If the service refuses the password. */
  readonly factsIfRefused: Facts;
}

export function unattendedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  return givenPassword(settings, io) ?? storedPassword(settings, io);
}

export function givenPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const secret = findSecret(settings, io, 'password');
  if (secret === undefined) return undefined;
  const { origin } = secret;
  const { username } = settings.account;
  return { ...secret, factsIfRefused: { kind: 'password-refused', origin, username } };
}

export function storedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const location = locationToRead(settings);
  if (location === undefined) return undefined;
  const origin = describeLocation(location);
  return {
    // `login` leaves such a source in the profile as it is.
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
