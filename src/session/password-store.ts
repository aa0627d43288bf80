// Where a profile's password is stored: in the system keychain, or by a credential helper.

import type { Io } from '../io.ts';
import type { PasswordStore } from './keychain.ts';

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
  const { openKeychain } = await import('./keychain.ts');
  return openKeychain(io, place.startsWith(HELPER) ? place.slice(HELPER.length) : undefined);
}
