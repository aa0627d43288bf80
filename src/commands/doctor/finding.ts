// The result of a check, and a function for each state it can have.

import type { ErrorCode, ImgctlError } from '../../errors.ts';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly finding: string;
  /** The command or setting that fixes a warning or failure. */
  readonly remedy: string | null;
  /** Decides the exit code of a failure. */
  readonly code?: ErrorCode;
}

export function ok(check: string, finding: string): Finding {
  return { check, state: 'ok', finding, remedy: null };
}

export function warning(check: string, finding: string, remedy: string): Finding {
  return { check, state: 'warning', finding, remedy };
}

export function notChecked(check: string, why: string): Finding {
  return { check, state: 'not checked', finding: why, remedy: null };
}

export function failed(check: string, error: ImgctlError): Finding {
  const { message, hint, code } = error;
  return { check, state: 'failed', finding: message, remedy: hint ?? null, code };
}
