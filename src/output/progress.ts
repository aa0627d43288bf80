// Shows on stderr what a long run is doing: a spinner on a terminal, lines of text elsewhere.

import type { Sink } from '../io.ts';
import { printable } from './sanitize.ts';
import { cutToWidth, type Terminal } from './terminal.ts';

export interface ProgressOptions {
  readonly sink: Sink;
  readonly terminal: Terminal;
  readonly quiet: boolean;
  /** Writes lines if the terminal is not interactive. */
  readonly lines: boolean;
  /** Calls `tick` repeatedly until the returned function is called [by a timer]. */
  readonly startTicking?: (tick: () => void) => () => void;
}

export interface Progress {
  /** `detail`, such as the elapsed time, is called for each redraw of a spinner. */
  update(text: string, detail?: () => string): void;
  /** Erases the line, then writes something else to the same terminal. */
  aside<Result>(write: () => Promise<Result>): Promise<Result>;
  /** Erases the line. May be called twice. */
  stop(): Promise<void>;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const ASCII_FRAMES = [...'|/-\\'];
const TICK_MILLISECONDS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Draws nothing before the first tick, so a short run shows nothing. Ignores write errors. */
export function createProgress(options: ProgressOptions): Progress {
  const { terminal } = options;
  if (options.quiet) return new Lines(undefined);
  if (terminal.interactive) return new Spinner(options);
  return new Lines(options.lines ? options.sink : undefined);
}

class Lines implements Progress {
  readonly #sink: Sink | undefined;
  #last: string | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(sink: Sink | undefined) {
    this.#sink = sink;
  }

  update(text: string): void {
    if (text === this.#last) return;
    this.#last = text;
    this.#written = this.#written
      .then(() => this.#sink?.write(`${printable(text)}\n`))
      .catch(() => {});
  }

  async aside<Result>(write: () => Promise<Result>): Promise<Result> {
    await this.#written;
    return write();
  }

  stop(): Promise<void> {
    return this.#written;
  }
}

/** Leaves the cursor visible, so that nothing must be restored. */
class Spinner implements Progress {
  readonly #sink: Sink;
  readonly #frames: readonly string[];
  readonly #unicode: boolean;
  readonly #width: number;
  readonly #stopTicking: () => void;
  #describe: (() => string) | undefined;
  #frame = 0;
  #shown = false;
  #queue: Promise<unknown> = Promise.resolve();
  #queued = 0;

  constructor({ sink, terminal, startTicking = tickByClock }: ProgressOptions) {
    this.#sink = sink;
    this.#frames = terminal.unicode ? FRAMES : ASCII_FRAMES;
    this.#unicode = terminal.unicode;
    // Some terminals start a new line after a character in the last column.
    this.#width = (terminal.width ?? 80) - 1;
    this.#stopTicking = startTicking(() => this.#draw());
  }

  update(text: string, detail?: () => string): void {
    this.#describe = () => (detail ? `${text} ${detail()}` : text);
  }

  aside<Result>(write: () => Promise<Result>): Promise<Result> {
    return this.#enqueue(async () => {
      await this.#erase();
      return write();
    });
  }

  stop(): Promise<void> {
    this.#stopTicking();
    this.#describe = undefined;
    return this.#enqueue(() => this.#erase());
  }

  #draw(): void {
    // A slow terminal gets fewer redraws instead of a backlog.
    if (this.#describe === undefined || this.#queued > 0) return;
    this.#frame = (this.#frame + 1) % this.#frames.length;
    const line = printable(`${this.#frames[this.#frame]} ${this.#describe()}`);
    this.#shown = true;
    void this.#enqueue(() =>
      this.#write(`${ERASE_LINE}${cutToWidth(line, this.#width, this.#unicode)}`),
    );
  }

  async #erase(): Promise<void> {
    if (!this.#shown) return;
    this.#shown = false;
    await this.#write(ERASE_LINE);
  }

  #write(text: string): Promise<void> {
    return this.#sink.write(text).catch(() => {});
  }

  #enqueue<Result>(job: () => Promise<Result>): Promise<Result> {
    this.#queued += 1;
    const done = this.#queue.then(job).finally(() => {
      this.#queued -= 1;
    });
    this.#queue = done.catch(() => {});
    return done;
  }
}

function tickByClock(tick: () => void): () => void {
  const timer = setInterval(tick, TICK_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}
