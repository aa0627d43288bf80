// Runs other programs with a time limit and without imgctl's secrets in their environment.

import type { ChildProcess } from 'node:child_process';
import { SECRETS, TOKEN_VARIABLE } from '../config/definitions.ts';
import { builtin, type Io } from '../io.ts';

export const TIME_LIMIT = 30_000;
/** Time to read what a program wrote before it ended: a child of it may hold the pipe open. */
const READING_LIMIT = 1_000;
const MAX_OUTPUT = 64 * 1024;

/** The variables that hold secrets: no program inherits them. */
const SECRET_VARIABLES: readonly string[] = [
  TOKEN_VARIABLE,
  ...Object.values(SECRETS).map(([variable]) => variable),
];

interface ChildOptions {
  /** The program, or a shell command if there are no `args`. */
  readonly command: string;
  readonly args?: readonly string[];
  readonly input?: string | undefined;
  /** `inherit`: the user sees it. */
  readonly stderr: 'inherit' | 'pipe';
  readonly limit?: number | undefined;
  /** Milliseconds after its first line; it is then ended, which is no failure. */
  readonly limitAfterLine?: number;
}

export interface ChildResult {
  readonly stdout: string;
  readonly stderr: string;
  /** undefined if it was killed or did not start. */
  readonly exitCode: number | undefined;
  /** The predicate of a sentence; undefined after exit code 0 or `limitAfterLine`. */
  readonly failure: string | undefined;
  readonly cause?: unknown;
}

/**
 * Runs a program until the first of these:
 *
 *     it exits, and its pipes are closed or a second has passed    its exit code
 *     `limitAfterLine` has passed after its first line             no failure
 *     `limit` has passed without that, or it cannot be started     a failure
 *     an interrupt                                                 its reason is thrown
 *
 * The program gets a process group of its own, which is killed as a whole: children that go on
 * would hold the pipes of imgctl. It has no terminal, so it cannot prompt there.
 */
export async function runChild(io: Io, options: ChildOptions): Promise<ChildResult> {
  const { command, args = [], input, limit = TIME_LIMIT } = options;
  let { limitAfterLine } = options;
  const isHarmless = ([name]: [string, unknown]) => !SECRET_VARIABLES.includes(name);
  const env = Object.fromEntries(Object.entries(io.env).filter(isHarmless));
  io.signal.throwIfAborted();
  const child: ChildProcess = builtin('node:child_process').spawn(command, args, {
    shell: options.args === undefined,
    env,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', options.stderr],
    windowsHide: true,
    detached: io.system.platform !== 'win32',
  });
  // The program may end without reading everything.
  child.stdin?.on('error', () => {}).end(input);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      if (output[name].length < MAX_OUTPUT) output[name] += chunk;
    });
  }
  return new Promise((resolve, reject) => {
    const finish = (settle: () => void) => {
      clearTimeout(timer);
      clearTimeout(reading);
      io.signal.removeEventListener('abort', interrupted);
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (!hasEnded && child.pid !== undefined) io.system.killGroup(child.pid);
      // A background child of the program may hold the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
      settle();
    };
    const end = (exitCode: number | undefined, failure: string | undefined, cause?: unknown) =>
      finish(() => resolve({ ...output, exitCode, failure, cause }));
    const interrupted = () => finish(() => reject(io.signal.reason));
    let timer = setTimeout(() => end(undefined, `did not finish within ${limit / 1000} s`), limit);
    let reading: NodeJS.Timeout | undefined;
    child.stdout?.on('data', () => {
      if (limitAfterLine === undefined || !output.stdout.includes('\n')) return;
      clearTimeout(timer);
      timer = setTimeout(() => end(undefined, undefined), limitAfterLine);
      limitAfterLine = undefined;
    });
    io.signal.addEventListener('abort', interrupted, { once: true });
    child.once('error', (error) => end(undefined, 'could not be started', error));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      const failure = signal ? `was killed by ${signal}` : `failed with exit code ${code}`;
      const settle = () => end(code ?? undefined, code === 0 ? undefined : failure);
      child.once('close', settle);
      reading = setTimeout(settle, READING_LIMIT);
    });
  });
}
