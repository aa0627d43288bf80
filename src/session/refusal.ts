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
  readonly status: number;
  /** What to do about it. About wrong credentials, only the source of the password knows. */
  readonly advice?: string | undefined;
  /** A digest of id and password, too short to tell anything else of the password. */
  readonly check: string;
}

/** Returns what others may know of the error; undefined if the service did not refuse. */
export function refusalOf(error: unknown, password: string): Refusal | undefined {
  if (!(error instanceof ImgctlError)) return undefined;
  const { code, message, status, facts } = error;
  if ((code !== 'wrong-credentials' && code !== 'not-permitted') || !status) return undefined;
  const advice = facts?.kind === 'advice' ? facts.text : undefined;
  const id = builtin('node:crypto').randomUUID();
  return { id, code, message, status, advice, check: checkOf(id, password) };
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

/** Returns the error of the process that was refused, and of those that waited for it. */
export function refusalError(refusal: Refusal, factsIfWrongCredentials: Facts): ImgctlError {
  const { code, message, status, advice } = refusal;
  const facts = code === 'wrong-credentials' ? factsIfWrongCredentials : advice;
  return new ImgctlError(code, message, { facts, status });
}

/** Returns undefined if the record is not that of a refusal. */
export function parseRefusal(record: JsonObject | undefined): Refusal | undefined {
  const { id, code, message, status, advice, check } = record ?? {};
  if (code !== 'wrong-credentials' && code !== 'not-permitted') return undefined;
  if (typeof id !== 'string' || typeof message !== 'string') return undefined;
  if (typeof status !== 'number' || typeof check !== 'string') return undefined;
  return { id, code, message, status, check, ...(typeof advice === 'string' && { advice }) };
}
