// Writes and changes long texts piece by piece, so that Ctrl-C and deadlines work meanwhile.

import type { Sink } from '../io.ts';
import { turn } from '../json.ts';

/** In UTF-16 units. */
export const MAX_PIECE = 64 * 1024;

/** Collects text and writes it chunk by chunk, each after the sink has accepted the one before. */
export class ChunkWriter {
  readonly #sink: Sink;
  readonly #prepare: (chunk: string) => string;
  #held = '';
  #isFirst = true;

  /** @param prepare changes each chunk; it may depend on single characters only */
  constructor(sink: Sink, prepare: (chunk: string) => string = (chunk) => chunk) {
    this.#sink = sink;
    this.#prepare = prepare;
  }

  /** Returns a promise only if there is a chunk to write: most callers have many short texts. */
  add(text: string): Promise<void> | undefined {
    this.#held += text;
    return this.#held.length < MAX_PIECE ? undefined : this.#write(MAX_PIECE);
  }

  /** Adds the text of each item; the event loop turns meanwhile. */
  async addAll<Item>(items: Iterable<Item>, text: (item: Item) => string): Promise<void> {
    for (const item of items) {
      const written = this.add(text(item));
      if (written) await written;
    }
  }

  /** Writes the rest. */
  async end(): Promise<void> {
    await this.#write(1);
  }

  async #write(minLength: number): Promise<void> {
    const text = this.#held;
    let start = 0;
    while (text.length - start >= minLength) {
      if (!this.#isFirst) await turn();
      this.#isFirst = false;
      const end = pieceEnd(text, start);
      await this.#sink.write(this.#prepare(text.slice(start, end)));
      start = end;
    }
    this.#held = text.slice(start);
  }
}

/** Changes a text; a long one piece by piece, and only then with a promise. */
export function inPieces(
  text: string,
  change: (piece: string) => string,
): string | Promise<string> {
  return text.length <= MAX_PIECE ? change(text) : changePieces(text, change);
}

async function changePieces(text: string, change: (piece: string) => string): Promise<string> {
  let changed = '';
  for (let start = 0, end = 0; start < text.length; start = end) {
    await turn();
    end = pieceEnd(text, start);
    changed += change(text.slice(start, end));
  }
  return changed;
}

/** Returns the end of the piece, which is never within a character. */
function pieceEnd(text: string, start: number): number {
  const end = start + MAX_PIECE;
  return /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end + 1 : end;
}
