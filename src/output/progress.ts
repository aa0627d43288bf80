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
  const { sink, terminal, quiet, lines } = options;
  if (!quiet && terminal.interactive) return createSpinner(options);
  return createLines(lines && !quiet ? sink : undefined);
}

function createLines(sink: Sink | undefined): Progress {
  let last: string | undefined;
  let written: Promise<void> = Promise.resolve();
  return {
    update(text) {
      if (text === last) return;
      last = text;
      written = written.then(() => sink?.write(`${printable(text)}\n`)).catch(() => {});
    },
    async aside(write) {
      await written;
      return write();
    },
    stop: () => written,
  };
}

/** Leaves the cursor visible, so that nothing has to be restored. */
function createSpinner({ sink, terminal, startTicking = tickByClock }: ProgressOptions): Progress {
  const { unicode } = terminal;
  const frames = unicode ? FRAMES : ASCII_FRAMES;
  // Some terminals start a new line after a character in the last column.
  const width = (terminal.width ?? 80) - 1;
  let describe: (() => string) | undefined;
  let frame = 0;
  let shown = false;
  let queue: Promise<unknown> = Promise.resolve();
  let queued = 0;

  const enqueue = <Result>(job: () => Promise<Result>): Promise<Result> => {
    queued += 1;
    const done = queue.then(job).finally(() => {
      queued -= 1;
    });
    queue = done.catch(() => {});
    return done;
  };
  const write = (text: string) => sink.write(text).catch(() => {});
  const erase = async () => {
    if (!shown) return;
    shown = false;
    await write(ERASE_LINE);
  };
  const stopTicking = startTicking(() => {
    // A slow terminal gets fewer redraws instead of a backlog.
    if (describe === undefined || queued > 0) return;
    frame = (frame + 1) % frames.length;
    const line = printable(`${frames[frame]} ${describe()}`);
    shown = true;
    void enqueue(() => write(`${ERASE_LINE}${cutToWidth(line, width, unicode)}`));
  });

  return {
    update(text, detail) {
      describe = () => (detail ? `${text} ${detail()}` : text);
    },
    aside: (action) =>
      enqueue(async () => {
        await erase();
        return action();
      }),
    stop() {
      stopTicking();
      describe = undefined;
      return enqueue(erase);
    },
  };
}

function tickByClock(tick: () => void): () => void {
  const timer = setInterval(tick, TICK_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}
