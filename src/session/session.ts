// A session: a client of the profile's service that gets its token when it needs one.

import fs from 'node:fs';
import path from 'node:path';
import type { ClientEvent, TokenSource } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import { describeDuration } from '../duration.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { trustHint } from '../http/errors.ts';
import type { HttpProxy } from '../http/proxies.ts';
import { isLoopback, refusePlainHttp } from '../http/url.ts';
import type { Io } from '../io.ts';
import { describeLocation, openPasswordStore } from './keychain.ts';
import { findSecret } from './secrets.ts';
import { certificateFlaw, type StoreAddress, type UploadTarget } from './setting-table.ts';
import type { Settings } from './settings.ts';
import type { SharedStore } from './shared-store.ts';
import { type Account, TokenCache, type TokenStore } from './token-cache.ts';
import { fixedToken, type PasswordSource, Tokens } from './tokens.ts';

export type Session = Awaited<ReturnType<typeof openSession>>;

export interface SessionOptions {
  readonly io: Io;
  readonly settings: Settings;
  readonly configDirectory: string | undefined;
  readonly userAgent: string;
  readonly warn: (message: string, hint?: string) => void;
  readonly note: (message: string) => void;
  /** Called with every secret before it is sent, in every form in which it is sent. */
  readonly onSecret: (secret: string) => void;
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
}

/** @throws ImgctlError config: no base URL, or invalid settings */
export async function openSession(options: SessionOptions) {
  const { createClient, MAX_BYTES, SERVICE } = await import('../api/client.ts');
  const { io, settings, warn } = options;
  const baseUrl = requireBaseUrl(settings);
  if (baseUrl.protocol === 'https:' && io.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
      trustHint(SERVICE),
    );
  }
  const { account, loginCommand } = settings;
  const cache = new TokenCache(options.configDirectory, account, io.system, warn);
  const fixed = io.env.IMGCTL_TOKEN;
  const shared = fixed ? undefined : await openStore(options, cache);
  const store: TokenStore = shared ?? cache;
  const tokens = fixed
    ? undefined
    : new Tokens({
        io,
        store,
        username: settings.get('username'),
        password: unattendedPassword(settings, io, account),
        client: () => client,
        loginCommand,
        limitOverride: `${loginCommand} --ignore-limit`,
        baseUrl: account.baseUrl,
        patience: settings.get('wait-for-token') ?? 0,
        onWait: (milliseconds) =>
          options.note(`token request limit reached; waiting ${describeDuration(milliseconds)}`),
      });
  const source: TokenSource = tokens ?? tokenOfEnvironment(fixed ?? '');
  const client: Client = createClient({
    baseUrl,
    userAgent: options.userAgent,
    tokens: source,
    authScheme: settings.get('auth-scheme'),
    timeout: settings.get('timeout'),
    retries: settings.get('retries'),
    connections: settings.get('concurrency'),
    maxBytes: MAX_BYTES,
    ca: readCertificates(settings, io),
    proxy: await findProxy(baseUrl, options),
    onSecret: options.onSecret,
    signal: io.signal,
    now: io.now,
    sleep: io.sleep,
    random: io.random,
    onEvent: options.onEvent,
  });
  return {
    baseUrl: account.baseUrl,
    client,
    account,
    /** undefined with IMGCTL_TOKEN. */
    tokens,
    /** The tokens of this machine. */
    cache,
    /** The shared store if the setting token-store names one, else the cache. */
    store,
    /** Closes the connections after a renewal under way has stored its token and released its lock. */
    async close(): Promise<void> {
      await tokens?.settled();
      await Promise.all([client.close(), shared?.close()]);
    },
  };
}

/** Returns undefined if the tokens of this machine are all there is. @throws ImgctlError config */
export async function openStore(
  { io, settings, warn, onSecret }: Pick<SessionOptions, 'io' | 'settings' | 'warn' | 'onSecret'>,
  files: TokenCache,
): Promise<SharedStore | undefined> {
  const address = requireStoreAddress(settings);
  if (address === undefined) return undefined;
  const { parseKey, SharedStore } = await import('./shared-store.ts');
  const secret = findSecret(settings, io, 'storeKey');
  const text = await secret?.read();
  if (text) onSecret(text);
  const key = secret && parseKey(text ?? '', secret.origin);
  const ca = readCertificates(settings, io);
  return new SharedStore({ address, key, settings, files, io, ca, warn, onSecret });
}

/** Returns the given password, or else the stored one. */
export function unattendedPassword(
  settings: Settings,
  io: Io,
  account: Account,
): PasswordSource | undefined {
  return givenPassword(settings, io) ?? storedPassword(settings, io, account);
}

/** Returns the first of IMGCTL_PASSWORD, IMGCTL_PASSWORD_FILE and the password command that is set. */
export function givenPassword(settings: Settings, io: Io): PasswordSource | undefined {
  const secret = findSecret(settings, io, 'password');
  const list = `imgctl config list${settings.profileFlag}`;
  return secret && { ...secret, hint: `check ${secret.origin} and the user name: ${list}` };
}

export function storedPassword(
  settings: Settings,
  io: Io,
  account: Account,
): PasswordSource | undefined {
  const [location] = settings.passwordLocations;
  if (location === undefined) return undefined;
  const origin = describeLocation(location);
  const replace = `${settings.loginCommand} --store-password`;
  return {
    origin,
    hint: `replace the password in ${origin}: ${replace}`,
    async read() {
      const password = await openPasswordStore(io, location).lookup(account);
      if (password) return password;
      const { username, baseUrl } = account;
      const message = `${origin} has no password for ${username} at ${baseUrl}`;
      throw new ImgctlError('not-logged-in', message, { hint: `run: ${replace}` });
    },
  };
}

export function tokenOfEnvironment(token: string): TokenSource {
  const hint = 'set IMGCTL_TOKEN to a new token, or unset it to use the login';
  return fixedToken(token, 'IMGCTL_TOKEN', hint);
}

export function requireBaseUrl(settings: Settings): URL {
  const url = settings.get('base-url');
  if (url === undefined) {
    throw new ImgctlError('config', 'no service address is set', {
      hint: `run: ${settings.loginCommand}, or set IMGCTL_BASE_URL; to try without an account: imgctl demo`,
    });
  }
  if (!settings.get('allow-http')) refusePlainHttp(url, allowHttp(settings));
  return url;
}

function allowHttp({ profileFlag }: Settings): string {
  return `imgctl config set allow-http true${profileFlag}`;
}

/** Returns undefined for `file`. @throws ImgctlError config: plain redis beyond loopback */
export function requireStoreAddress(settings: Settings): StoreAddress | undefined {
  const address = settings.get('token-store');
  if (address === undefined || address.tls || settings.get('allow-http')) return address;
  const { host, text } = address;
  if (isLoopback(host) || host === '::1') return address;
  throw new ImgctlError('config', `plain redis:// would expose tokens sent to ${host}`, {
    hint: `use ${text.replace(/^redis:/i, 'rediss:')}, or allow it: ${allowHttp(settings)}`,
  });
}

/** @throws ImgctlError config: no upload-url, or invalid, or plain http beyond loopback */
export function requireUploadTarget(settings: Settings): UploadTarget {
  const target = settings.get('upload-url');
  if (target === undefined) {
    throw new ImgctlError('config', 'no upload storage is set', {
      hint: `add --to URL, or run: imgctl config set upload-url URL${settings.profileFlag} (dav+https://, s3+https:// or file://)`,
    });
  }
  if (target.kind !== 'file' && !settings.get('allow-http')) {
    refusePlainHttp(target.url, allowHttp(settings), `${target.kind}+`);
  }
  return target;
}

async function findProxy(
  baseUrl: URL,
  { io: { env }, onSecret }: SessionOptions,
): Promise<HttpProxy | undefined> {
  if (!(env.https_proxy || env.HTTPS_PROXY || env.http_proxy || env.HTTP_PROXY)) return undefined;
  const { chooseProxy, proxySecrets } = await import('../http/proxies.ts');
  const { proxy } = chooseProxy(baseUrl, env);
  if (proxy) proxySecrets(proxy).forEach(onSecret);
  return proxy;
}

/**
 * Returns the certificates of ca-file (PEM) and those of NODE_EXTRA_CA_CERTS, which Node ignores beside them.
 * @throws ImgctlError config: unreadable, or without a certificate
 */
export function readCertificates(
  settings: Settings,
  io: Io,
  key: 'ca-file' | 'upload-ca-file' = 'ca-file',
): string | undefined {
  const value = settings.get(key);
  if (value === undefined) return undefined;
  try {
    const certificates = fs.readFileSync(path.resolve(io.cwd, value), 'utf8');
    const flaw = certificateFlaw(certificates);
    if (flaw !== undefined) throw new Error(flaw);
    const extra = io.env.NODE_EXTRA_CA_CERTS ?? '';
    return `${certificates}\n${valueOr(() => fs.readFileSync(extra, 'utf8'), '')}`;
  } catch (cause) {
    const flag = settings.profileFlag;
    const from = `(from ${settings.find(key).origin})`;
    const message = `cannot read the ${key} ${value} ${from}: ${errorReason(cause)}`;
    throw new ImgctlError('config', message, {
      hint: `run: imgctl config set ${key} /path/to/ca.pem${flag}, or: imgctl config unset ${key}${flag}`,
      cause,
    });
  }
}
