// Refused passwords: what a process tells those that wait to send the same one.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { shortDigest } from '../files/paths.ts';
import { builtin } from '../io.ts';
import type { JsonObject } from '../json.ts';

/** A token request that the service refused. */
export interface Refusal {
  readonly id: string;
  readonly code: 'wrong-credentials' | 'not-permitted';
  readonly message: string;
  /** A digest of id and password, too short to tell anything else of the password. */
  readonly check: string;
}

/** Returns what others may know of the error; undefined if the service did not refuse. */
export function refusalOf({ code, message }: ImgctlError, password: string): Refusal | undefined {
  if (code !== 'wrong-credentials' && code !== 'not-permitted') return undefined;
  const id = builtin('node:crypto').randomUUID();
  return { id, code, message, check: checkOf(id, password) };
}

/** True if it was this password that was refused. */
export function isRefused(password: string, { id, check }: Refusal): boolean {
  return check === checkOf(id, password);
}

/**
 * A refused password may be near the right one, so no more than 16 bits of its digest are stored.
 */
function checkOf(id: string, password: string): string {
  return shortDigest([id, password].join('\0'), 4);
}

/**
 * Returns the error of those that waited.
 * @param factsIfWrong of a wrong password; other refusals say what to do themselves
 */
export function refusalError({ code, message }: Refusal, factsIfWrong: Facts): ImgctlError {
  const facts = code === 'wrong-credentials' ? factsIfWrong : undefined;
  return new ImgctlError(code, message, { facts, status: 401 });
}

/** Returns undefined if the record is not that of a refusal. */
export function parseRefusal(record: JsonObject | undefined): Refusal | undefined {
  const { id, code, message, check } = record ?? {};
  if (code !== 'wrong-credentials' && code !== 'not-permitted') return undefined;
  const areTexts =
    typeof id === 'string' && typeof message === 'string' && typeof check === 'string';
  return areTexts ? { id, code, message, check } : undefined;
}
