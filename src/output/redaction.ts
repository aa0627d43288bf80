// Keeps secrets out of messages, by value: a service or proxy may send back what it was sent.

import type { Sink } from '../io.ts';
import { printable } from './sanitize.ts';

const MASK = '***';

/** Below this length a secret would turn up in words that have nothing to do with it. */
const SHORTEST = 6;

/** What begins with so much of a secret is masked as far as it goes on with it: messages may be cut anywhere. */
const HEAD = 12;

export class Redaction {
  readonly #known = new Set<string>();
  readonly #forms = new Set<string>();

  /** Masks the secret from now on, also as URLs, JSON and our own messages write it. */
  add(secret: string): void {
    if (secret.length < SHORTEST || this.#known.has(secret)) return;
    this.#known.add(secret);
    // By way of a buffer, since halves of surrogate pairs have no place in a URL.
    const wellFormed = Buffer.from(secret).toString();
    const inUrls = [encodeURIComponent(wellFormed), encodeURI(wellFormed)];
    for (const form of [secret, printable(secret), ...inUrls]) {
      this.#forms.add(lowered(form));
      this.#forms.add(lowered(JSON.stringify(form).slice(1, -1)));
    }
  }

  apply(text: string): string {
    if (this.#forms.size === 0) return text;
    // A secret may come back as the host name of a redirect, which is in lower case.
    const searched = lowered(text);
    const ranges = [...this.#forms].flatMap((form) => occurrences(searched, form));
    let masked = '';
    let end = 0;
    for (const range of ranges.sort((left, right) => left.start - right.start)) {
      // One secret may begin like another, or one form like another of the same: what overlaps is one.
      if (range.start >= end) masked += text.slice(end, range.start) + MASK;
      end = Math.max(end, range.end);
    }
    return masked + text.slice(end);
  }

  /** The JSON object with every text in it masked; names of members are left as they are. */
  applyWithin(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const members = Object.entries(record);
    return Object.fromEntries(members.map(([name, value]) => [name, this.#masked(value)]));
  }

  #masked(value: unknown): unknown {
    if (typeof value === 'string') return this.apply(value);
    if (Array.isArray(value)) return value.map((element) => this.#masked(element));
    return typeof value === 'object' && value !== null ? this.applyWithin({ ...value }) : value;
  }
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function occurrences(text: string, secret: string): Range[] {
  const head = secret.slice(0, HEAD);
  const found: Range[] = [];
  let end = 0;
  for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, end)) {
    end = start + head.length;
    while (end - start < secret.length && text[end] === secret[end - start]) end += 1;
    found.push({ start, end });
  }
  return found;
}

/** ASCII alone, so that every character keeps its place. */
function lowered(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** The sink with what is written to it redacted: for plain text, since a mask could break other syntax. */
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
