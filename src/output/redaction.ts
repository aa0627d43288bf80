// Masks secrets in messages by value: a service or proxy may echo what it received.

import type { Sink } from '../io.ts';
import { isObject } from '../json.ts';
import { printable } from './sanitize.ts';

const MASK = '***';

/** Shorter secrets would match ordinary words. */
const MIN_SECRET = 6;

/** Messages may be cut anywhere: text with these first characters of a secret is masked as far as it matches. */
const HEAD_LENGTH = 12;

export class Redaction {
  readonly #known = new Set<string>();
  readonly #forms = new Set<string>();

  /** Masks the secret from now on, also as escaped in URLs, JSON and messages. */
  add(secret: string): void {
    if (secret.length < MIN_SECRET || this.#known.has(secret)) return;
    this.#known.add(secret);
    // Encoding URIs fails for lone surrogates, which a buffer replaces.
    const wellFormed = Buffer.from(secret).toString();
    const inUrls = [encodeURIComponent(wellFormed), encodeURI(wellFormed)];
    for (const form of [secret, printable(secret), ...inUrls]) {
      this.#forms.add(lowerAscii(form));
      this.#forms.add(lowerAscii(JSON.stringify(form).slice(1, -1)));
    }
  }

  apply(text: string): string {
    if (this.#forms.size === 0) return text;
    // A secret may return as the host name of a redirect, in lower case.
    const searched = lowerAscii(text);
    const ranges = [...this.#forms].flatMap((form) => occurrences(searched, form));
    let masked = '';
    let end = 0;
    for (const range of ranges.sort((left, right) => left.start - right.start)) {
      // Overlapping secrets and forms become one mask.
      if (range.start >= end) masked += text.slice(end, range.start) + MASK;
      end = Math.max(end, range.end);
    }
    return masked + text.slice(end);
  }

  /** Masks the texts in a JSON object, but not its member names. */
  applyWithin(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const members = Object.entries(record);
    return Object.fromEntries(members.map(([name, value]) => [name, this.#mask(value)]));
  }

  #mask(value: unknown): unknown {
    if (typeof value === 'string') return this.apply(value);
    if (Array.isArray(value)) return value.map((element) => this.#mask(element));
    return isObject(value) ? this.applyWithin(value) : value;
  }
}

function occurrences(text: string, secret: string) {
  const head = secret.slice(0, HEAD_LENGTH);
  const found: { start: number; end: number }[] = [];
  let end = 0;
  for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, end)) {
    end = start + head.length;
    while (end - start < secret.length && text[end] === secret[end - start]) end += 1;
    found.push({ start, end });
  }
  return found;
}

/** Lowers ASCII only, so that all indexes stay the same. */
function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** For plain text only, since a mask could break JSON. */
export function redactingSink(sink: Sink, redaction: Redaction): Sink {
  return {
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
    write: (text) => sink.write(redaction.apply(text)),
  };
}
