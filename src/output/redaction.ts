// Masks secrets in messages by value: a service or proxy may echo what it received, as it is or encoded.

import { isObject } from '../json.ts';

const MASK = '***';

/** Shorter secrets are masked as whole words only: they would match parts of ordinary words. */
const MIN_SECRET = 6;

/** Messages may be cut anywhere: text with these first characters of a secret is masked as far as it matches. */
const HEAD_LENGTH = 12;

/** A form of a secret to search for. */
interface Needle {
  readonly text: string;
  /** How many of its characters have to match. */
  readonly required: number;
  readonly isWord: boolean;
}

export class Redaction {
  readonly #known = new Map<string, readonly Needle[]>();

  /**
   * Masks the secret from now on: plain, in hexadecimal and in base64; each of them also percent-encoded and escaped
   * for JSON or HTML, also twice.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    const text = fold(readingOf(secret.trim())).text;
    const isWord = text.length < MIN_SECRET;
    if (text === '' || (isWord && secret === shown)) return;
    this.#known.set(secret, needlesOf(secret, text, isWord));
  }

  apply(text: string): string {
    if (this.#known.size === 0) return text;
    const needles = [...this.#known.values()].flat();
    const ranges = [...readings(readingOf(text))].flatMap((reading) => find(needles, reading));
    ranges.sort(([left], [right]) => left - right);
    let masked = '';
    let end = 0;
    for (const [from, to] of ranges) {
      if (from >= end) masked += text.slice(end, from) + MASK;
      end = Math.max(end, to);
    }
    return masked + text.slice(end);
  }

  /** Masks the texts in a JSON object, but not its member names. */
  applyWithin(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const members = Object.entries(record).map(([name, value]) => [name, this.#mask(value)]);
    return Object.fromEntries(members);
  }

  #mask(value: unknown): unknown {
    if (typeof value === 'string') return this.apply(value);
    if (Array.isArray(value)) return value.map((element) => this.#mask(element));
    return isObject(value) ? this.applyWithin(value) : value;
  }
}

/** Returns the plain text of a secret, its hexadecimal form, and its base64 at each of three alignments. */
function needlesOf(secret: string, text: string, isWord: boolean): Needle[] {
  const bytes = Buffer.from(secret);
  /** `stable` is the number of the first characters that do not depend on what follows. */
  const needle = (form: string, stable = form.length): Needle => ({
    text: fold(readingOf(form)).text,
    required: isWord ? form.length : Math.min(stable, HEAD_LENGTH),
    isWord,
  });
  const needles = [needle(text), needle(bytes.toString('hex'))];
  for (const offset of isWord ? [0] : [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first characters may hold bits of the bytes before.
    const start = Math.ceil((offset * 8) / 6);
    const stable = Math.floor((padded.length * 8) / 6) - start;
    for (const encoding of ['base64', 'base64url'] as const) {
      needles.push(needle(padded.toString(encoding).replace(/=+$/, '').slice(start), stable));
    }
  }
  return needles;
}

/** A text, in which some escapes may be decoded. */
interface Reading {
  readonly text: string;
  /** Where each character begins in the original text, and where the last one ends. */
  readonly starts: readonly number[];
}

function readingOf(text: string): Reading {
  return { text, starts: Array.from({ length: text.length + 1 }, (_, index) => index) };
}

type Escapes = readonly [pattern: RegExp, meaning: (found: string) => string];

/** Escapes of JSON, URLs and HTML, in the order in which they are decoded. */
const ESCAPES: readonly Escapes[] = [
  [/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/g, (found) => JSON.parse(`"${found}"`)],
  [
    // One character in UTF-8.
    /%[0-7][\da-f]|%[cd][\da-f]%[\da-f]{2}|%e[\da-f](?:%[\da-f]{2}){2}|%f[\da-f](?:%[\da-f]{2}){3}/gi,
    (found) => Buffer.from(found.replaceAll('%', ''), 'hex').toString(),
  ],
  [
    /&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/gi,
    (found) => {
      const name = found.slice(1, -1);
      const code = NAMES.get(name) ?? Number(name.slice(1).replace(/^x/i, '0x'));
      return code <= 0x10ffff ? String.fromCodePoint(code) : found;
    },
  ],
];

/** The named characters of HTML. */
const NAMES = new Map(Object.entries({ amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 }));

/** Messages show one space for several, and forms send it as +. */
const SPACES: Escapes = [/[\s+]+/g, () => ' '];

/** Yields the text as it is, and decoded up to three times: an echo in JSON of what was encoded twice. */
function* readings(reading: Reading, kinds = ESCAPES, depth = 3): Generator<Reading, void, void> {
  yield reading;
  if (depth === 0) return;
  for (const [index, escapes] of kinds.entries()) {
    const decoded = decode(reading, escapes);
    if (decoded.text.length < reading.text.length) {
      yield* readings(decoded, kinds.slice(index), depth - 1);
    }
  }
}

function decode({ text, starts }: Reading, [pattern, meaning]: Escapes): Reading {
  const places: number[] = [];
  let end = 0;
  const copyUntil = (index: number) => {
    for (; end < index; end += 1) places.push(starts[end] ?? 0);
  };
  const decoded = text.replace(pattern, (found: string, index: number) => {
    copyUntil(index);
    const character = meaning(found);
    for (let unit = 0; unit < character.length; unit += 1) places.push(starts[index] ?? 0);
    end += found.length;
    return character;
  });
  copyUntil(text.length + 1);
  return { text: decoded, starts: places };
}

/** Makes white space and the case of ASCII letters alike. */
function fold(reading: Reading): Reading {
  const { text, starts } = decode(reading, SPACES);
  return { text: text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()), starts };
}

/** Returns where the needles are, or their heads. */
function find(needles: readonly Needle[], reading: Reading): [from: number, to: number][] {
  const { text, starts } = fold(reading);
  const isWordAt = (index: number) => /[\p{L}\p{N}_]/u.test(text[index] ?? '');
  const ranges: [from: number, to: number][] = [];
  for (const needle of needles) {
    const head = needle.text.slice(0, needle.required);
    let end = 0;
    for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, end)) {
      end = start + head.length;
      while (end < start + needle.text.length && text[end] === needle.text[end - start]) end += 1;
      if (needle.isWord && (isWordAt(start - 1) || isWordAt(end))) end = start + 1;
      else ranges.push([starts[start] ?? 0, starts[end] ?? 0]);
    }
  }
  return ranges;
}
