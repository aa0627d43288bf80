// Refused passwords: what a process tells those that wait to send the same one.

import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { shortDigest } from '../files/paths.ts';
import { builtin } from '../io.ts';
import type { JsonObject } from '../json.ts';

const CODES = ['wrong-credentials', 'not-permitted'] as const;

/** A token request that the service refused. */
export interface Refusal {
  readonly id: string;
  readonly code: (typeof CODES)[number];
  readonly message: string;
  readonly status: number;
  /** What to do about it; of wrong credentials, only the source of the password knows. */
  readonly advice?: string | undefined;
  /** Too short to reveal the password. */
  readonly loginDigest: string;
}

/** What a token request is sent with, and a refusal is about. */
export interface Login {
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
}

/** Returns what others may know of the error; undefined if the service did not refuse. */
export function refusalOf(error: unknown, login: Login): Refusal | undefined {
  if (!(error instanceof ImgctlError)) return undefined;
  const { message, status, facts } = error;
  const code = CODES.find((each) => each === error.code);
  if (code === undefined || status === undefined) return undefined;
  const advice = facts?.kind === 'advice' ? facts.text : undefined;
  const id = builtin('node:crypto').randomUUID();
  return { id, code, message, status, advice, loginDigest: digestOf(login) };
}

/** True if the refusal was of this login. */
export function isRefused(login: Login, { loginDigest }: Refusal): boolean {
  return loginDigest === digestOf(login);
}

/**
 * A refused password may be close to the right one, so only 16 bits of its digest are stored: the
 * same ones each time.
 */
function digestOf({ baseUrl, username, password }: Login): string {
  return shortDigest([baseUrl, username, password].join('\0'), 4);
}

/** Returns the error of the process that was refused, and of those that waited for it. */
export function refusalError(refusal: Refusal, factsIfWrongCredentials: Facts): ImgctlError {
  const { code, message, status, advice } = refusal;
  const facts = code === 'wrong-credentials' ? factsIfWrongCredentials : advice;
  return new ImgctlError(code, message, { facts, status });
}

/** Returns undefined if the record is not that of a refusal. */
export function parseRefusal(record: JsonObject | undefined): Refusal | undefined {
  const { id, message, status, advice, loginDigest } = record ?? {};
  const code = CODES.find((each) => each === record?.code);
  if (code === undefined) return undefined;
  if (typeof id !== 'string' || typeof message !== 'string') return undefined;
  if (typeof status !== 'number' || typeof loginDigest !== 'string') return undefined;
  return { id, code, message, status, loginDigest, ...(typeof advice === 'string' && { advice }) };
}
