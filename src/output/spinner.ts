// The spinner on a terminal, drawn by ora on one line. It leaves stdin, the cursor and signals alone.

import { Writable } from 'node:stream';
import ora from 'ora';
import type { Sink } from '../io.ts';
import type { Terminal } from './terminal.ts';
import { loadStyle } from './terminal.ts';
import { printable } from './text.ts';
import { cutEnd } from './width.ts';

export interface Spinner {
  start(): void;
  /** Erases the line. Resolves when everything is written. */
  stop(): Promise<void>;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const ASCII_FRAMES = [...'|/-\\'];
const INTERVAL = 100;

/** More would not be read, and a frame must be far shorter than the backlog. */
const MAX_WIDTH = 200;

/** Characters that a slow terminal may lag behind; beyond them ora skips frames. */
const BACKLOG = 2_048;

/** @param describe is called for each frame */
export async function createOra(
  sink: Sink,
  terminal: Terminal,
  describe: () => string,
): Promise<Spinner> {
  const stream = new LineStream(sink);
  const style = await loadStyle(terminal);
  const frames = terminal.unicode ? FRAMES : ASCII_FRAMES;
  const drawing = ora({
    stream,
    spinner: { frames: frames.map(style.id), interval: INTERVAL },
    color: false,
    discardStdin: false,
    hideCursor: false,
    isEnabled: true,
    // Called before each frame: the text may hold the elapsed time, and the window may change its width.
    prefixText() {
      // Some terminals start a new line after a character in the last column.
      const width = Math.min(sink.columns || 80, MAX_WIDTH) - '⠋  '.length;
      drawing.text = cutEnd(printable(describe()), Math.max(0, width), terminal.unicode);
      return '';
    },
  });
  return {
    start: () => void drawing.start(),
    stop() {
      if (drawing.isSpinning) drawing.stop();
      return stream.settled();
    },
  };
}

/** What ora needs of a terminal: one line, which it erases before each frame. */
class LineStream extends Writable {
  readonly isTTY = true;
  /** ora moves up by the lines that a text fills; this one never fills more than one. */
  readonly columns = Number.POSITIVE_INFINITY;
  readonly #sink: Sink;

  constructor(sink: Sink) {
    super({ decodeStrings: false, highWaterMark: BACKLOG });
    this.#sink = sink;
  }

  override _write(chunk: string, encoding: BufferEncoding, done: () => void): void {
    this._writev([{ chunk, encoding }], done);
  }

  /** Ignores errors: the run itself does not depend on the spinner. */
  override _writev(chunks: { chunk: string; encoding: BufferEncoding }[], done: () => void): void {
    const text = chunks
      .map(({ chunk }) => chunk)
      .join('')
      .replaceAll(SYNCHRONIZED, '');
    if (text === '') done();
    else
      void this.#sink
        .write(text)
        .catch(() => {})
        .then(() => done());
  }

  /** Does nothing: each line begins where the cursor is, and clearLine moves it there. */
  cursorTo(): void {}

  clearLine(): void {
    this.write('\r\u001b[K');
  }

  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.write('', () => resolve());
    });
  }
}

/** One line needs no synchronized output, which some terminals print. */
const SYNCHRONIZED = /\u001b\[\?2026[hl]/g;
