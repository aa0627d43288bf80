// Runs a program that stores passwords, and says why it failed without showing one.

import path from 'node:path';
import type { Account } from '../config/settings.ts';
import { ImgctlError, isMissing } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Io } from '../io.ts';
import { shorten } from '../words.ts';
import { type ChildResult, runChild } from './child.ts';

/** How one program stores passwords. Every function throws what `PasswordProgram.call` throws. */
export interface PasswordProtocol {
  readonly program: PasswordProgram;
  /** Returns the password of the account; undefined if there is none. */
  get(account: Account): Promise<string | undefined>;
  /** Replaces those of the profile (keychain), or that of the base URL, of any user (helper). */
  set(account: Account, password: string): Promise<void>;
  /**
   * Removes the passwords of the profile (keychain), or that of the account (helper).
   * @returns true if there was one
   */
  remove(account: Account): Promise<boolean>;
}

interface Traits {
  readonly command: string;
  readonly isNotFound: (result: ChildResult) => boolean;
  readonly errorsOn: 'stdout' | 'stderr';
  /** True if errors name the first argument. */
  readonly namesAction: boolean;
  readonly factsIfFailed: Facts;
  readonly factsIfMissing: Facts;
}

interface Secrets {
  /** Standard input. Arguments are no place for secrets: every user of the machine can read them. */
  readonly input?: string;
  /** The one in the input, which no message may quote. */
  readonly password?: string;
}

export class PasswordProgram {
  readonly name: string;
  readonly factsIfFailed: Facts;
  readonly #io: Io;
  readonly #traits: Traits;
  readonly #limit: number | undefined;

  /** @param limit milliseconds of one call */
  constructor(io: Io, traits: Traits, limit: number | undefined) {
    this.name = path.basename(traits.command);
    this.factsIfFailed = traits.factsIfFailed;
    this.#io = io;
    this.#traits = traits;
    this.#limit = limit;
  }

  /**
   * Returns the standard output; undefined if there is no such password.
   * @throws ImgctlError config: it failed or is missing; the reason of an interrupt
   */
  async call(args: readonly string[], { input, password }: Secrets = {}) {
    const { command, isNotFound, namesAction, factsIfMissing } = this.#traits;
    const options = { command, args, input, stderr: 'pipe', limit: this.#limit } as const;
    const result = await runChild(this.#io, options);
    const { failure, cause } = result;
    if (isNotFound(result)) return undefined;
    if (failure === undefined) return result.stdout;
    if (cause !== undefined && isMissing(cause)) {
      const message = `${this.name} is not installed`;
      throw new ImgctlError('config', message, { facts: factsIfMissing, cause });
    }
    const what = namesAction ? `${this.name} ${args[0]}` : this.name;
    const message = `${what} ${failure}${this.#reasonIn(result, password)}`;
    throw new ImgctlError('config', message, { facts: this.factsIfFailed, cause });
  }

  #reasonIn(result: ChildResult, password: string | undefined): string {
    const said = result[this.#traits.errorsOn].trim() || result.stderr.trim();
    const [line = ''] = said.split('\n');
    // JSON may be credentials.
    if (line === '' || said.includes('{')) return '';
    // What a program printed before it was killed may be a password.
    if (result.exitCode === undefined) return '';
    // A program may repeat its input.
    if (password !== undefined && hasPartOf(password, line)) return '';
    return `: ${shorten(line.replace(`${this.name}: `, ''), MAX_REASON)}`;
  }
}

const MAX_REASON = 200;
/** Characters. Fewer may be the same by chance. */
const MIN_PART = 4;

/** True if the text has a part of the password, also in base64. */
function hasPartOf(password: string, text: string): boolean {
  return [password, Buffer.from(password).toString('base64')].some((secret) => {
    const size = Math.min(secret.length, MIN_PART);
    for (let at = 0; at + size <= secret.length; at += 1) {
      if (text.includes(secret.slice(at, at + size))) return true;
    }
    return false;
  });
}
