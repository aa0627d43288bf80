// Runs the built program as a process, against the emulator or a scripted server.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificate.ts';
import { type CliResult, temporaryDirectory } from './io.ts';
import { type Handler, requestsTo, type Script, scriptedServer } from './scripted-server.ts';
import { type Environment, freshHome } from './users.ts';

/** The program under test: IMGCTL_BIN, or the launcher of this repository. */
const PROGRAM = path.resolve(
  process.env.IMGCTL_BIN || path.join(import.meta.dirname, '../../bin/imgctl.js'),
);

/** The command that starts the program: Node and a script, or an executable. */
export const COMMAND: readonly [string, ...string[]] = PROGRAM.endsWith('.js')
  ? [process.execPath, PROGRAM]
  : [PROGRAM];

/** Variables that make the program print its CPU time and peak of memory (MiB) as JSON at its end, on stderr. */
export const TELL_USAGE = {
  NODE_OPTIONS: `--require="${path.join(import.meta.dirname, '../../bench/tell-usage.cjs')}"`,
};

/** The same for a shell. */
export const SHELL_COMMAND = COMMAND.map((word) => `'${word}'`).join(' ');

/** Writes shell scripts by name into a new folder for PATH, and imgctl beside them. */
export function writePrograms(folder: string, scripts: Readonly<Record<string, string>> = {}) {
  mkdirSync(folder, { recursive: true });
  const all = { imgctl: `exec ${SHELL_COMMAND} "$@"`, ...scripts };
  for (const [name, script] of Object.entries(all)) {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
}

/** Runs a line of sh until it ends. Not synchronously: its service may run in this process. */
export function runShell(line: string, options: { cwd: string; env: Environment }) {
  return new Promise<CliResult>((resolve) => {
    execFile('/bin/sh', ['-c', line], options, (error, stdout, stderr) => {
      resolve({ stdout, stderr, exitCode: Number(error?.code ?? 0) });
    }).stdin?.end();
  });
}

export interface RunningProgram {
  readonly child: ChildProcess;
  /** Resolves when the process has ended; the exit code is -1 if a signal killed it. */
  readonly ended: Promise<CliResult>;
  /** Resolves when the output contains this text; fails if the process ends before. */
  waitFor(stream: 'stdout' | 'stderr', text: string | RegExp): Promise<string>;
}

export interface ProgramOptions {
  /** The whole environment; nothing is inherited. */
  readonly env: Environment;
  /** Content of the pipe; `open` is an empty pipe that stays open. The default is /dev/null. */
  readonly stdin?: string | { readonly open: true } | undefined;
  /** Shell commands to run first in the same process, such as `umask 0`. */
  readonly prelude?: string | undefined;
}

/** Returns the environment of a program that runs this script first. Single executables ignore it. */
export function withHook<Given extends Environment>(env: Given, script: string) {
  const hook = path.join(temporaryDirectory(), 'hook.cjs');
  writeFileSync(hook, script);
  return { ...env, NODE_OPTIONS: `--require="${hook}"` };
}

/** Returns the environment of a program whose clock is ahead; likewise. */
export const withClockAhead = (env: Environment, milliseconds: number) =>
  withHook(env, `const now = Date.now; Date.now = () => now() + ${milliseconds};`);

/** Starts the program and kills it after the test. */
export function startProgram(argv: readonly string[], options: ProgramOptions): RunningProgram {
  const started = start(argv, options);
  onTestFinished(() => {
    started.child.kill('SIGKILL');
  });
  return started;
}

/** Runs the program until it exits. */
export function runProgram(argv: readonly string[], options: ProgramOptions): Promise<CliResult> {
  return startProgram(argv, options).ended;
}

function start(argv: readonly string[], { env, stdin, prelude }: ProgramOptions): RunningProgram {
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
  // One that a signal ends, also its own, has the exit code that shells give it.
  const ended = once(child, 'close').then(([code, signal]) => {
    return { ...output, exitCode: code ?? 128 + constants.signals[signal as NodeJS.Signals] };
  });
  return {
    child,
    ended,
    async waitFor(stream, text) {
      const isThere = () =>
        typeof text === 'string' ? output[stream].includes(text) : text.test(output[stream]);
      while (!isThere()) {
        const result = await Promise.race([once(child, 'output').then(() => undefined), ended]);
        if (result && !isThere()) {
          throw new Error(`ended without "${text}" on ${stream}: ${JSON.stringify(result)}`);
        }
      }
      return output[stream];
    },
  };
}

export interface RunningEmulator extends RunningProgram {
  readonly baseUrl: string;
  /** Terminates it and waits for its end. */
  stop(): Promise<CliResult>;
}

/** Starts `imgctl emulator --port 0` with these options and waits until it listens; the caller stops it. */
export async function startEmulatorProgram(...options: string[]): Promise<RunningEmulator> {
  const env = { PATH: process.env.PATH ?? '' };
  const started = start(['emulator', '--port', '0', ...options], { env });
  const line = await started.waitFor('stdout', '\n');
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

/** A user of the built program with the token T1, whose service is a scripted server. */
export async function programUser(script: Handler | Script, tls?: Identity) {
  const server = await scriptedServer(script, tls);
  const env = { ...freshHome(), IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T1' };
  return { env, requests: () => requestsTo(server) };
}
