// Deliberate misbehaviour: parses `--fault`, picks the fault of a request and applies it.

import { type ServerResponse, STATUS_CODES } from 'node:http';
import { pipeline } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type Answer, errorAnswer, Refusal, send, sendHead } from './responses.ts';

/** A status, with the seconds of Retry-After for 429, stands in for the answer of the service. */
export interface StatusFault {
  readonly type: 'status';
  readonly status: number;
  readonly retryAfter: number | undefined;
}

const NAMED_KINDS = ['drop', 'stall', 'drip', 'html', 'truncate'] as const;

export type FaultKind = StatusFault | { readonly type: (typeof NAMED_KINDS)[number] };

export interface Fault {
  /** A method, or `*` for all. */
  readonly method: string;
  /** A path, or one that ends in `*` for all that begin like it. The query plays no part. */
  readonly path: string;
  readonly kind: FaultKind;
  /** Which of the matching requests: all, the first `count`, or every `count`-th. */
  readonly when: 'always' | 'first' | 'every';
  readonly count: number;
}

const SPEC = /^(\*|[A-Z]+) (\/[^\s=]*)=([^,]+)(?:,(first|every)=([1-9]\d{0,8}))?$/;

/**
 * Reads a fault such as `GET /v2/image=503,first=2`: METHOD PATH=KIND[,first=N|,every=N].
 * METHOD may be `*`, PATH may end in `*`; KIND is a status, drop, stall, drip, html, truncate or 429:SECONDS.
 * A plain Error with a message of one line when it is wrong.
 */
export function parseFault(spec: string): Fault {
  const [, method, path, kind, when = 'always', count = '1'] = SPEC.exec(spec) ?? [];
  if (method === undefined || path === undefined || kind === undefined) {
    throw new Error(`fault "${spec}" is not METHOD PATH=KIND[,first=N|,every=N]`);
  }
  return {
    method,
    path,
    kind: parseKind(spec, kind),
    when: when === 'first' || when === 'every' ? when : 'always',
    count: Number(count),
  };
}

function parseKind(spec: string, text: string): FaultKind {
  const named = NAMED_KINDS.find((name) => name === text);
  if (named !== undefined) return { type: named };
  const [, status, seconds] = /^([345]\d\d)$|^429:(\d{1,9})$/.exec(text) ?? [];
  if (seconds !== undefined) return { type: 'status', status: 429, retryAfter: Number(seconds) };
  if (status !== undefined)
    return { type: 'status', status: Number(status), retryAfter: undefined };
  throw new Error(
    `fault "${spec}": the kind "${text}" is none of a status from 300 to 599, ${NAMED_KINDS.join(', ')}, 429:SECONDS`,
  );
}

/** Picks the fault of a request: the first that matches and whose turn it is. */
export type FaultPicker = (method: string, path: string) => FaultKind | undefined;

/** Counts, for each fault, the requests that match it. */
export function createFaultPicker(faults: readonly Fault[]): FaultPicker {
  const counted = faults.map((fault) => ({ fault, seen: 0 }));
  return (method, path) => {
    const matching = counted.filter(({ fault }) => matches(fault, method, path));
    for (const entry of matching) entry.seen += 1;
    return matching.find(({ fault, seen }) => isDue(fault, seen))?.fault.kind;
  };
}

function matches(fault: Fault, method: string, path: string): boolean {
  if (fault.method !== '*' && fault.method !== method) return false;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
}

function isDue({ when, count }: Fault, seen: number): boolean {
  if (when === 'first') return seen <= count;
  return when === 'always' || seen % count === 0;
}

const DRIP_INTERVAL = 100;

const HTML_PAGE = '<!doctype html><title>Sign in</title><h1>Sign in to this network</h1>';

/**
 * The answer that stands in for the service's, which then never sees the request; undefined for the faults
 * that spoil the real answer of a request that had its effect, as a client cannot know.
 */
export function substitute(fault: FaultKind): Answer | undefined {
  if (fault.type === 'html') {
    return {
      status: 200,
      headers: { 'Content-Type': 'text/html; charset=utf-8' },
      body: HTML_PAGE,
    };
  }
  if (fault.type !== 'status') return undefined;
  const { status, retryAfter } = fault;
  return errorAnswer(
    new Refusal(status, `Fault injected: ${STATUS_CODES[status] ?? status}.`, {
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(status < 400 ? { Location: 'http://elsewhere.invalid/' } : {}),
    }),
  );
}

/** Sends the answer as the fault spoils it, or whole. */
export function deliver(
  response: ServerResponse,
  answer: Answer,
  fault: FaultKind['type'] | undefined,
): void {
  // The client may have left while its answer was made.
  if (response.destroyed) return;
  switch (fault) {
    case 'drop':
      response.destroy();
      return;
    case 'stall':
      // The connection stays until the client or the service ends it.
      return;
    case 'truncate':
      truncate(response, answer);
      return;
    case 'drip':
      drip(response, answer);
      return;
    default:
      send(response, answer);
  }
}

function truncate(response: ServerResponse, answer: Answer): void {
  const body = Buffer.from(answer.body ?? '');
  sendHead(response, answer);
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
}

function drip(response: ServerResponse, answer: Answer): void {
  sendHead(response, answer);
  response.flushHeaders();
  // A client that leaves ends it early, which is no error here.
  pipeline(singleBytes(Buffer.from(answer.body ?? '')), response, () => undefined);
}

async function* singleBytes(bytes: Buffer): AsyncGenerator<Buffer> {
  for (const byte of bytes) {
    await setTimeout(DRIP_INTERVAL, undefined, { ref: false });
    yield Buffer.of(byte);
  }
}
