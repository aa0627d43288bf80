// The retry rule: which requests are sent again, when, and how long to wait before.

import { TransportError } from './errors.ts';
import { requestedWait } from './headers.ts';
import type { HttpEvent, HttpRequest, HttpResponse } from './message.ts';
import type { Pace } from './pace.ts';
import type { Transport } from './transport.ts';

/** Maximum wait that a server may ask for, in milliseconds. */
export const MAX_WAIT = 60_000;

const FIRST_BACKOFF = 250;
const MAX_BACKOFF = 8_000;
const MAX_PATIENT_BACKOFF = 10_000;

export interface RetryOptions {
  readonly retries: number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly onEvent?: ((event: HttpEvent) => void) | undefined;
}

/**
 * A safe method is retried after a retryable status or a lost connection, any other only if it was never sent or had
 * no effect. imgctl's own timeouts are not retried. A refusal by a limit costs no retry: the pace waits, and gives up.
 * @param pace of the run; without one, the server counts as one that never responded, and no refusal is retried
 * @throws TransportError; the signal's reason when it aborts
 */
export async function sendWithRetry(
  transport: Pick<Transport, 'send'>,
  request: HttpRequest,
  { retries, sleep, random, onEvent }: RetryOptions,
  pace?: Pace,
): Promise<HttpResponse> {
  const { method, url, signal, refusals = pace ? [429] : [] } = request;
  const isIdempotent = isSafeMethod(method) || request.idempotent === true;
  const isRetried = isIdempotent
    ? isRetryableStatus
    : (status: number) => refusals.includes(status);
  const transmit = () => transport.send(request);
  let count = 1;
  for (;;) {
    let asked = 0;
    let outage: string | undefined;
    try {
      const hasSucceeded = pace?.hasSucceeded;
      const received = await (pace ? pace.send(signal, transmit, shortWait) : transmit());
      const response = hasSucceeded ? { ...received, hasSucceeded } : received;
      const { status } = response;
      if (!isRetried(status) || retries === 0) return response;
      asked = requestedWait(response) ?? 0;
      if (asked > MAX_WAIT) return response;
      if (pace?.isTooFast(response)) {
        if (pace.isExhausted) return { ...response, isLimited: true };
        onEvent?.({ kind: 'limit', method, url, wait: asked, asked });
        continue;
      }
      if (count > retries) return response;
      if (pace && status > 500) outage = `returned ${status}`;
    } catch (error) {
      if (!(error instanceof TransportError) || !error.transient || count > retries) throw error;
      if (error.sent && !isIdempotent) throw error;
      if (pace?.hasResponded) outage = 'did not respond';
      // A proxy that never let a request through is set up wrongly.
      else if (error.code === 'proxy') throw error;
    }
    // A server that restarts needs some seconds.
    const wait = Math.max(backoff(count, random(), outage !== undefined), asked);
    onEvent?.({ kind: 'retry', method, url, count, wait, asked, outage });
    await sleep(wait, signal);
    count += 1;
  }
}

export function isRetryableStatus(status: number): boolean {
  return [408, 429, 500, 502, 503, 504].includes(status);
}

/** True if repeating the request cannot change anything (RFC 9110, section 9.2.1). */
export function isSafeMethod(method: string): boolean {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method);
}

/** Returns the milliseconds that a response asks to wait, 0 if the run will end instead. */
function shortWait(response: HttpResponse): number {
  const wait = requestedWait(response) ?? 0;
  return wait > MAX_WAIT ? 0 : wait;
}

/** With jitter: 125 to 250 ms, doubling up to 8 s; a patient one 250 ms, four times as long each time up to 10 s. */
export function backoff(retry: number, random: number, isPatient = false): number {
  if (isPatient) {
    const floor = Math.min(FIRST_BACKOFF * 4 ** (retry - 1), MAX_PATIENT_BACKOFF);
    return Math.round(floor * (1 + random / 5));
  }
  const ceiling = Math.min(FIRST_BACKOFF * 2 ** (retry - 1), MAX_BACKOFF);
  return Math.round(ceiling / 2 + (ceiling / 2) * random);
}
