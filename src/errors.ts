// What can go wrong: the error class, the codes with their exit codes, and errors of the system.

import path from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { type Advice, advice, type Facts } from './facts.ts';
import { shellQuote } from './words.ts';

/** Every kind of failure and the exit code it ends the process with. */
export const EXIT_CODES = {
  failed: 1,
  'server-error': 1,
  'bad-answer': 1,
  'incomplete-list': 1,
  'sync-failed': 1,
  'invalid-package': 1,
  'lock-broken': 1,
  conflict: 1,
  'storage-full': 1,
  locked: 1,
  usage: 2,
  config: 2,
  ambiguous: 2,
  unreachable: 3,
  timeout: 3,
  tls: 3,
  proxy: 3,
  'outcome-unknown': 3,
  'not-logged-in': 4,
  'wrong-credentials': 4,
  'not-permitted': 4,
  'token-refused': 4,
  'not-found': 5,
  empty: 5,
  'rate-limited': 6,
  'still-waiting': 7,
  hangup: 129,
  interrupted: 130,
  quit: 131,
  terminated: 143,
} as const;

/** The signals that end a run, each with exit code 128 and its number. */
export const SIGNALS = {
  SIGHUP: 'hangup',
  SIGINT: 'interrupted',
  SIGQUIT: 'quit',
  SIGTERM: 'terminated',
} as const satisfies Partial<Record<NodeJS.Signals, ErrorCode>>;

/** Ends a command that found changes, with --exit-code. */
export const CHANGES_EXIT_CODE = 10;

export type ErrorCode = keyof typeof EXIT_CODES;

export interface ErrorDetails {
  /** What the program makes a hint of; a text is advice. */
  readonly facts?: Advice | undefined;
  /** Lines to choose from or to check, such as the images that match. */
  readonly details?: readonly string[] | undefined;
  readonly status?: number | undefined;
  /** Milliseconds after which the same request may succeed. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/** The only error that is thrown on purpose. Its message is one line without a final full stop. */
export class ImgctlError extends Error {
  override readonly name = 'ImgctlError';
  readonly code: ErrorCode;
  readonly facts: Facts | undefined;
  readonly details: readonly string[] | undefined;
  readonly status: number | undefined;
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.facts = factsOf(details.facts);
    this.details = details.details;
    this.status = details.status;
    this.retryAfter = details.retryAfter;
  }

  get exitCode(): number {
    return EXIT_CODES[this.code];
  }

  /**
   * Returns a copy of the same class with these fields changed; status, cause and stack are copied.
   */
  with(changes: {
    code?: ErrorCode;
    message?: string;
    facts?: Advice | undefined;
    retryAfter?: number | undefined;
  }): this {
    const copy = new Error(this.message, { cause: this.cause });
    Object.setPrototypeOf(copy, Object.getPrototypeOf(this));
    // The stack begins with the message.
    const stack = this.stack?.replace(this.message, () => changes.message ?? this.message);
    const facts = 'facts' in changes ? factsOf(changes.facts) : this.facts;
    return Object.assign(copy, this, changes, { facts, stack });
  }
}

function factsOf(facts: Advice | undefined): Facts | undefined {
  return typeof facts === 'string' ? advice(facts) : facts;
}

export function hasCode(error: unknown, ...codes: readonly ErrorCode[]): error is ImgctlError {
  return error instanceof ImgctlError && codes.includes(error.code);
}

/**
 * Returns what was thrown as an ImgctlError. Any other error is a defect, and the message says so.
 */
export function asImgctlError(thrown: unknown): ImgctlError {
  if (thrown instanceof ImgctlError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof Error && 'code' in thrown && thrown.code === 'MODULE_NOT_FOUND') {
    return new ImgctlError('failed', 'imgctl was upgraded or removed while this command ran', {
      facts: 'check what it did, then run it again; if that fails, reinstall imgctl',
      cause: thrown,
    });
  }
  return new ImgctlError('failed', `unexpected error: ${message}`, {
    facts: 'run the command again with --debug to see the stack trace',
    cause: thrown,
  });
}

type Attempt<Value> =
  | { readonly value: Value; readonly error?: undefined }
  | { readonly value?: undefined; readonly error: ImgctlError };

/** Returns the value, or the error that the function throws. @throws what is a defect */
export function attempt<Value>(read: () => Value): Attempt<Value> {
  try {
    return { value: read() };
  } catch (thrown) {
    if (isDefect(thrown)) throw thrown;
    return { error: asImgctlError(thrown) };
  }
}

/**
 * Returns the value, or `otherwise` if the function throws what need not be reported here.
 * @throws what is a defect
 */
export function tryOr<Value>(read: () => Value, otherwise: Value): Value {
  const { value, error } = attempt(read);
  return error ? otherwise : value;
}

const DEFECTS = [TypeError, RangeError, ReferenceError];

/** True if no input can cause the error. Node gives those that input can cause a code. */
export function isDefect(thrown: unknown): boolean {
  return DEFECTS.some((kind) => thrown instanceof kind) && !Object.hasOwn(Object(thrown), 'code');
}

/** Returns the system's code, such as ENOSPC, or an empty text. */
export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** True if the file, or a directory above it, does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/**
 * Returns the system's words, such as "no space left on device", or else the code or the message.
 */
export function errorReason(error: unknown): string {
  const code = errorCode(error);
  if (code === 'EISDIR') return 'it is a folder';
  const [, words] = [...getSystemErrorMap().values()].find(([name]) => name === code) ?? [];
  return words ?? (code || (error as Error).message);
}

export function cannotRead(file: string, cause: unknown): ImgctlError {
  const message = `cannot read ${file}: ${errorReason(cause)}`;
  return new ImgctlError('failed', message, { facts: permissionAdvice(cause, file), cause });
}

/**
 * Returns what to do about a file that this user may not use; undefined if that is not the reason.
 * If it is its folder that the user may not enter, only the folder can be shown.
 */
export function permissionAdvice(error: unknown, file: string): Facts | undefined {
  if (!['EACCES', 'EPERM'].includes(errorCode(error))) return undefined;
  const names = [path.dirname(file), file].map(shellQuote);
  return advice(`check the permissions: ls -ld ${names.join(' ')}`);
}
