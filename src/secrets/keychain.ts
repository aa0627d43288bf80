// The programs that store passwords: of the system keychains, and docker's credential helpers.

import path from 'node:path';
import type { Account } from '../config/settings.ts';
import type { Location } from '../config/stored-password.ts';
import { ImgctlError, tryOr } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import type { Io } from '../io.ts';
import { shorten } from '../words.ts';
import { type ChildResult, runChild } from './child.ts';
import { checkSecret } from './secrets.ts';

/** The arguments, which every user of the machine can read, and the input, which may be secret. */
type Call = readonly [args: readonly string[], input?: string];

interface Program {
  readonly command: string;
  readonly lookup: (account: Account) => Call;
  readonly store: (account: Account, password: string) => Call;
  /** True if `store` replaces the password of another account. */
  readonly replaces: boolean;
  /** Looks up what `remove` would remove. */
  readonly find: (account: Account) => Call;
  readonly remove: (account: Account) => Call;
  /** Maximum number of calls of `remove` until nothing is left. */
  readonly maxRemovals: number;
  readonly isNotFound: (result: ChildResult) => boolean;
  /** Returns the password of the account in the output of a lookup. */
  readonly read: (stdout: string, account: Account) => string | undefined;
  readonly errorsOn: 'stdout' | 'stderr';
  /** True if errors name the first argument. */
  readonly namesAction: boolean;
  /** If the program fails, and if it is missing. */
  readonly check: Facts;
  readonly install: Facts;
}

/** What keychains have in common. They hold a password for each account that a profile has had. */
const KEYCHAIN = {
  replaces: false,
  errorsOn: 'stderr',
  namesAction: false,
  check: { kind: 'keychain', fix: 'start and unlock the system keychain' },
  install: { kind: 'keychain', fix: 'install it (Debian: libsecret-tools)' },
} as const;

/** The command of libsecret works with every implementation of the Secret Service. */
const SECRET_TOOL: Program = {
  command: 'secret-tool',
  // A user name may look like an option, hence the --.
  lookup: (account) => [['lookup', '--', ...attributesOf(account)]],
  store: (account, password) => [
    ['store', `--label=${labelOf(account)}`, '--', ...attributesOf(account)],
    password,
  ],
  find: (account) => [['lookup', '--', ...attributesOfProfile(account)]],
  // Removes all that match; libsecret 0.19 to 0.20.4 crashes if none does.
  remove: (account) => [['clear', '--', ...attributesOfProfile(account)]],
  maxRemovals: 1,
  isNotFound: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
  read: (stdout) => stdout,
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
  lookup: (account) => [['find-generic-password', ...itemOf(account), '-w']],
  store: (account, password) => {
    const secret = Buffer.from(password).toString('base64');
    const words = ['add-generic-password', '-U', ...itemOf(account), '-l', labelOf(account)];
    const escaped = [...words, '-w', secret].map((word) =>
      word.replace(/[^A-Za-z0-9+/=-]/g, '\\$&'),
    );
    return [['-i'], `${escaped.join(' ')}\n`];
  },
  find: (account) => [['find-generic-password', ...serviceOf(account)]],
  // Removes one that matches. The maximum stops an endless loop.
  remove: (account) => [['delete-generic-password', ...serviceOf(account)]],
  maxRemovals: 100,
  // errSecItemNotFound, -25300, in eight bits.
  isNotFound: ({ exitCode }) => exitCode === 44,
  read: (stdout) => Buffer.from(stdout, 'base64').toString(),
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
  const lookup = ({ baseUrl }: Account): Call => [['get'], baseUrl];
  return {
    command,
    lookup,
    store: ({ baseUrl, username }, password) => [
      ['store'],
      JSON.stringify({ ServerURL: baseUrl, Username: username, Secret: password }),
    ],
    replaces: true,
    find: lookup,
    remove: ({ baseUrl }) => [['erase'], baseUrl],
    maxRemovals: 1,
    // The text of docker's own helpers.
    isNotFound: ({ failure, stdout }) =>
      failure !== undefined && stdout.includes('credentials not found'),
    read(stdout, account) {
      const { Username, Secret: password } = Object(tryOr(() => JSON.parse(stdout), {}));
      if (typeof Username !== 'string' || typeof password !== 'string') {
        // The output may hold the password, so it is not shown.
        const message = `${path.basename(command)} get did not print a user name and secret as JSON`;
        const facts = advice('use a helper that speaks the protocol of docker-credential-helpers');
        throw new ImgctlError('config', message, { facts });
      }
      // docker-credential-pass 0.6 prints an empty record for a server that it does not know.
      return Username === account.username ? password : undefined;
    },
    errorsOn: 'stdout',
    namesAction: true,
    check: advice(`check it with: ${command} list`),
    install: { kind: 'helper-missing' },
  };
}

export function describeLocation(location: Location): string {
  if (location.kind === 'keychain') return 'the system keychain';
  return `the credential helper ${location.name}`;
}

const MAX_REASON = 200;

/** @throws ImgctlError config, as every function does: it cannot be used */
export function openPasswordStore(io: Io, location: Location, limit?: number) {
  const helper = location.kind === 'helper' ? location.name : undefined;
  const { platform } = io.system;
  if (helper === undefined && platform === 'win32') {
    const message = 'imgctl cannot use a system keychain on Windows';
    throw new ImgctlError('config', message, { facts: { kind: 'keychain', fix: undefined } });
  }
  const system = platform === 'darwin' ? SECURITY : SECRET_TOOL;
  const program = helper === undefined ? system : credentialHelper(helper);
  const { command, check, install } = program;
  const name = path.basename(command);

  /** @param password the one in the input, which no message may quote */
  async function call([args, input]: Call, password?: string): Promise<ChildResult> {
    const result = await runChild(io, { command, args, input, stderr: 'pipe', limit });
    const { failure, cause } = result;
    if (failure === undefined || program.isNotFound(result)) return result;
    if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
      throw new ImgctlError('config', `${name} is not installed`, { facts: install, cause });
    }
    const what = program.namesAction ? `${name} ${args[0]}` : name;
    const base64 = Buffer.from(password ?? '').toString('base64');
    const secrets = password === undefined ? [] : [password, base64, input ?? ''];
    const message = `${what} ${failure}${reasonIn(result, secrets)}`;
    throw new ImgctlError('config', message, { facts: check, cause });
  }

  function reasonIn(result: ChildResult, secrets: readonly string[]): string {
    const said = result[program.errorsOn].trim() || result.stderr.trim();
    const [line = ''] = said.split('\n');
    // JSON may be credentials.
    if (line === '' || said.includes('{')) return '';
    // A program may repeat its input, whole or cut.
    if (secrets.some((secret) => line.includes(secret) || secret.includes(line))) return '';
    return `: ${shorten(line.replace(`${name}: `, ''), MAX_REASON)}`;
  }

  /** @param look the call; `find` looks for any password that `remove` would remove */
  async function read(account: Account, look = program.lookup): Promise<string | undefined> {
    const result = await call(look(account));
    return program.isNotFound(result) ? undefined : program.read(result.stdout, account);
  }

  /**
   * Removes the password of the account from a helper, or those of its profile from a keychain.
   * @returns true if there was one
   */
  async function forget(account: Account): Promise<boolean> {
    for (let count = 0; count < program.maxRemovals; count += 1) {
      if ((await read(account, program.find)) === undefined) return count > 0;
      await call(program.remove(account));
    }
    return true;
  }

  return {
    async lookup(account: Account): Promise<string | undefined> {
      const password = await read(account);
      const facts = { kind: 'stored-password', problem: 'store the password again' } as const;
      return password === undefined ? undefined : checkSecret(password, name, facts);
    },
    forget,
    /** Replaces the password of the base URL, or those of the profile. */
    async store(account: Account, password: string): Promise<void> {
      if (!program.replaces) await forget(account);
      await call(program.store(account, password), password);
      // All of them may store nothing, or a part, and end with exit code 0.
      if ((await read(account)) === password) return;
      await forget(account);
      throw new ImgctlError('config', `${name} did not store the password`, { facts: check });
    },
  };
}
