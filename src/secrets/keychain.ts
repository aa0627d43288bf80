// The programs that store passwords: of the system keychains, and docker's credential helpers.

import path from 'node:path';
import type { Account } from '../config/settings.ts';
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
  /** Removes the password of the base URL, or one of the profile. */
  readonly remove: (account: Account) => Call;
  readonly isNotFound: (result: ChildResult) => boolean;
  /** Returns the password of the account in the output of a lookup. */
  readonly read: (stdout: string, account: Account) => string | undefined;
  /** If the program fails, and if it is missing. */
  readonly check: Facts;
  readonly install: Facts;
}

const KEYCHAIN_FACTS = {
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
  remove: ({ profile }) => [['clear', '--', 'service', 'imgctl', 'profile', profile]],
  isNotFound: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
  read: (stdout) => stdout,
  ...KEYCHAIN_FACTS,
};

function attributesOf({ profile, baseUrl, username }: Account): string[] {
  return ['service', 'imgctl', 'profile', profile, 'base-url', baseUrl, 'username', username];
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
  remove: ({ profile }) => [['delete-generic-password', '-s', `imgctl ${profile}`]],
  // errSecItemNotFound, -25300, in eight bits.
  isNotFound: ({ exitCode }) => exitCode === 44,
  read: (stdout) => Buffer.from(stdout, 'base64').toString(),
  ...KEYCHAIN_FACTS,
};

function itemOf({ profile, baseUrl, username }: Account): string[] {
  return ['-s', `imgctl ${profile}`, '-a', `${encodeURIComponent(username)} ${baseUrl}`];
}

function credentialHelper(helper: string): Program {
  const name = helper.replace(/^docker-credential-/, '');
  const command = /[\\/]/.test(helper) ? helper : `docker-credential-${name}`;
  return {
    command,
    lookup: ({ baseUrl }) => [['get'], baseUrl],
    store: ({ baseUrl, username }, password) => [
      ['store'],
      JSON.stringify({ ServerURL: baseUrl, Username: username, Secret: password }),
    ],
    remove: ({ baseUrl }) => [['erase'], baseUrl],
    // The text of docker's own helpers.
    isNotFound: ({ failure, stdout }) =>
      failure !== undefined && stdout.includes('credentials not found'),
    /** A helper has one password per base URL, perhaps of another user. */
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
    check: advice(`check it with: ${command} list`),
    install: { kind: 'helper-missing' },
  };
}

function helperAt(location: string): string | undefined {
  return /^helper:(.*)$/s.exec(location)?.[1];
}

export function describeLocation(location: string): string {
  const helper = helperAt(location);
  return helper === undefined ? 'the system keychain' : `the credential helper ${helper}`;
}

/** Stops an endless loop; a profile has at most one password per account it ever had. */
const MAX_REMOVALS = 100;
const MAX_REASON = 200;

/**
 * Opens the store at a location: `keychain`, or `helper:NAME`.
 * @throws ImgctlError config, as every function does: it cannot be used
 */
export function openPasswordStore(io: Io, location: string, limit?: number) {
  const helper = helperAt(location);
  const isHelper = helper !== undefined;
  const { platform } = io.system;
  if (!isHelper && platform === 'win32') {
    const message = 'imgctl cannot use a system keychain on Windows';
    throw new ImgctlError('config', message, { facts: { kind: 'keychain', fix: undefined } });
  }
  const system = platform === 'darwin' ? SECURITY : SECRET_TOOL;
  const program = isHelper ? credentialHelper(helper) : system;
  const { command, check, install } = program;
  const name = path.basename(command);

  async function call([args, input]: Call): Promise<ChildResult> {
    const result = await runChild(io, { command, args, input, stderr: 'pipe', limit });
    const { failure, cause } = result;
    if (failure === undefined || program.isNotFound(result)) return result;
    if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
      throw new ImgctlError('config', `${name} is not installed`, { facts: install, cause });
    }
    const what = isHelper ? `${name} ${args[0]}` : name;
    const message = `${what} ${failure}${outputOf(result, input)}`;
    throw new ImgctlError('config', message, { facts: check, cause });
  }

  /**
   * Helpers report errors on stdout. JSON there may be credentials, and a program may repeat its
   * input, whose last word is the password.
   */
  function outputOf({ stdout, stderr }: ChildResult, input = ''): string {
    const said = (isHelper && stdout.trim()) || stderr.trim();
    const [line = ''] = said.split('\n');
    const secret = input.trim().split(' ').at(-1) || input;
    const repeatsInput = input.includes(line) || (secret !== '' && line.includes(secret));
    if (said.includes('{') || repeatsInput) return '';
    return `: ${shorten(line.replace(`${name}: `, ''), MAX_REASON)}`;
  }

  async function read(account: Account): Promise<string | undefined> {
    const result = await call(program.lookup(account));
    return program.isNotFound(result) ? undefined : program.read(result.stdout, account);
  }

  /** Removes the password of a base URL from a helper, or those of the profile from a keychain. */
  async function remove(account: Account): Promise<void> {
    const maxRemovals = isHelper ? 1 : MAX_REMOVALS;
    for (let count = 0; count < maxRemovals; count += 1) {
      if (program.isNotFound(await call(program.remove(account)))) return;
    }
  }

  return {
    async lookup(account: Account): Promise<string | undefined> {
      const password = await read(account);
      const facts = { kind: 'stored-password', problem: 'store the password again' } as const;
      return password === undefined ? undefined : checkSecret(password, name, facts);
    },
    /** @returns true if it may have had a password */
    async forget(account: Account): Promise<boolean> {
      if (isHelper && (await read(account)) === undefined) return false;
      await remove(account);
      return true;
    },
    /** Replaces the password of the base URL, or those of the profile. */
    async store(account: Account, password: string): Promise<void> {
      if (!isHelper) await remove(account);
      await call(program.store(account, password));
      // All of them may store nothing, or a part, and end with exit code 0.
      if ((await read(account)) === password) return;
      await remove(account);
      throw new ImgctlError('config', `${name} did not store the password`, { facts: check });
    },
  };
}
