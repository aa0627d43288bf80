// A model check of the lease: processes crash, stop and resume between any two steps.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/io.ts';
import { LEASE_TIME, type Leases, takeLeasedTurn } from '../../../src/session/shared/lease.ts';
import { fakeIo } from '../../support/io.ts';

/** Never settles: the process was killed. */
const FOREVER = new Promise<never>(() => {});

/** What a process may do at a step: go on, stop for a while, or die. */
type Fate = 'go' | 'stop' | 'die';

interface World {
  now: number;
  /** 0: time stands still. */
  readonly speed: 0 | 1;
  lease: { owner: string; expiresAt: number } | undefined;
  token: string | undefined;
  /** When the lease of each owner ends, as the store last told the owner. */
  readonly ends: Map<string, number>;
  /** Requests under way, by the owner of the lease under which they were sent. */
  readonly flying: Set<string>;
  requests: number;
  /** Requests that were sent while another one was under way, both under a live lease. */
  clashes: number;
  /** Requests that were sent without a check of the lease after the password was read. */
  unchecked: number;
}

class Process {
  readonly #world: World;
  readonly #fates: readonly Fate[];
  readonly #schedule: (label: string) => Promise<void>;
  #step = 0;
  #name: string;
  #leases = 0;
  isDead = false;
  #isChecked = false;

  constructor(
    name: string,
    world: World,
    fates: readonly Fate[],
    schedule: (label: string) => Promise<void>,
  ) {
    this.#name = name;
    this.#world = world;
    this.#fates = fates;
    this.#schedule = schedule;
  }

  /** Every command and every wait is a step; others may run before it and after it. */
  async step(label: string): Promise<void> {
    if (this.isDead) return FOREVER;
    const fate = this.#fates[this.#step] ?? 'go';
    this.#step += 1;
    await this.#schedule(`${this.#name} ${label} ${fate}`);
    if (fate === 'die') this.isDead = true;
    if (this.isDead) return FOREVER;
    if (fate !== 'stop') return;
    // Stopped for longer than a lease lasts, while the others go on.
    this.#world.now += 1.5 * LEASE_TIME;
    await this.#schedule(`${this.#name} ${label} resumes`);
  }

  #owner(): { owner: string; expiresAt: number } | undefined {
    const { lease, now } = this.#world;
    return lease && now < lease.expiresAt ? lease : undefined;
  }

  leases(): Leases {
    const world = this.#world;
    const set = (owner: string) => {
      world.lease = { owner, expiresAt: world.now + LEASE_TIME };
      world.ends.set(owner, world.lease.expiresAt);
      this.#isChecked = true;
      return true;
    };
    return {
      acquire: async (owner) => {
        await this.step('acquire');
        const done = this.#owner() === undefined && set(owner);
        await this.step('acquired');
        return done;
      },
      renew: async (owner) => {
        await this.step('renew');
        const holder = this.#owner()?.owner ?? owner;
        const done = holder === owner && set(owner);
        await this.step('renewed');
        return done;
      },
      release: async (owner) => {
        await this.step('release');
        if (this.#owner()?.owner === owner) world.lease = undefined;
        await this.step('released');
      },
    };
  }

  clock(): Clock {
    const io = fakeIo();
    return {
      ...io,
      now: () => this.#world.now,
      sleep: async (milliseconds, signal) => {
        signal.throwIfAborted();
        await this.step('sleep');
        this.#world.now += this.#world.speed * milliseconds;
        signal.throwIfAborted();
      },
    };
  }

  /** Runs until it has a token. */
  async run(): Promise<string> {
    const world = this.#world;
    let owner = '';
    const newOwner = () => {
      this.#leases += 1;
      owner = `${this.#name}.${this.#leases}`;
      return owner;
    };
    const instead = async () => {
      await this.step('read');
      return world.token;
    };
    const action = async (confirm: () => Promise<void>) => {
      await this.step('password');
      this.#isChecked = false;
      await confirm();
      world.requests += 1;
      if (!this.#isChecked) world.unchecked += 1;
      const isLive = (each: string) => world.now < (world.ends.get(each) ?? 0);
      if (isLive(owner) && [...world.flying].some(isLive)) world.clashes += 1;
      world.flying.add(owner);
      await this.step('request');
      world.flying.delete(owner);
      world.token ??= `token of ${this.#name}`;
      await this.step('stored');
      return world.token;
    };
    for (;;) {
      try {
        return await takeLeasedTurn(this.leases(), { instead, action }, newOwner, this.clock());
      } catch (error) {
        // The clock jumps, so a process may lose its patience; cron would start it again.
        expect(error).toMatchObject({ code: 'timeout' });
      }
    }
  }
}

const fate = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Fate>('go') },
  { weight: 2, arbitrary: fc.constant<Fate>('stop') },
  { weight: 1, arbitrary: fc.constant<Fate>('die') },
);

function newWorld(speed: World['speed']): World {
  const nothing = { now: 0, lease: undefined, token: undefined, requests: 0 };
  return { ...nothing, speed, ends: new Map(), flying: new Set(), clashes: 0, unchecked: 0 };
}

describe('the lease', () => {
  it('never lets two requests fly under live leases, and every living process gets the token', async () => {
    const fates = fc.array(fc.array(fate, { maxLength: 40 }), { minLength: 2, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fates, async (scheduler, plans) => {
        const world = newWorld(1);
        const schedule = (label: string) => scheduler.schedule(Promise.resolve(), label);
        const processes = plans.map((plan, index) => {
          const process = new Process(`P${index}`, world, plan, schedule);
          return { process, token: process.run() };
        });
        const isDone = new Set<unknown>();
        for (const { process, token } of processes) token.then(() => isDone.add(process));
        // Each step of the scheduler lets one process go on.
        for (let steps = 0; steps < 20_000; steps += 1) {
          if (processes.every(({ process }) => process.isDead || isDone.has(process))) break;
          await new Promise(setImmediate);
          if (scheduler.count() > 0) await scheduler.waitOne();
        }
        for (const { process } of processes) {
          expect(process.isDead || isDone.has(process)).toBe(true);
        }
        expect([world.clashes, world.unchecked]).toEqual([0, 0]);
      }),
      { numRuns: 300 },
    );
  });

  it('lets one process send the request if nobody is stopped or killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 5 }), async (scheduler, count) => {
        const world = newWorld(0);
        const schedule = (label: string) => scheduler.schedule(Promise.resolve(), label);
        const runs = Array.from({ length: count }, (_, index) =>
          new Process(`P${index}`, world, [], schedule).run(),
        );
        await scheduler.waitFor(Promise.all(runs));
        expect(world.requests).toBe(1);
        expect(world.lease).toBeUndefined();
      }),
      { numRuns: 100 },
    );
  });
});
