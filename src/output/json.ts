// Values as JSON that reads back to exactly the same values and holds nothing that moves a terminal.

import { escapeInJson } from './sanitize.ts';

/** JSON without a final newline; `indent` spaces a level, 0 for one line. */
export function jsonText(value: unknown, indent: number): string {
  return escapeInJson(JSON.stringify(value ?? null, null, indent));
}

/** One line of JSON for each value. */
export function ndjsonText(values: readonly unknown[]): string {
  // Escaped as one text: line by line V8 would copy each to look at it.
  return escapeInJson(values.map((value) => `${JSON.stringify(value ?? null)}\n`).join(''));
}
