// Passwords: from the environment, a file, a command, standard input or a prompt; never from a flag.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import type { Settings } from './settings.ts';

/** A way to the password that needs no person. */
export interface PasswordSource {
  /** The variable or setting it comes from, for messages. */
  readonly origin: string;
  /** @throws ImgctlError config: the file or command gives none */
  read(): Promise<string>;
}

const COMMAND_LIMIT = 30_000;
/** What the command wrote is in the pipe when it ends; this long it may take to be read from there. */
const READING_LIMIT = 1_000;
const LONGEST = 64 * 1024;

/** The first of IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE and the password command that is set. */
export function unattendedPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const { IMGCTL_PASSWORD: password, IMGCTL_PASSWORD_FILE: file } = io.env;
  if (password) return { origin: 'IMGCTL_PASSWORD', read: async () => password };
  if (file) return { origin: 'IMGCTL_PASSWORD_FILE', read: async () => passwordOfFile(file, io) };
  const { value: command, origin } = settings.resolve('password-command');
  if (!command) return undefined;
  return { origin, read: () => passwordOfCommand(command, io) };
}

function passwordOfFile(file: string, io: Io): string {
  let text: string;
  try {
    text = fs.readFileSync(path.resolve(io.cwd, file), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ImgctlError('config', `cannot read the password file ${file}: ${code}`, {
      hint: 'check IMGCTL_PASSWORD_FILE and the modes of the file',
      cause: error,
    });
  }
  return firstLine(text, `the password file ${file}`);
}

/**
 * The first line that the command prints; run by the shell with a limit of 30 s. Its stderr is the
 * user's own to see.
 */
export async function passwordOfCommand(command: string, io: Io): Promise<string> {
  // Costs a tenth of a start-up, and few runs need it.
  const { spawn } = await import('node:child_process');
  const { IMGCTL_PASSWORD: _password, IMGCTL_TOKEN: _token, ...env } = io.env;
  const failure = (reason: string, cause?: unknown) =>
    new ImgctlError('config', `the password command ${reason}`, {
      hint: 'run it by hand; see: imgctl config get password-command',
      cause,
    });
  return new Promise((resolve, reject) => {
    io.signal.throwIfAborted();
    const child = spawn(command, {
      shell: true,
      env,
      cwd: io.cwd,
      stdio: ['ignore', 'pipe', 'inherit'],
      windowsHide: true,
    });
    let output = '';
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      clearTimeout(reading);
      io.signal.removeEventListener('abort', interrupted);
      // A background child of the command may hold the pipe open; it is not waited for.
      child.stdout.destroy();
      child.kill('SIGKILL');
      settle();
    };
    let reading: NodeJS.Timeout | undefined;
    const interrupted = () => finish(() => reject(io.signal.reason));
    const timer = setTimeout(
      () => finish(() => reject(failure(`gave no password within ${COMMAND_LIMIT / 1000} s`))),
      COMMAND_LIMIT,
    );
    io.signal.addEventListener('abort', interrupted, { once: true });
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      if (output.length < LONGEST) output += chunk;
    });
    child.once('error', (error) => finish(() => reject(failure('could not be started', error))));
    child.once('exit', (status, signal) => {
      const settle = () => {
        if (status !== 0) return reject(failure(`ended with ${signal ?? `exit code ${status}`}`));
        try {
          resolve(firstLine(output, 'the password command'));
        } catch (error) {
          reject(error);
        }
      };
      const settleOnceRead = () => {
        if (output.includes('\n')) finish(settle);
      };
      child.stdout.on('data', settleOnceRead);
      child.once('close', () => finish(settle));
      reading = setTimeout(() => finish(settle), READING_LIMIT);
      settleOnceRead();
    });
  });
}

/** The first line of standard input, for --password-stdin. */
export async function passwordOfStdin(io: Io): Promise<string> {
  if (io.stdin.isTTY) {
    throw new ImgctlError('usage', '--password-stdin reads a pipe or file, not a terminal', {
      hint: 'leave it out to be asked for the password',
    });
  }
  io.signal.throwIfAborted();
  const { stream } = io.stdin;
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
  return firstLine(text, 'standard input');
}

function firstLine(text: string, what: string): string {
  const line = text.split(/\r?\n/, 1)[0] ?? '';
  if (line !== '') return line;
  throw new ImgctlError('config', `${what} gave no password`, {
    hint: 'its first line must be it',
  });
}
