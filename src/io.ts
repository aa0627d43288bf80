// Everything a run touches outside itself, as values: tests hand in their own, bin/imgctl.js the real ones.

/** A stream to write to. */
export interface Sink {
  readonly isTTY: boolean;
  /** Width in cells; undefined where unknown or no terminal. */
  readonly columns: number | undefined;
  /**
   * Resolves once the bytes are taken, so that a slow reader slows the writer.
   * Rejects with code EPIPE when the reader has gone.
   */
  write(text: string): Promise<void>;
}

export interface Source {
  readonly isTTY: boolean;
  /** The stream itself, for reading lines and prompts. */
  readonly stream: NodeJS.ReadStream;
}

export interface Io {
  readonly stdin: Source;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits; rejects with the signal's reason when it aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** 0 up to 1, for jitter. */
  random(): number;
  /** Aborts with an ImgctlError (interrupted, terminated) when the process is told to end. */
  readonly signal: AbortSignal;
}
