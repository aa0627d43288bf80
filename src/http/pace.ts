// The pace of one run: requests go one at a time, with a gap between them, once a server limits them.

import type { HttpResponse } from './message.ts';

/** Milliseconds, up to half longer, so that machines that start together spread out. */
const FIRST_GAP = 250;

const HALVED_AFTER = 10;

/** Milliseconds without a success after which a run gives up. */
const MAX_REFUSED = 60_000;

interface PaceOptions {
  readonly elapsed: () => number;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  /** False for servers that do not limit a run: their requests are never slowed down. */
  readonly limits?: boolean;
}

export class Pace {
  hasResponded = false;
  hasSucceeded = false;
  readonly #options: PaceOptions;
  /** Milliseconds between a response and the next request; 0 until the server limits requests. */
  #gap = 0;
  /** The gap before it was halved, which the server accepted. */
  #acceptedGap = 0;
  #successes = 0;
  #nextAt = 0;
  #refusedSince: number | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  get isSlow(): boolean {
    return this.#gap > 0;
  }

  /** True if the response says that requests come too fast: 429, or nginx's 503 from a service that works. */
  isTooFast({ status }: Pick<HttpResponse, 'status'>): boolean {
    const { limits = true } = this.#options;
    return limits && (status === 429 || (status === 503 && this.hasSucceeded));
  }

  get isExhausted(): boolean {
    const { elapsed } = this.#options;
    return this.#refusedSince !== undefined && elapsed() - this.#refusedSince >= MAX_REFUSED;
  }

  /**
   * @param wait returns the milliseconds that a refusal asks to wait
   * @throws the signal's reason when it aborts; what `transmit` throws
   */
  async send(
    signal: AbortSignal,
    transmit: () => Promise<HttpResponse>,
    wait: (response: HttpResponse) => number,
  ): Promise<HttpResponse> {
    const isSlow = this.isSlow;
    const endTurn = isSlow ? await this.#takeTurn(signal) : () => {};
    try {
      const response = await transmit();
      if (this.isTooFast(response)) this.#slowDown(isSlow, wait(response));
      else this.note(response, isSlow);
      return response;
    } finally {
      endTurn();
    }
  }

  /** Waits for the requests before, then for the gap; returns the function that lets the next one go. */
  async #takeTurn(signal: AbortSignal): Promise<() => void> {
    const { elapsed, sleep } = this.#options;
    const before = this.#turn;
    let endTurn = () => {};
    const ended = new Promise<void>((resolve) => {
      endTurn = resolve;
    });
    this.#turn = before.then(() => ended);
    try {
      await before;
      signal.throwIfAborted();
      const left = this.#nextAt - elapsed();
      if (left > 0) await sleep(left, signal);
      return endTurn;
    } catch (error) {
      endTurn();
      throw error;
    }
  }

  /** @param isSlow false if the request was sent before the first refusal, which then says nothing about the gap */
  #slowDown(isSlow: boolean, asked: number): void {
    const { elapsed, random } = this.#options;
    const time = elapsed();
    this.hasResponded = true;
    if (this.#gap === 0) this.#gap = Math.round(FIRST_GAP * (1 + random() / 2));
    else if (isSlow) this.#gap = Math.max(Math.round(this.#gap * 1.5), this.#acceptedGap);
    this.#successes = 0;
    this.#refusedSince ??= time;
    // The last try is at the end of the minute.
    const left = Math.max(this.#refusedSince + MAX_REFUSED - time, 0);
    this.#nextAt = Math.max(this.#nextAt, time + Math.max(asked, Math.min(this.#gap, left)));
  }

  /** Learns from a response that is no refusal. @param isSlow its request was sent in its turn */
  note({ status }: Pick<HttpResponse, 'status'>, isSlow = false): void {
    this.hasResponded = true;
    this.hasSucceeded ||= status >= 200 && status <= 299;
    if (isSlow) this.#nextAt = this.#options.elapsed() + this.#gap;
    if (status >= 500) return;
    this.#refusedSince = undefined;
    if (!isSlow) return;
    this.#successes += 1;
    if (this.#successes < HALVED_AFTER) return;
    this.#successes = 0;
    this.#acceptedGap = this.#gap;
    this.#gap = Math.ceil(this.#gap / 2);
  }
}
