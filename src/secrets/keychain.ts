// The programs that store passwords: of the system keychains, and docker's credential helpers.

import path from 'node:path';
import type { Account } from '../config/settings.ts';
import type { Location } from '../config/stored-password.ts';
import { ImgctlError, isMissing, tryOr } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import type { Io } from '../io.ts';
import { shorten } from '../words.ts';
import { type ChildResult, runChild } from './child.ts';
import { checkSecret } from './secrets.ts';

/** The arguments, which every user of the machine can read, and the input, which may be secret. */
type Call = readonly [args: readonly string[], input?: string];

interface Program {
  readonly command: string;
  /** Prints the password of the account. */
  readonly get: (account: Account) => Call;
  /** Returns the password in what `get` printed; undefined if it is that of another user. */
  readonly passwordIn: (stdout: string, account: Account) => string | undefined;
  readonly isNotFound: (result: ChildResult) => boolean;
  readonly set: (account: Account, password: string) => Call;
  /** Removes a password of the profile (keychain) or of the base URL (helper). */
  readonly remove: (account: Account) => Call;
  /** Finds a password that `remove` would remove. */
  readonly findRemovable: (account: Account) => Call;
  /** True if what was found may be removed. */
  readonly mayRemove: (stdout: string, account: Account) => boolean;
  /** Maximum number of calls of `remove` until nothing is left. */
  readonly maxRemovals: number;
  /** True if `set` replaces what `remove` would remove. */
  readonly setReplaces: boolean;
  readonly errorsOn: 'stdout' | 'stderr';
  /** True if errors name the first argument. */
  readonly namesAction: boolean;
  readonly factsIfFailed: Facts;
  readonly factsIfMissing: Facts;
}

/** What keychains have in common. They hold a password for each account that a profile has had. */
const KEYCHAIN = {
  mayRemove: () => true,
  setReplaces: false,
  errorsOn: 'stderr',
  namesAction: false,
  factsIfFailed: { kind: 'keychain', fix: 'start and unlock the system keychain' },
  factsIfMissing: { kind: 'keychain', fix: 'install it (Debian: libsecret-tools)' },
} as const;

/** The command of libsecret works with every implementation of the Secret Service. */
const SECRET_TOOL: Program = {
  command: 'secret-tool',
  // A user name may look like an option, hence the --.
  get: (account) => [['lookup', '--', ...attributesOf(account)]],
  passwordIn: (stdout) => stdout,
  isNotFound: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
  set: (account, password) => [
    ['store', `--label=${labelOf(account)}`, '--', ...attributesOf(account)],
    password,
  ],
  // Removes all that match; libsecret 0.19 to 0.20.4 crashes if none does.
  remove: (account) => [['clear', '--', ...attributesOfProfile(account)]],
  findRemovable: (account) => [['lookup', '--', ...attributesOfProfile(account)]],
  maxRemovals: 1,
  ...KEYCHAIN,
};

function attributesOfProfile({ profile }: Account): string[] {
  return ['service', 'imgctl', 'profile', profile];
}

function attributesOf(account: Account): string[] {
  const { baseUrl, username } = account;
  return [...attributesOfProfile(account), 'base-url', baseUrl, 'username', username];
}

function labelOf({ baseUrl, username }: Account): string {
  return `imgctl: ${encodeURIComponent(username)} at ${baseUrl}`;
}

/**
 * The command of macOS. Of its three ways to take a password only `-i`, commands on stdin, is
 * secret and unattended. It prints a password that is not ASCII in hexadecimal without saying so:
 * hence base64.
 */
const SECURITY: Program = {
  command: 'security',
  get: (account) => [['find-generic-password', ...itemOf(account), '-w']],
  passwordIn: (stdout) => Buffer.from(stdout, 'base64').toString(),
  // errSecItemNotFound, -25300, in eight bits.
  isNotFound: ({ exitCode }) => exitCode === 44,
  set: (account, password) => {
    const secret = Buffer.from(password).toString('base64');
    const words = ['add-generic-password', '-U', ...itemOf(account), '-l', labelOf(account)];
    const escaped = [...words, '-w', secret].map((word) =>
      word.replace(/[^A-Za-z0-9+/=-]/g, '\\$&'),
    );
    return [['-i'], `${escaped.join(' ')}\n`];
  },
  // Removes one that matches. The maximum stops an endless loop.
  remove: (account) => [['delete-generic-password', ...serviceOf(account)]],
  // Without -w, which prints the password, and may ask the user for access.
  findRemovable: (account) => [['find-generic-password', ...serviceOf(account)]],
  maxRemovals: 100,
  ...KEYCHAIN,
};

function serviceOf({ profile }: Account): string[] {
  return ['-s', `imgctl ${profile}`];
}

function itemOf(account: Account): string[] {
  const { baseUrl, username } = account;
  return [...serviceOf(account), '-a', `${encodeURIComponent(username)} ${baseUrl}`];
}

/** A helper has one password per base URL, perhaps of another user. */
function credentialHelper(helper: string): Program {
  const name = helper.replace(/^docker-credential-/, '');
  const command = /[\\/]/.test(helper) ? helper : `docker-credential-${name}`;
  const get = ({ baseUrl }: Account): Call => [['get'], baseUrl];
  const passwordIn = (stdout: string, account: Account) => {
    const { Username, Secret: password } = Object(tryOr(() => JSON.parse(stdout), {}));
    if (typeof Username !== 'string' || typeof password !== 'string') {
      // The output may hold the password, so it is not shown.
      const message = `${path.basename(command)} get did not print a user name and secret as JSON`;
      const facts = advice('use a helper that speaks the protocol of docker-credential-helpers');
      throw new ImgctlError('config', message, { facts });
    }
    // docker-credential-pass 0.6 prints an empty record for a server that it does not know.
    return Username === account.username ? password : undefined;
  };
  return {
    command,
    get,
    passwordIn,
    // The text of docker's own helpers.
    isNotFound: ({ failure, stdout }) =>
      failure !== undefined && stdout.includes('credentials not found'),
    set: ({ baseUrl, username }, password) => [
      ['store'],
      JSON.stringify({ ServerURL: baseUrl, Username: username, Secret: password }),
    ],
    remove: ({ baseUrl }) => [['erase'], baseUrl],
    findRemovable: get,
    // It may be that of another user.
    mayRemove: (stdout, account) => passwordIn(stdout, account) !== undefined,
    maxRemovals: 1,
    setReplaces: true,
    errorsOn: 'stdout',
    namesAction: true,
    factsIfFailed: advice(`check it with: ${command} list`),
    factsIfMissing: { kind: 'helper-missing' },
  };
}

export function describeLocation(location: Location): string {
  if (location.kind === 'keychain') return 'the system keychain';
  return `the credential helper ${location.name}`;
}

/** Every function throws ImgctlError config if its program cannot be used. */
export interface PasswordStore {
  /** Returns undefined if there is no password of the account. */
  lookup(account: Account): Promise<string | undefined>;
  /** Replaces the passwords of the profile (keychain) or the one of the base URL (helper). */
  store(account: Account, password: string): Promise<void>;
  /**
   * Removes the passwords of the profile (keychain), or that of the account (helper).
   * @returns true if there was one
   */
  forget(account: Account): Promise<boolean>;
}

/** @throws ImgctlError config: this system has no keychain */
export function openPasswordStore(io: Io, location: Location, limit?: number): PasswordStore {
  const program = programAt(location, io.system.platform);
  const { command, factsIfFailed } = program;
  const name = path.basename(command);

  /** @param password the one in the input, which no message may quote */
  async function call([args, input]: Call, password?: string): Promise<ChildResult> {
    const result = await runChild(io, { command, args, input, stderr: 'pipe', limit });
    const { failure, cause } = result;
    if (failure === undefined || program.isNotFound(result)) return result;
    if (cause !== undefined && isMissing(cause)) {
      const facts = program.factsIfMissing;
      throw new ImgctlError('config', `${name} is not installed`, { facts, cause });
    }
    const what = program.namesAction ? `${name} ${args[0]}` : name;
    const message = `${what} ${failure}${reasonIn(result, password)}`;
    throw new ImgctlError('config', message, { facts: factsIfFailed, cause });
  }

  function reasonIn(result: ChildResult, password: string | undefined): string {
    const said = result[program.errorsOn].trim() || result.stderr.trim();
    const [line = ''] = said.split('\n');
    // JSON may be credentials.
    if (line === '' || said.includes('{')) return '';
    // A program may repeat its input.
    if (password !== undefined && hasPartOf(password, line)) return '';
    return `: ${shorten(line.replace(`${name}: `, ''), MAX_REASON)}`;
  }

  async function read(account: Account): Promise<string | undefined> {
    const result = await call(program.get(account));
    return program.isNotFound(result) ? undefined : program.passwordIn(result.stdout, account);
  }

  async function forget(account: Account): Promise<boolean> {
    for (let count = 0; count < program.maxRemovals; count += 1) {
      const found = await call(program.findRemovable(account));
      const isLeft = !program.isNotFound(found) && program.mayRemove(found.stdout, account);
      if (!isLeft) return count > 0;
      await call(program.remove(account));
    }
    return true;
  }

  return {
    async lookup(account) {
      const password = await read(account);
      const facts = { kind: 'stored-password', lead: 'store the password again' } as const;
      return password === undefined ? undefined : checkSecret(password, name, facts);
    },
    async store(account, password) {
      if (!program.setReplaces) await forget(account);
      await call(program.set(account, password), password);
      // All of them may store nothing, or a part, and end with exit code 0.
      if ((await read(account)) === password) return;
      await forget(account);
      throw new ImgctlError('config', `${name} did not store the password`, {
        facts: factsIfFailed,
      });
    },
    forget,
  };
}

const MAX_REASON = 200;
/** Characters. Fewer may be the same by chance. */
const MIN_PART = 4;

/** True if the text has a part of the password, also in base64. */
function hasPartOf(password: string, text: string): boolean {
  return [password, Buffer.from(password).toString('base64')].some((secret) => {
    const size = Math.min(secret.length, MIN_PART);
    for (let at = 0; at + size <= secret.length; at += 1) {
      if (text.includes(secret.slice(at, at + size))) return true;
    }
    return false;
  });
}

function programAt(location: Location, platform: NodeJS.Platform): Program {
  if (location.kind === 'helper') return credentialHelper(location.name);
  if (platform === 'darwin') return SECURITY;
  if (platform !== 'win32') return SECRET_TOOL;
  const message = 'imgctl cannot use a system keychain on Windows';
  throw new ImgctlError('config', message, { facts: { kind: 'keychain', fix: undefined } });
}
