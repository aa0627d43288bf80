// Everything that a run uses from the outside, as values: tests pass their own, main the real ones.

import { setMaxListeners } from 'node:events';
import { errorCode, tryOr } from './errors.ts';

/** Loads one of Node's modules at its first use, because each adds to the start-up time. */
export const builtin: NodeJS.Process['getBuiltinModule'] = (id: string) =>
  process.getBuiltinModule(id);

interface Stdin {
  readonly isTTY: boolean;
  readonly stream: NodeJS.ReadStream;
}

/** This process and its machine. */
export interface System {
  readonly pid: number;
  /** undefined on Windows. */
  readonly uid: number | undefined;
  readonly platform: NodeJS.Platform;
  hostname(): string;
  /** Such as `Node 20.19.0 on linux x64`. */
  readonly runtime: string;
  isAlive(pid: number): boolean;
  killGroup(pid: number): void;
}

export interface Io {
  readonly stdin: Stdin;
  readonly stdout: Sink;
  readonly stderr: Sink;
  /** Returns the terminal of the process, if it has one, for prompts while stderr is redirected. */
  openTerminal(): Sink | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** TZ, if it names no known time zone: local times are UTC. */
  readonly unknownZone?: string | undefined;
  readonly cwd: string;
  readonly system: System;
  /**
   * Milliseconds since the epoch, for what is stored or shown; the clock may be set at any time.
   */
  now(): number;
  /** Milliseconds since any moment, to measure a time within a run. */
  elapsed(): number;
  /** Rejects with the signal's reason when it aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** 0 up to 1, for jitter. */
  random(): number;
  /** Aborts with an ImgctlError whose code is that of one of SIGNALS. */
  readonly signal: AbortSignal;
}

/** The part that waits, retries and locks need. */
export type Clock = Pick<Io, 'now' | 'elapsed' | 'sleep' | 'random' | 'signal' | 'system'>;

export function systemClock(signal: AbortSignal): Clock {
  // Each request listens; Node would warn about a leak from the eleventh on.
  setMaxListeners(0, signal);
  return {
    signal,
    system: systemOf(process),
    now: Date.now,
    // `performance` would load a module of Node at each start.
    elapsed: () => Math.floor(process.uptime() * 1_000),
    random: Math.random,
    async sleep(milliseconds, until) {
      const { setTimeout: wait } = builtin('node:timers/promises');
      await wait(milliseconds, undefined, { signal: until }).catch(() => {
        throw until.reason;
      });
    },
  };
}

export function systemOf(process: NodeJS.Process): System {
  const { pid, platform, arch, versions } = process;
  return {
    pid,
    uid: process.getuid?.(),
    platform,
    hostname: () => builtin('node:os').hostname(),
    runtime: `Node ${versions.node} on ${platform} ${arch}`,
    isAlive(other) {
      try {
        process.kill(other, 0);
        return true;
      } catch (error) {
        return errorCode(error) === 'EPERM';
      }
    },
    killGroup(leader) {
      // Windows has no groups. The process may have just ended.
      tryOr(() => process.kill(platform === 'win32' ? leader : -leader, 'SIGKILL'), false);
    },
  };
}

export interface Sink {
  readonly isTTY: boolean;
  /** Width in cells; undefined if unknown or not a terminal. */
  readonly columns: number | undefined;
  /**
   * Resolves when the bytes are accepted, so that a slow reader slows the writer.
   * @throws BrokenPipeError; ImgctlError failed
   */
  write(data: string | Uint8Array): Promise<void>;
  /** The stream of a terminal, for a spinner that draws on it. */
  readonly stream?: NodeJS.WriteStream;
}

/** Returns a sink that writes in another way; the width is read when it is needed. */
export function withWrite<Data>(
  sink: Pick<Sink, 'isTTY' | 'columns'>,
  write: (data: Data) => Promise<void>,
) {
  return {
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
    write,
  };
}

/** The reader closed its end of the pipe. */
export class BrokenPipeError extends Error {}
