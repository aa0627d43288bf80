// A sink that records what is written, and terminals for tests of the output.

import type { ByteSink } from '../../src/io.ts';
import type { Terminal } from '../../src/output/terminal.ts';

export class MemorySink implements ByteSink {
  readonly isTTY: boolean;
  /** Changes as a window does. */
  columns: number | undefined;
  /** What was written, bytes as text in UTF-8. */
  readonly pieces: string[] = [];
  readonly #bytes: Uint8Array[] = [];

  constructor(columns?: number) {
    this.isTTY = columns !== undefined;
    this.columns = columns;
  }

  get text(): string {
    return this.pieces.join('');
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#bytes);
  }

  async write(data: string | Uint8Array): Promise<void> {
    const bytes = Buffer.from(data);
    this.#bytes.push(bytes);
    this.pieces.push(typeof data === 'string' ? data : bytes.toString());
  }
}

/** Returns what a function writes. */
export async function textOf(write: (sink: MemorySink) => Promise<unknown>): Promise<string> {
  const sink = new MemorySink();
  await write(sink);
  return sink.text;
}

export const PIPE: Terminal = { color: false, width: undefined, interactive: false, unicode: true };

export function terminalOf(width: number, unicode = true): Terminal {
  return { color: false, width, interactive: true, unicode };
}
