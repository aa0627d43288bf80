// The service of one trial: responses of the emulator, some of them mutated.

import type { Socket } from 'node:net';
import type { Origins } from './json-mutations.ts';
import { mutate } from './mutations.ts';
import type { Original, Originals } from './originals.ts';
import { Random } from './random.ts';
import { Draft, deliver, wireBytes } from './response.ts';

/** More than any command sends here, with all retries. */
const MAX_REQUESTS = 1_000;
/** The maximum of each response in the transcript. */
const MAX_SHOWN_BYTES = 1_500;

interface HostileServiceOptions {
  readonly seed: string;
  /** Names of mutations to leave out. */
  readonly skipped: ReadonlySet<string>;
  readonly originals: Originals;
  readonly origins: Origins;
  /** Called if a client sends too many requests. */
  readonly giveUp: () => void;
}

/** Responds by seed, request and its count, so that the order of concurrent requests has no effect. */
export class HostileService {
  /** The names of all mutations so far. */
  readonly mutations: string[] = [];
  /** The mutated responses. */
  readonly transcript: string[] = [];
  readonly #options: HostileServiceOptions;
  readonly #counts = new Map<string, number>();
  #requests = 0;

  constructor(options: HostileServiceOptions) {
    this.#options = options;
  }

  async respond(method: string, target: string): Promise<(socket: Socket) => void> {
    const { originals, origins, giveUp, seed } = this.#options;
    this.#requests += 1;
    if (this.#requests > MAX_REQUESTS) giveUp();
    const request = `${method} ${target}`;
    const count = (this.#counts.get(request) ?? 0) + 1;
    this.#counts.set(request, count);
    const place = `${request} (${count})`;
    const random = new Random(`${seed} ${place}`);
    const original = await originals.respond(method, target, origins.own);
    const draft = this.#draft(method, original, random, place);
    const changes = this.#change(draft, random, place);
    if (changes.length > 0) {
      const text = wireBytes(draft).toString('latin1');
      this.transcript.push(
        `${place}, ${changes.join(', ')}, then ${draft.end}:\n${JSON.stringify(text.slice(0, MAX_SHOWN_BYTES))}`,
      );
    }
    return (socket) => deliver(draft, socket);
  }

  /** Returns the original response or another one. */
  #draft(method: string, original: Original, random: Random, place: string): Draft {
    const { originals, origins } = this.#options;
    const other = random.pick(originals.others(origins.own));
    const isOther = random.chance(0.1) && this.#takes(`${place}: other`);
    const { status, headers, body } = isOther ? other : original;
    return new Draft(method, status, headers, body);
  }

  /** Applies up to three mutations and returns their names. */
  #change(draft: Draft, random: Random, place: string): string[] {
    const changes: string[] = [];
    const most = random.pick([0, 1, 1, 1, 2, 3]);
    for (let index = 1; index <= most; index += 1) {
      const own = new Random(`${this.#options.seed} ${place} ${index}`);
      if (this.#takes(`${place}: ${index}`))
        changes.push(mutate(draft, own, this.#options.origins));
    }
    return changes;
  }

  #takes(mutation: string): boolean {
    if (this.#options.skipped.has(mutation)) return false;
    this.mutations.push(mutation);
    return true;
  }
}
