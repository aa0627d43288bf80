// Makes text safe for a terminal, wraps it, and writes long texts in chunks.

import type { Sink } from '../io.ts';
import { stringify, yieldToEventLoop } from '../json.ts';

/** Needs no escapes, and has as many cells as characters. */
export const ASCII = /^[ -~]*$/;

// DEL, C1 controls, line separators, marks that reorder text, invisible characters, lone
// surrogates. Not joiners and variation selectors, which emoji and many scripts need.
const BEYOND_C0 =
  '\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200e\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ud800-\\udfff\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff' +
  '\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e00ff}\\u{e01f0}-\\u{e0fff}';

const HARMFUL = new RegExp(`[\\u0000-\\u001f${BEYOND_C0}]`, 'gu');
const HARMFUL_IN_JSON = new RegExp(`[${BEYOND_C0}]`, 'gu');

/** Returns the text on one line with the escapes of JSON. */
export function printable(text: string): string {
  return text.replace(HARMFUL, escapeCharacter);
}

/** Masks secrets, then escapes what would harm a terminal, which could hide them. */
export function clean(text: string, redact: (text: string) => string): string {
  return printable(redact(text));
}

/** Escapes what JSON.stringify leaves raw; line breaks between values stay. */
export function escapeInJson(json: string, replacer = escapeCharacter): string {
  // Most lists are ASCII without DEL, and this takes an eighth of the time of a search.
  const isPlain = Buffer.byteLength(json) === json.length && !json.includes('\u007f');
  return isPlain ? json : json.replace(HARMFUL_IN_JSON, (character) => replacer(character));
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
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

const CHUNK = 64 * 1024;

/**
 * Writes pieces of text in chunks, each after the sink has accepted the one before. The event loop
 * turns between two chunks, so that Ctrl-C and deadlines work.
 * @param safe applied to each chunk, which takes less time and memory than piece by piece
 */
export async function writeText(
  sink: Sink,
  pieces: Iterable<string>,
  safe = (chunk: string) => chunk,
): Promise<void> {
  let held = '';
  for (const piece of pieces) {
    held += piece;
    if (held.length < CHUNK) continue;
    await sink.write(safe(held));
    held = '';
    await yieldToEventLoop();
  }
  if (held !== '') await sink.write(safe(held));
}

/**
 * Wraps the text at this width; a longer word gets its own line.
 * @param indent begins each line but the first
 * @param used cells of the first line that something else takes
 * @param measure measures a word; without it, `maxCells` does, as string-width takes time to load
 */
export function wrapWords(
  text: string,
  width: number,
  { indent = '', used = 0, measure = maxCells } = {},
): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines = [first];
  let lineWidth = used + measure(first);
  for (const word of words) {
    const cells = measure(word);
    if (lineWidth + 1 + cells <= width) {
      lines[lines.length - 1] += ` ${word}`;
      lineWidth += 1 + cells;
    } else {
      lines.push(indent + word);
      lineWidth = indent.length + cells;
    }
  }
  return lines;
}

/** Characters of one code unit and perhaps two cells. Those of two units take at most two cells. */
const MAY_BE_WIDE = /[\u1100-\ud7ff\ue000-\uffff]/g;

/** Returns the maximum of cells that the text may take. */
function maxCells(text: string): number {
  return ASCII.test(text) ? text.length : text.replace(MAY_BE_WIDE, '  ').length;
}
