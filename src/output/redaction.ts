// Masks secrets in messages by value: a service or proxy may echo what it received, as it is or encoded.

import { isObject } from '../json.ts';

const MASK = '***';

/** Shorter secrets are masked as whole words only: they would match parts of ordinary words. */
const MIN_SECRET = 6;

/** Messages may be cut anywhere: text with these first characters of a secret is masked as far as it matches. */
const HEAD_LENGTH = 12;

/** Patterns for a character. Each finds at most one encoding of it. */
type Character = readonly string[];

/** What a secret may look like, and how many of its characters have to match. */
interface Form {
  readonly characters: readonly Character[];
  readonly required: number;
}

export class Redaction {
  readonly #known = new Set<string>();
  /** Finds where a secret begins; undefined until something is masked, which most runs never do. */
  #search: RegExp | undefined;
  #longForms: readonly Form[] = [];
  readonly #patterns = new Map<string, RegExp>();

  /**
   * Masks the secret from now on: plain, percent-encoded, escaped for JSON or HTML, in hexadecimal and in base64.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    if (secret.trim() === '' || (isShort(secret) && secret === shown)) return;
    this.#known.add(secret);
    this.#search = undefined;
  }

  apply(text: string): string {
    if (this.#known.size === 0) return text;
    const search = this.#searchPattern();
    const folded = fold(text);
    let masked = '';
    let end = 0;
    search.lastIndex = 0;
    for (let match = search.exec(folded); match; match = search.exec(folded)) {
      const { index } = match;
      const ends = this.#longForms.map((form) => this.#follow(folded, index, form));
      masked += text.slice(end, index) + MASK;
      end = Math.max(search.lastIndex, ...ends);
      search.lastIndex = end;
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

  /** One pattern for all secrets. */
  #searchPattern(): RegExp {
    if (this.#search) return this.#search;
    const secrets = [...this.#known];
    const short = secrets.filter((secret) => isShort(secret)).flatMap(wholeForms);
    this.#longForms = secrets.filter((secret) => !isShort(secret)).flatMap(cutForms);
    const heads = this.#longForms.map(patternOf);
    if (short.length > 0) {
      heads.push(`${WORD_START}(?:${short.map(patternOf).join('|')})(?![\\p{L}\\p{N}_])`);
    }
    this.#search = new RegExp(heads.join('|'), 'gu');
    return this.#search;
  }

  /** Returns where the text stops to match a form, in all readings: `&amp;` may be one character or five. */
  #follow(text: string, start: number, { characters }: Form): number {
    let ends = new Set([start]);
    let last = start;
    for (const patterns of characters) {
      const next = new Set<number>();
      for (const end of ends) {
        for (const source of patterns) {
          const pattern = this.#patterns.get(source) ?? new RegExp(source, 'uy');
          this.#patterns.set(source, pattern);
          pattern.lastIndex = end;
          if (pattern.test(text)) next.add(pattern.lastIndex);
        }
      }
      if (next.size === 0) break;
      last = Math.max(...next);
      ends = next;
    }
    return last;
  }
}

/** Encoded neighbours, such as %20 or \n, are no part of a word. */
const WORD_START = '(?<=^|[^\\p{L}\\p{N}_]|\\\\[bfnrt]|%[\\da-f]{2}|\\\\u[\\da-f]{4})';

function isShort(secret: string): boolean {
  return secret.trim().replace(/\s+/g, ' ').length < MIN_SECRET;
}

function patternOf({ characters, required }: Form): string {
  return characters
    .slice(0, required)
    .map((patterns) => `(?:${patterns.join('|')})`)
    .join('');
}

/** Returns the forms of a short secret, which have to match as a whole. */
function wholeForms(secret: string): Form[] {
  const hex = Buffer.from(secret).toString('hex');
  const base64 = Buffer.from(secret).toString('base64');
  const forms = [textCharacters(secret), plainCharacters(hex), base64Characters(base64)];
  return forms.map((characters) => ({ characters, required: characters.length }));
}

/** Returns the forms of a long secret, of which the first characters have to match. */
function cutForms(secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const text = textCharacters(secret);
  const hex = plainCharacters(bytes.toString('hex'));
  // Behind other bytes, base64 has one of three alignments.
  const aligned = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first characters may hold bits of the bytes before, the last one of those behind.
    const start = Math.ceil((offset * 8) / 6);
    const stable = Math.floor(((offset + bytes.length) * 8) / 6) - start;
    return { characters: base64Characters(encoded.slice(start)), stable };
  });
  const forms = [text, hex].map((characters) => ({ characters, stable: characters.length }));
  return [...forms, ...aligned].map(({ characters, stable }) => ({
    characters,
    required: Math.min(stable, HEAD_LENGTH),
  }));
}

/** Returns the text with ASCII in lower case, which keeps all indexes and takes less time than the flag i. */
function fold(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

function plainCharacters(text: string): Character[] {
  return Array.from(text, (character) => [character]);
}

/** Also matches the alphabet for URLs, and base64 in a URL. */
function base64Characters(base64: string): Character[] {
  return Array.from(fold(base64).replace(/=+$/, ''), (character) => {
    if (character === '+') return ['[-+]', '%2b'];
    return character === '/' ? ['[/_]', '%2f'] : [character];
  });
}

/** Matches any white space for white space: messages show one space for several, and forms send it as +. */
function textCharacters(secret: string): Character[] {
  return (secret.trim().match(/\s+|[^\s]/gu) ?? []).map((part) => {
    const plain = escapeForPattern(fold(part));
    if (part.trim() !== '') {
      const patterns = [...encodingsOf(part), plain];
      // The encodings of other characters begin with one of these, so that only one of them matches.
      return '\\%&'.includes(part) ? patterns : [`(?:${patterns.join('|')})`];
    }
    // No two alternatives match the same text, and none is repeated without end, which would take long.
    const space = [...new Set(` ${part}`)].flatMap(encodingsOf).join('|');
    const plus = `\\+|${PERCENT}2b`;
    return [
      `(?:${plus}|\\s|${space}){1,20}`,
      `(?:\\s|${space}){1,20}`,
      `(?:${plus}){${Math.min(part.length, 20)}}`,
    ];
  });
}

const NAMES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' },
};

const LETTERS: Readonly<Record<string, string>> = {
  ...{ '"': '"', '/': '\\/', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't' },
};

/** A URL within a URL has %25 for each %. */
const PERCENT = '%(?:25){0,3}';

/** JSON within JSON doubles each backslash. */
const BACKSLASHES = '\\\\{1,8}';

/** Returns patterns for the encodings of a character in URLs, JSON and HTML. */
function encodingsOf(character: string): string[] {
  const code = character.codePointAt(0) ?? 0;
  const bytes = Buffer.from(character).toString('hex');
  const units = character.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
  const patterns = [
    bytes.replace(/../g, `${PERCENT}$&`),
    units.map((unit) => `${BACKSLASHES}u${unit}`).join(''),
    `&#0*${code};`,
    `&#x0*${code.toString(16)};`,
  ];
  const { [character]: letter } = LETTERS;
  if (letter !== undefined) patterns.push(BACKSLASHES + letter);
  const { [character]: name } = NAMES;
  if (name !== undefined) patterns.push(name);
  if (character === '\\') patterns.push('\\\\{4}', '\\\\{2}');
  if (character === '%') patterns.push('%25', '%2525');
  return patterns;
}

function escapeForPattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
