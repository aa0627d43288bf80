// The encodings of a character in JSON, HTML and URLs, also on top of each other.

export interface Reading {
  readonly text: string;
  readonly end: number;
}

/** The first characters of encoded ones. */
export const ESCAPES = '\\%&+';

/** Maximum length of an escape sequence or reference, so that no text takes quadratic time. */
const WINDOW = 40;

/** Returns what the characters at a position may stand for: first themselves. */
export function readingsAt(text: string, at: number): Reading[] {
  const own = { text: text.charAt(at), end: at + 1 };
  if (own.text === ' ') return [own];
  if (own.text === '+') return [own, { text: ' ', end: at + 1 }];
  if (own.text !== '\\' && own.text !== '%' && own.text !== '&') return [];
  const window = text.slice(at, at + WINDOW);
  const found = [
    own,
    ...syntaxOf(window).map(([one, length]) => ({ text: one, end: at + length })),
  ];
  if (!window.includes('%')) return found;
  // Backslashes and references may be percent-encoded themselves.
  const { decoded, ends } = withoutPercent(text, at);
  const inner = syntaxOf(decoded).map(([one, length]) => ({
    text: one,
    end: ends[length - 1] ?? at,
  }));
  return [...found, ...inner, ...percentAt(text, at)];
}

/** A character, and the length of its encoding. */
type Encoded = readonly [text: string, length: number];

/** Returns what an escape sequence or a reference at the beginning stands for. */
function syntaxOf(window: string): Encoded[] {
  if (window.startsWith('\\')) return [...backslashesOf(window), ...escapeOf(window)];
  return window.startsWith('&') ? [['&', 1], ...referencesOf(window)] : [];
}

/** JSON doubles a backslash each time it is applied. */
function backslashesOf(window: string): Encoded[] {
  const count = /^\\*/.exec(window)?.[0].length ?? 0;
  return [1, 2, 4].filter((length) => length <= count).map((length) => ['\\', length]);
}

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: ' ', n: ' ', r: ' ', t: ' ' };

function escapeOf(window: string): Encoded[] {
  const match = /^\\+(?:u([\da-f]{4})|x([\da-f]{2})|([bfnrt"'/])|(?=&))/.exec(window);
  if (!match) return [];
  const [whole, unit, byte, letter] = match;
  const character = letter === undefined ? fromCode(unit ?? byte, 16) : (LETTERS[letter] ?? letter);
  const isReference = unit === undefined && byte === undefined && letter === undefined;
  // JSON may write & as \u0026, and HTML may write \" as \&quot;.
  if (isReference) return referencesIn(window, whole.length + 1);
  return [
    [character, whole.length],
    ...(character === '&' ? referencesIn(window, whole.length) : []),
  ];
}

function referencesIn(window: string, at: number): Encoded[] {
  return referencesOf(`&${window.slice(at)}`).map(([text, length]) => [text, at + length - 1]);
}

const NAMES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

function referencesOf(window: string): Encoded[] {
  // Escaped twice, a < is &amp;lt;.
  const levels = /^&((?:amp;)*)/.exec(window)?.[1] ?? '';
  const found: Encoded[] = [];
  for (let end = 5; end <= levels.length + 1; end += 4) found.push(['&', end]);
  const match = /^&(?:amp;)*(?:#0*(\d{1,7})|#x0*([\da-f]{1,6})|([a-z]{2,4}));/.exec(window);
  if (!match) return found;
  const [whole, decimal, hex, name = ''] = match;
  const ofCode = decimal === undefined ? fromCode(hex, 16) : fromCode(decimal, 10);
  return [...found, [NAMES[name] ?? ofCode, whole.length]];
}

// A % that was encoded again is %25.
const PERCENT = /%(?:25){0,4}([\da-f]{2})/y;

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Decodes ASCII; `ends` has the end of each character in the text. */
function withoutPercent(text: string, at: number) {
  const ends: number[] = [];
  let decoded = '';
  let end = at;
  while (decoded.length < WINDOW && end < text.length) {
    const byte = matchAt(PERCENT, text, end);
    decoded += byte ? fold(fromCode(byte[1], 16)) : text.charAt(end);
    end += byte?.[0].length ?? 1;
    ends.push(end);
  }
  return { decoded, ends };
}

/** Returns the character of a percent-encoded UTF-8 sequence, and the % of each level. */
function percentAt(text: string, at: number): Reading[] {
  const found: Reading[] = [];
  for (let end = at + 1; text.startsWith('25', end) && end < at + WINDOW; end += 2) {
    found.push({ text: '%', end: end + 2 });
  }
  const unit = matchAt(/%(?:25){0,4}u([\da-f]{4})/y, text, at);
  if (unit) return [...found, { text: fromCode(unit[1], 16), end: at + unit[0].length }];
  const bytes: string[] = [];
  let end = at;
  do {
    const byte = matchAt(PERCENT, text, end);
    if (!byte) return found;
    bytes.push(byte[1] ?? '');
    end += byte[0].length;
  } while (bytes.length < utf8Length(bytes[0]));
  return [...found, { text: fold(Buffer.from(bytes.join(''), 'hex').toString()), end }];
}

function utf8Length(firstByte = ''): number {
  const value = Number.parseInt(firstByte, 16);
  if (value < 0xc0) return 1;
  if (value < 0xe0) return 2;
  return value < 0xf0 ? 3 : 4;
}

function fromCode(digits = '', radix: number): string {
  const code = Number.parseInt(digits, radix);
  return !(code <= 0x10ffff) ? '' : fold(String.fromCodePoint(code));
}

/** Returns the text with spaces as white space and ASCII in lower case, which keeps all indexes. */
export function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()).replace(/\s/g, ' ');
}
