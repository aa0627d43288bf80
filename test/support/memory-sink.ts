// A sink that records what is written, and terminals for tests of the output.

import readline from 'node:readline';
import { Writable } from 'node:stream';
import type { Sink } from '../../src/io.ts';
import type { Terminal } from '../../src/output/terminal.ts';

export class MemorySink implements Sink {
  readonly isTTY: boolean;
  /** Changes as a window does. */
  columns: number | undefined;
  /** What was written, bytes as text in UTF-8. */
  readonly pieces: string[] = [];
  readonly #bytes: Uint8Array[] = [];
  #stream: NodeJS.WriteStream | undefined;

  constructor(columns?: number) {
    this.isTTY = columns !== undefined;
    this.columns = columns;
  }

  get written(): string {
    return this.pieces.join('');
  }

  /** What a pipe received, or what a terminal shows: a run that takes longer draws a spinner, and erases it. */
  get text(): string {
    return this.isTTY ? screenOf(this.written) : this.written;
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#bytes);
  }

  /** A terminal's stream, whose text is recorded too. */
  get stream(): NodeJS.WriteStream {
    this.#stream ??= terminalStream(this);
    return this.#stream;
  }

  async write(data: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(data);
    this.#bytes.push(bytes);
    this.pieces.push(typeof data === 'string' ? data : bytes.toString());
  }
}

/** Returns what is left of each line after a spinner erased it, with all other sequences. */
export function screenOf(text: string): string {
  const lines = text.split('\n').map((line) => line.split('\u001b[1G\u001b[0K').at(-1));
  return lines.join('\n').replaceAll(/\u001b\[(\?2026[hl]|1G)/g, '');
}

/** Moves the cursor as Node's own streams of terminals do. */
function terminalStream(sink: MemorySink): NodeJS.WriteStream {
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      void sink.write(chunk);
      done();
    },
  });
  const terminal = {
    isTTY: true,
    cursorTo: (x: number) => readline.cursorTo(stream, x),
    moveCursor: (x: number, y: number) => readline.moveCursor(stream, x, y),
    clearLine: (direction: readline.Direction) => readline.clearLine(stream, direction),
  };
  Object.defineProperty(stream, 'columns', { get: () => sink.columns });
  return Object.assign(stream, terminal) as unknown as NodeJS.WriteStream;
}

export const PIPE: Terminal = { color: false, width: undefined, interactive: false, unicode: true };

export function terminalOf(width: number, unicode = true): Terminal {
  return { color: false, width, interactive: true, unicode };
}
