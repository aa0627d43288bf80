// The retry rule: which requests are sent again, when, and how long to wait before.

import { TransportError } from './errors.ts';
import type { HttpEvent, HttpRequest, HttpResponse } from './message.ts';
import { MAX_WAIT, type Pace, type PacedResponse } from './pace.ts';
import type { Transport } from './transport.ts';

const FIRST_BACKOFF = 250;
const MAX_BACKOFF = 8_000;
const MAX_PATIENT_BACKOFF = 10_000;

/**
 * A run without any success ends after a minute (pace.ts), before so many refusals. This ends one
 * request that is refused again and again while others succeed.
 */
const MAX_REFUSALS = 20;

export interface RetryOptions {
  readonly retries: number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onEvent?: ((event: HttpEvent) => void) | undefined;
}

/** What follows an attempt: its response, or the request again, in its turn or after a backoff. */
type Next =
  | { readonly kind: 'return'; readonly response: HttpResponse }
  | { readonly kind: 'again-in-turn'; readonly askedWait: number }
  | {
      readonly kind: 'again-after-backoff';
      readonly askedWait: number;
      readonly outage?: string | undefined;
    };

/**
 * A request that is safe or idempotent is retried after a retryable status or a lost connection,
 * any other only if it was never sent or had no effect. imgctl's own timeouts are not retried. A
 * refusal by a limit costs no retry: the pace waits, and gives up.
 * @throws TransportError; the signal's reason when it aborts
 */
export async function sendWithRetry(
  transport: Pick<Transport, 'send'>,
  request: HttpRequest,
  { retries, sleep, random, onEvent }: RetryOptions,
  pace: Pace,
): Promise<HttpResponse> {
  const { method, url, signal } = request;
  const transmit = () => transport.send(request);
  let retry = 1;
  let refused = 0;
  for (;;) {
    const state = { request, pace, retries, retry, refused };
    const next = await pace.send(signal, transmit, request.hasOwnLimit).then(
      (paced) => afterResponse(paced, state),
      (error: unknown) => afterError(error, state),
    );
    if (next.kind === 'return') return next.response;
    const { askedWait: asked } = next;
    if (next.kind === 'again-in-turn') {
      refused += 1;
      onEvent?.({ kind: 'limit', method, url, asked, refusedFor: pace.refusedFor });
      continue;
    }
    const { outage } = next;
    // A server that restarts needs some seconds.
    const wait = Math.max(backoff(retry, random(), outage !== undefined), asked);
    onEvent?.({ kind: 'retry', method, url, count: retry, wait, asked, outage });
    await sleep(wait, signal);
    retry += 1;
  }
}

interface State {
  readonly request: HttpRequest;
  readonly pace: Pace;
  readonly retries: number;
  /** The number of the retry that would follow; the first is 1. */
  readonly retry: number;
  /** How often a limit has refused the request. */
  readonly refused: number;
}

/**
 * What follows a response, by the first row that fits:
 *
 *     404; 502 to a POST; any if `retries` is 0    it is returned
 *     429 or 503 with Retry-After: 3600            it is returned
 *     429, or 503 after a success in this run,     it is returned as `isLimited`
 *     if there was no success for a minute,
 *     or the request was refused 20 times
 *     429, or 503 after a success in this run      again in its turn
 *     502, 503 and others after the last retry     it is returned
 *     502, 503 and others                          again after a backoff
 */
function afterResponse(
  { response, askedWait, verdict }: PacedResponse,
  { request, retries, retry, refused }: State,
): Next {
  const end = { kind: 'return', response } as const;
  const { status } = response;
  const { refusals = [429] } = request;
  const isRetried = isIdempotent(request) ? isRetryableStatus(status) : refusals.includes(status);
  if (!isRetried || retries === 0 || askedWait > MAX_WAIT) return end;
  const isGivenUp = verdict === 'given-up' || (verdict === 'too-fast' && refused >= MAX_REFUSALS);
  if (isGivenUp) return { kind: 'return', response: { ...response, isLimited: true } };
  if (verdict === 'too-fast') return { kind: 'again-in-turn', askedWait };
  if (retry > retries) return end;
  const outage = status > 500 ? `returned ${status}` : undefined;
  return { kind: 'again-after-backoff', askedWait, outage };
}

/** @throws the error, if it is not retried */
function afterError(error: unknown, { request, pace, retries, retry }: State): Next {
  if (!(error instanceof TransportError) || !error.transient || retry > retries) throw error;
  if (error.sent && !isIdempotent(request)) throw error;
  const outage = pace.hasResponded ? 'did not respond' : undefined;
  // A proxy that never let a request through is set up wrongly.
  if (error.code === 'proxy' && !outage) throw error;
  return { kind: 'again-after-backoff', askedWait: 0, outage };
}

function isIdempotent({ method, idempotent = false }: HttpRequest): boolean {
  return idempotent || isSafeMethod(method);
}

export function isRetryableStatus(status: number): boolean {
  return [408, 429, 500, 502, 503, 504].includes(status);
}

/** True if repeating the request cannot change anything (RFC 9110, section 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
}

/** With jitter: 125 to 250 ms, doubling up to 8 s; if patient, 250 ms, 1 s, 4 s, then 10 s. */
export function backoff(retry: number, random: number, isPatient = false): number {
  if (isPatient) {
    const floor = Math.min(FIRST_BACKOFF * 4 ** (retry - 1), MAX_PATIENT_BACKOFF);
    return Math.round(floor * (1 + random / 5));
  }
  const ceiling = Math.min(FIRST_BACKOFF * 2 ** (retry - 1), MAX_BACKOFF);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
