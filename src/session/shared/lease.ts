// The lock of a shared store: a lease that its holder renews, and that expires if the holder dies.

import { ImgctlError } from '../../errors.ts';
import type { Clock } from '../../io.ts';
import type { Turn } from '../token-store.ts';

/** Milliseconds until a lease without renewal expires. */
export const LEASE_TIME = 10_000;
/** As long as others wait for the lock of a file. */
const PATIENCE = 120_000;
const MIN_WAIT = 50;
const MAX_WAIT = 500;

/** The commands of the store. `owner` is a fencing value: no two leases have the same. */
export interface Leases {
  /** Takes the lease if nobody has it. */
  acquire(owner: string): Promise<boolean>;
  /** Extends the lease, or takes it again if it has expired. False if another has it. */
  renew(owner: string): Promise<boolean>;
  /** Releases the lease if the owner still has it. */
  release(owner: string): Promise<void>;
}

/** Another process took the lease while this one was stopped. */
class LeaseLost extends Error {}

/**
 * Takes a turn under the lease.
 * @param newOwner returns a new fencing value, which the turn may use until it ends
 * @throws ImgctlError timeout: others held it too long; whatever `leases` throw before the turn begins
 */
export async function takeLeasedTurn<Result>(
  leases: Leases,
  { instead, action }: Turn<Result>,
  newOwner: () => string,
  io: Clock,
): Promise<Result> {
  const deadline = io.now() + PATIENCE;
  for (let wait = MIN_WAIT; ; wait = Math.min(2 * wait, MAX_WAIT)) {
    const found = await instead();
    if (found !== undefined) return found;
    const owner = newOwner();
    if (await leases.acquire(owner)) {
      try {
        return await holdLease(leases, owner, io, async (confirm) => {
          // Another process may have stored its token and released the lease just before.
          return (await instead()) ?? action(confirm);
        });
      } catch (error) {
        if (!(error instanceof LeaseLost)) throw error;
      }
    }
    if (io.now() > deadline) {
      const message = `another imgctl has requested a token for ${PATIENCE / 1000} s`;
      throw new ImgctlError('timeout', message, { hint: 'try again later' });
    }
    await io.sleep(wait * (0.5 + io.random()), io.signal);
  }
}

async function holdLease<Result>(
  leases: Leases,
  owner: string,
  io: Clock,
  work: (confirm: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const end = new AbortController();
  const signal = AbortSignal.any([end.signal, io.signal]);
  const renew = async () => {
    for (;;) {
      await io.sleep(LEASE_TIME / 3, signal);
      // One late reply must not end the lease.
      await leases.renew(owner).catch(() => {});
    }
  };
  // It ends by the signal.
  const renewing = renew().catch(() => {});
  const confirm = async () => {
    const isHeld = await leases.renew(owner).catch(() => true);
    if (!isHeld) throw new LeaseLost('another process has the lease');
  };
  try {
    return await work(confirm);
  } finally {
    end.abort();
    // A renewal on its way would take the lease again after the release.
    await renewing;
    await leases.release(owner).catch(() => {});
  }
}
