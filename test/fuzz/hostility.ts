// The service of one trial: real answers, some of them mutated, each by its own seed.

import type { Socket } from 'node:net';
import { type Draft, deliver, draftOf, wireBytes } from './answer.ts';
import type { Origins } from './json-mutations.ts';
import { mutate } from './mutations.ts';
import type { Original, Originals } from './originals.ts';
import { Random } from './random.ts';

/** More than any command asks for here, with all its tries. */
const MOST_REQUESTS = 1_000;
/** Of each answer in a transcript. */
const SHOWN_BYTES = 1_500;

export interface HostilityOptions {
  readonly seed: string;
  /** Mutations to leave out, by the names that `mutations` gives them. */
  readonly skipped: ReadonlySet<string>;
  readonly originals: Originals;
  readonly origins: Origins;
  /** Called where a client asks without end. */
  readonly giveUp: () => void;
}

/** What is answered depends on seed, request and how often that came: not on the order of several at a time. */
export class Hostility {
  /** Names of all mutations in use. */
  readonly mutations: string[] = [];
  /** The mutated answers as they were sent. */
  readonly transcript: string[] = [];
  readonly #options: HostilityOptions;
  readonly #counts = new Map<string, number>();
  #requests = 0;

  constructor(options: HostilityOptions) {
    this.#options = options;
  }

  /** Writes the answer to a request. */
  async answer(method: string, target: string): Promise<(socket: Socket) => void> {
    const { originals, origins, giveUp, seed } = this.#options;
    this.#requests += 1;
    if (this.#requests > MOST_REQUESTS) giveUp();
    const request = `${method} ${target}`;
    const count = (this.#counts.get(request) ?? 0) + 1;
    this.#counts.set(request, count);
    const place = `${request} (${count})`;
    const random = new Random(`${seed} ${place}`);
    const original = await originals.answer(method, target, origins.own);
    const draft = this.#draft(method, original, random, place);
    const changes = this.#change(draft, random, place);
    if (changes.length > 0) {
      const text = wireBytes(draft).toString('latin1');
      this.transcript.push(
        `${place}, ${changes.join(', ')}, then ${draft.end}:\n${JSON.stringify(text.slice(0, SHOWN_BYTES))}`,
      );
    }
    return (socket) => deliver(draft, socket);
  }

  /** The original, or one that answers something else. */
  #draft(method: string, original: Original, random: Random, place: string): Draft {
    const { originals, origins } = this.#options;
    const other = random.pick(originals.others(origins.own));
    const isOther = random.chance(0.1) && this.#takes(`${place}: other`);
    const { status, headers, body } = isOther ? other : original;
    return draftOf(method, status, headers, body);
  }

  /** None to three changes. @returns their kinds */
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
