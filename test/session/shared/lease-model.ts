// A model of machines that take turns under a lease: all of their states, whatever crashes or is delayed.

import type { Clock } from '../../../src/io.ts';
import { LEASE_TIME, type Leases, takeLeasedTurn } from '../../../src/session/shared/lease.ts';
import { fakeIo } from '../../support/io.ts';

/** How many machines there are, and what may happen to them in all. A delay lets a lease expire. */
export interface Limits {
  readonly machines: number;
  readonly crashes: number;
  readonly delays: number;
}

/** What the store does wrong, for a check of the model itself. */
export type StoreFault = 'acquires a taken lease' | 'renews for anyone' | 'releases for anyone';

interface Step {
  readonly label: string;
  readonly go: () => void;
}

interface Action {
  /** A crash, or a delay of a living machine. */
  readonly isFault: boolean;
  readonly perform: () => void;
}

const CLOCK: Clock = { ...fakeIo(), now: () => 0, random: () => 0 };

class World {
  readonly machines: Machine[];
  readonly storeFault: StoreFault | undefined;
  /** The owner of the lease in the store. */
  holder: string | undefined;
  /** Owners whom the store has told that they have the lease, until it expires. */
  readonly live = new Set<string>();
  /** Owners whose token request is under way. */
  readonly flying = new Set<string>();
  hasToken = false;
  requests = 0;
  crashes = 0;
  delays = 0;
  /** Token requests that were sent while another one was under way, both under a live lease. */
  clashes = 0;
  /** Token requests that were sent without a check of the lease after the password was read. */
  unchecked = 0;

  constructor(count: number, storeFault: StoreFault | undefined) {
    this.storeFault = storeFault;
    this.machines = Array.from({ length: count }, (_, index) => new Machine(`${index}`, this));
  }

  get faults(): number {
    return this.crashes + this.delays;
  }

  /** True if each machine has its token or has crashed. */
  get isOver(): boolean {
    return this.machines.every(({ isRunning }) => !isRunning);
  }

  grant(owner: string): true {
    this.holder = owner;
    this.live.add(owner);
    return true;
  }

  expire(owner: string): void {
    this.live.delete(owner);
    if (this.holder === owner) this.holder = undefined;
  }

  /** Everything that may happen next, always in the same order. */
  actions({ crashes, delays }: Limits): Action[] {
    return this.machines.flatMap((machine) => {
      const { isRunning } = machine;
      const steps = machine.steps.map(({ go }) => ({ isFault: false, perform: go }));
      const crash = { isFault: true, perform: () => machine.crash() };
      const mayExpire = !isRunning || this.delays < delays;
      const leases = mayExpire ? machine.owners.filter((owner) => this.live.has(owner)) : [];
      const expiries = leases.map((owner) => ({
        isFault: isRunning,
        perform: () => {
          this.delays += isRunning ? 1 : 0;
          this.expire(owner);
        },
      }));
      return [...steps, ...(isRunning && this.crashes < crashes ? [crash] : []), ...expiries];
    });
  }

  /** The same for states that differ only in the names of machines and leases. */
  get key(): string {
    const { hasToken, requests, crashes, delays } = this;
    const machines = this.machines.map(({ key }) => key).sort();
    return [...machines, hasToken, requests, crashes, delays].join(' ');
  }
}

class Machine {
  readonly #name: string;
  readonly #world: World;
  readonly owners: string[] = [];
  steps: Step[] = [];
  /** False after a crash, and as soon as it has its token. */
  isRunning = true;
  hasCrashed = false;
  #isChecked = false;

  constructor(name: string, world: World) {
    this.#name = name;
    this.#world = world;
    this.#run().then(() => {
      this.isRunning = false;
    });
  }

  crash(): void {
    this.steps = [];
    this.isRunning = false;
    this.hasCrashed = true;
    this.#world.crashes += 1;
  }

  get key(): string {
    const { holder, live, flying } = this.#world;
    const labels = this.steps.map(({ label }) => label).sort();
    const state = this.isRunning ? labels.join('+') : this.hasCrashed ? 'crashed' : 'done';
    const current = this.owners.at(-1);
    const facts = this.owners.flatMap((owner) => {
      const own = [holder === owner && 'h', live.has(owner) && 'l', flying.has(owner) && 'f'];
      const text = own.filter(Boolean).join('');
      return text === '' ? [] : [owner === current ? text : `old-${text}`];
    });
    return `${state}(${facts.join()}${this.#isChecked ? '!' : ''})`;
  }

  /** Waits until the explorer lets the machine go on; the effect happens at once then. */
  #step<Result>(label: string, effect: () => Result, signal?: AbortSignal): Promise<Result> {
    return new Promise((resolve, reject) => {
      const remove = () => {
        this.steps = this.steps.filter((other) => other !== step);
      };
      const go = () => {
        remove();
        resolve(effect());
      };
      const step = { label, go };
      this.steps.push(step);
      signal?.addEventListener('abort', () => {
        remove();
        reject(signal.reason);
      });
    });
  }

  #leases(): Leases {
    const world = this.#world;
    const hasFault = (fault: StoreFault) => world.storeFault === fault;
    const grant = (owner: string) => {
      this.#isChecked = true;
      return world.grant(owner);
    };
    const acquire = (owner: string) =>
      (world.holder === undefined || hasFault('acquires a taken lease')) && grant(owner);
    const renew = (owner: string) => {
      const { holder = owner } = world;
      return (holder === owner || hasFault('renews for anyone')) && grant(owner);
    };
    const release = (owner: string) => {
      world.live.delete(owner);
      if (world.holder === owner || hasFault('releases for anyone')) world.holder = undefined;
    };
    return {
      acquire: (owner) => this.#step('acquire', () => acquire(owner)),
      renew: (owner) => this.#step('renew', () => renew(owner)),
      release: (owner) => this.#step('release', () => release(owner)),
    };
  }

  #run(): Promise<true> {
    const world = this.#world;
    const newOwner = () => {
      this.owners.push(`${this.#name}.${this.owners.length}`);
      return this.owners.at(-1) ?? '';
    };
    const instead = () => this.#step('read', () => (world.hasToken ? (true as const) : undefined));
    const action = async (confirm: () => Promise<void>) => {
      this.#isChecked = false;
      await confirm();
      const owner = this.owners.at(-1) ?? '';
      await this.#step('send', () => {
        world.requests += 1;
        if (!this.#isChecked) world.unchecked += 1;
        const isClash = [...world.flying].some((other) => world.live.has(other));
        if (world.live.has(owner) && isClash) world.clashes += 1;
        world.flying.add(owner);
      });
      return this.#step('receive', () => {
        world.flying.delete(owner);
        world.hasToken = true;
        return true as const;
      });
    };
    const turn = { isAttended: false, instead, action };
    const sleep: Clock['sleep'] = async (milliseconds, signal) => {
      signal.throwIfAborted();
      // Between two polls nothing can be told from a slow read.
      if (milliseconds === LEASE_TIME / 3) await this.#step('sleep', () => {}, signal);
    };
    return takeLeasedTurn(this.#leases(), turn, newOwner, {
      ...CLOCK,
      signal: new AbortController().signal,
      sleep,
    });
  }
}

export interface Exploration {
  readonly states: number;
  readonly flaws: readonly string[];
}

/** Visits every state that the machines can reach. */
export async function explore(limits: Limits, storeFault?: StoreFault): Promise<Exploration> {
  const flaws = new Set<string>();
  const numbers = new Map<string, number>();
  /** For each state, those from which a step without a fault leads to it. */
  const sources: number[][] = [];
  const ends: number[] = [];
  // A machine cannot be copied, so each path starts again and repeats its steps.
  const open: { readonly path: readonly number[]; readonly from?: number }[] = [{ path: [] }];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const world = new World(limits.machines, storeFault);
    await settle();
    const path = [...next.path];
    let { from } = next;
    let isFault = false;
    for (const index of path) isFault = await go(world, limits, index);
    for (;;) {
      const { key } = world;
      const state = numbers.get(key) ?? numbers.size;
      if (state === numbers.size) sources.push([]);
      if (from !== undefined && !isFault) sources[state]?.push(from);
      if (numbers.has(key)) break;
      numbers.set(key, state);
      for (const flaw of flawsOf(world)) flaws.add(flaw);
      if (world.isOver) ends.push(state);
      const count = world.actions(limits).length;
      if (count === 0) break;
      for (let index = 1; index < count; index += 1) {
        open.push({ path: [...path, index], from: state });
      }
      path.push(0);
      from = state;
      isFault = await go(world, limits, 0);
    }
  }
  if (reach(ends, sources).size < numbers.size) flaws.add('a machine waits forever');
  return { states: numbers.size, flaws: [...flaws] };
}

/** Performs an action. @returns true if it is a fault */
async function go(world: World, limits: Limits, index: number): Promise<boolean> {
  const action = world.actions(limits)[index];
  if (action === undefined) throw new Error('the machines do not repeat what they did');
  action.perform();
  await settle();
  return action.isFault;
}

/** Lets every machine run until its next step. */
const settle = () => new Promise(setImmediate);

function flawsOf({ clashes, unchecked, requests, faults, isOver, holder }: World): string[] {
  const flaws = {
    'two requests under live leases': clashes > 0,
    'a request without a check of its lease': unchecked > 0,
    'more requests than faults explain': requests > 1 + faults,
    'a lease is left behind': faults === 0 && isOver && holder !== undefined,
  };
  return Object.entries(flaws).flatMap(([flaw, isFound]) => (isFound ? [flaw] : []));
}

/** Returns all states from which one of the ends can be reached. */
function reach(ends: readonly number[], sources: readonly (readonly number[])[]): Set<number> {
  const reached = new Set(ends);
  for (const state of reached) for (const source of sources[state] ?? []) reached.add(source);
  return reached;
}
