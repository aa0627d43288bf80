// The login: whether there is a token, how the next one can be had, and how many may be asked for.

import fs from 'node:fs';
import path from 'node:path';
import { utcTime } from '../../api/responses.ts';
import { type ImgctlError, valueOr, valueOrError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { shellQuote } from '../../output/messages.ts';
import { type PasswordSource, unattendedPassword, unreadableFile } from '../../session/password.ts';
import { tokenOfEnvironment } from '../../session/session.ts';
import type { Settings } from '../../session/settings.ts';
import type { Account, TokenCache } from '../../session/token-cache.ts';
import { isLive, noValidToken } from '../whoami.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Whether the service took the token that was sent, or what it had against it. */
export type TokenVerdict = 'taken' | 'unknown' | ImgctlError;

export interface TokenState {
  /** To be sent along; undefined where there is none that is valid by this machine's clock. */
  readonly token: string | undefined;
  finding(verdict: TokenVerdict): Finding;
}

/** The token that a command would begin with. */
export function findToken(
  settings: Settings,
  account: Account,
  cache: TokenCache,
  io: Io,
): TokenState {
  const fixed = io.env.IMGCTL_TOKEN;
  if (fixed) return fixedState(fixed);
  const cached = cache.read();
  const origin = account.username === '' ? undefined : passwordOrigin(settings, account, io);
  const next = `the next command requests one with the password from ${origin}`;
  if (cached && isLive(cached, io.now())) {
    const remedy = `log in again: ${settings.loginCommand}`;
    return {
      token: cached.token,
      finding(verdict) {
        const finding = judged(`valid until ${utcTime(cached.expiresAt)}`, verdict, remedy);
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

function fixedState(fixed: string): TokenState {
  const source = valueOrError(() => tokenOfEnvironment(fixed));
  if ('error' in source) {
    return { token: undefined, finding: () => failed('token', source.error) };
  }
  const { remedy } = source.value;
  return {
    token: fixed,
    finding: (verdict) => judged('from IMGCTL_TOKEN, used as it is', verdict, remedy),
  };
}

function judged(what: string, verdict: TokenVerdict, remedy: string): Finding {
  if (verdict === 'taken') return ok('token', `${what}, and the service takes it`);
  if (verdict === 'unknown') return ok('token', `${what}; whether the service takes it is open`);
  const finding = failed('token', verdict);
  return verdict.code === 'not-permitted' ? finding : { ...finding, code: 'token-refused', remedy };
}

export function passwordFinding(settings: Settings, account: Account, io: Io): Finding {
  const source = valueOrError(() => unattendedPassword(settings, io, account));
  if ('error' in source) return failed('password', source.error);
  if (source.value === undefined) {
    return ok('password', 'asked for by imgctl login; no command renews the token by itself');
  }
  if (account.username === '') {
    const finding = `from ${source.value.origin}, but there is no user name`;
    const remedy = `imgctl config set username NAME${settings.profileFlag}`;
    return warning('password', finding, remedy);
  }
  return (
    fileFinding(source.value, io) ?? ok('password', `from ${source.value.origin}; not tried here`)
  );
}

function passwordOrigin(settings: Settings, account: Account, io: Io): string | undefined {
  return valueOr(() => unattendedPassword(settings, io, account)?.origin, undefined);
}

/** What is wrong with the file of a mounted secret; its contents are left alone. */
function fileFinding({ origin }: PasswordSource, io: Io): Finding | undefined {
  if (origin !== 'IMGCTL_PASSWORD_FILE') return undefined;
  const file = path.resolve(io.cwd, io.env.IMGCTL_PASSWORD_FILE ?? '');
  try {
    fs.accessSync(file, fs.constants.R_OK);
    if (io.system.platform === 'win32' || (fs.statSync(file).mode & 0o007) === 0) return undefined;
    return warning('password', `everybody can read ${file}`, `chmod o= ${shellQuote(file)}`);
  } catch (error) {
    return failed('password', unreadableFile(file, error));
  }
}

export function limitFinding(cache: TokenCache, io: Io): Finding {
  const limit = cache.readLimit(io.now());
  if (limit === undefined) return ok('token requests', 'no limit is remembered');
  const until = utcTime(limit.resetsAt);
  if (limit.remaining > 0) return ok('token requests', `${limit.remaining} left until ${until}`);
  return warning('token requests', `none is left until ${until}`, `log in after ${until}`);
}
