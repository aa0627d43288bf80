// Masks secrets in messages by value: a service or proxy may echo what it received.

import { type Sink, withWrite } from '../io.ts';
import { isObject, turn } from '../json.ts';
import { fold } from './encodings.ts';
import { type Form, type FormIndex, findForms, indexForms, type Range } from './find-encoded.ts';

const MASK = '***';

/** Shorter secrets are masked as whole words only: they would match parts of ordinary words. */
const MIN_SECRET = 6;

/** Messages may be cut anywhere: text with these first characters of a secret is masked as far as it matches. */
const HEAD_LENGTH = 12;

/** UTF-16 units to search before the event loop turns. */
const STEP = 500;

export class Redaction {
  readonly #known = new Set<string>();
  #index: SecretIndex | undefined;

  /**
   * Masks the secret from now on, in every encoding.
   * @param shown a text that messages show anyway: a short secret that equals it stays
   */
  add(secret: string, shown?: string): void {
    if (this.#known.has(secret)) return;
    const text = collapsed(secret);
    if (text === '' || (isShort(text) && secret === shown)) return;
    this.#known.add(secret);
    this.#index = undefined;
  }

  /** Masks a text of ordinary length. */
  apply(text: string): string {
    return this.#known.size === 0 ? text : masked(text, this.#find(fold(text), 0, text.length));
  }

  /**
   * Masks a text of any length: a search may take seconds per megabyte, so the event loop turns meanwhile.
   * @throws the signal's reason when it aborts
   */
  async applyInSteps(text: string, signal: AbortSignal): Promise<string> {
    if (text.length <= STEP || this.#known.size === 0) return this.apply(text);
    const searched = fold(text);
    const ranges: Range[] = [];
    for (let start = 0; start < text.length; start += STEP) {
      await turn();
      signal.throwIfAborted();
      for (const range of this.#find(searched, start, start + STEP)) ranges.push(range);
    }
    return masked(text, ranges);
  }

  /** Masks the texts in a JSON object, but not its member names. */
  async applyWithin(
    record: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const members: [string, unknown][] = [];
    for (const [name, value] of Object.entries(record)) {
      members.push([name, await this.#mask(value, signal)]);
    }
    return Object.fromEntries(members);
  }

  async #mask(value: unknown, signal: AbortSignal): Promise<unknown> {
    if (typeof value === 'string') return this.applyInSteps(value, signal);
    if (isObject(value)) return this.applyWithin(value, signal);
    if (!Array.isArray(value)) return value;
    const elements: unknown[] = [];
    for (const [index, element] of value.entries()) {
      if (index % STEP === STEP - 1) await turn();
      elements.push(await this.#mask(element, signal));
    }
    return elements;
  }

  #find(searched: string, from: number, to: number): Range[] {
    // Most runs mask nothing.
    this.#index ??= indexSecrets(this.#known);
    const { forms, words } = this.#index;
    const isWhole = (range: Range) => isWord(searched, range);
    const found = findForms(searched, words, from, to).filter(isWhole);
    return [...findForms(searched, forms, from, to), ...found];
  }
}

interface SecretIndex {
  readonly forms: FormIndex;
  /** Forms that are masked as whole words only. */
  readonly words: FormIndex;
}

function indexSecrets(secrets: Iterable<string>): SecretIndex {
  const forms: Form[] = [];
  const words: Form[] = [];
  for (const secret of secrets) {
    const text = fold(collapsed(secret));
    if (isShort(text)) words.push(...shortForms(text, secret));
    else forms.push(...longForms(text, secret));
  }
  return { forms: indexForms(forms), words: indexForms(words) };
}

/** Returns the secret as messages show it, with single spaces. */
function collapsed(secret: string): string {
  return secret.trim().replace(/\s+/g, ' ');
}

function isShort(text: string): boolean {
  return text.length < MIN_SECRET;
}

function masked(text: string, ranges: Range[]): string {
  let result = '';
  let end = 0;
  for (const range of ranges.sort((left, right) => left.start - right.start)) {
    // Overlapping secrets and forms become one mask.
    if (range.start >= end) result += text.slice(end, range.start) + MASK;
    end = Math.max(end, range.end);
  }
  return result + text.slice(end);
}

function shortForms(text: string, secret: string): Form[] {
  const whole = (form: string) => ({ text: form, required: form.length });
  const hex = Buffer.from(secret).toString('hex');
  return [text, hex, ...base64Forms(secret, 0)].map(whole);
}

/** Also in base64 and hexadecimal, with other bytes around it. */
function longForms(text: string, secret: string): Form[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString('hex');
  const base64 = [0, 1, 2].flatMap((offset) => {
    // The last character depends on what follows.
    const stable = Math.floor(((offset + bytes.length) * 8) / 6) - firstOwn(offset);
    return base64Forms(secret, offset).map((form) => ({ text: form, required: stable }));
  });
  return [{ text, required: text.length }, { text: hex, required: hex.length }, ...base64].map(
    (form) => ({ ...form, required: Math.min(form.required, HEAD_LENGTH) }),
  );
}

/** Returns the forms of both alphabets behind `offset` other bytes, modulo 3. */
function base64Forms(secret: string, offset: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]);
  const encode = (alphabet: 'base64' | 'base64url') =>
    fold(bytes.toString(alphabet)).replace(/=+$/, '').slice(firstOwn(offset));
  return [...new Set([encode('base64'), encode('base64url')])];
}

/** The first base64 character without a bit of the bytes before. */
function firstOwn(offset: number): number {
  return Math.ceil((offset * 8) / 6);
}

/** Encoded neighbours, such as %20 or \n, are no part of a word. */
function isWord(text: string, { start, end }: Range): boolean {
  const before = text.slice(Math.max(0, start - 6), start);
  // As constants, these would take 0.6 ms of every start.
  const wordStart = /(?:^|[^\p{L}\p{N}_]|\\[bfnrt]|%[\da-f]{2}|\\u[\da-f]{4})$/u;
  return wordStart.test(before) && /^(?![\p{L}\p{N}_])/u.test(text.slice(end, end + 2));
}

/** For plain text only, since a mask could break JSON. */
export function redactingSink(sink: Sink, redaction: Redaction): Sink {
  return withWrite(sink, (text: string) => sink.write(redaction.apply(text)));
}
