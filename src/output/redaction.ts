// Masks secrets in messages by value: a service or proxy may echo what it received, as it is or encoded.

import { isObject } from '../json.ts';

const MASK = '***';

/** Shorter secrets are masked as whole words only: they would match parts of ordinary words. */
const MIN_SECRET = 6;

/** Messages may be cut anywhere: text with these first characters of a secret is masked as far as it matches. */
const HEAD_LENGTH = 12;

export class Redaction {
  readonly #known = new Map<string, readonly Needle[]>();

  /**
   * Masks the secret from now on: plain, in hexadecimal and in base64, each also escaped once for JSON, URLs or HTML.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    const text = fold(secret.trim());
    const isWord = text.length < MIN_SECRET;
    if (text === '' || (isWord && secret === shown) || this.#known.has(secret)) return;
    this.#known.set(secret, needlesOf(secret, text, isWord));
  }

  apply(text: string): string {
    if (this.#known.size === 0) return text;
    const needles = [...this.#known.values()].flat();
    const encodings = [PLAIN, ...ENCODINGS.filter(([escapes]) => escapes.test(text))];
    const ranges = encodings.flatMap((encoding) => find(needles, read(text, encoding)));
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

type Needle = ReturnType<typeof needlesOf>[number];

/** Returns the plain text of a secret, its hexadecimal form, and its base64 at each of three alignments. */
function needlesOf(secret: string, text: string, isWord: boolean) {
  const bytes = Buffer.from(secret);
  /** `stable` is the number of the first characters that do not depend on what follows. */
  const needle = (form: string, stable = form.length) => {
    const folded = fold(form);
    const head = isWord ? folded : folded.slice(0, Math.min(stable, HEAD_LENGTH));
    return { text: folded, head, isWord };
  };
  const needles = [needle(text), needle(bytes.toString('hex'))];
  for (const offset of isWord ? [0] : [0, 1, 2]) {
    const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
    // The first characters may hold bits of the bytes before.
    const start = Math.ceil((offset * 8) / 6);
    const stable = Math.floor((padded.length * 8) / 6) - start;
    for (const alphabet of ['base64', 'base64url'] as const)
      needles.push(needle(padded.toString(alphabet).replace(/=+$/, '').slice(start), stable));
  }
  return needles;
}

type Encoding = readonly [escapes: RegExp, decode: (found: string) => string];

const PLAIN: Encoding = [/(?!)/, String];

/** The escapes of JSON, URLs (the bytes of one character) and HTML. */
const ENCODINGS: readonly Encoding[] = [
  [/\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/, (found) => JSON.parse(`"${found}"`)],
  [
    /%[0-7][\da-f]|%[c-f][\da-f](?:%[89ab][\da-f])+/i,
    (found) => Buffer.from(found.replaceAll('%', ''), 'hex').toString(),
  ],
  [
    /&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/i,
    (found) => {
      const name = found.slice(1, -1);
      const code = NAMES.get(name) ?? Number(name.replace('#', '0'));
      return code <= 0x10ffff ? String.fromCodePoint(code) : found;
    },
  ],
];

/** The named characters of HTML. */
const NAMES = new Map(Object.entries({ amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 }));

/** Makes spaces and the case of ASCII letters alike: messages show one space for several, and forms send it as +. */
function fold(text: string): string {
  return text.replace(/[\s+]+/g, ' ').replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Returns the text decoded and folded, and where each of its characters begins in the original. */
function read(text: string, [escapes, decode]: Encoding) {
  const separators = new RegExp(`(${escapes.source}|[\\s+]+)`, escapes.flags);
  const pieces: string[] = [];
  const starts: number[] = [];
  let position = 0;
  for (const [index, piece] of text.split(separators).entries()) {
    const isSeparator = index % 2 === 1;
    const decoded = isSeparator ? fold(/[\s+]/.test(piece) ? piece : decode(piece)) : piece;
    if (decoded !== '' && !(decoded === ' ' && pieces.at(-1) === ' ')) {
      pieces.push(decoded);
      for (let unit = 0; unit < decoded.length; unit += 1)
        starts.push(position + (isSeparator ? 0 : unit));
    }
    position += piece.length;
  }
  return { text: fold(pieces.join('')), starts: [...starts, position] };
}

/** Returns where the needles are, or their heads. */
function find(needles: readonly Needle[], { text, starts }: ReturnType<typeof read>) {
  const isWordAt = (index: number) => /[\p{L}\p{N}_]/u.test(text[index] ?? '');
  const ranges: [from: number, to: number][] = [];
  for (const { text: whole, head, isWord } of needles) {
    let end = 0;
    for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, end)) {
      end = start + head.length;
      while (end < start + whole.length && text[end] === whole[end - start]) end += 1;
      if (isWord && (isWordAt(start - 1) || isWordAt(end))) end = start + 1;
      else ranges.push([starts[start] ?? 0, starts[end] ?? 0]);
    }
  }
  return ranges;
}
