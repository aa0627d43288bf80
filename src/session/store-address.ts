// The setting token-store: `file`, or the URL of a Redis server.

import { ImgctlError } from '../errors.ts';
import { hideUserInfo, isLoopback } from '../http/url.ts';

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
