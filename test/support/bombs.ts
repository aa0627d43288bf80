// Small responses that unfold into more than any program should hold.

import { gzipSync } from 'node:zlib';

const MEMBERS =
  '"meta":{"pages":{"page":1,"pages":12,"per_page":100,"total":1200,"next_url":null}}';

/** Returns a list of `count` elements as JSON. */
export function envelopeOf(element: string, count: number): string {
  return `{"data":[${`${element},`.repeat(count).slice(0, -1)}],${MEMBERS}}`;
}

/** Compressed lists by their content; the nested one has 100,000 levels. */
export function bombs(count: number): Readonly<Record<string, Buffer>> {
  const levels = 100_000;
  return {
    objects: gzipSync(envelopeOf('{}', count)),
    arrays: gzipSync(envelopeOf('[]', count)),
    numbers: gzipSync(envelopeOf('1', count)),
    nested: gzipSync(envelopeOf('['.repeat(levels) + ']'.repeat(levels), 1)),
  };
}
