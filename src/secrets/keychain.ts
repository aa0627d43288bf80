// The programs of the system keychains, which hold a password for each account that a profile has had.

import type { Account } from '../config/settings.ts';
import type { Io } from '../io.ts';
import { PasswordProgram, type PasswordProtocol } from './password-program.ts';

const KEYCHAIN = {
  errorsOn: 'stderr',
  namesAction: false,
  factsIfFailed: { kind: 'keychain', fix: 'start and unlock the system keychain' },
} as const;

/** The command of libsecret works with every implementation of the Secret Service. */
export function secretTool(io: Io, limit?: number): PasswordProtocol {
  const program = new PasswordProgram(
    io,
    {
      command: 'secret-tool',
      isNotFound: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
      factsIfMissing: { kind: 'keychain', fix: 'install it (Debian: libsecret-tools)' },
      ...KEYCHAIN,
    },
    limit,
  );
  // A user name may look like an option, hence the --.
  const ofProfile = ({ profile }: Account) => ['--', 'service', 'imgctl', 'profile', profile];
  const ofAccount = (account: Account) => {
    const { baseUrl, username } = account;
    return [...ofProfile(account), 'base-url', baseUrl, 'username', username];
  };
  const remove = async (account: Account) => {
    // libsecret 0.19 to 0.20.4 crashes if there is nothing to clear.
    if ((await program.call(['lookup', ...ofProfile(account)])) === undefined) return false;
    await program.call(['clear', ...ofProfile(account)]);
    return true;
  };
  return {
    program,
    get: (account) => program.call(['lookup', ...ofAccount(account)]),
    async set(account, password) {
      await remove(account);
      const args = ['store', `--label=${labelOf(account)}`, ...ofAccount(account)];
      await program.call(args, { input: password, password });
    },
    remove,
  };
}

const MAX_REMOVALS = 100;

/**
 * The command of macOS. Of its three ways to take a password only `-i`, commands on stdin, is
 * secret and unattended. It prints a password that is not ASCII in hexadecimal without saying so:
 * hence base64.
 */
export function security(io: Io, limit?: number): PasswordProtocol {
  const program = new PasswordProgram(
    io,
    {
      command: 'security',
      // errSecItemNotFound, -25300, in eight bits.
      isNotFound: ({ exitCode }) => exitCode === 44,
      factsIfMissing: { kind: 'keychain', fix: undefined },
      ...KEYCHAIN,
    },
    limit,
  );
  const ofProfile = ({ profile }: Account) => ['-s', `imgctl ${profile}`];
  const ofAccount = (account: Account) => {
    const { baseUrl, username } = account;
    return [...ofProfile(account), '-a', `${encodeURIComponent(username)} ${baseUrl}`];
  };
  /** Removes one after another. The maximum stops an endless loop. */
  const remove = async (account: Account) => {
    for (let count = 0; count < MAX_REMOVALS; count += 1) {
      // Without -w, which prints the password, and may ask the user for access.
      const found = await program.call(['find-generic-password', ...ofProfile(account)]);
      if (found === undefined) return count > 0;
      await program.call(['delete-generic-password', ...ofProfile(account)]);
    }
    return true;
  };
  return {
    program,
    async get(account) {
      const base64 = await program.call(['find-generic-password', ...ofAccount(account), '-w']);
      return base64 === undefined ? undefined : Buffer.from(base64, 'base64').toString();
    },
    async set(account, password) {
      await remove(account);
      const base64 = Buffer.from(password).toString('base64');
      const item = [...ofAccount(account), '-l', labelOf(account), '-w', base64];
      const words = ['add-generic-password', '-U', ...item];
      const escaped = words.map((word) => word.replace(/[^A-Za-z0-9+/=-]/g, '\\$&'));
      await program.call(['-i'], { input: `${escaped.join(' ')}\n`, password });
    },
    remove,
  };
}

function labelOf({ baseUrl, username }: Account): string {
  return `imgctl: ${encodeURIComponent(username)} at ${baseUrl}`;
}
