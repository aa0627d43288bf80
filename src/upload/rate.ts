// Limits how many bytes per second all uploads of a run send together.

import type { Clock } from '../io.ts';

/** Returns the same bytes, each as soon as it may be sent. */
export type Limit = (chunks: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** Pieces per second: each shows progress, even if the rate is low and shared by many parts. */
const PIECES = 100;
/** Milliseconds that may be caught up after a delay, so that delays do not add up. */
const CATCH_UP = 200;

/** @param rate bytes per second, 0 for no limit */
export function rateLimit(
  rate: number | undefined,
  clock: Pick<Clock, 'elapsed' | 'sleep' | 'signal'>,
): Limit {
  if (!rate) return (chunks) => chunks;
  const size = Math.ceil(rate / PIECES);
  let nextAt: number | undefined;
  return async function* limit(chunks) {
    for await (const chunk of chunks) {
      for (let start = 0; start < chunk.length; start += size) {
        const piece = chunk.subarray(start, start + size);
        const time = clock.elapsed();
        const at = Math.max(nextAt ?? time, time - CATCH_UP);
        nextAt = at + (1000 * piece.length) / rate;
        if (at - time >= 1) await clock.sleep(at - time, clock.signal);
        // A connection buffers small pieces, and may hold them when their chunk is filled again.
        yield Buffer.from(piece);
      }
    }
  };
}
