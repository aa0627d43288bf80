// The system keychain, through the system's own program: passwords go over its stdin and stdout alone.

import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { type ChildResult, runChild } from './child.ts';
import type { Account } from './token-cache.ts';

export interface Keychain {
  /** undefined where it holds none for this account. @throws ImgctlError config */
  lookup(account: Account): Promise<string | undefined>;
  /** In the place of every password of the account's profile. @throws ImgctlError config */
  store(account: Account, password: string): Promise<void>;
  /** Forgets every password of the profile. @throws ImgctlError config */
  forget(profile: string): Promise<void>;
}

interface Call {
  readonly args: readonly string[];
  readonly input?: string;
  /** What of the input must not be shown. */
  readonly secret?: string;
}

/** How a program is asked. Nothing secret may stand in `args`, which every user of the machine can read. */
interface Program {
  readonly name: string;
  lookup(account: Account): Call;
  store(account: Account, password: string): Call;
  /** Forgets one password or more. */
  forget(profile: string): Call;
  /** Whether it ended so since there is no such password. */
  isAbsence(result: ChildResult): boolean;
  /** The password by what it printed. */
  read(stdout: string): string;
}

/** The command of libsecret, for every implementation of the Secret Service. */
const SECRET_TOOL: Program = {
  name: 'secret-tool',
  // After --, since a user name may look like an option.
  lookup: (account) => ({ args: ['lookup', '--', ...attributes(account)] }),
  store: (account, password) => ({
    args: ['store', `--label=${label(account)}`, '--', ...attributes(account)],
    input: password,
    secret: password,
  }),
  forget: (profile) => ({ args: ['clear', '--', 'service', 'imgctl', 'profile', profile] }),
  isAbsence: ({ exitCode, stderr }) => exitCode === 1 && stderr === '',
  read: (stdout) => stdout,
};

function attributes({ profile, baseUrl, username }: Account): string[] {
  return ['service', 'imgctl', 'profile', profile, 'base-url', baseUrl, 'username', username];
}

/**
 * The command of macOS. It takes a password on its command line, or from the terminal, or within a whole
 * command on stdin, which is how it is done here. What it prints is in hexadecimal if it holds a letter
 * beyond ASCII, without a sign of that: hence base64.
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
  isAbsence: ({ exitCode }) => exitCode === 44,
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

/** A word, which is ASCII, for a line of `security -i`; one in base64 stays as it is. */
function escaped(word: string): string {
  return word.replace(/[^A-Za-z0-9+/=-]/g, '\\$&');
}

/** `security -i` takes what is beyond 4096 bytes as another command; secret-tool cuts at 8192. */
const LONGEST_INPUT = 4_000;
/** More than there can be: at most one for each account that ever was in the profile. */
const MOST_FORGOTTEN = 100;

const ALTERNATIVE = 'a password command: imgctl login --password-command COMMAND';

/** @throws ImgctlError config: this system has none */
export function openKeychain(io: Io): Keychain {
  if (io.platform === 'win32') {
    throw new ImgctlError('config', 'there is no system keychain for imgctl on Windows', {
      hint: `use ${ALTERNATIVE}`,
    });
  }
  const program = io.platform === 'darwin' ? SECURITY : SECRET_TOOL;

  async function ask({ args, input, secret }: Call): Promise<ChildResult> {
    const { name: command } = program;
    const result = await runChild(io, { command, args, input, stderr: 'pipe' });
    if (result.failure === undefined || program.isAbsence(result)) return result;
    throw cannotUse(program, result, secret);
  }

  async function lookup(account: Account): Promise<string | undefined> {
    const result = await ask(program.lookup(account));
    return program.isAbsence(result) ? undefined : program.read(result.stdout);
  }

  async function forget(profile: string): Promise<void> {
    for (let count = 0; count < MOST_FORGOTTEN; count += 1) {
      if (program.isAbsence(await ask(program.forget(profile)))) return;
    }
  }

  return {
    lookup,
    forget,
    async store(account, password) {
      const call = program.store(account, password);
      if (Buffer.byteLength(call.input ?? '') > LONGEST_INPUT) {
        throw new ImgctlError('config', 'the password is too long for the system keychain', {
          hint: `use ${ALTERNATIVE}`,
        });
      }
      await forget(account.profile);
      await ask(call);
      // Both programs may keep nothing, or a part, and end with exit code 0.
      if ((await lookup(account)) !== password) {
        await forget(account.profile);
        throw new ImgctlError('config', `${program.name} did not keep the password`, {
          hint: `see whether the system keychain is unlocked, or use ${ALTERNATIVE}`,
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
    return new ImgctlError('config', `there is no ${name}, the program for the system keychain`, {
      hint: `install it (Debian: libsecret-tools), or use ${ALTERNATIVE}`,
      cause,
    });
  }
  const [line = ''] = stderr.trim().split('\n');
  const reason = line.replace(`${name}: `, '');
  const isQuotable = reason !== '' && !(secret && stderr.includes(secret));
  const said = isQuotable ? `: ${reason}` : '';
  return new ImgctlError('config', `${name} ${failure}${said}`, {
    hint: `see whether the system keychain is running and unlocked, or use ${ALTERNATIVE}`,
    cause,
  });
}
