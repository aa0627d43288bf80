// The programs that store passwords: those of the system keychains, and credential helpers, which speak docker's
// protocol. Passwords only pass through their stdin and stdout.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { isObject } from '../json.ts';
import { type ChildResult, runChild } from './child.ts';
import { secretFlaw } from './secrets.ts';
import type { Account } from './token-cache.ts';

interface Call {
  /** They hold no secret: every user of the machine can read them. */
  readonly args: readonly string[];
  readonly input?: string;
}

interface Found {
  readonly username: string;
  readonly password: string;
}

interface Program {
  readonly command: string;
  readonly name: string;
  /** True if it has one password per base URL, perhaps of another user. The others have any number per profile. */
  readonly isHelper: boolean;
  lookup(account: Account): Call;
  store(account: Account, password: string): Call;
  /** Removes the password of the base URL, or one of the profile. */
  remove(account: Account): Call;
  isNotFound(result: ChildResult): boolean;
  read(stdout: string, account: Account): Found | undefined;
  readonly missing: { readonly message: string; readonly hint: string };
  /** The hint for all other failures. */
  readonly hint: string;
}

const ALTERNATIVE = 'a password command: imgctl login --password-command COMMAND';

const systemProgram = (name: string) => ({
  command: name,
  name,
  isHelper: false,
  missing: {
    message: `${name}, the program for the system keychain, is not installed`,
    hint: `install it (Debian: libsecret-tools), or use ${ALTERNATIVE}`,
  },
  hint: `start and unlock the system keychain, or use ${ALTERNATIVE}`,
});

function labelOf({ baseUrl, username }: Account): string {
  return `imgctl: ${encodeURIComponent(username)} at ${baseUrl}`;
}

function attributesOf({ profile, baseUrl, username }: Account): string[] {
  return ['service', 'imgctl', 'profile', profile, 'base-url', baseUrl, 'username', username];
}

/** The command of libsecret works with every implementation of the Secret Service. */
const SECRET_TOOL: Program = {
  ...systemProgram('secret-tool'),
  // A user name may look like an option, hence the --.
  lookup: (account) => ({ args: ['lookup', '--', ...attributesOf(account)] }),
  store: (account, password) => ({
    args: ['store', `--label=${labelOf(account)}`, '--', ...attributesOf(account)],
    input: password,
  }),
  remove: ({ profile }) => ({ args: ['clear', '--', 'service', 'imgctl', 'profile', profile] }),
  isNotFound: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
  read: (password, { username }) => ({ username, password }),
};

function itemOf({ profile, baseUrl, username }: Account): string[] {
  return ['-s', `imgctl ${profile}`, '-a', `${encodeURIComponent(username)} ${baseUrl}`];
}

/**
 * The command of macOS. Of its three ways to take a password only `-i`, commands on stdin, is secret and
 * unattended. It prints a password that is not ASCII in hexadecimal without saying so: hence base64.
 */
const SECURITY: Program = {
  ...systemProgram('security'),
  lookup: (account) => ({ args: ['find-generic-password', ...itemOf(account), '-w'] }),
  store: (account, password) => {
    const secret = Buffer.from(password).toString('base64');
    const words = ['add-generic-password', '-U', ...itemOf(account), '-l', labelOf(account)];
    const escaped = [...words, '-w', secret].map((word) =>
      word.replace(/[^A-Za-z0-9+/=-]/g, '\\$&'),
    );
    return { args: ['-i'], input: `${escaped.join(' ')}\n` };
  },
  remove: ({ profile }) => ({ args: ['delete-generic-password', '-s', `imgctl ${profile}`] }),
  // errSecItemNotFound, -25300, in eight bits.
  isNotFound: ({ exitCode }) => exitCode === 44,
  read: (stdout, { username }) => ({
    username,
    password: Buffer.from(stdout, 'base64').toString(),
  }),
};

/** Returns the program of a helper: `docker-credential-NAME`, or the path itself. */
export function helperProgram(helper: string): string {
  return /[\\/]/.test(helper) ? helper : `docker-credential-${helper}`;
}

function credentialHelper(helper: string): Program {
  const command = helperProgram(helper);
  const name = path.basename(command);
  return {
    command,
    name,
    isHelper: true,
    lookup: ({ baseUrl }) => ({ args: ['get'], input: baseUrl }),
    store: ({ baseUrl, username }, password) => ({
      args: ['store'],
      input: JSON.stringify({ ServerURL: baseUrl, Username: username, Secret: password }),
    }),
    remove: ({ baseUrl }) => ({ args: ['erase'], input: baseUrl }),
    // The text of docker's own helpers.
    isNotFound: ({ failure, stdout }) =>
      failure !== undefined && stdout.includes('credentials not found'),
    read: (stdout) => readCredentials(stdout, name),
    missing: {
      message: `the credential helper ${name} is not installed`,
      hint: 'install it, or use another one: imgctl config set credential-helper NAME',
    },
    hint: `check it with: ${command} list`,
  };
}

function readCredentials(stdout: string, name: string): Found | undefined {
  const { Username: username, Secret: password } = parseObject(stdout);
  if (typeof username !== 'string' || typeof password !== 'string') {
    // The output may hold the password, so it is not shown.
    throw new ImgctlError('config', `${name} get printed no user name and secret in JSON`, {
      hint: 'use a helper that speaks the protocol of docker-credential-helpers',
    });
  }
  // docker-credential-pass 0.6 prints this for a server that it does not know.
  if (username === '' && password === '') return undefined;
  const flaw = secretFlaw(password);
  if (flaw === undefined) return { username, password };
  throw new ImgctlError('config', `${name} gave ${flaw}`, {
    hint: 'store the password again: imgctl login --store-password',
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** `security -i` takes bytes beyond 4096 as another command; secret-tool cuts at 8192. */
const MAX_INPUT = 4_000;
/** Stops an endless loop; a profile has at most one password per account it ever had. */
const MAX_REMOVALS = 100;
const MAX_REASON = 200;

/** Returns the credential helper of a location; undefined for the system keychain. */
function helperAt(location: string): string | undefined {
  return /^helper:(.*)$/s.exec(location)?.[1];
}

/** For messages. */
export function describeLocation(location: string): string {
  const helper = helperAt(location);
  return helper === undefined ? 'the system keychain' : `the credential helper ${helper}`;
}

/**
 * Opens the store at a location: `keychain`, or `helper:NAME`. Every function may throw ImgctlError config: the store
 * cannot be used.
 * @param limit milliseconds for each call
 * @throws ImgctlError config: there is no system keychain on Windows
 */
export function openPasswordStore(io: Io, location: string, limit?: number) {
  const helper = helperAt(location);
  const { platform } = io.system;
  if (helper === undefined && platform === 'win32') {
    throw new ImgctlError('config', 'imgctl cannot use a system keychain on Windows', {
      hint: `use wincred: imgctl config set credential-helper wincred; or ${ALTERNATIVE}`,
    });
  }
  const system = platform === 'darwin' ? SECURITY : SECRET_TOOL;
  const program = helper === undefined ? system : credentialHelper(helper);
  const { command, name, isHelper } = program;

  async function call({ args, input }: Call, password?: string): Promise<ChildResult> {
    const result = await runChild(io, { command, args, input, stderr: 'pipe', limit });
    if (result.failure === undefined || program.isNotFound(result)) return result;
    throw cannotUse(program, args, result, password);
  }

  async function find(account: Account): Promise<Found | undefined> {
    const result = await call(program.lookup(account));
    return program.isNotFound(result) ? undefined : program.read(result.stdout, account);
  }

  /** Removes all passwords that a new one replaces: those of the base URL, or of the profile. */
  async function removeAll(account: Account): Promise<void> {
    if (isHelper) {
      if (await find(account)) await call(program.remove(account));
      return;
    }
    for (let count = 0; count < MAX_REMOVALS; count += 1) {
      if (program.isNotFound(await call(program.remove(account)))) return;
    }
  }

  return {
    /** Fails if the store cannot be used. */
    check: find,
    async lookup(account: Account): Promise<string | undefined> {
      const { username } = account;
      const found = await find(account);
      if (found === undefined || found.username === username) return found?.password;
      throw new ImgctlError('config', `${name} has the password of another user for this service`, {
        hint: `replace it: imgctl login --username ${username} --store-password`,
      });
    },
    /** @returns true if it may have had a password */
    async forget(account: Account): Promise<boolean> {
      if (isHelper && (await find(account))?.username !== account.username) return false;
      await removeAll(account);
      return true;
    },
    /** Replaces the password of the account. */
    async store(account: Account, password: string): Promise<void> {
      const storing = program.store(account, password);
      if (!isHelper && Buffer.byteLength(storing.input ?? '') > MAX_INPUT) {
        throw new ImgctlError('config', 'the password is too long for the system keychain', {
          hint: `use ${ALTERNATIVE}`,
        });
      }
      await removeAll(account);
      await call(storing, password);
      // All of them may store nothing, or a part, and end with exit code 0.
      const stored = await find(account);
      if (stored?.username === account.username && stored.password === password) return;
      await removeAll(account);
      throw new ImgctlError('config', `${name} did not store the password`, {
        hint: isHelper ? program.hint : `unlock the system keychain, or use ${ALTERNATIVE}`,
      });
    },
  };
}

function cannotUse(
  { name, isHelper, missing, hint }: Program,
  [action]: readonly string[],
  { failure, stdout, stderr, cause }: ChildResult,
  password: string | undefined,
): ImgctlError {
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    return new ImgctlError('config', missing.message, { hint: missing.hint, cause });
  }
  // Helpers report errors on stdout. JSON there may be credentials.
  const said = (isHelper && stdout.trim()) || stderr.trim();
  const secrets = password ? [password, Buffer.from(password).toString('base64')] : [];
  const isSecret = ['{', ...secrets].some((text) => said.includes(text));
  const [line = ''] = said.split('\n');
  const reason = isSecret || said === '' ? '' : `: ${line.replace(`${name}: `, '')}`;
  const what = isHelper ? `${name} ${action}` : name;
  return new ImgctlError('config', `${what} ${failure}${reason.slice(0, MAX_REASON)}`, {
    hint,
    cause,
  });
}
