// Where a profile's password is stored: in the system keychain, or by a credential helper.

import type { Io } from '../io.ts';
import type { Account } from './token-files.ts';

/** Every function may throw ImgctlError config: the store cannot be used. */
export interface PasswordStore {
  /** Fails if the store cannot be used. */
  check(account: Account): Promise<void>;
  lookup(account: Account): Promise<string | undefined>;
  /** Replaces the password of the account. */
  store(account: Account, password: string): Promise<void>;
  /** @returns true if it may have had a password */
  forget(account: Account): Promise<boolean>;
}

const HELPER = 'helper:';

/** The place of a setting `credential-helper`. */
export function placeOfHelper(helper: string | undefined): string {
  return helper === undefined ? 'keychain' : `${HELPER}${helper}`;
}

/** For messages. */
export function nameOfPlace(place: string): string {
  if (!place.startsWith(HELPER)) return 'the system keychain';
  return `the credential helper ${place.slice(HELPER.length)}`;
}

/** Opens the store at a place: `keychain`, or `helper:NAME`. */
export async function openPasswordStore(io: Io, place: string): Promise<PasswordStore> {
  if (place.startsWith(HELPER)) {
    const { openHelper } = await import('./credential-helper.ts');
    return openHelper(io, place.slice(HELPER.length));
  }
  const { openKeychain } = await import('./keychain.ts');
  return openKeychain(io);
}
