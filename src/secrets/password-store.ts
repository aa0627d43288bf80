// Where a login stores a password: in the system keychain, or by a credential helper.

import type { Account } from '../config/settings.ts';
import type { Location } from '../config/stored-password.ts';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { credentialHelper } from './credential-helper.ts';
import { secretTool, security } from './keychain.ts';
import type { PasswordProtocol } from './password-program.ts';
import { checkSecret } from './secrets.ts';

export function describeLocation(location: Location): string {
  if (location.kind === 'keychain') return 'the system keychain';
  return `the credential helper ${location.name}`;
}

/** Every function throws ImgctlError config if its program cannot be used. */
interface PasswordStore {
  /** Returns undefined if there is no password of the account. */
  lookup(account: Account): Promise<string | undefined>;
  /** Replaces the passwords of the profile (keychain) or the one of the base URL (helper). */
  store(account: Account, password: string): Promise<void>;
  readonly forget: PasswordProtocol['remove'];
}

/**
 * @param limit milliseconds of one call of its program
 * @throws ImgctlError config: this system has no keychain
 */
export function openPasswordStore(io: Io, location: Location, limit?: number): PasswordStore {
  const { program, get, set, remove } = protocolOf(io, location, limit);
  return {
    async lookup(account) {
      const password = await get(account);
      const facts = { kind: 'stored-password', lead: 'store the password again' } as const;
      return password === undefined ? undefined : checkSecret(password, program.name, facts);
    },
    async store(account, password) {
      await set(account, password);
      // All programs may store nothing, or a part, and end with exit code 0.
      if ((await get(account)) === password) return;
      await remove(account);
      const message = `${program.name} did not store the password`;
      throw new ImgctlError('config', message, { facts: program.factsIfFailed });
    },
    forget: remove,
  };
}

function protocolOf(io: Io, location: Location, limit?: number): PasswordProtocol {
  if (location.kind === 'helper') return credentialHelper(location.name, io, limit);
  const { platform } = io.system;
  if (platform === 'darwin') return security(io, limit);
  if (platform !== 'win32') return secretTool(io, limit);
  const message = 'imgctl cannot use a system keychain on Windows';
  throw new ImgctlError('config', message, { facts: { kind: 'keychain', fix: undefined } });
}
