// Whole documents, and how they are written.

import type { Sink } from '../io.ts';
import type { Format } from './format.ts';
import { jsonText } from './json.ts';

/** Characters handed to the sink at a time. */
const PIECE = 64 * 1024;

/** A value as a document with its final newline. */
export async function documentText(
  format: Extract<Format, 'json' | 'ndjson' | 'yaml'>,
  value: unknown,
): Promise<string> {
  if (format !== 'yaml') return `${jsonText(value, format === 'json' ? 2 : 0)}\n`;
  const { yamlText } = await import('./yaml.ts');
  return yamlText(value);
}

/** Writes a text piece by piece, each once the sink has taken the one before. */
export async function writeText(sink: Sink, text: string): Promise<void> {
  let start = 0;
  while (start < text.length) {
    let end = start + PIECE;
    // A piece that ended between two surrogates would break the character.
    if (isHighSurrogate(text.charCodeAt(end - 1))) end += 1;
    await sink.write(text.slice(start, end));
    start = end;
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
