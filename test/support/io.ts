// The world around a run, for tests inside this process: sinks that keep, a terminal to type on, a clock to set.

import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import type { Io } from '../../src/io.ts';
import { run } from '../../src/main.ts';
import { MemorySink } from './memory-sink.ts';

/** Standard input: a pipe with a text in it, or a terminal. */
export class FakeInput extends PassThrough {
  readonly isTTY: boolean;
  /** Each change of the mode; true is raw, without echo. */
  readonly rawModes: boolean[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(raw: boolean): this {
    this.rawModes.push(raw);
    return this;
  }

  /** Keys or text; a prompt that comes later finds them as well. */
  type(text: string): this {
    this.write(text);
    return this;
  }
}

/** A terminal on which these keys were typed already. */
export function fakeTerminal(typed = ''): FakeInput {
  return new FakeInput(true).type(typed);
}

export interface FakeIoOptions {
  /** The whole environment; nothing is inherited. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** What stands in the pipe, or a terminal; an empty pipe. */
  readonly stdin?: string | FakeInput;
  /** Width of the terminal that stdout is; no terminal without. */
  readonly columns?: number;
  /** Width of the terminal that stderr is; no terminal without, unless stdin is one (80 then). */
  readonly errorColumns?: number;
  readonly cwd?: string;
  readonly platform?: NodeJS.Platform;
  /**
   * Where the clock stands, milliseconds since the epoch. It goes on by `advance` and by sleeps alone, which
   * then take no time. Without it the clock is the system's and sleeps are real.
   */
  readonly time?: number;
}

export interface FakeIo extends Io {
  readonly stdout: MemorySink;
  readonly stderr: MemorySink;
  /** Milliseconds of every sleep that was begun. */
  readonly sleeps: readonly number[];
  /** Times that the young generation was frozen. */
  readonly freezes: () => number;
  /** Moves the clock, also back; for an Io with a `time`. */
  advance(milliseconds: number): void;
  /** What SIGINT (or SIGTERM) does. */
  interrupt(code?: 'interrupted' | 'terminated'): void;
}

export function fakeIo(options: FakeIoOptions = {}): FakeIo {
  const abort = new AbortController();
  // Many in one test may wait on it.
  setMaxListeners(0, abort.signal);
  const input = inputOf(options.stdin ?? '');
  const sleeps: number[] = [];
  let time = options.time;
  return {
    stdin: { isTTY: input.isTTY, stream: input as unknown as NodeJS.ReadStream },
    stdout: new MemorySink(options.columns),
    stderr: new MemorySink(options.errorColumns ?? (input.isTTY ? 80 : undefined)),
    env: options.env ?? {},
    cwd: options.cwd ?? tmpdir(),
    platform: options.platform ?? 'linux',
    signal: abort.signal,
    sleeps,
    now: () => time ?? Date.now(),
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
    interrupt: (code = 'interrupted') => abort.abort(new ImgctlError(code, code)),
  };
}

/** An Io that sleeps for a moment instead of as long as it is told: for waits on real locks. */
export function impatientIo(): Io {
  const io = fakeIo();
  return { ...io, sleep: (_milliseconds, signal) => io.sleep(1, signal) };
}

function inputOf(stdin: string | FakeInput): FakeInput {
  if (typeof stdin !== 'string') return stdin;
  const pipe = new FakeInput(false);
  pipe.end(stdin);
  return pipe;
}

/** A directory of its own for the test that asks; it is removed when the test has finished. */
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

/** Runs the whole program in this process. Hand in a FakeIo to look at it, or to interrupt it, meanwhile. */
export async function runCli(
  argv: readonly string[],
  io: FakeIo | FakeIoOptions = {},
): Promise<CliResult> {
  const used = 'interrupt' in io ? io : fakeIo(io);
  const exitCode = await run(argv, used);
  return { stdout: used.stdout.text, stderr: used.stderr.text, exitCode };
}
