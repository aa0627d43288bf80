// Reads JSON from elsewhere within limits, and keeps numbers that JavaScript cannot hold.

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
  | {
      readonly text: string;
      readonly value: unknown;
      readonly numbers: Numbers;
      readonly excess?: never;
    }
  | { readonly text?: never; readonly value?: never; readonly excess: string | undefined };

interface Numbers {
  /** Some are near or beyond the limits of a double; 0 may have been smaller than any. */
  areExtreme: boolean;
}

/** Parses JSON within limits; numbers are rounded to what JavaScript can hold. */
export function parseJson(body: Buffer): Parsed {
  if (body.length > MAX_BYTES) return { excess: `more than ${MAX_BYTES / 2 ** 20} MiB of JSON` };
  // Each value takes at least a byte, so most bodies need no count.
  if (body.length > MAX_VALUES && countValues(body) > MAX_VALUES) {
    return { excess: `more than ${MAX_VALUES} JSON values` };
  }
  const text = body.toString('utf8').replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(text);
    const numbers = { areExtreme: false };
    const isTooDeep = isDeeper(value, MAX_DEPTH, numbers);
    if (isTooDeep) return { excess: `JSON nested deeper than ${MAX_DEPTH} levels` };
    return { value, text, numbers };
  } catch {
    return { excess: undefined };
  }
}

/** Like parseJson, but keeps numbers that JavaScript cannot hold. */
export async function parseJsonExactly(body: Buffer): Promise<Parsed> {
  const parsed = parseJson(body);
  if (body.length > MAX_VALUES) await turn();
  if (parsed.text === undefined) return parsed;
  const { text, numbers } = parsed;
  // The first two conditions cost little and hold for few responses.
  const mayDiffer = (numbers.areExtreme || SIXTEEN_DIGITS.test(text)) && LONG_NUMBER.test(text);
  return mayDiffer ? { ...parsed, value: await parseExactly(text) } : parsed;
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

function isDeeper(value: unknown, levels: number, numbers: Numbers): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Unlike Object.values, for-in allocates nothing, which matters for long lists.
  for (const name in value) {
    const member = (value as JsonObject)[name];
    if (typeof member === 'number') {
      const size = Math.abs(member);
      if (size < 1e-300 || size > 1e300) numbers.areExtreme = true;
    } else if (isDeeper(member, levels - 1, numbers)) {
      return true;
    }
  }
  return false;
}

/** A number that a double cannot hold, such as 9007199254740993 or 1e400. */
export class ExactNumber {
  /** How many were rounded by JSON.stringify. */
  static rounded = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the number as it was sent. */
  toString(): string {
    return this.#text;
  }

  valueOf(): number {
    return Number(this.#text);
  }

  toJSON(): number {
    ExactNumber.rounded += 1;
    return this.valueOf();
  }
}

/** Like JSON.stringify, but writes every ExactNumber as it was sent. */
export function stringify(value: unknown, indent = 0): string {
  const before = ExactNumber.rounded;
  const json = JSON.stringify(value ?? null, null, indent);
  return ExactNumber.rounded === before ? json : stringifyExactly(value, indent, '\n');
}

function stringifyExactly(value: unknown, indent: number, newline: string): string {
  if (value instanceof ExactNumber) return `${value}`;
  const isArray = Array.isArray(value);
  if (!isArray && !isObject(value)) return JSON.stringify(value ?? null);
  const inner = indent === 0 ? '' : newline + ' '.repeat(indent);
  const parts = isArray
    ? value.map((item) => stringifyExactly(item, indent, inner))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => {
          const separator = indent === 0 ? ':' : ': ';
          return `${JSON.stringify(name)}${separator}${stringifyExactly(item, indent, inner)}`;
        });
  const content = parts.join(`,${inner}`);
  const lines = content === '' || indent === 0 ? content : `${inner}${content}${newline}`;
  return isArray ? `[${lines}]` : `{${lines}}`;
}

/** Every number of 16 digits matches it. V8 skips most of the text if each class is spelled out. */
const SIXTEEN_DIGITS = new RegExp('[\\d.]'.repeat(16));

/** A double holds any number of 15 digits whose exponent has at most two. */
const LONG_NUMBER = /[:,[]\s*-?(?:\d[\d.]{15}|[\d.]+[eE][-+]?\d{3})/;

/** Tokens to parse before the event loop turns. */
const TOKENS_PER_TURN = 10_000;

/** Parses valid JSON like JSON.parse, but into ExactNumber where a double would differ. */
async function parseExactly(text: string): Promise<unknown> {
  const pattern = /[\s,:]*(["[\]{}]|[^\s,:"[\]{}]+)/y;
  const outer: unknown[][] = [];
  /** The values of the innermost array, or the names and values of the innermost object. */
  let inner: unknown[] = [];
  for (let count = 1; ; count += 1) {
    const token = pattern.exec(text)?.[1];
    if (token === undefined) return inner[0];
    if (token === '[' || token === '{') {
      outer.push(inner);
      inner = [];
    } else if (token === ']' || token === '}') {
      const value = token === ']' ? inner : objectOf(inner);
      inner = outer.pop() ?? [];
      inner.push(value);
    } else if (token === '"') {
      const start = pattern.lastIndex - 1;
      let end = pattern.lastIndex;
      while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
      pattern.lastIndex = end + 1;
      inner.push(JSON.parse(text.slice(start, end + 1)));
    } else {
      inner.push(scalarOf(token));
    }
    if (count % TOKENS_PER_TURN === 0) await turn();
  }
}

function objectOf(namesAndValues: readonly unknown[]): JsonObject {
  const members: [string, unknown][] = [];
  for (let at = 0; at < namesAndValues.length; at += 2) {
    members.push([`${namesAndValues[at]}`, namesAndValues[at + 1]]);
  }
  // Unlike an assignment, this makes __proto__ an ordinary member.
  return Object.fromEntries(members);
}

function scalarOf(token: string): unknown {
  const value: unknown = JSON.parse(token);
  return typeof value === 'number' && !isHeld(token, value) ? new ExactNumber(token) : value;
}

function isHeld(text: string, value: number): boolean {
  const isShort = text.length <= 15 && !/e/i.test(text);
  return isShort || decimalOf(text) === decimalOf(`${value}`);
}

/** Returns the same text for equal numbers. */
function decimalOf(text: string): string {
  const [, sign, whole = '', fraction = '', exponent = '0'] =
    /^(-?)0*(\d*)\.?(\d*)(?:[eE](.*))?$/.exec(text) ?? [];
  const digits = whole + fraction;
  let start = 0;
  while (digits[start] === '0') start += 1;
  let end = digits.length;
  while (end > start && digits[end - 1] === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
