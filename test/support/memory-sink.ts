// A sink that records what is written, and terminals for tests of the output.

import type { Sink } from '../../src/io.ts';
import type { Terminal } from '../../src/output/terminal.ts';

export class MemorySink implements Sink {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  readonly pieces: string[] = [];

  constructor(columns?: number) {
    this.isTTY = columns !== undefined;
    this.columns = columns;
  }

  get text(): string {
    return this.pieces.join('');
  }

  async write(text: string): Promise<void> {
    this.pieces.push(text);
  }
}

export const PIPE: Terminal = { color: false, width: undefined, interactive: false, unicode: true };

export function terminalOf(width: number, unicode = true): Terminal {
  return { color: false, width, interactive: true, unicode };
}
