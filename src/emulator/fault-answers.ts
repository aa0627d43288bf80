// What a request with a fault gets: another answer, or its own one spoiled on the way out.

import { type ServerResponse, STATUS_CODES } from 'node:http';
import { pipeline } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { type Answer, errorAnswer, Refusal, send, sendHead } from './answers.ts';
import type { FaultKind } from './faults.ts';

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
