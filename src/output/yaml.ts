// Writes YAML that parsers of version 1.1 (PyYAML) and 1.2 read as the same values.
// The yaml package is several times slower, and PyYAML misreads some of its output (`=`, U+009B, 1e+21).

import { escapeInJson } from './sanitize.ts';

/** Texts that need no quotes in any version. */
const PLAIN = /^[A-Za-z_/](?:[\w./+@%() -]*[\w./)])?$/;
/** Words with a meaning in YAML, and `E0`, which is a number to some parsers. */
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?\d+)$/i;

/** Parsers search 1024 characters for the colon after a key; a longer key needs a `?`. */
const MAX_KEY = 1_000;

export function yamlText(value: unknown): string {
  return `${linesOf(value).join('\n')}\n`;
}

function linesOf(value: unknown): string[] {
  if (!isNonEmpty(value)) return [scalarText(value)];
  if (Array.isArray(value)) {
    return value.flatMap((item) =>
      linesOf(item).map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`)),
    );
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const name = quoteIfNeeded(key);
    const [before, start] = name.length > MAX_KEY ? [[`? ${name}`], ':'] : [[], `${name}:`];
    if (!isNonEmpty(item)) return [...before, `${start} ${scalarText(item)}`];
    return [...before, start, ...linesOf(item).map((line) => `  ${line}`)];
  });
}

function isNonEmpty(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return quoteIfNeeded(value);
  const json = JSON.stringify(value ?? null);
  // In YAML 1.1 a number with an exponent needs a decimal point.
  return typeof value === 'number' ? json.replace(/^(-?\d+)e/, '$1.0e') : json;
}

function quoteIfNeeded(text: string): string {
  if (PLAIN.test(text) && !RESERVED.test(text)) return text;
  return escapeInJson(JSON.stringify(text), escapeCharacter);
}

/** Returns `\u009b` or `\U000e0001`, as YAML has no surrogate pairs. */
function escapeCharacter(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
