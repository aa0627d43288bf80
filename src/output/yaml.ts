// JSON's values as YAML that readers of version 1.1 (PyYAML) and 1.2 both take for exactly those values.
// Not by the yaml package: PyYAML misreads some of what it writes (`=`, U+009B, 1e+21), and it takes several times as long.

import { escapeInJson } from './sanitize.ts';

/** A text that no version takes for anything else; all other texts are quoted. */
const PLAIN = /^[A-Za-z_/](?:[\w./+@%() -]*[\w./)])?$/;
/** Words, and what some readers take for a number without digits before its exponent: `E0`. */
const MEANS_A_VALUE = /^(?:y|n|yes|no|on|off|true|false|null|e[-+]?\d+)$/i;

/** No reader looks farther than 1024 characters for the colon after a key; a longer key begins with `?`. */
const LONGEST_KEY = 1_000;

/** A YAML document with its final newline: maps and lists as blocks, each scalar on one line. */
export function yamlText(value: unknown): string {
  return `${linesOf(value).join('\n')}\n`;
}

function linesOf(value: unknown): string[] {
  if (!isFilled(value)) return [scalarText(value)];
  if (Array.isArray(value)) {
    return value.flatMap((item) =>
      linesOf(item).map((line, index) => (index === 0 ? `- ${line}` : `  ${line}`)),
    );
  }
  return Object.entries(value).flatMap(([key, item]) => {
    const name = quotedUnlessPlain(key);
    const [before, start] = name.length > LONGEST_KEY ? [[`? ${name}`], ':'] : [[], `${name}:`];
    if (!isFilled(item)) return [...before, `${start} ${scalarText(item)}`];
    return [...before, start, ...linesOf(item).map((line) => `  ${line}`)];
  });
}

/** Whether a value takes lines of its own; an empty list or map is written as `[]` or `{}`. */
function isFilled(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0;
}

function scalarText(value: unknown): string {
  if (typeof value === 'string') return quotedUnlessPlain(value);
  const json = JSON.stringify(value ?? null);
  // To YAML 1.1 a number with an exponent is one only if it has a point.
  return typeof value === 'number' ? json.replace(/^(-?\d+)e/, '$1.0e') : json;
}

function quotedUnlessPlain(text: string): string {
  if (PLAIN.test(text) && !MEANS_A_VALUE.test(text)) return text;
  return escapeInJson(JSON.stringify(text), escapeCharacter);
}

/** As YAML writes it, which has no surrogate pairs: `\u009b`, `\U000e0001`. */
function escapeCharacter(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
}
