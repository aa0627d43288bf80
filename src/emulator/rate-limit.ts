// Counts requests in fixed windows; the contract gives the limit and the headers (section 8), not the window.

export interface RateLimitState {
  readonly exceeded: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  /** When the window ends, milliseconds since the epoch. */
  readonly resetAt: number;
}

export interface RateLimit {
  /** Counts one request of that caller. The first of a window opens it. */
  take(caller: string): RateLimitState;
}

/** A limit of so many requests in a window of so many milliseconds, for each caller. */
export function createRateLimit(limit: number, window: number, now: () => number): RateLimit {
  const windows = new Map<string, { used: number; resetAt: number }>();
  return {
    take: (caller) => {
      const known = windows.get(caller);
      const current =
        known !== undefined && now() < known.resetAt ? known : { used: 0, resetAt: now() + window };
      current.used += 1;
      windows.set(caller, current);
      const { used, resetAt } = current;
      return { exceeded: used > limit, remaining: Math.max(0, limit - used), resetAt };
    },
  };
}
