// What a check found, and the ways to say it.

import { asImgctlError, type ErrorCode, type ImgctlError } from '../../errors.ts';

export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly finding: string;
  /** The command or setting that helps, where something is not ok. */
  readonly remedy: string | null;
  /** Why it failed; decides the exit code. */
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

/** For what another finding tells of already, and what must not keep the rest from being checked. */
export function valueOr<Value>(read: () => Value, otherwise: Value): Value {
  const result = valueOrError(read);
  return 'error' in result ? otherwise : result.value;
}

/** What a remedy needs to reach the profile that was checked. */
export function profileFlag(profile: string): string {
  return profile === 'default' ? '' : ` --profile ${profile}`;
}
