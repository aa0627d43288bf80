// Masks secrets in messages by value: a service or proxy may echo what it received, as it is or escaped.

const MASK = '***';

/** Shorter secrets are masked as whole words only: they would match parts of ordinary words. */
const MIN_SECRET = 6;

/** Shorter secrets are often ordinary words, which a suggested command may need. */
const MIN_UNUSUAL = 8;

/** A limit may cut a secret anywhere. These first characters of one before the mark of a cut are masked. */
const MIN_CUT = 3;

/** The mark of a cut, behind the beginning of an escape or nothing. A character has at most four bytes. */
const CUT = /(\\(?:u[\da-f]{0,3})?|\ufffd?(?:%[\da-f]{0,2}){0,4}|&#?\w{0,8})…/g;

/** Others may cut without a mark: text with these first characters of a secret is masked as far as it matches. */
const HEAD_LENGTH = 12;

interface Needle {
  /** The secret as it is compared. */
  readonly text: string;
  readonly isWord: boolean;
  readonly isShort: boolean;
}

export class Redaction {
  readonly #known = new Map<string, Needle>();

  /**
   * Masks the secret from now on: plain, and escaped once for JSON, URLs or HTML.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    const text = fold(secret.trim());
    const isWord = text.length < MIN_SECRET;
    if (text === '' || (isWord && secret === shown)) return;
    this.#known.set(secret, { text, isWord, isShort: text.length < MIN_UNUSUAL });
  }

  /** Masks the passwords of URLs among the words of a command line, wherever a message quotes the word. */
  addTyped(words: readonly string[]): void {
    for (const word of words) {
      const [, password] = /:\/\/[^:/@]*:(.+)@/s.exec(word) ?? [];
      if (password !== undefined) this.add(password);
    }
  }

  /** @param isQuery short secrets stay: the text is a command that repeats the words of a query */
  apply(text: string, isQuery = false): string {
    const needles = [...this.#known.values()].filter(({ isShort }) => !(isQuery && isShort));
    if (needles.length === 0) return text;
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

const NAMES = new Map(Object.entries({ amp: 38, lt: 60, gt: 62, quot: 34, apos: 39 }));

const SPACES = /[\s+]+/;

/** Makes spaces and the case of ASCII letters alike: messages show one space for several, and forms send it as +. */
function fold(text: string): string {
  return text.replace(/[\s+]+/g, ' ').replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/**
 * Returns the text decoded and folded, and where each of its characters begins in the original, with its end. With the
 * escapes of URLs, `Pa%53s  1` is `pass 1`, whose characters begin at 0, 1, 2, 5, 6 and 8; its end is 9.
 */
function read(text: string, [escapes, decode]: Encoding) {
  // The group keeps the escapes and the spaces: they are the parts with odd indexes.
  const parts = text.split(new RegExp(`(${escapes.source}|${SPACES.source})`, escapes.flags));
  const pieces: string[] = [];
  const starts: number[] = [];
  let position = 0;
  for (const [index, part] of parts.entries()) {
    const isPlain = index % 2 === 0;
    const piece = fold(isPlain || SPACES.test(part) ? part : decode(part));
    const isRepeated = piece === ' ' && pieces.at(-1) === ' ';
    if (piece !== '' && !isRepeated) {
      pieces.push(piece);
      // What stands for an escape begins where the escape does.
      for (let at = 0; at < piece.length; at += 1) starts.push(position + (isPlain ? at : 0));
    }
    position += part.length;
  }
  return { text: pieces.join(''), starts: [...starts, position] };
}

type Decoded = ReturnType<typeof read>;

/** A part of the original text. */
type Range = readonly [from: number, to: number];

function find(needles: readonly Needle[], decoded: Decoded): readonly Range[] {
  return [...findHeads(needles, decoded), ...findCuts(needles, decoded)];
}

/** Returns where the needles are, or their heads. */
function findHeads(needles: readonly Needle[], { text, starts }: Decoded): readonly Range[] {
  const isWordAt = (index: number) => /[\p{L}\p{N}_]/u.test(text[index] ?? '');
  const ranges: Range[] = [];
  for (const { text: whole, isWord } of needles) {
    // The final full stop of a message is dropped, and may be that of the secret.
    const head = (isWord ? whole : whole.slice(0, HEAD_LENGTH)).replace(/(?<=.)\.$/, '');
    let next = 0;
    for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, next)) {
      let end = start + head.length;
      while (end < start + whole.length && text[end] === whole[end - start]) end += 1;
      const isPartOfWord = isWord && (isWordAt(start - 1) || isWordAt(end));
      if (!isPartOfWord) ranges.push([starts[start] ?? 0, starts[end] ?? 0]);
      next = isPartOfWord ? start + 1 : end;
    }
  }
  return ranges;
}

/**
 * Returns where the beginnings of needles are that a cut has left: in `no hunt%2…`, with `hunter2`, from 3 to 9. What
 * looks like the beginning of an escape may as well be a part of the needle.
 */
function findCuts(needles: readonly Needle[], { text, starts }: Decoded): readonly Range[] {
  const cuts = [...text.matchAll(CUT)];
  if (cuts.length === 0) return [];
  const ranges: Range[] = [];
  for (const { text: secret } of needles) {
    const lengths = lengthsOfBeginnings(secret, text);
    for (const { index, 1: partial = '' } of cuts) {
      const mark = index + partial.length;
      for (const end of [index, mark]) {
        const length = lengths[end] ?? 0;
        if (length >= MIN_CUT) ranges.push([starts[end - length] ?? 0, starts[mark] ?? 0]);
      }
    }
  }
  return ranges;
}

/**
 * Returns for each index of the text how many characters before it are the beginning of the secret, as Knuth, Morris and
 * Pratt do: for `abc` in `xabab`, 0, 0, 1, 2, 1, 2. Folded texts have no line break.
 */
function lengthsOfBeginnings(secret: string, text: string): readonly number[] {
  const joined = `${secret}\n${text}`;
  const lengths = [0];
  for (let at = 1; at < joined.length; at += 1) {
    let length = lengths[at - 1] ?? 0;
    while (length > 0 && joined[at] !== joined[length]) length = lengths[length - 1] ?? 0;
    lengths.push(joined[at] === joined[length] ? length + 1 : 0);
  }
  return lengths.slice(secret.length);
}
