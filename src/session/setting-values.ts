// Reads the values of settings: texts, durations, certificates, the address of the token store.

import { ImgctlError } from '../errors.ts';
import { hideUserInfo, isLoopback } from '../http/url.ts';
import { builtin } from '../io.ts';

export const nonEmpty = (what: string) => (text: string) => {
  if (text === '') throw emptyValue(what);
  return text;
};

function emptyValue(what: string): ImgctlError {
  return new ImgctlError('usage', `${what} must not be empty`, {
    hint: `provide a value, or remove the setting: imgctl config unset ${what}`,
  });
}

export function invalid(what: string, text: string, hint: string): ImgctlError {
  return new ImgctlError('usage', `invalid ${what}: ${text}`, { hint });
}

/** The rules of a setting for a user name, which goes into Basic credentials. */
export const userName = (what: string) => ({
  parse(text: string): string {
    if (text === '') throw emptyValue(what);
    // They cannot hold a colon in the user name (RFC 7617).
    if (text.includes(':'))
      throw invalid(what, beforeColon(text), 'use a user name without a colon');
    return text;
  },
  shown: beforeColon,
});

/** Hides the password of a user:password, as other programs take it. */
function beforeColon(text: string): string {
  return text.replace(/:.*/s, ':…');
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** 24 days, the maximum of a timer. */
const MAX_TIMER = 2 ** 31 - 1;

/** A hundred years. */
export const MAX_AGE = 36_525 * 86_400_000;

/** Returns milliseconds. @throws ImgctlError usage */
export function parseDuration(text: string, what: string, max = MAX_TIMER): number {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? [];
  const milliseconds = Number(number) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds >= 1 && milliseconds <= max) return Math.round(milliseconds);
  if (milliseconds > max) {
    const days = Math.floor(max / 86_400_000);
    throw new ImgctlError('usage', `${what} must be at most ${days} days (got ${text})`);
  }
  throw new ImgctlError('usage', `invalid ${what}: ${text}`, {
    hint: 'use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w',
  });
}

const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----[^-]+-----END [A-Z0-9 ]+-----/g;

/** Returns why the text is no list of certificates in PEM format, or undefined; Node silently ignores such text. */
export function certificateFlaw(text: string): string | undefined {
  const certificates = text.match(CERTIFICATE);
  if (!certificates) return 'no PEM certificate';
  const { X509Certificate } = builtin('node:crypto');
  const broken = certificates.findIndex((certificate) => {
    try {
      new X509Certificate(certificate);
      return false;
    } catch {
      return true;
    }
  });
  return broken < 0 ? undefined : `certificate ${broken + 1} is invalid`;
}

export interface StoreAddress {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly username: string | undefined;
  readonly database: number;
  /** The URL, for messages; it holds no password. */
  readonly text: string;
}

/** Returns undefined for `file`. @throws ImgctlError usage; the message never shows a password */
export function parseStoreAddress(text: string): StoreAddress | undefined {
  if (text === 'file') return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const path = /^\/?(\d{0,4})$/.exec(url?.pathname ?? 'none');
  const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
  const username = decoded(url?.username ?? '');
  const isPlain = url?.search === '' && url.hash === '' && url.hostname !== '';
  if (!url || !path || !isRedis || !isPlain || username === undefined) {
    throw new ImgctlError('usage', `invalid token-store: ${hideUserInfo(text)}`, {
      hint: 'use file, or a URL such as rediss://imgctl@redis.example.com:6379/0',
    });
  }
  if (url.password !== '') {
    throw new ImgctlError('usage', 'token-store must not contain a password', {
      hint: 'remove it from the URL and set IMGCTL_TOKEN_STORE_PASSWORD or token-store-password-command',
    });
  }
  return {
    tls: url.protocol === 'rediss:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    username: username === '' ? undefined : username,
    database: Number(path[1]),
    text,
  };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** @throws ImgctlError config: plain redis beyond loopback */
export function requireSafeAddress(
  { tls, host, text }: StoreAddress,
  allowHttp: boolean,
  profileFlag: string,
): void {
  if (tls || allowHttp || isLoopback(host) || host === '::1') return;
  throw new ImgctlError('config', `plain redis:// would expose tokens sent to ${host}`, {
    hint: `use ${text.replace(/^redis:/i, 'rediss:')}, or allow it: imgctl config set allow-http true${profileFlag}`,
  });
}
