// What can go wrong, as one error class, one exit-code table and one formatter.

import { printable } from './output/sanitize.ts';

/** Every kind of failure and the exit code it ends the process with. */
export const EXIT_CODES = {
  failed: 1,
  'server-error': 1,
  'bad-answer': 1,
  'incomplete-list': 1,
  'sync-failed': 1,
  'invalid-package': 1,
  usage: 2,
  config: 2,
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
  interrupted: 130,
  terminated: 143,
} as const;

export type ErrorCode = keyof typeof EXIT_CODES;

export interface ErrorDetails {
  /** What the user can do about it: a command, a setting, a valid value. */
  readonly hint?: string | undefined;
  /** The HTTP status that caused it. */
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** The one error that is thrown on purpose. Its message is one line, without a final full stop. */
export class ImgctlError extends Error {
  override readonly name = 'ImgctlError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
    this.status = details.status;
  }

  get exitCode(): number {
    return EXIT_CODES[this.code];
  }
}

/** Anything thrown, as an ImgctlError; what is not one is a defect of imgctl and says so. */
export function asImgctlError(thrown: unknown): ImgctlError {
  if (thrown instanceof ImgctlError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new ImgctlError('failed', `unexpected error: ${message}`, {
    hint: 'run it again with --debug to see where it comes from',
    cause: thrown,
  });
}

/** The value, or what the function fails with. */
export function valueOrError<Value>(
  read: () => Value,
): { readonly value: Value } | { readonly error: ImgctlError } {
  try {
    return { value: read() };
  } catch (thrown) {
    return { error: asImgctlError(thrown) };
  }
}

/** The value, or another one where the function fails, which then is told elsewhere or of no interest. */
export function valueOr<Value>(read: () => Value, otherwise: Value): Value {
  const result = valueOrError(read);
  return 'error' in result ? otherwise : result.value;
}

export interface ErrorFormat {
  /** One JSON object a line instead of text. */
  readonly json: boolean;
  /** With the stack trace, where the error is a defect and not a message. */
  readonly debug: boolean;
  /** Takes secrets out of what a message says, before anything is escaped. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** The text of an error for stderr, with its final newline and nothing in it that moves a terminal. */
export function formatError(error: ImgctlError, format: ErrorFormat): string {
  const { code, exitCode, status } = error;
  const said = cleanedOf(error, format);
  const text = format.json
    ? `${JSON.stringify({ error: { code, ...said, status, exitCode } })}\n`
    : plainText(said);
  if (!format.debug) return text;
  const origin = error.cause instanceof Error ? error.cause : error;
  const trace = (origin.stack ?? '').split('\n').map((line) => `debug: ${clean(line, format)}\n`);
  return text + trace.join('');
}

/** A warning, note or trace line for stderr; for JSON readers one object a line, named after its kind. */
export function formatNotice(
  kind: 'warning' | 'note' | 'debug',
  message: string,
  hint: string | undefined,
  format: ErrorFormat,
): string {
  const said = cleanedOf({ message, hint }, format);
  if (format.json) return `${JSON.stringify({ [kind]: said })}\n`;
  return plainText(said, kind === 'note' ? '' : `${kind}: `);
}

/** What a message says, with what can be done about it. */
type Said = Pick<ImgctlError, 'message' | 'hint'>;

function cleanedOf({ message, hint }: Said, format: ErrorFormat): Said {
  return {
    message: clean(message, format),
    hint: hint === undefined ? undefined : clean(hint, format),
  };
}

function plainText({ message, hint }: Said, prefix = ''): string {
  return `imgctl: ${prefix}${message}\n${hint === undefined ? '' : `hint: ${hint}\n`}`;
}

function clean(text: string, { redact = String }: ErrorFormat): string {
  return printable(redact(text));
}
