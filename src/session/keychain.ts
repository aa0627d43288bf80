// The system keychain, by the system's own program: passwords only pass through its stdin and stdout.

import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ChildResult, runChild } from './child.ts';
import type { PasswordStore } from './password.ts';
import type { Account } from './token-store.ts';

interface Call {
  readonly args: readonly string[];
  readonly input?: string;
  readonly secret?: string;
}

/** `args` must hold no secret: every user of the machine can read them. */
interface Program {
  readonly name: string;
  lookup(account: Account): Call;
  store(account: Account, password: string): Call;
  /** May remove only one of several passwords. */
  forget(profile: string): Call;
  /** True if the program found no such password. */
  isNotFound(result: ChildResult): boolean;
  read(stdout: string): string;
}

/** The command of libsecret works with every implementation of the Secret Service. */
const SECRET_TOOL: Program = {
  name: 'secret-tool',
  // A user name may look like an option, hence the --.
  lookup: (account) => ({ args: ['lookup', '--', ...attributes(account)] }),
  store: (account, password) => ({
    args: ['store', `--label=${label(account)}`, '--', ...attributes(account)],
    input: password,
    secret: password,
  }),
  forget: (profile) => ({ args: ['clear', '--', 'service', 'imgctl', 'profile', profile] }),
  isNotFound: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
  read: (stdout) => stdout,
};

function attributes({ profile, baseUrl, username }: Account): string[] {
  return ['service', 'imgctl', 'profile', profile, 'base-url', baseUrl, 'username', username];
}

/**
 * The command of macOS. Of its three ways to take a password only `-i`, commands on stdin, is secret and
 * unattended. It prints a password that is not ASCII in hexadecimal without saying so: hence base64.
 */
const SECURITY: Program = {
  name: 'security',
  lookup: (account) => ({ args: ['find-generic-password', ...place(account), '-w'] }),
  store: (account, password) => {
    const secret = Buffer.from(password).toString('base64');
    const words = ['add-generic-password', '-U', ...place(account), '-l', label(account)];
    const input = `${[...words, '-w', secret].map(escaped).join(' ')}\n`;
    return { args: ['-i'], input, secret };
  },
  forget: (profile) => ({ args: ['delete-generic-password', '-s', serviceName(profile)] }),
  // errSecItemNotFound, -25300, in eight bits.
  isNotFound: ({ exitCode }) => exitCode === 44,
  read: (stdout) => Buffer.from(stdout, 'base64').toString(),
};

function place({ profile, baseUrl, username }: Account): string[] {
  return ['-s', serviceName(profile), '-a', `${encodeURIComponent(username)} ${baseUrl}`];
}

function serviceName(profile: string): string {
  return `imgctl ${profile}`;
}

function label({ baseUrl, username }: Account): string {
  return `imgctl: ${encodeURIComponent(username)} at ${baseUrl}`;
}

/** Escapes an ASCII word for `security -i`; base64 stays unchanged. */
function escaped(word: string): string {
  return word.replace(/[^A-Za-z0-9+/=-]/g, '\\$&');
}

/** `security -i` takes bytes beyond 4096 as another command; secret-tool cuts at 8192. */
const MAX_INPUT = 4_000;
/** Stops an endless loop; a profile has at most one password per account it ever had. */
const MAX_REMOVALS = 100;

const ALTERNATIVE = 'a password command: imgctl login --password-command COMMAND';

/** @throws ImgctlError config: there is none on Windows */
export function openKeychain(io: Io): PasswordStore {
  if (io.system.platform === 'win32') {
    throw new ImgctlError('config', 'imgctl cannot use a system keychain on Windows', {
      hint: `use wincred: imgctl config set credential-helper wincred; or ${ALTERNATIVE}`,
    });
  }
  const program = io.system.platform === 'darwin' ? SECURITY : SECRET_TOOL;

  async function call({ args, input, secret }: Call): Promise<ChildResult> {
    const result = await runChild(io, { command: program.name, args, input, stderr: 'pipe' });
    if (result.failure === undefined || program.isNotFound(result)) return result;
    throw cannotUse(program, result, secret);
  }

  async function lookup(account: Account): Promise<string | undefined> {
    const result = await call(program.lookup(account));
    return program.isNotFound(result) ? undefined : program.read(result.stdout);
  }

  /** Removes every password of the profile. */
  async function forget({ profile }: Account): Promise<boolean> {
    for (let count = 0; count < MAX_REMOVALS; count += 1) {
      if (program.isNotFound(await call(program.forget(profile)))) break;
    }
    return true;
  }

  return {
    lookup,
    forget,
    async check(account) {
      await lookup(account);
    },
    async store(account, password) {
      const storing = program.store(account, password);
      if (Buffer.byteLength(storing.input ?? '') > MAX_INPUT) {
        throw new ImgctlError('config', 'the password is too long for the system keychain', {
          hint: `use ${ALTERNATIVE}`,
        });
      }
      await forget(account);
      await call(storing);
      // Both programs may store nothing, or a part, and end with exit code 0.
      if ((await lookup(account)) !== password) {
        await forget(account);
        throw new ImgctlError('config', `${program.name} did not store the password`, {
          hint: `unlock the system keychain, or use ${ALTERNATIVE}`,
        });
      }
    },
  };
}

function cannotUse(
  { name }: Program,
  { failure, stderr, cause }: ChildResult,
  secret: string | undefined,
): ImgctlError {
  if ((cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') {
    const message = `${name}, the program for the system keychain, is not installed`;
    const hint = `install it (Debian: libsecret-tools), or use ${ALTERNATIVE}`;
    return new ImgctlError('config', message, { hint, cause });
  }
  const [line = ''] = stderr.trim().split('\n');
  const reason = line.replace(`${name}: `, '');
  const isQuotable = reason !== '' && !(secret && stderr.includes(secret));
  const said = isQuotable ? `: ${reason}` : '';
  return new ImgctlError('config', `${name} ${failure}${said}`, {
    hint: `start and unlock the system keychain, or use ${ALTERNATIVE}`,
    cause,
  });
}
