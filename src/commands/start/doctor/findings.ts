// What the checks of doctor know and find.

import type { Send } from '../../../api/auth.ts';
import type { Context } from '../../../context.ts';
import type { ErrorCode, ImgctlError } from '../../../errors.ts';
import type { Facts } from '../../../facts.ts';
import type { CachedToken, RememberedLimit } from '../../../session/cached-token.ts';

export interface Diagnosis {
  readonly context: Context;
  readonly options: {
    readonly login?: boolean;
    readonly checkPassword?: boolean;
    readonly upload?: boolean;
  };
  /** Set by the check of the connection, for those after it. */
  cached?: CachedToken | undefined;
  limit?: RememberedLimit | undefined;
  response?: ServiceResponse;
  /** Why the login failed that was asked for. */
  loginError?: ImgctlError | undefined;
}

/** Of one check: several findings, or none. */
export type CheckResults = CheckResult | CheckResult[];

export type ServiceResponse = Awaited<ReturnType<Send>>;

export interface CheckRow {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly finding: string;
  readonly hint: string | null;
  /** Decides the exit code of a failure. */
  readonly code?: ErrorCode;
}

/** What a check found: a text if all is well, an error if it failed. */
export type CheckResult = string | ImgctlError | Found;

interface Found extends Omit<CheckRow, 'check' | 'hint'> {
  readonly hint?: string | Facts | undefined;
}

export function warning(finding: string, hint: string | Facts): CheckResult {
  return { state: 'warning', finding, hint };
}

export function notChecked(finding: string, hint?: string | Facts): CheckResult {
  return { state: 'not checked', finding, hint };
}
