// Programs that imgctl runs: with a time limit, and without imgctl's secrets in their environment.

import type { ChildProcess } from 'node:child_process';
import type { Io } from '../io.ts';

/** Time for a program to hand over a password, milliseconds. */
const LIMIT = 30_000;
/** What a program wrote is in the pipe when it ends; this long it may take to be read from there. */
const READING_LIMIT = 1_000;
const LONGEST = 64 * 1024;

export interface ChildOptions {
  /** The program; a line for the shell where there are no `args`. */
  readonly command: string;
  readonly args?: readonly string[];
  /** Its standard input; nothing if not given. */
  readonly input?: string | undefined;
  /** Its stderr is the user's own to see, or kept. */
  readonly stderr: 'inherit' | 'pipe';
  /** Once it has ended, the rest of an output that holds this is not waited for. */
  readonly until?: string;
  /** 30 s if not given. */
  readonly limit?: number;
}

export interface ChildResult {
  readonly stdout: string;
  readonly stderr: string;
  /** undefined where it was killed, or ran too long, or not at all. */
  readonly exitCode: number | undefined;
  /** What went wrong, to be said after the name of the program; undefined after exit code 0. */
  readonly failure: string | undefined;
  readonly cause?: unknown;
}

/** Runs a program to its end. @throws only what the run was interrupted with */
export async function runChild(io: Io, options: ChildOptions): Promise<ChildResult> {
  // Costs a tenth of a start-up, and few runs need it.
  const { spawn } = await import('node:child_process');
  const { command, args = [], input, limit = LIMIT } = options;
  const { IMGCTL_PASSWORD: _password, IMGCTL_TOKEN: _token, ...env } = io.env;
  io.signal.throwIfAborted();
  const child: ChildProcess = spawn(command, args, {
    shell: options.args === undefined,
    env,
    cwd: io.cwd,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', options.stderr],
    windowsHide: true,
  });
  // It may well end without having read everything.
  child.stdin?.on('error', () => {}).end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      if (output[name].length < LONGEST) output[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      clearTimeout(reading);
      io.signal.removeEventListener('abort', interrupted);
      // A background child of the program may hold the pipes open; it is not waited for.
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.kill('SIGKILL');
      settle();
    };
    const end = (exitCode: number | undefined, failure: string | undefined, cause?: unknown) =>
      finish(() => resolve({ ...output, exitCode, failure, cause }));
    let reading: NodeJS.Timeout | undefined;
    const interrupted = () => finish(() => reject(io.signal.reason));
    const timer = setTimeout(() => end(undefined, `did not end within ${limit / 1000} s`), limit);
    io.signal.addEventListener('abort', interrupted, { once: true });
    child.once('error', (error) => end(undefined, 'could not be started', error));
    child.once('exit', (code, signal) => {
      const exitCode = code ?? undefined;
      const failure = code === 0 ? undefined : `ended with ${signal ?? `exit code ${code}`}`;
      const settle = () => end(exitCode, failure);
      const settleOnceRead = () => {
        if (options.until !== undefined && output.stdout.includes(options.until)) settle();
      };
      child.stdout?.on('data', settleOnceRead);
      child.once('close', settle);
      reading = setTimeout(settle, READING_LIMIT);
      settleOnceRead();
    });
  });
}
