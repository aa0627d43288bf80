// Decodes escapes in messages, and remembers where each character stood.

/** A text without escapes, in which a secret can be found. */
export interface Decoded {
  readonly text: string;
  /** Where each character begins in the original, and the end of the original. */
  readonly starts: readonly number[];
}

interface Encoding {
  readonly escapes: RegExp;
  readonly decodeOne: (escaped: string) => string;
}

const NO_ESCAPES: Encoding = { escapes: /(?!)/, decodeOne: String };

const NAMES = new Map(Object.entries({ amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 }));

/** The escapes of JSON, URLs (the bytes of one character) and HTML. */
const ENCODINGS: readonly Encoding[] = [
  {
    escapes: /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/,
    decodeOne: (escaped) => JSON.parse(`"${escaped}"`),
  },
  {
    escapes: /%[0-7][\da-f]|%[c-f][\da-f](?:%[89ab][\da-f])+/i,
    decodeOne: (escaped) => Buffer.from(escaped.replaceAll('%', ''), 'hex').toString(),
  },
  {
    escapes: /&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/i,
    decodeOne(escaped) {
      const name = escaped.slice(1, -1);
      const code = NAMES.get(name.toLowerCase()) ?? Number(name.replace('#', '0'));
      return code <= 0x10ffff ? String.fromCodePoint(code) : escaped;
    },
  },
];

/** Returns the text as it is, and once for each encoding whose escapes it has; all are folded. */
export function decodings(text: string): Decoded[] {
  const used = ENCODINGS.filter(({ escapes }) => escapes.test(text));
  return [NO_ESCAPES, ...used].map((encoding) => decode(text, encoding));
}

/**
 * Decodes and folds. With the escapes of URLs, `Pa%53s  1` becomes `pass 1`, whose characters begin
 * at 0, 1, 2, 5, 6 and 8; the end is 9.
 */
function decode(text: string, { escapes, decodeOne }: Encoding): Decoded {
  const pieces: string[] = [];
  const starts: number[] = [];
  const token = `(${escapes.source})|${SPACES.source}|${PLAIN.source}|.`;
  const tokens = new RegExp(token, `gs${escapes.flags}`);
  for (const { 0: found, 1: escaped, index } of text.matchAll(tokens)) {
    const piece = fold(escaped === undefined ? found : decodeOne(escaped));
    // Escaped spaces may stand beside others.
    const isRepeated = piece === ' ' && pieces.at(-1) === ' ';
    if (isRepeated) continue;
    pieces.push(piece);
    for (let at = 0; at < piece.length; at += 1) {
      starts.push(escaped === undefined ? index + at : index);
    }
  }
  return { text: pieces.join(''), starts: [...starts, text.length] };
}

const SPACES = /[\s+]+/g;
/** What begins neither an escape nor spaces: a character each would take twice the time. */
const PLAIN = /[^\s+\\%&]+/;

/**
 * Makes spaces and the case of ASCII letters alike: messages show one space for several, and forms
 * send a space as +.
 */
export function fold(text: string): string {
  return text.replace(SPACES, ' ').replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}
