// Masks secrets in messages by value: a service or proxy may echo them, as they are or escaped.

const MASK = '***';

/** A shorter secret is masked as a whole word only: it would match parts of ordinary words. */
const MIN_WITHIN_WORDS = 6;

/** A shorter secret is often an ordinary word, which a suggested command may need. */
const MIN_MASKED_IN_QUERIES = 8;

/** A limit may cut a secret anywhere: this many characters of it are masked before such a mark. */
const MIN_CUT = 3;

/** Others cut without a mark: this many characters of the start of a secret are masked alone. */
const MIN_HEAD = 12;

interface Needle {
  /** The secret as it is compared. */
  readonly folded: string;
  readonly isWord: boolean;
  /** How many characters of its beginning must be there, unless a mark says that it was cut. */
  readonly minMatch: number;
  readonly staysInQueries: boolean;
}

export class Redaction {
  readonly #needles = new Map<string, Needle>();

  /**
   * Masks the secret from now on: plain, and escaped once for JSON, URLs or HTML.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    const folded = fold(secret.trim());
    const isWord = folded.length < MIN_WITHIN_WORDS;
    if (folded === '' || (isWord && secret === shown)) return;
    const head = isWord ? folded : folded.slice(0, MIN_HEAD);
    // The final full stop of a message is dropped, and may be that of the secret.
    const minMatch = head.replace(/(?<=.)\.$/, '').length;
    const staysInQueries = folded.length < MIN_MASKED_IN_QUERIES;
    this.#needles.set(secret, { folded, isWord, minMatch, staysInQueries });
  }

  /** Masks the passwords of URLs among the words of a command line, which messages quote. */
  addTyped(words: readonly string[]): void {
    for (const word of words) {
      const [, password] = /:\/\/[^:/@]*:(.+)@/s.exec(word) ?? [];
      if (password !== undefined) this.add(password);
    }
  }

  /** @param isQuery short secrets stay: the text is a command that repeats the words of a query */
  apply(text: string, isQuery = false): string {
    const needles = [...this.#needles.values()].filter(
      ({ staysInQueries }) => !(isQuery && staysInQueries),
    );
    if (needles.length === 0) return text;
    const encodings = [UNESCAPED, ...ENCODINGS.filter(({ escapes }) => escapes.test(text))];
    const ranges = encodings.flatMap((encoding) => {
      const decoded = decode(text, encoding);
      return needles.flatMap((needle) => find(needle, decoded));
    });
    return mask(text, ranges);
  }
}

/** A part of the original text. */
type Range = readonly [from: number, to: number];

function mask(text: string, ranges: readonly Range[]): string {
  let masked = '';
  let end = 0;
  for (const [from, to] of ranges.toSorted(([left], [right]) => left - right)) {
    if (from >= end) masked += text.slice(end, from) + MASK;
    end = Math.max(end, to);
  }
  return masked + text.slice(end);
}

/** Returns where the secret is in the original text. */
function find(needle: Needle, { text, starts }: Decoded): readonly Range[] {
  const beginning = needle.folded.slice(0, Math.min(needle.minMatch, MIN_CUT));
  const ranges: Range[] = [];
  let start = text.indexOf(beginning);
  while (start >= 0) {
    const end = endOf(needle, text, start);
    if (end !== undefined) ranges.push([starts[start] ?? 0, starts[end] ?? 0]);
    start = text.indexOf(beginning, end ?? start + 1);
  }
  return ranges;
}

/**
 * Returns where the part to mask ends; undefined if it is too little of the secret. By the first row
 * that fits, for the secret `hunter2`, which is masked without a mark only if all is there:
 *
 *     text        masked     why
 *     hunter2, x  hunter2    the whole secret
 *     hunt…       hunt       at least 3 characters, then the mark of a cut
 *     hunt%2…     hunt%2     the mark also cut an escape
 *     hunter3     nothing    6 of 7 characters, and no mark
 *
 * In the secret `hunt…r2` itself, the mark is no cut: 7 characters are masked.
 */
function endOf({ folded, isWord, minMatch }: Needle, text: string, start: number) {
  let end = start;
  while (end - start < folded.length && text[end] === folded[end - start]) end += 1;
  const mark = findMark(text, Math.max(start + MIN_CUT, end - MAX_ESCAPE), end);
  const isPartOfWord = isWord && (isWordAt(text, start - 1) || isWordAt(text, end));
  if (end - start < minMatch || isPartOfWord) return mark;
  return Math.max(end, mark ?? end);
}

function isWordAt(text: string, index: number): boolean {
  return /[\p{L}\p{N}_]/u.test(text[index] ?? '');
}

/** The mark of a cut, behind nothing or the beginning of an escape of JSON, URLs or HTML. */
const CUT = /(?:\\(?:u[\da-f]{0,3})?|\ufffd?(?:%[\da-f]{0,2}){0,4}|&#?\w{0,8})…/y;
/** A character has at most four bytes. */
const MAX_ESCAPE = '\ufffd%f0%9f%98%8'.length;

/**
 * Returns where the mark of a cut is, if it or the escape that it cuts begins between two places.
 * The secret `hunt%er` seems to go on to the `%` of `hunt%2…`, so earlier places count too.
 */
function findMark(text: string, from: number, to: number): number | undefined {
  for (let at = to; at >= from; at -= 1) {
    CUT.lastIndex = at;
    if (CUT.test(text)) return CUT.lastIndex - 1;
  }
  return undefined;
}

interface Encoding {
  readonly escapes: RegExp;
  readonly decodeOne: (found: string) => string;
}

const UNESCAPED: Encoding = { escapes: /(?!)/, decodeOne: String };

/** The escapes of JSON, URLs (the bytes of one character) and HTML. */
const ENCODINGS: readonly Encoding[] = [
  {
    escapes: /\\(?:u[\da-fA-F]{4}|["\\/bfnrt])/,
    decodeOne: (found) => JSON.parse(`"${found}"`),
  },
  {
    escapes: /%[0-7][\da-f]|%[c-f][\da-f](?:%[89ab][\da-f])+/i,
    decodeOne: (found) => Buffer.from(found.replaceAll('%', ''), 'hex').toString(),
  },
  {
    escapes: /&(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/i,
    decodeOne(found) {
      const name = found.slice(1, -1);
      const code = NAMES.get(name) ?? Number(name.replace('#', '0'));
      return code <= 0x10ffff ? String.fromCodePoint(code) : found;
    },
  },
];

const NAMES = new Map(Object.entries({ amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 }));

interface Decoded {
  readonly text: string;
  /** Where each character begins in the original, and the end of that. */
  readonly starts: readonly number[];
}

/**
 * Decodes and folds. With the escapes of URLs, `Pa%53s  1` becomes `pass 1`, whose characters begin
 * at 0, 1, 2, 5, 6 and 8; the end is 9.
 */
function decode(text: string, { escapes, decodeOne }: Encoding): Decoded {
  const pieces: string[] = [];
  const starts: number[] = [];
  const add = (piece: string, start: number, step: 0 | 1) => {
    const isRepeated = piece === ' ' && pieces.at(-1) === ' ';
    if (piece === '' || isRepeated) return;
    pieces.push(piece);
    for (let at = 0; at < piece.length; at += 1) starts.push(start + step * at);
  };
  let position = 0;
  const pattern = new RegExp(`(${escapes.source})|${SPACES.source}`, `g${escapes.flags}`);
  for (const { 0: found, 1: escaped, index } of text.matchAll(pattern)) {
    add(fold(text.slice(position, index)), position, 1);
    // All that stands for an escape begins where the escape does.
    add(escaped === undefined ? ' ' : fold(decodeOne(escaped)), index, 0);
    position = index + found.length;
  }
  add(fold(text.slice(position)), position, 1);
  return { text: pieces.join(''), starts: [...starts, text.length] };
}

const SPACES = /[\s+]+/g;

/**
 * Makes spaces and the case of ASCII letters alike: messages show one space for several, and forms
 * send a space as +.
 */
function fold(text: string): string {
  return text.replace(SPACES, ' ').replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}
