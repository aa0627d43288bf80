// Reads a password from a file, a command or standard input; the interface of a place that stores it.

import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import type { Io } from '../io.ts';
import type { Account } from './token-store.ts';

/** Every function may throw ImgctlError config: the store cannot be used. */
export interface PasswordStore {
  /** Fails if the store cannot be used. */
  check(account: Account): Promise<void>;
  lookup(account: Account): Promise<string | undefined>;
  /** Replaces the password of the account. */
  store(account: Account, password: string): Promise<void>;
  /** @returns true if it may have had a password */
  forget(account: Account): Promise<boolean>;
}

const MAX_BYTES = 64 * 1024;
/** More than a header can hold, and fewer than MAX_BYTES in any encoding. */
const MAX_LENGTH = 8 * 1024;

/** A variable that names a file, and what the file is, for messages. */
const PASSWORD_FILE = { variable: 'IMGCTL_PASSWORD_FILE', what: 'password file' };

export async function passwordOfFile(
  file: string,
  io: Io,
  source = PASSWORD_FILE,
): Promise<string> {
  let text: string;
  try {
    text = await readBeginning(await openFile(path.resolve(io.cwd, file)), io);
  } catch (error) {
    if (error instanceof ImgctlError) throw error;
    throw unreadableFile(file, error, source);
  }
  return firstLine(text, `the ${source.what} ${file}`);
}

export function unreadableFile(file: string, cause: unknown, source = PASSWORD_FILE): ImgctlError {
  return new ImgctlError(
    'config',
    `cannot read the ${source.what} ${file}: ${errorReason(cause)}`,
    {
      hint: `check ${source.variable} and the permissions of the file`,
      cause,
    },
  );
}

// Windows has no O_NONBLOCK.
const { O_RDONLY, O_NONBLOCK = 0 } = fs.constants;

/** Waiting for a pipe, as in <(pass show images), must not block an interrupt. */
async function openFile(file: string): Promise<Readable> {
  const descriptor = fs.openSync(file, O_RDONLY | O_NONBLOCK);
  if (!fs.fstatSync(descriptor).isFIFO()) {
    return fs.createReadStream(file, { fd: descriptor, end: MAX_BYTES });
  }
  const { Socket } = await import('node:net');
  return new Socket({ fd: descriptor, readable: true, writable: false });
}

/**
 * Returns the first line that the shell command prints within 30 s. The user sees its stderr.
 * @param setting of the command
 * @param isStored false if no setting shows the command yet
 */
export async function passwordOfCommand(
  command: string,
  io: Io,
  { setting = 'password-command', isStored = true } = {},
): Promise<string> {
  const { runChild } = await import('./child.ts');
  const result = await runChild(io, { command, stderr: 'inherit', until: '\n' });
  if (result.failure === undefined)
    return firstLine(result.stdout, `the ${setting.replaceAll('-', ' ')}`);
  throw new ImgctlError('config', `the ${setting.replaceAll('-', ' ')} ${result.failure}`, {
    hint: isStored
      ? `run it by hand; to show it: imgctl config get ${setting}`
      : `run it by hand: ${command}`,
    cause: result.cause,
  });
}

/** Returns the first line of standard input, for --password-stdin. */
export async function passwordOfStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY) {
    throw new ImgctlError('usage', '--password-stdin reads a pipe or file, not a terminal', {
      hint: 'omit it to be prompted for the password',
    });
  }
  return firstLine(await readBeginning(io.stdin.stream, io), 'standard input');
}

/** Reads at least the first line, up to MAX_BYTES. @throws also the reason of an interrupt */
async function readBeginning(stream: Readable, io: Io): Promise<string> {
  io.signal.throwIfAborted();
  const interrupted = () => stream.destroy(io.signal.reason);
  io.signal.addEventListener('abort', interrupted, { once: true });
  stream.setEncoding('utf8');
  let text = '';
  try {
    for await (const chunk of stream) {
      text += chunk;
      if (text.includes('\n') || text.length > MAX_BYTES) break;
    }
  } finally {
    io.signal.removeEventListener('abort', interrupted);
  }
  return text;
}

function firstLine(text: string, what: string): string {
  // Some editors write a byte order mark.
  const line = text.replace(/^\ufeff/, '').split(/\r?\n/, 1)[0] ?? '';
  const flaw = passwordFlaw(line);
  if (flaw === undefined) return line;
  throw new ImgctlError('config', `${what} gave ${flaw}`, {
    hint: 'make sure that its first line is the password',
  });
}

/** Returns why a text is no password. Checked before a request is sent: the service limits token requests. */
export function passwordFlaw(line: string): string | undefined {
  if (line === '') return 'no password';
  if (line.length > MAX_LENGTH) return 'a line too long for a password';
  // Text in UTF-16 or another encoding.
  if (/[\0\ufffd]/.test(line)) return 'a password that is not UTF-8';
  return undefined;
}
