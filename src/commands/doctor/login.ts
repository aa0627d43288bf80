// Checks the login: the token, the source of the password, and the limit of token requests.

import fs from 'node:fs';
import path from 'node:path';
import { utcTime } from '../../api/responses.ts';
import { type ImgctlError, valueOr, valueOrError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { shellQuote } from '../../output/messages.ts';
import { unreadableFile } from '../../session/password.ts';
import { tokenOfEnvironment, unattendedPassword } from '../../session/session.ts';
import type { Settings } from '../../session/settings.ts';
import type { TokenCache } from '../../session/token-cache.ts';
import type { Account } from '../../session/token-store.ts';
import type { PasswordSource } from '../../session/tokens.ts';
import { noValidToken, tokenState } from '../token-state.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import { helperFinding } from './stores.ts';

/** Whether the service accepted the token, or the error if it did not. */
export type TokenVerdict = 'accepted' | 'unknown' | ImgctlError;

interface TokenCheck {
  /** The token to send with the probe; undefined unless valid by this machine's clock. */
  readonly token: string | undefined;
  finding(verdict: TokenVerdict): Finding;
}

export function checkToken(
  settings: Settings,
  account: Account,
  cache: TokenCache,
  io: Io,
): TokenCheck {
  const fixed = io.env.IMGCTL_TOKEN;
  if (fixed) return checkFixedToken(fixed);
  const cached = cache.read();
  const origin = account.username === '' ? undefined : passwordOrigin(settings, account, io);
  const next = `the next command requests one with the password from ${origin}`;
  if (cached && tokenState(cached, io.now()) === 'valid') {
    const remedy = `log in again: ${settings.loginCommand}`;
    return {
      token: cached.token,
      finding(verdict) {
        const finding = judge(`valid until ${utcTime(cached.expiresAt)}`, verdict, remedy);
        if (finding.code !== 'token-refused' || origin === undefined) return finding;
        return warning('token', `${finding.finding}; ${next}`, remedy);
      },
    };
  }
  const what = cached ? `expired at ${utcTime(cached.expiresAt)}` : 'none yet';
  return {
    token: undefined,
    finding: () =>
      origin === undefined
        ? failed('token', noValidToken(cached ? 'expired' : 'none', settings))
        : ok('token', `${what}; ${next}`),
  };
}

function checkFixedToken(fixed: string): TokenCheck {
  const source = valueOrError(() => tokenOfEnvironment(fixed));
  if ('error' in source) {
    return { token: undefined, finding: () => failed('token', source.error) };
  }
  const { remedy } = source.value;
  return {
    token: fixed,
    finding: (verdict) => judge('from IMGCTL_TOKEN', verdict, remedy),
  };
}

function judge(what: string, verdict: TokenVerdict, remedy: string): Finding {
  if (verdict === 'accepted') return ok('token', `${what}, accepted by the service`);
  if (verdict === 'unknown') return ok('token', `${what}; not checked with the service`);
  const finding = failed('token', verdict);
  return verdict.code === 'not-permitted' ? finding : { ...finding, code: 'token-refused', remedy };
}

export function passwordFinding(settings: Settings, account: Account, io: Io): Finding {
  const source = valueOrError(() => unattendedPassword(settings, io, account));
  if ('error' in source) return failed('password', source.error);
  if (source.value === undefined) {
    return ok('password', 'interactive only: imgctl cannot renew the token unattended');
  }
  if (account.username === '') {
    const finding = `from ${source.value.origin}, but no user name is set`;
    const remedy = `imgctl config set username NAME${settings.profileFlag}`;
    return warning('password', finding, remedy);
  }
  const problem = fileFinding(source.value, io) ?? helperFinding(settings, io);
  return problem ?? ok('password', `from ${source.value.origin}; not tested`);
}

function passwordOrigin(settings: Settings, account: Account, io: Io): string | undefined {
  return valueOr(() => unattendedPassword(settings, io, account)?.origin, undefined);
}

function fileFinding({ origin }: PasswordSource, io: Io): Finding | undefined {
  if (origin !== 'IMGCTL_PASSWORD_FILE') return undefined;
  const file = path.resolve(io.cwd, io.env.IMGCTL_PASSWORD_FILE ?? '');
  try {
    fs.accessSync(file, fs.constants.R_OK);
    if (io.system.platform === 'win32' || (fs.statSync(file).mode & 0o007) === 0) return undefined;
    return warning('password', `readable by all users: ${file}`, `chmod o= ${shellQuote(file)}`);
  } catch (error) {
    return failed('password', unreadableFile(file, error));
  }
}

export function limitFinding(cache: TokenCache, io: Io): Finding {
  const limit = cache.readLimit(io.now());
  if (limit === undefined) return ok('token requests', 'no known limit');
  const until = utcTime(limit.resetsAt);
  if (limit.remaining > 0) return ok('token requests', `${limit.remaining} left until ${until}`);
  return warning('token requests', `none left until ${until}`, `log in after ${until}`);
}
