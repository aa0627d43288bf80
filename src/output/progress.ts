// Shows on stderr what a long run is doing: a spinner on a terminal, lines of text elsewhere.

import type { Sink } from '../io.ts';
import type { Spinner } from './spinner.ts';
import type { Terminal } from './terminal.ts';
import { printable } from './text.ts';

export interface Progress {
  /** `detail`, such as the elapsed time, is called for each frame of a spinner. */
  update(text: string, detail?: () => string): void;
  /** Erases the line, then writes something else to the same terminal. */
  aside<Result>(write: () => Promise<Result>): Promise<Result>;
  /** Erases the line. May be called twice. */
  stop(): Promise<void>;
}

/** Milliseconds; a shorter run shows no spinner, and does not load it. */
const DELAY = 100;

/** Ignores write errors. */
export function createProgress(sink: Sink, terminal: Terminal): Progress {
  return terminal.interactive ? createSpinner(sink, terminal) : createLines(sink);
}

function createLines(sink: Sink): Progress {
  let last: string | undefined;
  let written: Promise<void> = Promise.resolve();
  return {
    update(text) {
      if (text === last) return;
      last = text;
      written = written.then(() => sink.write(`${printable(text)}\n`)).catch(() => {});
    },
    async aside(write) {
      await written;
      return write();
    },
    stop: () => written,
  };
}

function createSpinner(sink: Sink, terminal: Terminal): Progress {
  let describe = () => '';
  let timer: NodeJS.Timeout | undefined;
  let spinner: Spinner | undefined;
  let stopped = false;
  let queue: Promise<unknown> = Promise.resolve();

  const enqueue = <Result>(job: () => Promise<Result>): Promise<Result> => {
    const done = queue.then(job);
    queue = done.catch(() => {});
    return done;
  };
  const begin = async () => {
    const { createOra } = await import('./spinner.ts');
    const created = await createOra(sink, terminal, () => describe());
    if (stopped) return;
    spinner = created;
    spinner.start();
  };

  return {
    update(text, detail) {
      describe = () => (detail ? `${text} ${detail()}` : text);
      if (timer !== undefined || stopped) return;
      timer = setTimeout(() => void enqueue(begin).catch(() => {}), DELAY);
      timer.unref();
    },
    aside: (write) =>
      enqueue(async () => {
        await spinner?.stop();
        try {
          return await write();
        } finally {
          if (!stopped) spinner?.start();
        }
      }),
    stop() {
      stopped = true;
      clearTimeout(timer);
      return enqueue(async () => spinner?.stop());
    },
  };
}
