// Runs other programs with a time limit and without imgctl's secrets in their environment.

import type { ChildProcess } from 'node:child_process';
import { SECRETS, TOKEN_VARIABLE } from '../config/definitions.ts';
import { attempt } from '../errors.ts';
import { builtin, type Io } from '../io.ts';

export const TIME_LIMIT = 30_000;
/** Time to read what a program wrote before it ended: a child of it may hold the pipe open. */
const READING_LIMIT = 1_000;
const MAX_OUTPUT = 64 * 1024;
const NOT_STARTED = 'could not be started';

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
 * The program gets a process group of its own. If it still runs in the end, the group is killed as a
 * whole: children that go on would hold the pipes of imgctl. It has no terminal, so it cannot
 * prompt there.
 */
export async function runChild(io: Io, options: ChildOptions): Promise<ChildResult> {
  const { command, args = [], input, limit = TIME_LIMIT, limitAfterLine } = options;
  io.signal.throwIfAborted();
  const isHarmless = ([name]: [string, unknown]) => !SECRET_VARIABLES.includes(name);
  const { value: child, error } = attempt<ChildProcess>(() =>
    builtin('node:child_process').spawn(command, args, {
      shell: options.args === undefined,
      env: Object.fromEntries(Object.entries(io.env).filter(isHarmless)),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', options.stderr],
      windowsHide: true,
      detached: io.system.platform !== 'win32',
    }),
  );
  const output = { stdout: '', stderr: '' };
  // Node throws some errors, such as ENOTDIR, and emits the others.
  if (error) return { ...output, exitCode: undefined, failure: NOT_STARTED, cause: error.cause };
  // The program may end without reading everything.
  child.stdin?.on('error', () => {}).end(input);
  return new Promise((resolve, reject) => {
    let pipeTimer: NodeJS.Timeout | undefined;
    let lineTimer: NodeJS.Timeout | undefined;
    const limitTimer = setTimeout(
      () => end(undefined, `did not finish within ${limit / 1_000} s`),
      limit,
    );
    const cleanUp = () => {
      for (const timer of [limitTimer, lineTimer, pipeTimer]) clearTimeout(timer);
      io.signal.removeEventListener('abort', interrupt);
      const hasEnded = child.exitCode !== null || child.signalCode !== null;
      if (!hasEnded && child.pid !== undefined) io.system.killGroup(child.pid);
      // A background child of the program may hold the pipes open.
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const end = (exitCode: number | undefined, failure: string | undefined, cause?: unknown) => {
      cleanUp();
      resolve({ ...output, exitCode, failure, cause });
    };
    const interrupt = () => {
      cleanUp();
      reject(io.signal.reason);
    };
    io.signal.addEventListener('abort', interrupt, { once: true });
    for (const name of ['stdout', 'stderr'] as const) {
      child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
        if (output[name].length < MAX_OUTPUT) output[name] += chunk;
        if (limitAfterLine === undefined || lineTimer || !output.stdout.includes('\n')) return;
        clearTimeout(limitTimer);
        lineTimer = setTimeout(() => end(undefined, undefined), limitAfterLine);
      });
    }
    child.once('error', (cause) => end(undefined, NOT_STARTED, cause));
    child.once('exit', (code, signal) => {
      clearTimeout(limitTimer);
      clearTimeout(lineTimer);
      const failure = signal ? `was killed by ${signal}` : `failed with exit code ${code}`;
      const endWithCode = () => end(code ?? undefined, code === 0 ? undefined : failure);
      child.once('close', endWithCode);
      pipeTimer = setTimeout(endWithCode, READING_LIMIT);
    });
  });
}
