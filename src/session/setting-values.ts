// Reads the values of settings: texts, durations, certificates, the addresses of token store and upload storage.

import { ImgctlError } from '../errors.ts';
import { hideUserInfo } from '../http/url.ts';
import { builtin } from '../io.ts';

export function nonEmpty(text: string, key: string): string {
  if (text !== '') return text;
  throw new ImgctlError('usage', `${key} must not be empty`, {
    hint: `provide a value, or remove the setting: imgctl config unset ${key}`,
  });
}

export function invalid(what: string, text: string, hint: string): ImgctlError {
  return new ImgctlError('usage', `invalid ${what}: ${text}`, { hint });
}

/** A user name for Basic credentials, which cannot hold a colon in it (RFC 7617). */
export const USER_NAME = {
  parse(text: string, key: string): string {
    if (!text.includes(':')) return nonEmpty(text, key);
    throw invalid(key, beforeColon(text), 'use a user name without a colon');
  },
  shown: beforeColon,
};

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

export type UploadTarget =
  /** `url` has the scheme http or https and no slash at its end. */
  | { readonly kind: 's3' | 'dav'; readonly url: URL }
  | { readonly kind: 'file'; readonly path: string };

const EXAMPLES =
  'use a URL such as dav+https://host/path, s3+https://host/bucket/prefix or file:///mnt/uploads';

/** @throws ImgctlError usage: another scheme, credentials, query or fragment, no bucket */
export function parseUploadUrl(text: string): UploadTarget {
  const shown = hideUserInfo(text);
  const [, scheme = '', rest = ''] = /^(?:(s3|dav)\+)?(?=https?:|file:)(.*)$/is.exec(text) ?? [];
  const url = URL.canParse(rest) ? new URL(rest) : undefined;
  if (!url) throw invalid('upload-url', shown, EXAMPLES);
  if (url.username !== '' || url.password !== '') {
    throw invalid('upload-url', shown, 'remove the user name and password from the URL');
  }
  if (url.search !== '' || url.hash !== '') {
    throw invalid('upload-url', shown, 'remove the query and fragment from the URL');
  }
  if (url.protocol === 'file:') {
    if (scheme !== '' || url.host !== '') throw invalid('upload-url', shown, EXAMPLES);
    return { kind: 'file', path: builtin('node:url').fileURLToPath(url) };
  }
  const kind = scheme.toLowerCase();
  if (kind !== 's3' && kind !== 'dav') {
    const hint = `say which protocol it speaks: dav+${shown} or s3+${shown}`;
    throw invalid('upload-url', shown, hint);
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  if (kind === 's3' && url.pathname === '/') {
    throw invalid('upload-url', shown, 'add the bucket, as in s3+https://host/bucket/prefix');
  }
  return { kind, url };
}
