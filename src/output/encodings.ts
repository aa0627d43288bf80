// Finds a text in another one, however its characters are encoded there.

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text to find. White space is one space, since messages collapse it and forms send it as +. */
export interface Form {
  readonly text: string;
  /** Characters that must match; the rest is followed as far as it goes, for texts that are cut. */
  readonly required: number;
}

export type FormIndex = ReadonlyMap<number, readonly Form[]>;

/** Groups forms by their first UTF-16 unit. */
export function indexForms(forms: readonly Form[]): FormIndex {
  const index = new Map<number, Form[]>();
  for (const form of forms) {
    const first = form.text.charCodeAt(0);
    index.set(first, [...(index.get(first) ?? []), form]);
  }
  return index;
}

/**
 * Returns where the forms are, plain or escaped for JSON, HTML or URLs, several times too.
 * @param text folded, as the forms are
 */
export function findForms(text: string, forms: FormIndex): Range[] {
  const found: Range[] = [];
  if (forms.size === 0) return found;
  const tryForms = (start: number, candidates: readonly Form[]) => {
    for (const form of candidates) {
      const { end, matched } = follow(text, start, form.text);
      if (matched >= form.required) found.push({ start, end });
    }
  };
  for (let start = 0; start < text.length; start += 1) {
    const unit = text.charCodeAt(start);
    if (isEscape(unit)) tryForms(start, formsAt(text, start, forms));
    else {
      const candidates = forms.get(unit);
      if (candidates) tryForms(start, candidates);
    }
  }
  return found;
}

const NO_FORMS: readonly Form[] = [];

function formsAt(text: string, start: number, forms: FormIndex): Form[] {
  const firsts = readingsAt(text, start).map((reading) => reading.text.charCodeAt(0));
  return [...new Set(firsts)].flatMap((first) => forms.get(first) ?? NO_FORMS);
}
interface State {
  readonly end: number;
  readonly matched: number;
}

/** Follows a form as far as the text holds it, in all readings: `&amp;` may be one character or five. */
function follow(text: string, start: number, form: string): State {
  // Most characters that begin a form do not begin its text.
  let best = followPlain(text, { end: start, matched: 0 }, form);
  const isDone = best.matched === form.length || !mayBeEncoded(text.charCodeAt(best.end));
  if (isDone) return best;
  const open: State[] = [best];
  const seen = new Set<number>();
  for (let state = open.pop(); state; state = open.pop()) {
    const { end, matched } = followPlain(text, state, form);
    if (matched > best.matched) best = { end, matched };
    if (matched === form.length) break;
    const key = (end - start) * form.length + matched;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const reading of readingsAt(text, end)) {
      const isSame = reading.text !== '' && form.startsWith(reading.text, matched);
      // Forms hold one space for several.
      const isMore = reading.text === ' ' && form[matched - 1] === ' ';
      if (isSame) open.push({ end: reading.end, matched: matched + reading.text.length });
      else if (isMore) open.push({ end: reading.end, matched });
    }
  }
  return best;
}

function mayBeEncoded(unit: number): boolean {
  return unit === SPACE || isEscape(unit);
}

function followPlain(text: string, state: State, form: string): State {
  let { end, matched } = state;
  while (matched < form.length && end < text.length) {
    const unit = text.charCodeAt(end);
    if (unit !== form.charCodeAt(matched) || mayBeEncoded(unit)) break;
    end += 1;
    matched += 1;
  }
  return { end, matched };
}

interface Reading {
  readonly text: string;
  readonly end: number;
}

const SPACE = 32;
const ESCAPES = new Set(Array.from('\\%&+', (unit) => unit.charCodeAt(0)));

/** True for the first character of an encoded one. */
function isEscape(unit: number): boolean {
  return ESCAPES.has(unit);
}

/** Returns what the characters at a position may stand for: first themselves. */
function readingsAt(text: string, at: number): Reading[] {
  const own = { text: text.charAt(at), end: at + 1 };
  switch (own.text) {
    case '\\':
      return [...backslashesAt(text, at), ...withEntities(text, escapeAt(text, at))];
    case '%':
      return [own, ...percentsAfter(text, at), ...withEntities(text, percentAt(text, at))];
    case '&':
      return withEntities(text, [own]);
    case '+':
      return [own, { text: ' ', end: at + 1 }];
    case ' ':
      return [own];
    default:
      return [];
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

// The patterns are bounded, so that no text takes quadratic time.

/** JSON doubles a backslash each time it is applied. */
function backslashesAt(text: string, at: number): Reading[] {
  const count = matchAt(/\\{1,4}/y, text, at)?.[0].length ?? 0;
  return [1, 2, 4].filter((size) => size <= count).map((size) => ({ text: '\\', end: at + size }));
}

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: ' ', n: ' ', r: ' ', t: ' ' };

function escapeAt(text: string, at: number): Reading[] {
  const match = matchAt(/\\{1,16}(?:u([\da-f]{4})|x([\da-f]{2})|([bfnrt"'/]))/iy, text, at);
  if (!match) return [];
  const [whole, unit, byte, letter = ''] = match;
  const code = unit ?? byte;
  const character = code === undefined ? (LETTERS[letter] ?? letter) : fromCode(code, 16);
  return [{ text: character, end: at + whole.length }];
}

function percentsAfter(text: string, at: number): Reading[] {
  const found: Reading[] = [];
  for (let end = at + 1; text.startsWith('25', end) && found.length < MAX_LEVELS; end += 2) {
    found.push({ text: '%', end: end + 2 });
  }
  return found;
}

function percentAt(text: string, at: number): Reading[] {
  const unicode = matchAt(/%(?:25){0,4}u([\da-f]{4})/iy, text, at);
  if (unicode) return [{ text: fromCode(unicode[1], 16), end: at + unicode[0].length }];
  const bytes: string[] = [];
  let end = at;
  do {
    const byte = matchAt(/%(?:25){0,4}([\da-f]{2})/iy, text, end);
    if (!byte) return [];
    bytes.push(byte[1] ?? '');
    end += byte[0].length;
  } while (bytes.length < utf8Length(bytes[0]));
  return [{ text: fold(Buffer.from(bytes.join(''), 'hex').toString()), end }];
}

function utf8Length(firstByte = ''): number {
  const value = Number.parseInt(firstByte, 16);
  if (value < 0xc0) return 1;
  if (value < 0xe0) return 2;
  return value < 0xf0 ? 3 : 4;
}

/** A text is encoded a few times at most. */
const MAX_LEVELS = 4;

const NAMES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'" };

/** Adds the references that begin with an ampersand, however that is encoded: JSON may write \u0026. */
function withEntities(text: string, readings: readonly Reading[]): Reading[] {
  return readings.flatMap((reading) =>
    reading.text === '&' ? [reading, ...entitiesAfter(text, reading.end)] : reading,
  );
}

function entitiesAfter(text: string, at: number): Reading[] {
  const found: Reading[] = [];
  let end = at;
  for (; text.startsWith('amp;', end) && found.length < MAX_LEVELS; end += 4) {
    found.push({ text: '&', end: end + 4 });
  }
  const match = matchAt(/(?:#0*(\d{1,7})|#x0*([\da-f]{1,6})|(lt|gt|quot|apos));/iy, text, end);
  if (!match) return found;
  const [whole, decimal, hex, name = ''] = match;
  const code = decimal ?? hex;
  const character =
    code === undefined ? NAMES[name] : fromCode(code, decimal === undefined ? 16 : 10);
  return [...found, { text: character ?? '', end: end + whole.length }];
}

function fromCode(digits = '', radix: number): string {
  const code = Number.parseInt(digits, radix);
  return code > 0x10ffff ? '' : fold(String.fromCodePoint(code));
}

/** Returns the text with spaces as white space and ASCII in lower case, which keeps all indexes. */
export function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase()).replace(/\s/g, ' ');
}
