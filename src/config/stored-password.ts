// Where `login --store-password` stores a password, and how the settings remember it.

import { tryOr } from '../errors.ts';
import type { Account, Settings } from './settings.ts';

/** The system keychain has one password per profile, a credential helper one per base URL. */
export type Location =
  | { readonly kind: 'keychain' }
  | { readonly kind: 'helper'; readonly name: string };

export interface StoredPassword {
  readonly location: Location;
  readonly account: Account;
}

const KEYCHAIN = { kind: 'keychain' } as const;

/** Returns that of the setting credential-helper. @throws ImgctlError usage or config: invalid */
function helperOf(settings: Settings): Location | undefined {
  const name = settings.get('credential-helper');
  return name === undefined ? undefined : { kind: 'helper', name };
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
  return { location: helperOf(settings) ?? KEYCHAIN, account: settings.account };
}

/**
 * Returns where commands read the password of their account, whatever account the mark has.
 * @throws ImgctlError usage or config: an invalid setting
 */
export function locationToRead(settings: Settings): Location | undefined {
  return helperOf(settings) ?? markedPassword(settings)?.location;
}

/** Returns what the profile may have stored, also for an earlier base URL or user. */
export function passwordsToDelete(settings: Settings): StoredPassword[] {
  const account = accountOf(settings);
  // Without a base URL there is nothing to find in a helper.
  const helper = account.baseUrl === '' ? undefined : tryOr(() => helperOf(settings), undefined);
  const ofHelper = helper && { location: helper, account };
  const marked = markedPassword(settings);
  const isTwice = ofHelper && marked && isSamePassword(ofHelper, marked);
  return [isTwice ? undefined : ofHelper, marked].filter((each) => each !== undefined);
}

/** True if one record of a keychain or a helper holds both. */
export function isSamePassword(one: StoredPassword, other: StoredPassword): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf({ location, account }: StoredPassword): string {
  const { profile, baseUrl, username } = account;
  const isInHelper = location.kind === 'helper';
  return JSON.stringify(isInHelper ? [location.name, baseUrl, username] : [profile]);
}

/** Returns the mark: `keychain`, or `helper:pass https://images.example.com alice`. */
export function markOf({ location, account }: StoredPassword): string {
  if (location.kind === 'keychain') return 'keychain';
  return `helper:${location.name} ${account.baseUrl} ${account.username}`;
}

const HELPER_MARK = /^helper:(?<name>.*?)(?: (?<baseUrl>https?:\/\/\S+) (?<username>.*))?$/s;

/** Returns the password that the mark of the profile remembers, unless another version wrote it. */
export function markedPassword(settings: Settings): StoredPassword | undefined {
  const { profile, storedAt = '' } = settings;
  if (storedAt === 'keychain') return { location: KEYCHAIN, account: accountOf(settings) };
  const { name, baseUrl, username = '' } = HELPER_MARK.exec(storedAt)?.groups ?? {};
  if (name === undefined) return undefined;
  const account = baseUrl === undefined ? accountOf(settings) : { profile, baseUrl, username };
  return { location: { kind: 'helper', name }, account };
}
