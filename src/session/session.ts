// A session: whose profile, which service, and a client that has its token when it needs it.

import fs from 'node:fs';
import path from 'node:path';
import type { ClientEvent, TokenSource } from '../api/auth.ts';
import { type Client, createClient, MAX_BYTES, SERVICE } from '../api/client.ts';
import { ImgctlError } from '../errors.ts';
import { trustHint } from '../http/errors.ts';
import { parseBaseUrl } from '../http/url.ts';
import type { Io } from '../io.ts';
import { unattendedPassword } from './password.ts';
import type { Settings } from './settings.ts';
import { type Account, TokenCache } from './token-cache.ts';
import { fixedToken, Tokens } from './tokens.ts';

export interface Session {
  readonly baseUrl: string;
  readonly client: Client;
  readonly account: Account;
  /** undefined where IMGCTL_TOKEN is used. */
  readonly tokens: Tokens | undefined;
  readonly cache: TokenCache;
  /** Ends its connections; a renewal that began is finished, so that its token is kept and its lock given back. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly io: Io;
  readonly settings: Settings;
  readonly configDirectory: string | undefined;
  readonly userAgent: string;
  readonly warn: (message: string, hint?: string) => void;
  /** Hears every secret before it is sent, in the forms in which it is. */
  readonly onSecret: (secret: string) => void;
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
}

const CERTIFICATE = /-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[^-]+-----END /;

/** @throws ImgctlError config: no base URL, or settings that cannot be used */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { io, settings, warn } = options;
  const baseUrl = requireBaseUrl(settings);
  if (baseUrl.protocol === 'https:' && io.env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
      trustHint(SERVICE),
    );
  }
  const { account } = settings;
  const cache = new TokenCache(options.configDirectory, account, warn);
  const fixed = io.env.IMGCTL_TOKEN;
  const tokens = fixed
    ? undefined
    : new Tokens({
        io,
        cache,
        username: settings.text('username'),
        password: unattendedPassword(settings, io, account),
        client: () => client,
        loginCommand: settings.loginCommand,
        baseUrl: account.baseUrl,
      });
  const source: TokenSource = tokens ?? tokenOfEnvironment(fixed ?? '');
  const client: Client = createClient({
    baseUrl,
    userAgent: options.userAgent,
    tokens: source,
    authScheme: settings.text('auth-scheme') === 'basic' ? 'basic' : 'bearer',
    timeout: settings.duration('timeout'),
    retries: settings.number('retries'),
    connections: settings.number('concurrency'),
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
  const close = async () => {
    await tokens?.settled();
    await client.close();
  };
  return { baseUrl: account.baseUrl, client, account, tokens, cache, close };
}

/** IMGCTL_TOKEN, used as it is. @throws ImgctlError config: no header can hold it */
export function tokenOfEnvironment(token: string): TokenSource {
  const remedy = 'IMGCTL_TOKEN holds it: set a new one, or unset it to use the login';
  return fixedToken(token, 'IMGCTL_TOKEN', remedy);
}

/** @throws ImgctlError config */
export function requireBaseUrl(settings: Settings): URL {
  const text = settings.text('base-url');
  if (text !== undefined) {
    const allowing = `imgctl config set allow-http true${settings.profileFlag}`;
    return parseBaseUrl(text, settings.text('allow-http') === 'true', allowing);
  }
  throw new ImgctlError('config', 'no base URL is set: which service is it?', {
    hint: `run: ${settings.loginCommand}, or set IMGCTL_BASE_URL; to try without an account: imgctl demo`,
  });
}

async function findProxy(
  baseUrl: URL,
  { io: { env }, onSecret }: SessionOptions,
): Promise<URL | undefined> {
  if (!(env.https_proxy || env.HTTPS_PROXY || env.http_proxy || env.HTTP_PROXY)) return undefined;
  const { chooseProxy, proxySecrets } = await import('../http/proxy-env.ts');
  const { proxy } = chooseProxy(baseUrl, env);
  if (proxy) proxySecrets(proxy).forEach(onSecret);
  return proxy;
}

/**
 * The certificates of ca-file, PEM. With them the roots that Node would add by NODE_EXTRA_CA_CERTS have to be
 * added here.
 * @throws ImgctlError config: a file that cannot be read, or holds none
 */
export function readCertificates(settings: Settings, io: Io): string | undefined {
  const { value, origin } = settings.resolve('ca-file');
  if (value === undefined) return undefined;
  try {
    const own = fs.readFileSync(path.resolve(io.cwd, value), 'utf8');
    // Node passes over what is none without a word.
    if (!CERTIFICATE.test(own)) throw Object.assign(new Error(), { code: 'no PEM certificate' });
    const extra = io.env.NODE_EXTRA_CA_CERTS;
    return extra && fs.existsSync(extra) ? `${own}\n${fs.readFileSync(extra, 'utf8')}` : own;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const flag = settings.profileFlag;
    throw new ImgctlError('config', `cannot read the ca-file ${value} (from ${origin}): ${code}`, {
      hint: `imgctl config set ca-file /path/to/ca.pem${flag}, or: imgctl config unset ca-file${flag}`,
      cause: error,
    });
  }
}
