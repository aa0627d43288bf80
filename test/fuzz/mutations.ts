// Mutations of status, headers, body, encoding and framing.

import { brotliCompressSync, gzipSync } from 'node:zlib';
import { bombs } from '../support/bombs.ts';
import { HOSTILE_TEXTS, mutateJson, type Origins } from './json-mutations.ts';
import type { Random } from './random.ts';
import type { Draft } from './response.ts';

type Mutation = (draft: Draft, random: Random, origins: Origins) => void;

const STATUSES = [
  ...[200, 201, 202, 204, 206, 301, 302, 304, 307, 400, 401, 403, 404, 405, 407, 409, 410],
  ...[413, 418, 421, 429, 500, 501, 502, 503, 504, 511, 599],
];

const DATES = [
  'Mon, 05 Jan 2026 12:00:30 GMT',
  'Mon, 05 Jan 2026 11:00:00 GMT',
  'Tue, 05 Jan 2027 12:00:00 GMT',
  'Thu, 01 Jan 1970 00:00:00 GMT',
  'Fri, 31 Dec 999999 23:59:59 GMT',
];
const NUMBERS = ['0', '1', '59', '61', '-1', '1.5', '1e9', '1767614400', '1767614400000'];
const JUNK = ['', 'soon', '1,2', '9'.repeat(30), '9'.repeat(400), '\u001b[2J', '\u009b1m', 'é'];

const HEADERS: readonly (readonly [string, readonly string[]])[] = [
  ['retry-after', [...NUMBERS, ...DATES, ...JUNK]],
  ['x-ratelimit-limit', [...NUMBERS, ...JUNK]],
  ['x-ratelimit-remaining', [...NUMBERS, ...JUNK]],
  ['x-ratelimit-reset', [...NUMBERS, ...JUNK]],
  ['date', [...DATES, ...JUNK]],
  ['content-type', ['text/html', 'application/json; charset=utf-16', 'image/png', ...JUNK]],
  ['content-encoding', ['gzip', 'br', 'deflate', 'identity', 'gzip, gzip', 'x-gzip', ...JUNK]],
  ['content-length', ['0', '5', '-1', '99999999999999999999', 'x']],
  ['transfer-encoding', ['chunked', 'gzip', 'identity', 'x']],
  ['connection', ['close', 'keep-alive', 'upgrade']],
  ['keep-alive', ['timeout=0', 'timeout=-1', 'timeout=x']],
  ['set-cookie', ['a=b; Domain=example.com', JUNK[5] ?? '']],
  ['x-padding', ['x'.repeat(20_000)]],
];

/** Far beyond every limit of ours, and decoded within milliseconds. */
const BOMBS = Object.values(bombs(500_000));

const HTML = '<!doctype html><title>502</title><h1>Bad Gateway</h1>\n';

const mutations: Readonly<Record<string, Mutation>> = {
  status: (draft, random) => {
    draft.status = random.chance(0.8) ? random.pick(STATUSES) : 100 + random.below(500);
  },
  header: (draft, random, { foreign }) => {
    const [name, values] = random.pick([
      ...HEADERS,
      ['location', [foreign, `${foreign}/v2`, '//', '/v2/request/image_sync/7', ...JUNK]] as const,
    ]);
    if (random.chance(0.7)) draft.headers = draft.headers.filter(([other]) => other !== name);
    draft.headers.push([name, random.pick(values)]);
  },
  'lost header': (draft, random) => {
    draft.headers.splice(random.below(draft.headers.length), 1);
  },
  json: (draft, random, origins) => {
    draft.body = Buffer.from(mutateJson(draft.body.toString('utf8'), random, origins));
  },
  message: (draft, random) => {
    const message = random.pick(HOSTILE_TEXTS);
    draft.status = random.pick(STATUSES);
    draft.body = Buffer.from(JSON.stringify({ error: 'e', message, status: draft.status }));
  },
  bytes: (draft, random) => {
    const bytes = Buffer.from(draft.body);
    for (let count = random.below(4); count >= 0 && bytes.length > 0; count -= 1) {
      bytes[random.below(bytes.length)] = random.below(256);
    }
    draft.body = bytes;
  },
  'lost bytes': (draft, random) => {
    const from = random.below(draft.body.length + 1);
    const to = random.chance(0.5) ? draft.body.length : from + 1;
    draft.body = Buffer.concat([draft.body.subarray(0, from), draft.body.subarray(to)]);
  },
  body: (draft, random) => {
    const bodies = ['', HTML, 'null', '[]', '{}', '"text"', '\ufeff{}', '{"data":[],"meta":{}}'];
    const all = [...bodies, ...HOSTILE_TEXTS].map((text) => Buffer.from(text));
    draft.body = random.pick([...all, Buffer.from([0xff, 0xfe, 0, 0x80, 0xc0])]);
  },
  encoding: (draft, random) => {
    const gzip = random.chance(0.6);
    const packed = gzip ? gzipSync(draft.body) : brotliCompressSync(draft.body);
    draft.headers.push(['content-encoding', gzip ? 'gzip' : 'br']);
    const fate = random.below(4);
    if (fate === 1) packed[random.below(packed.length)] = random.below(256);
    draft.body = fate === 2 ? packed.subarray(0, random.below(packed.length)) : packed;
    if (fate === 3) draft.body = Buffer.concat([packed, Buffer.from('junk')]);
  },
  bomb: (draft, random) => {
    draft.headers.push(['content-encoding', 'gzip']);
    draft.body = random.pick(BOMBS);
  },
  chunked: (draft) => {
    draft.framing = 'chunked';
  },
  'until close': (draft) => {
    draft.framing = 'until-close';
  },
  length: (draft, random) => {
    draft.lengthError = random.pick([-1, 1, -10, 1000, -1e9, 1e9]);
  },
  cut: (draft, random) => {
    draft.sent = random.next();
    draft.end = random.pick(['close', 'reset']);
  },
  'closed after': (draft, random) => {
    draft.end = random.pick(['close', 'reset']);
  },
  before: (draft, random) => {
    draft.before = random.pick([
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n'.repeat(3),
      '\r\n\r\n',
      'SSH-2.0-OpenSSH\r\n',
      '\u0000\u0001\u0002',
    ]);
  },
  after: (draft, random) => {
    draft.after = random.pick(['junk', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}']);
  },
  version: (draft, random) => {
    draft.version = random.pick(['1.0', '0.9', '2.0', '9.9', 'x']);
  },
};

/** Bodies are mutated more often than headers and framing. */
const NAMES = [...Object.keys(mutations), ...Array(12).fill('json'), 'status', 'header', 'message'];

/** Applies one mutation to the draft and returns its name. */
export function mutate(draft: Draft, random: Random, origins: Origins): string {
  const name = random.pick(NAMES);
  mutations[name]?.(draft, random, origins);
  return name;
}
