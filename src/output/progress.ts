// What a long run is doing, on stderr: one line that moves on a terminal, lines of text elsewhere.
// Not by ora: its timer keeps the process alive, it patches process.stdout and takes over the cursor and signals.

import type { Sink } from '../io.ts';
import { printable } from './sanitize.ts';
import type { Terminal } from './terminal.ts';
import { cutToWidth } from './width.ts';

export interface ProgressOptions {
  /** stderr. */
  readonly sink: Sink;
  readonly terminal: Terminal;
  /** Shows nothing at all. */
  readonly quiet: boolean;
  /** Where nothing may move: a line for each change of text instead of nothing. */
  readonly lines: boolean;
  /** Calls `tick` again and again until what it returns is called; the clock's if not given. */
  readonly startTicking?: (tick: () => void) => () => void;
}

export interface Progress {
  /** `detail` is asked for at each redraw, such as the time gone by; it shows on a terminal only. */
  update(text: string, detail?: () => string): void;
  /** Runs a write of something else to the same terminal with the line out of the way. */
  aside<Result>(write: () => Promise<Result>): Promise<Result>;
  /** Leaves nothing behind. May be called again. */
  stop(): Promise<void>;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const ASCII_FRAMES = [...'|/-\\'];
const TICK_MILLISECONDS = 100;
const ERASE_LINE = '\r\u001b[K';

/** Nothing is drawn before the first tick, so that a short run shows nothing. What cannot be written is dropped. */
export function createProgress(options: ProgressOptions): Progress {
  const { terminal } = options;
  if (options.quiet) return new Lines(undefined);
  if (terminal.interactive) return new Spinner(options);
  return new Lines(options.lines ? options.sink : undefined);
}

/** A line for each change of text, or nothing where there is no sink. */
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

/** One line that is drawn over and over. The cursor stays visible, so that nothing needs to be restored. */
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
    // A character in the last column would make some terminals start a new line.
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
    // A slow terminal gets fewer redraws, not a backlog of them.
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
