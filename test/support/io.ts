// Runs imgctl in this process with fake streams, a fake terminal and a fake clock.

import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type CommandDeclaration, commandNames, exitCodesOf } from '../../src/cli/command-types.ts';
import { COMMANDS } from '../../src/commands/index.ts';
import { ImgctlError } from '../../src/errors.ts';
import { type Io, systemOf } from '../../src/io.ts';
import { run } from '../../src/main.ts';
import { expectHints } from './hints.ts';
import { MemorySink } from './memory-sink.ts';

/** Standard input: a pipe or a terminal. */
export class FakeInput extends PassThrough {
  readonly isTTY: boolean;
  /** Every mode that was set; true is raw, without echo. */
  readonly rawModes: boolean[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(raw: boolean): this {
    this.rawModes.push(raw);
    return this;
  }

  /** Says again that the input has ended, to a later prompt. */
  override resume(): this {
    if (this.readableEnded) process.nextTick(() => this.emit('end'));
    return super.resume();
  }

  /** Types text or keys; they are buffered for later prompts. */
  type(text: string): this {
    this.write(text);
    return this;
  }
}

/** A terminal with keys already typed, after which the input ends: an unexpected prompt fails at once. */
export function fakeTerminal(typed = ''): FakeInput {
  const input = new FakeInput(true).type(typed);
  return typed === '' ? input : input.end();
}

export interface FakeIoOptions {
  /** The whole environment; nothing is inherited. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Content of the pipe, or a terminal; an empty pipe by default. */
  readonly stdin?: string | FakeInput;
  /** Makes stdout a terminal of this width. */
  readonly columns?: number;
  /** Makes stderr a terminal of this width; 80 by default if stdin is a terminal. */
  readonly errorColumns?: number | undefined;
  /** Colours what goes to a terminal, as outside of tests [sets NO_COLOR]. */
  readonly color?: boolean;
  readonly cwd?: string;
  readonly platform?: NodeJS.Platform;
  /**
   * Sets a fake clock, in milliseconds since the epoch. Only `advance` and sleeps move it, and sleeps take no
   * time. By default the clock and the sleeps are real.
   */
  readonly time?: number;
}

export interface FakeIo extends Io {
  readonly stdout: MemorySink;
  readonly stderr: MemorySink;
  /** Every sleep that was started, in milliseconds. */
  readonly sleeps: readonly number[];
  /** Lets time pass. */
  advance(milliseconds: number): void;
  /** Sets the clock forwards or backwards, as NTP does, while no time passes. */
  setClock(milliseconds: number): void;
  /** Acts like SIGINT or SIGTERM. */
  interrupt(code?: 'interrupted' | 'terminated'): void;
}

/** By how many milliseconds tests set the clock: a minute, an hour and ten years, back and forward. */
export const CLOCK_CHANGES = [60_000, 3_600_000, 315_532_800_000].flatMap((time) => [-time, time]);

export function fakeIo(options: FakeIoOptions = {}): FakeIo {
  const abort = new AbortController();
  setMaxListeners(0, abort.signal);
  const input = inputOf(options.stdin ?? '');
  const sleeps: number[] = [];
  let time = options.time;
  let shift = 0;
  return {
    stdin: { isTTY: input.isTTY, stream: input as unknown as NodeJS.ReadStream },
    stdout: new MemorySink(options.columns),
    stderr: new MemorySink(
      'errorColumns' in options ? options.errorColumns : input.isTTY ? 80 : undefined,
    ),
    openTerminal: () => (input.isTTY ? new MemorySink(80) : undefined),
    env: { ...(options.color ? {} : { NO_COLOR: '1' }), ...options.env },
    cwd: options.cwd ?? tmpdir(),
    system: { ...systemOf(process), platform: options.platform ?? 'linux' },
    signal: abort.signal,
    sleeps,
    now: () => (time ?? Date.now()) + shift,
    elapsed: () => time ?? Date.now(),
    random: () => 0.5,
    async sleep(milliseconds, signal) {
      sleeps.push(milliseconds);
      const virtual = time !== undefined;
      if (time !== undefined) time += milliseconds;
      await wait(virtual ? 0 : milliseconds, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    },
    advance(milliseconds) {
      time = (time ?? Date.now()) + milliseconds;
    },
    setClock(milliseconds) {
      shift += milliseconds;
    },
    interrupt: (code = 'interrupted') => abort.abort(new ImgctlError(code, code)),
  };
}

/** An Io whose sleeps take 1 ms, for waits on real locks. */
export function impatientIo(): Io {
  const io = fakeIo();
  let slept = 0;
  return {
    ...io,
    elapsed: () => io.elapsed() + slept,
    sleep: (milliseconds, signal) => {
      slept += milliseconds;
      return io.sleep(1, signal);
    },
  };
}

function inputOf(stdin: string | FakeInput): FakeInput {
  if (typeof stdin !== 'string') return stdin;
  const pipe = new FakeInput(false);
  pipe.end(stdin);
  return pipe;
}

/** Creates a directory for the running test and removes it afterwards. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'imgctl-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

/** Matches a result with this exit code, this text on stderr and nothing on stdout. */
export function failed(exitCode: number, text: string | RegExp): CliResult {
  const stderr =
    typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text);
  return { stdout: '', stderr, exitCode };
}

/** Runs the whole program in this process. Pass a FakeIo to read it, or to interrupt it, meanwhile. */
export async function runCli(
  argv: readonly string[],
  io: FakeIo | FakeIoOptions = {},
): Promise<CliResult> {
  const used = 'interrupt' in io ? io : fakeIo(io);
  const exitCode = await run(argv, used);
  expectDeclared(argv, exitCode);
  const result = { stdout: used.stdout.text, stderr: used.stderr.text, exitCode };
  expectHints(argv, used, result);
  return result;
}

/** Checks that the declaration of the command that was run has this exit code. */
function expectDeclared(argv: readonly string[], exitCode: number): void {
  let command: CommandDeclaration | undefined;
  let subcommands: readonly CommandDeclaration[] | undefined = COMMANDS;
  for (const word of argv) {
    const isMeant = (each: CommandDeclaration) => commandNames(each).includes(word);
    if (!subcommands?.some(isMeant)) break;
    command = subcommands.find(isMeant);
    subcommands = command?.subcommands;
  }
  if (command === undefined || subcommands) return;
  const declared = exitCodesOf(command);
  // An expectation takes longer than most runs.
  if (declared.includes(exitCode)) return;
  expect.fail(`imgctl ${argv.join(' ')} exits ${exitCode}, its declaration has ${declared.join()}`);
}
