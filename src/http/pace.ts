// The pace of one run: one request at a time, with gaps, once a server limits requests.

import { untilAborted } from '../abort.ts';
import { requestedWait } from './headers.ts';
import { type HttpResponse, isSuccess } from './message.ts';

/** Maximum wait that a server may ask for, in milliseconds. */
export const MAX_WAIT = 60_000;

/** Milliseconds, up to half longer, so that machines that start together spread out. */
const FIRST_GAP = 250;

/** Without a maximum, one request that is always refused would lengthen the gap for ever. */
const MAX_GAP = 10_000;

/** Successes in turn after which the gap is halved. */
const HALVED_AFTER = 10;

/** Milliseconds without a success after which a run gives up. */
const MAX_REFUSED = 60_000;

/** A response, and what it says about the pace. */
export interface PacedResponse {
  readonly response: HttpResponse;
  /** Milliseconds that the server asks to wait. */
  readonly askedWait: number;
  /**
   * `too-fast`: 429, or nginx's 503 from a service that works; `given-up`: and for a minute, no
   * request succeeded.
   */
  readonly verdict: 'ok' | 'too-fast' | 'given-up';
}

interface PaceOptions {
  readonly elapsed: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  /** False for servers that do not limit a run: their requests are never slowed down. */
  readonly slowsDown?: boolean;
}

/**
 * Once a server has limited a run, its requests go one at a time until the run ends.
 *
 * Without jitter, four refusals in turn make gaps of 250, 375, 563 and 845 ms. After ten successes
 * the gap is 423 ms, and 845 ms is accepted: the next refusal makes it 845 ms again, not 635.
 */
export class Pace {
  readonly #options: PaceOptions;
  #hasResponded = false;
  #hasSucceeded = false;
  /** Milliseconds between a response and the next request; 0 until the server limits requests. */
  #gap = 0;
  /** The last gap with which enough requests succeeded to halve it. */
  #acceptedGap = 0;
  /** Successes since the gap changed. */
  #successes = 0;
  /** The earliest time of the next request, after the gap and after what refusals asked for. */
  #nextAt = 0;
  /** When the first refusal came after the last success. */
  #refusedSince: number | undefined;
  /** Resolves when the last request that has a turn has ended; never rejects. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  get hasResponded(): boolean {
    return this.#hasResponded;
  }

  /** Milliseconds since the first refusal after the last success. */
  get refusedFor(): number {
    return this.#refusedSince === undefined ? 0 : this.#options.elapsed() - this.#refusedSince;
  }

  /**
   * Sends a request: at once, or in its turn if the run is slow.
   * @param hasOwnLimit its 429 says nothing about other requests
   * @throws the signal's reason when it aborts; what `transmit` throws
   */
  async send(
    signal: AbortSignal,
    transmit: () => Promise<HttpResponse>,
    hasOwnLimit = false,
  ): Promise<PacedResponse> {
    const isInTurn = this.#gap > 0;
    const sendAndLearn = async () => {
      const hasSucceeded = this.#hasSucceeded;
      const response = { ...(await transmit()), hasSucceeded };
      return this.#learn(response, isInTurn, hasOwnLimit);
    };
    return isInTurn ? this.#inTurn(signal, sendAndLearn) : sendAndLearn();
  }

  /** Runs the action after the requests before it, and after the gap. */
  #inTurn<Result>(signal: AbortSignal, action: () => Promise<Result>): Promise<Result> {
    const before = this.#lastTurn;
    const turn = untilAborted(before, signal)
      .then(() => this.#waitForGap(signal))
      .then(action);
    // Also waits for `before`: an aborted request ends before those that it waited for. It has no
    // value, as each would hold the responses of all before it.
    this.#lastTurn = Promise.allSettled([before, turn]).then(() => undefined);
    return turn;
  }

  #learn(response: HttpResponse, isInTurn: boolean, hasOwnLimit: boolean): PacedResponse {
    const askedWait = requestedWait(response) ?? 0;
    if (!this.#isTooFast(response, hasOwnLimit)) {
      this.#note(response, isInTurn);
      return { response, askedWait, verdict: 'ok' };
    }
    this.#slowDown(isInTurn, askedWait);
    const verdict = this.refusedFor >= MAX_REFUSED ? 'given-up' : 'too-fast';
    return { response, askedWait, verdict };
  }

  #isTooFast({ status }: HttpResponse, hasOwnLimit: boolean): boolean {
    const { slowsDown = true } = this.#options;
    const isRefused = status === 429 && !hasOwnLimit;
    return slowsDown && (isRefused || (status === 503 && this.#hasSucceeded));
  }

  async #waitForGap(signal: AbortSignal): Promise<void> {
    const { elapsed, sleep } = this.#options;
    signal.throwIfAborted();
    const left = this.#nextAt - elapsed();
    if (left > 0) await sleep(left, signal);
  }

  /** @param isInTurn false if it was sent before the first refusal: it says nothing of the gap */
  #slowDown(isInTurn: boolean, askedWait: number): void {
    const { elapsed, random } = this.#options;
    const time = elapsed();
    this.#hasResponded = true;
    if (this.#gap === 0) this.#gap = Math.round(FIRST_GAP * (1 + random() / 2));
    else if (isInTurn) {
      const longer = Math.max(Math.round(this.#gap * 1.5), this.#acceptedGap);
      this.#gap = Math.min(longer, MAX_GAP);
    }
    this.#successes = 0;
    this.#refusedSince ??= time;
    // The last try is at the end of the minute.
    const left = Math.max(this.#refusedSince + MAX_REFUSED - time, 0);
    // After a longer wait than MAX_WAIT the run ends.
    const wait = askedWait > MAX_WAIT ? 0 : askedWait;
    this.#nextAt = Math.max(this.#nextAt, time + Math.max(wait, Math.min(this.#gap, left)));
  }

  /** Learns from a response that does not slow the run down. */
  #note(response: HttpResponse, isInTurn: boolean): void {
    this.#hasResponded = true;
    this.#hasSucceeded ||= isSuccess(response);
    // A request sent before may have been refused for longer.
    const next = this.#options.elapsed() + this.#gap;
    if (isInTurn) this.#nextAt = Math.max(this.#nextAt, next);
    // A failure of the server, or a 429 of another limit, is neither a refusal nor a success.
    if (response.status >= 500 || response.status === 429) return;
    this.#refusedSince = undefined;
    if (isInTurn) this.#countSuccess();
  }

  #countSuccess(): void {
    this.#successes += 1;
    if (this.#successes < HALVED_AFTER) return;
    this.#successes = 0;
    this.#acceptedGap = this.#gap;
    this.#gap = Math.ceil(this.#gap / 2);
  }
}
