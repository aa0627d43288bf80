// Random changes to an HTTP response: status, headers, JSON, bytes, compression, framing and connection.

import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { anyText, HOSTILE } from '../output/hostile.ts';

/** They stand for the service itself, and for a server that must get no request. */
export const OWN = 'http://own.invalid';
export const FOREIGN = 'http://foreign.invalid';

type Header = readonly [name: string, value: string];
export type Response = ReturnType<typeof soundResponse>;

/** Headers, all but those of the framing, are in latin1: they may contain any byte. */
export function soundResponse(status: number, headers: Header[], body: Buffer) {
  return {
    ...{ status, headers, body, version: '1.1' },
    framing: 'length' as 'length' | 'chunked' | 'none',
    /** Added to the true content-length. */
    lengthError: 0,
    /** Sent first and last: other responses or junk. */
    ...{ before: '', after: '' },
    /** The share of all bytes that is sent. */
    sent: 1,
    /** `keep` needs a response whose end the client can see. */
    end: 'keep' as 'keep' | 'close' | 'reset',
  };
}

/** Returns a list of `count` elements as JSON. */
export function envelopeOf(element: string, count: number): string {
  const meta = '{"pages":{"page":1,"pages":12,"per_page":100,"total":1200,"next_url":null}}';
  return `{"data":[${`${element},`.repeat(count).slice(0, -1)}],"meta":${meta}}`;
}

/** Small lists that unfold into so many elements, or into 100,000 levels. */
export function bombs(count: number): Readonly<Record<string, Buffer>> {
  const nested = '['.repeat(100_000) + ']'.repeat(100_000);
  return {
    objects: gzipSync(envelopeOf('{}', count)),
    arrays: gzipSync(envelopeOf('[]', count)),
    numbers: gzipSync(envelopeOf('1', count)),
    nested: gzipSync(envelopeOf(nested, 1)),
  };
}

const HEADERS = [
  ...['retry-after', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date'],
  ...['location', 'content-type', 'content-encoding', 'content-length', 'transfer-encoding'],
];
const HEADER_VALUES = [
  ...['0', '1', '59', '-1', '1.5', '1e9', '1767614400', '9'.repeat(400), 'soon', 'é', '', '//'],
  ...['Mon, 05 Jan 2026 12:00:30 GMT', 'Fri, 31 Dec 999999 23:59:59 GMT', '\u001b[2J', '\u009b1m'],
  ...['x'.repeat(20_000), 'gzip', 'br', 'gzip, gzip', 'chunked', 'text/html', 'a; charset=utf-16'],
  ...[FOREIGN, `${FOREIGN}/v2`, '/v2/request/image_sync/7'],
];
const URLS = [
  ...['/v2/image?page=1', '/v2/image?page=2&per_page=10', `${OWN}/v2/image?page=2`, '?page=2'],
  ...[`${FOREIGN}/v2/image?page=2`, FOREIGN.replace('//', '//own@'), FOREIGN.replace('http:', '')],
  ...['/v2/request/image_sync/1', '/x/..%2f..%2f', 'javascript:alert(1)', 'http://['],
];
/** JSON in place of a value, which OLD stands for: another type, more or fewer members, odd names, huge numbers. */
const JSON_TEXTS = [
  ...['[OLD]', '{"data":OLD}', '', `OLD${',OLD'.repeat(50)}`, 'OLD,"__proto__":{"id":1}', '[null]'],
  ...['OLD,"toString":OLD', 'OLD,"id":2', 'OLD,"data":null', 'OLD,"":1', '{"id":1,"id":2}', '[[]]'],
  ...['{"toJSON":"x","then":"y","length":-1}', '{"data":[]}', '{"__proto__":null}', 'null', 'true'],
  ...[
    '1e400',
    '9007199254740993',
    `1${'0'.repeat(400)}`,
    '0.1e-400',
    '-0',
    '1.5',
    '-1',
    '0',
    '"1"',
  ],
  ...[200, 20_000].map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
];
const BODIES = ['', '<!doctype html><title>502</title>', 'null', '[]', '{}', '"text"', '\ufeff{}'];
const STARTS = ['HTTP/1.1 100 Continue\r\n\r\n', '\r\n\r\n', 'SSH-2.0-OpenSSH\r\n', '\u0000\u0001'];
const ENDS = ['junk', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'];
const COMMON = [200, 202, 204, 301, 304, 400, 401, 403, 404, 407, 413, 429, 500, 502, 503, 511];
/** Far beyond every limit, and decoded within milliseconds. */
const BOMBS = bombs(500_000);

const text = fc.oneof(anyText(), fc.constantFrom(HOSTILE, HOSTILE, 'ERROR', 'x'.repeat(20_000)));
const status = fc.oneof(fc.constantFrom(...COMMON), fc.integer({ min: 100, max: 599 }));
const quoted = fc.oneof(text, fc.constantFrom(...URLS)).map((value) => JSON.stringify(value));
const json = fc.oneof(fc.constantFrom(...JSON_TEXTS), quoted, fc.json({ maxDepth: 2 }));
const header = fc.tuple(fc.constantFrom(...HEADERS), fc.constantFrom(...HEADER_VALUES));
/** Near the root, anywhere, or near the end, as most values are fields of images. */
const place = fc.oneof(fc.nat(3), fc.nat(200), fc.integer({ min: -20, max: -1 }));
const end = fc.constantFrom('close' as const, 'reset' as const);
const framing = fc.oneof(
  fc.record({ status, end }),
  fc.record({ framing: fc.constantFrom('chunked' as const, 'none' as const), end }),
  fc.record({ lengthError: fc.constantFrom(-1, 1, -10, 1000, -1e9, 1e9), end }),
  fc.record({ before: fc.constantFrom(...STARTS), end }),
  fc.record({ after: fc.constantFrom(...ENDS), end }),
  fc.record({ version: fc.constantFrom('1.0', '0.9', '2.0', '9.9', 'x'), end }),
  fc.record({ sent: fc.double({ min: 0, max: 1, noNaN: true }), end }),
);

/** One change. */
export const change = fc.oneof(
  { arbitrary: fc.record({ place, json }), weight: 9 },
  { arbitrary: fc.record({ framing }), weight: 5 },
  { arbitrary: header, weight: 2 },
  { arbitrary: fc.record({ message: text, status }), weight: 2 },
  fc.record({ body: fc.oneof(fc.constantFrom(...BODIES), text) }),
  fc.record({ at: fc.nat(), bytes: fc.uint8Array({ maxLength: 3 }), cut: fc.boolean() }),
  fc.record({ pack: fc.constantFrom('gzip', 'br'), broken: fc.option(fc.nat()) }),
  fc.record({ bomb: fc.constantFrom(...Object.keys(BOMBS)) }),
);

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

export function applyChange(response: Response, changed: Change): void {
  const { body, headers } = response;
  if ('json' in changed) {
    response.body = Buffer.from(changeJson(`${body}`, changed.place, changed.json));
  } else if ('framing' in changed) Object.assign(response, changed.framing);
  else if (Array.isArray(changed)) {
    response.headers = [...headers.filter(([name]) => name !== changed[0]), changed];
    response.end = 'close';
  } else if ('message' in changed) {
    Object.assign(response, { status: changed.status, end: 'close' });
    response.body = Buffer.from(JSON.stringify({ error: 'e', ...changed }));
  } else if ('body' in changed) response.body = Buffer.from(changed.body);
  else if ('bytes' in changed) {
    const at = changed.at % (body.length + 1);
    const rest = body.subarray(changed.cut ? body.length : at + changed.bytes.length);
    response.body = Buffer.concat([body.subarray(0, at), changed.bytes, rest]);
  } else if ('pack' in changed) {
    response.body = changed.pack === 'gzip' ? gzipSync(body) : brotliCompressSync(body);
    if (changed.broken !== null) response.body.fill(0, changed.broken % response.body.length);
    headers.push(['content-encoding', changed.pack]);
  } else {
    response.body = BOMBS[changed.bomb] ?? body;
    headers.push(['content-encoding', 'gzip']);
  }
}

/** Replaces the value with that number in the order of the text; a negative one counts from the end. */
function changeJson(source: string, number: number, replacement: string): string {
  const values: unknown[] = [];
  const mark = '\u0001';
  try {
    JSON.stringify(JSON.parse(source), (_name, value) => values[values.push(value) - 1]);
    const chosen = number < 0 ? Math.max(0, values.length + number) : number % values.length;
    let index = -1;
    const marked = JSON.stringify(JSON.parse(source), (_name, value) => {
      index += 1;
      return index === chosen ? mark : value;
    });
    const written = replacement.replaceAll('OLD', () => JSON.stringify(values[chosen]));
    return marked.replace(JSON.stringify(mark), () => written);
  } catch {
    // Not JSON after another change.
    return source;
  }
}

/** Sends the response to a request with that method. */
export function deliver(response: Response, method: string, socket: Socket): void {
  const { status: code, version, headers, framing: kind, before, after } = response;
  const body = method === 'HEAD' ? Buffer.alloc(0) : response.body;
  const length = Math.max(0, response.body.length + response.lengthError);
  const size = body.length.toString(16);
  const [frame, ...content] = {
    length: [`content-length: ${length}\r\n`, body],
    chunked: ['transfer-encoding: chunked\r\n', `${size}\r\n`, body, '\r\n0\r\n\r\n'],
    none: ['', body],
  }[kind];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `${before}HTTP/${version} ${code} Whatever\r\n${frame}${lines}\r\n`;
  const parts = [head, ...content, after].map((part) => Buffer.from(part as string, 'latin1'));
  const all = Buffer.concat(parts);
  const bytes = all.subarray(0, Math.floor(all.length * response.sent));
  if (response.end === 'reset') socket.write(bytes, () => socket.resetAndDestroy());
  else if (response.end === 'close' || method === 'HEAD') socket.end(bytes);
  else socket.write(bytes);
}
