// Writes YAML that parsers of version 1.1 (PyYAML) and 1.2 read as the same values.
// The yaml package is several times slower, and PyYAML misreads some of its output (`=`, U+009B, 1e+21).

import { stringify } from '../json.ts';
import { type ChunkWriter, cachedEscape, escapeInJson } from './text.ts';

/** Texts that need no quotes in any version. */
const PLAIN = /^[A-Za-z_/](?:[\w./+@%() -]*[\w./)])?$/;
/** Words with a meaning in YAML, and `E0`, which is a number to some parsers. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?\d+)$/i;

/** Parsers search 1024 characters for the colon after a key; a longer key needs a `?`. */
const MAX_KEY = 1_000;

/** Writes a value; `escapeInYaml` has to be applied to the text. */
export async function writeYaml(out: ChunkWriter, value: unknown): Promise<void> {
  await out.add(textOf(value, '', ''));
}

/** Writes a list item by item; with meta it becomes `data`. */
export async function writeYamlList(
  out: ChunkWriter,
  items: Iterable<unknown>,
  meta: unknown,
): Promise<void> {
  const isWrapped = meta !== undefined;
  const margin = isWrapped ? '  ' : '';
  let isEmpty = true;
  for (const item of items) {
    if (isEmpty && isWrapped) await out.add('data:\n');
    isEmpty = false;
    const written = out.add(textOf(item, `${margin}- `, `${margin}  `));
    if (written) await written;
  }
  if (isEmpty) await writeYaml(out, isWrapped ? { data: [], meta } : []);
  else if (isWrapped) await writeYaml(out, { meta });
}

function textOf(value: unknown, first: string, margin: string): string {
  const lines: string[] = [];
  addLines(lines, value, first, margin);
  return `${lines.join('\n')}\n`;
}

/** @param first what the first line begins with, such as `- `; the others begin with the margin */
function addLines(lines: string[], value: unknown, first: string, margin: string): void {
  let start = first;
  if (!isNonEmpty(value)) {
    lines.push(start + scalarText(value));
  } else if (Array.isArray(value)) {
    for (const item of value) {
      addLines(lines, item, `${start}- `, `${margin}  `);
      start = margin;
    }
  } else {
    for (const [key, item] of Object.entries(value)) {
      const name = quoteIfNeeded(key);
      const isLong = name.length > MAX_KEY;
      if (isLong) lines.push(`${start}? ${name}`);
      const before = isLong ? `${margin}:` : `${start}${name}:`;
      if (isNonEmpty(item)) {
        lines.push(before);
        addLines(lines, item, `${margin}  `, `${margin}  `);
      } else {
        lines.push(`${before} ${scalarText(item)}`);
      }
      start = margin;
    }
  }
}

function isNonEmpty(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return quoteIfNeeded(value);
  // In YAML 1.1 a number with an exponent needs a decimal point and a sign.
  return stringify(value).replace(
    /^(-?\d+)(\.\d+)?[eE]([-+]?)(\d+)$/,
    (_, whole, fraction = '.0', sign, exponent) => `${whole}${fraction}e${sign || '+'}${exponent}`,
  );
}

function quoteIfNeeded(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text;
  return JSON.stringify(text);
}

/** Escapes what JSON.stringify leaves raw, which is in quotes. */
export function escapeInYaml(text: string): string {
  return escapeInJson(text, escapeCharacter);
}

/** Returns `\u009b` or `\U000e0001`, as YAML has no surrogate pairs. */
const escapeCharacter = cachedEscape((character) => {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
});
