// Reads JSON from elsewhere within limits, and the digits of integers that a double cannot hold.

import { parse } from 'lossless-json';
import { tryOr } from './errors.ts';

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True if the value is a whole number of at least 0. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

// The largest response of an honest service is the list of a user's own images, which has no pages:
// 10,000 images of 400 bytes. Parsing as many bytes of empty objects takes a quarter of a second
// and 90 MiB.
const MAX_BYTES = 4 * 2 ** 20;
/** Records of the service have a few levels; each one indents every line below it. */
const MAX_DEPTH = 50;

/** JSON, or why it was not read; no reason if the body is not JSON. */
type ParsedJson =
  | { readonly text: string; readonly value: unknown; readonly excess?: never }
  | { readonly text?: never; readonly value?: never; readonly excess: string | undefined };

/** Returns the text without its byte order mark. @throws an error for people: it is not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  const text = tryOr(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), undefined);
  if (text === undefined) throw new Error('it is not UTF-8');
  return text;
}

/**
 * Parses JSON within limits. An integer that a double cannot hold becomes a text of its digits.
 * @param isLossy replaces what is not UTF-8, for texts that are only shown
 */
export function parseJson(body: Buffer, isLossy = false): ParsedJson {
  if (body.length > MAX_BYTES) return { excess: `more than ${MAX_BYTES / 2 ** 20} MiB of JSON` };
  const text = tryOr(() => decodeUtf8(isLossy ? Buffer.from(body.toString()) : body), undefined);
  if (text === undefined) return { excess: 'bytes that are not UTF-8' };
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

/** True if a text, JSON or not, is nested deeper than parseJson accepts: a parser may overflow. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' || character === '{') depth += 1;
    else if (character === ']' || character === '}') depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/**
 * Parses the JSON of a file: undefined if it is none, and the first key that an object has twice.
 */
export function parseFile(text: string) {
  if (isTooDeep(text)) return { value: undefined, twice: undefined };
  const twice: string[] = [];
  const value = tryOr<unknown>(() => parseLossless(text, (key) => twice.push(key)), undefined);
  return { value, twice: twice[0] };
}

/**
 * @param onDuplicateKey receives a name that stands twice; the last one counts, as for JSON.parse
 */
export function parseLossless(text: string, onDuplicateKey?: (name: string) => void): unknown {
  return parse(text, undefined, {
    parseNumber(digits) {
      const number = Number(digits);
      return /^-?\d+$/.test(digits) && !Number.isSafeInteger(number) ? digits : number;
    },
    onDuplicateKey({ key, newValue }) {
      onDuplicateKey?.(key);
      return newValue;
    },
  });
}

/** Returns JSON; undefined counts as null. */
export function stringify(value: unknown, indent = 0): string {
  return JSON.stringify(value ?? null, null, indent);
}

/** Lets the event loop turn, so that Ctrl-C and deadlines work during long work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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
