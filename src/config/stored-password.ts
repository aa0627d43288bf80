// Where `login --store-password` stores a password, and how the settings remember it.

import { tryOr } from '../errors.ts';
import type { Account, Settings } from './settings.ts';

/** A password in a keychain (one per profile) or in a credential helper (one per base URL). */
export interface StoredPassword {
  /** `keychain`, or `helper:NAME`. */
  readonly location: string;
  readonly account: Account;
}

/**
 * Returns the password that the setting credential-helper stands for.
 * @throws ImgctlError usage or config: invalid
 */
function passwordOfHelper(settings: Settings): StoredPassword | undefined {
  const helper = settings.get('credential-helper');
  if (helper === undefined) return undefined;
  return { location: `helper:${helper}`, account: accountOf(settings) };
}

/** A keychain finds passwords by the profile, even if its base URL is invalid. */
function accountOf(settings: Settings): Account {
  const { profile } = settings;
  return tryOr(() => settings.account, { profile, baseUrl: '', username: '' });
}

/**
 * Returns where `login --store-password` stores the password.
 * @throws ImgctlError usage or config: an invalid setting
 */
export function passwordToStore(settings: Settings): StoredPassword {
  return passwordOfHelper(settings) ?? { location: 'keychain', account: settings.account };
}

/**
 * Returns where commands read the password.
 * @throws ImgctlError usage or config: an invalid setting
 */
export function passwordToRead(settings: Settings): StoredPassword | undefined {
  const account = accountOf(settings);
  const { location } = passwordOfHelper(settings) ?? markedPassword(settings) ?? {};
  return location === undefined ? undefined : { location, account };
}

/** Returns where the profile may have passwords, also those of an earlier base URL or user. */
export function passwordsToDelete(settings: Settings): StoredPassword[] {
  const ofHelper = tryOr(() => passwordOfHelper(settings), undefined);
  const marked = markedPassword(settings);
  const isTwice = ofHelper && marked && isSamePassword(ofHelper, marked);
  return [isTwice ? undefined : ofHelper, marked].filter((each) => each !== undefined);
}

/** True if one record of a keychain or a helper holds both. */
export function isSamePassword(one: StoredPassword, other: StoredPassword): boolean {
  const parts = one.location === 'keychain' ? KEYCHAIN_PARTS : HELPER_PARTS;
  const isSame = parts.every((part) => one.account[part] === other.account[part]);
  return isSame && one.location === other.location;
}

const KEYCHAIN_PARTS = ['profile'] as const;
const HELPER_PARTS = ['baseUrl', 'username'] as const;

/** Returns the mark: `keychain`, or `helper:pass https://images.example.com alice`. */
export function markOf({ location, account }: StoredPassword): string {
  if (location === 'keychain') return location;
  return `${location} ${account.baseUrl} ${account.username}`;
}

/** Returns the password that the mark of the profile remembers. */
export function markedPassword(settings: Settings): StoredPassword | undefined {
  const { profile, storedAt } = settings;
  if (storedAt === undefined) return undefined;
  const [, location = '', baseUrl = '', username = ''] =
    /^(helper:.*?) (https?:\/\/\S+) (.*)$/s.exec(storedAt) ?? [];
  if (location !== '') return { location, account: { profile, baseUrl, username } };
  return { location: storedAt, account: accountOf(settings) };
}
