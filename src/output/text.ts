// Makes text safe for a terminal, and writes long texts piece by piece.

import type { Sink } from '../io.ts';
import { stringify, turn } from '../json.ts';

// DEL, C1 controls, line separators, marks that reorder text, invisible characters and lone surrogates.
// Without joiners and variation selectors, which emoji and many scripts need.
const BEYOND_C0 =
  '\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff' +
  '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}';

const HARMFUL = new RegExp(`[\\u0000-\\u001f${BEYOND_C0}]`, 'gu');
const HARMFUL_IN_JSON = new RegExp(`[${BEYOND_C0}]`, 'gu');

const escapeCharacter = cachedEscape(newEscape);

/** Returns the text on one line with `\u` escapes. */
export function printable(text: string): string {
  return text.replace(HARMFUL, escapeCharacter);
}

/** Escapes what JSON.stringify leaves raw; line breaks between values stay. */
export function escapeInJson(json: string, replacer = escapeCharacter): string {
  return isPlain(json) ? json : json.replace(HARMFUL_IN_JSON, replacer);
}

/** True for ASCII without DEL. Most lists are, and this takes an eighth of the time of a search. */
function isPlain(text: string): boolean {
  return Buffer.byteLength(text) === text.length && !text.includes('\u007f');
}

/** Remembers each escape: a text may hold millions of one character. */
export function cachedEscape(newForm: (character: string) => string) {
  const known = new Map<string, string>();
  return (character: string): string => {
    const escaped = known.get(character) ?? newForm(character);
    known.set(character, escaped);
    return escaped;
  };
}

function newEscape(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  let escaped = '';
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

export function cellText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? jsonText(value, 0) : String(value);
}

/** Returns JSON that is safe for a terminal, without a final newline. */
export function jsonText(value: unknown, indent: number): string {
  return escapeInJson(stringify(value, indent));
}

/** In UTF-16 units. Longer texts are changed and written in pieces, so that Ctrl-C and deadlines work meanwhile. */
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
