// Checks and converts the values of options and arguments by their kind.

import type { Value } from '../declarations.ts';
import { ImgctlError } from '../errors.ts';
import { parseChoice } from '../query/suggest.ts';
import { parseDuration } from '../session/settings.ts';

/** Returns what parses a value; `name`: the option or command, for the error. The parser throws ImgctlError usage. */
export function valueParser(value: Value, name: string): (text: string) => string | number {
  switch (value.kind) {
    case 'text':
      return (text) => text;
    case 'number':
      return (text) => parseNumber(text, value, name);
    case 'duration':
      return (text) => {
        const milliseconds = parseDuration(text, name);
        return value.keepText ? text : milliseconds;
      };
    case 'choice':
      return (text) => parseChoice(text, { ...value, valid: value.words, where: name });
  }
}

function parseNumber(
  text: string,
  { min, max }: { readonly min: number; readonly max?: number },
  name: string,
): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= (max ?? Number.MAX_SAFE_INTEGER)) return number;
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new ImgctlError('usage', `${name} must be a whole number ${range} (got ${text})`);
}
