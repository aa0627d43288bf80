// Passwords: from the environment, a file, a command, the keychain or standard input; never from a flag.

import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { runChild } from './child.ts';
import type { Settings } from './settings.ts';
import type { Account } from './token-cache.ts';

/** A way to the password that needs no person. */
export interface PasswordSource {
  /** The variable or setting it comes from, for messages. */
  readonly origin: string;
  /** What helps where the service refuses it. */
  readonly remedy: string;
  /** @throws ImgctlError config: the file, command or keychain gives none */
  read(): Promise<string>;
}

/** What is read of a source, in bytes. */
const LONGEST = 64 * 1024;
/** More than headers hold, and so few that none was cut where the reading ended. */
const MOST_LETTERS = 8 * 1024;

/** The password that is given, or else the one in the keychain. */
export function unattendedPassword(
  settings: Settings,
  io: Io,
  account: Account,
): PasswordSource | undefined {
  return givenPassword(settings, io) ?? storedPassword(settings, io, account);
}

/** The first of IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE and the password command that is set. */
export function givenPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const { IMGCTL_PASSWORD: password, IMGCTL_PASSWORD_FILE: file } = io.env;
  const source = (origin: string, what: string, read: PasswordSource['read']) => ({
    origin,
    remedy: `check ${what} and the user name: imgctl config list${settings.profileFlag}`,
    read,
  });
  if (password) return source('IMGCTL_PASSWORD', 'IMGCTL_PASSWORD', async () => password);
  if (file) {
    const what = `the password file ${file}`;
    return source('IMGCTL_PASSWORD_FILE', what, () => passwordOfFile(file, io));
  }
  const { value: command, origin } = settings.resolve('password-command');
  if (!command) return undefined;
  const what = `the password command (${origin})`;
  return source(what, what, () => passwordOfCommand(command, io));
}

async function passwordOfFile(file: string, io: Io): Promise<string> {
  let text: string;
  try {
    text = await readBeginning(await openFile(path.resolve(io.cwd, file)), io);
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    throw unreadableFile(file, error);
  }
  return firstLine(text, `the password file ${file}`);
}

/** What the file system's error about the file of IMGCTL_PASSWORD_FILE means. */
export function unreadableFile(file: string, cause: unknown): ImgctlError {
  const { code } = cause as NodeJS.ErrnoException;
  return new ImgctlError('config', `cannot read the password file ${file}: ${code}`, {
    hint: 'check IMGCTL_PASSWORD_FILE and the modes of the file',
    cause,
  });
}

// Windows has no such flag.
const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;

/** A pipe, as in <(pass show images), may take its time: waiting for it must not keep an interrupt out. */
async function openFile(file: string): Promise<Readable> {
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  if (!fs.fstatSync(descriptor).isFIFO()) {
    return fs.createReadStream(file, { fd: descriptor, end: LONGEST });
  }
  const { Socket } = await import('node:net');
  return new Socket({ fd: descriptor, readable: true, writable: false });
}

/** The one in the keychain, if this profile has one there. */
export function storedPassword(
  settings: Settings,
  io: Io,
  account: Account,
): PasswordSource | undefined {
  if (!settings.hasStoredPassword) return undefined;
  const replace = `${settings.loginCommand} --store-password`;
  return {
    origin: 'the system keychain',
    remedy: `the password in the system keychain is refused; replace it: ${replace}`,
    async read() {
      const { openKeychain } = await import('./keychain.ts');
      const password = await openKeychain(io).lookup(account);
      if (password) return password;
      const { username, baseUrl } = account;
      throw new ImgctlError(
        'not-logged-in',
        `the system keychain holds no password of ${username} at ${baseUrl}`,
        { hint: `run: ${replace}` },
      );
    },
  };
}

/**
 * The first line that the command prints; run by the shell with a limit of 30 s. Its stderr is the
 * user's own to see.
 */
export async function passwordOfCommand(command: string, io: Io): Promise<string> {
  const result = await runChild(io, { command, stderr: 'inherit', until: '\n' });
  if (result.failure === undefined) return firstLine(result.stdout, 'the password command');
  throw new ImgctlError('config', `the password command ${result.failure}`, {
    hint: 'run it by hand; see: imgctl config get password-command',
    cause: result.cause,
  });
}

/** The first line of standard input, for --password-stdin. */
export async function passwordOfStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY) {
    throw new ImgctlError('usage', '--password-stdin reads a pipe or file, not a terminal', {
      hint: 'leave it out to be asked for the password',
    });
  }
  return firstLine(await readBeginning(io.stdin.stream, io), 'standard input');
}

/** The first line at least, or as much as a password can be. @throws also what the run is interrupted with */
async function readBeginning(stream: Readable, io: Io): Promise<string> {
  io.signal.throwIfAborted();
  const interrupted = () => stream.destroy(io.signal.reason);
  io.signal.addEventListener('abort', interrupted, { once: true });
  stream.setEncoding('utf8');
  let text = '';
  try {
    for await (const chunk of stream) {
      text += chunk;
      if (text.includes('\n') || text.length > LONGEST) break;
    }
  } finally {
    io.signal.removeEventListener('abort', interrupted);
  }
  return text;
}

function firstLine(text: string, what: string): string {
  // Some editors begin a file with a byte order mark.
  const line = text.replace(/^\ufeff/, '').split(/\r?\n/, 1)[0] ?? '';
  const flaw = flawOf(line);
  if (flaw === undefined) return line;
  throw new ImgctlError('config', `${what} gave ${flaw}`, {
    hint: 'its first line must be it',
  });
}

/** Why a line is no password. It is not sent then: token requests are few. */
function flawOf(line: string): string | undefined {
  if (line === '') return 'no password';
  if (line.length > MOST_LETTERS) return 'a line too long for a password';
  // UTF-16 that was read as UTF-8, or a letter of another encoding.
  if (/[\0\ufffd]/.test(line)) return 'a password that is not UTF-8';
  return undefined;
}
