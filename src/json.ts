// Reads JSON from elsewhere within limits, and keeps integers that a double cannot hold.

import { parse, stringify as stringifyLossless } from 'lossless-json';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof ExactNumber)
  );
}

// The largest response of an honest service is the list of a user's own images, which has no pages: an image
// has ten values in 400 bytes, so these limits fit 10,000 images. Parsing so much takes a tenth of a second.
const MAX_BYTES = 4 * 2 ** 20;
const MAX_VALUES = 100_000;
/** Records of the service have a few levels; each one indents every line below it. */
const MAX_DEPTH = 50;

/** JSON, or why it was not read; no reason if the body is not JSON. */
export type Parsed =
  | { readonly text: string; readonly value: unknown; readonly excess?: never }
  | { readonly text?: never; readonly value?: never; readonly excess: string | undefined };

/** Parses JSON within limits. An integer that a double cannot hold becomes an ExactNumber. */
export function parseJson(body: Buffer): Parsed {
  if (body.length > MAX_BYTES) return { excess: `more than ${MAX_BYTES / 2 ** 20} MiB of JSON` };
  // Each value takes at least a byte, so most bodies need no count.
  if (body.length > MAX_VALUES && countValues(body) > MAX_VALUES) {
    return { excess: `more than ${MAX_VALUES} JSON values` };
  }
  const text = body.toString('utf8').replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(text);
    if (isDeeper(value, MAX_DEPTH))
      return { excess: `JSON nested deeper than ${MAX_DEPTH} levels` };
    return { value: SIXTEEN_DIGITS.test(text) ? parseLossless(text) : value, text };
  } catch {
    return { excess: undefined };
  }
}

/** Every integer that a double cannot hold matches it. */
const SIXTEEN_DIGITS = /\d{16}/;

/** An integer that a double cannot hold, such as 9007199254740993. */
export class ExactNumber {
  /** True if there ever was one, so that output needs the slower stringify. */
  static exists = false;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    ExactNumber.exists = true;
  }

  /** Returns the number as it was sent. */
  toString(): string {
    return this.#text;
  }

  valueOf(): number {
    return Number(this.#text);
  }

  toJSON(): number {
    return this.valueOf();
  }
}

function parseLossless(text: string): unknown {
  return parse(text, undefined, {
    parseNumber(digits) {
      const number = Number(digits);
      if (!/^-?\d+$/.test(digits) || Number.isSafeInteger(number)) return number;
      return new ExactNumber(digits);
    },
    // As JSON.parse treats them.
    onDuplicateKey: ({ newValue }) => newValue,
  });
}

/** Like JSON.stringify, but writes every ExactNumber as it was sent. */
export function stringify(value: unknown, indent = 0): string {
  if (!ExactNumber.exists) return JSON.stringify(value ?? null, null, indent);
  const exact = { test: (item: unknown) => item instanceof ExactNumber, stringify: String };
  return stringifyLossless(value ?? null, null, indent, [exact]) ?? 'null';
}

/** Lets the event loop turn, so that Ctrl-C and deadlines work during long work. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Counts what begins with a bracket or follows a comma, outside of strings. */
function countValues(body: Buffer): number {
  let count = 0;
  for (let at = 0; at < body.length; at += 1) {
    switch (body[at]) {
      case 0x22: // "
        for (at += 1; at < body.length && body[at] !== 0x22; at += 1) {
          if (body[at] === 0x5c) at += 1; // a backslash
        }
        break;
      case 0x2c: // ,
      case 0x5b: // [
      case 0x7b: // {
        count += 1;
    }
  }
  return count;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Unlike Object.values, for-in allocates nothing, which matters for long lists.
  for (const name in value) {
    if (isDeeper((value as JsonObject)[name], levels - 1)) return true;
  }
  return false;
}
