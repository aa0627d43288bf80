// The built program as a process of its own, and the embedded service as another one.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type CliResult, temporaryDirectory } from './io.ts';

/** What is tested: IMGCTL_BIN, else the launcher of this repository. */
const PROGRAM = path.resolve(
  process.env.IMGCTL_BIN || path.join(import.meta.dirname, '../../bin/imgctl.js'),
);

/** The program and its first arguments: a script is run by this very Node, anything else by itself. */
export const COMMAND: readonly [string, ...string[]] = PROGRAM.endsWith('.js')
  ? [process.execPath, PROGRAM]
  : [PROGRAM];

/** The same for a shell. */
export const SHELL_COMMAND = COMMAND.map((word) => `'${word}'`).join(' ');

export type Environment = Readonly<Record<string, string>>;

export interface CliProcess {
  readonly child: ChildProcess;
  /** Resolves once the process has ended; its exit code is -1 where a signal killed it. */
  readonly ended: Promise<CliResult>;
  /** Resolves with everything written so far once this text is in it; fails if the process ends before. */
  sees(stream: 'stdout' | 'stderr', text: string): Promise<string>;
}

export interface CliOptions {
  /** The whole environment; nothing is inherited. */
  readonly env: Environment;
  /** What stands in the pipe; `open` is a pipe that stays empty. Nothing (/dev/null) if left out. */
  readonly stdin?: string | { readonly open: true } | undefined;
  /** Shell commands for the process before it becomes the program, such as `umask 0`. */
  readonly prelude?: string | undefined;
}

/** The environment of a user without any settings, whose home is a folder of the test's own. */
export function freshHome(): { HOME: string; PATH: string } {
  return { HOME: temporaryDirectory(), PATH: process.env.PATH ?? '' };
}

/** The environment of a user with a home and an account. */
export type User = ReturnType<typeof account>;

/** That user with an account at the service. */
export function account(baseUrl: string, name = 'demo', password = name) {
  return {
    ...freshHome(),
    IMGCTL_BASE_URL: baseUrl,
    IMGCTL_USERNAME: name,
    IMGCTL_PASSWORD: password,
  };
}

/** Starts the program; it does not outlive the test. */
export function startCli(argv: readonly string[], options: CliOptions): CliProcess {
  const started = start(argv, options);
  onTestFinished(() => {
    started.child.kill('SIGKILL');
  });
  return started;
}

/** Runs the program to its end. */
export function runBuilt(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(argv, options).ended;
}

function start(argv: readonly string[], { env, stdin, prelude }: CliOptions): CliProcess {
  const input = stdin === undefined ? 'ignore' : 'pipe';
  const command = [...COMMAND, ...argv];
  const [file = '', ...args] =
    prelude === undefined ? command : ['bash', '-c', `${prelude}; exec "$0" "$@"`, ...command];
  const child = spawn(file, args, { env, stdio: [input, 'pipe', 'pipe'] });
  if (typeof stdin === 'string') child.stdin?.end(stdin);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      child.emit('output');
    });
  }
  const ended = once(child, 'close').then(([code]) => ({ ...output, exitCode: code ?? -1 }));
  return {
    child,
    ended,
    async sees(stream, text) {
      while (!output[stream].includes(text)) {
        const result = await Promise.race([once(child, 'output').then(() => undefined), ended]);
        if (result && !output[stream].includes(text)) {
          throw new Error(`ended without "${text}" on ${stream}: ${JSON.stringify(result)}`);
        }
      }
      return output[stream];
    },
  };
}

export interface EmulatorProcess extends CliProcess {
  readonly baseUrl: string;
  /** Ends it by SIGTERM and waits for that. */
  stop(): Promise<CliResult>;
}

/** `imgctl emulator --port 0` with these options, once it can be reached. Whoever starts it stops it. */
export async function startEmulatorProcess(...options: string[]): Promise<EmulatorProcess> {
  const env = { PATH: process.env.PATH ?? '' };
  const started = start(['emulator', '--port', '0', ...options], { env });
  const line = await started.sees('stdout', '\n');
  const { base_url: baseUrl } = JSON.parse(line) as { base_url: string };
  return {
    ...started,
    baseUrl,
    stop: () => {
      started.child.kill('SIGTERM');
      return started.ended;
    },
  };
}
