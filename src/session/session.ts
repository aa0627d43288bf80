// A session: a client of the profile's service that gets its token when it needs one.
//
// The way through this folder:
//
//     session.ts          opens the client, its tokens and their store
//     tokens.ts           which token is sent, and when one is requested; begin here
//     token-requests.ts   a token request: its mutex, its limit, and what starts it again
//     token-store.ts      what a store does, and which one a run uses
//     file-store.ts       the store on this machine; token-files.ts names its files
//     shared-store.ts     the store in Redis, with copies in files: redis-account.ts reads and
//                         writes its keys, redis.ts has the connection; sealing.ts encrypts tokens
//     cached-token.ts     a token and a limit, as they are stored
//     refusal.ts          a refused request, as it is stored for those that wait to send the same

import type { ClientEvent, TokenSource } from '../api/auth.ts';
import type { Client } from '../api/client.ts';
import { readCertificates, requireBaseUrl, requireRedisAddress } from '../config/addresses.ts';
import { TOKEN_VARIABLE } from '../config/definitions.ts';
import type { Account, Settings } from '../config/settings.ts';
import { withoutLineEnd } from '../config/values.ts';
import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Route } from '../http/proxy-route.ts';
import type { Io } from '../io.ts';
import { unattendedPassword } from '../secrets/passwords.ts';
import { findSecret } from '../secrets/secrets.ts';
import { describeDuration } from '../words.ts';
import { FileStore } from './file-store.ts';
import type { SharedStore } from './shared-store.ts';
import { type SharedStoreError, TokenStores } from './token-store.ts';
import { fixedToken, Tokens } from './tokens.ts';

export interface Session {
  readonly client: Client;
  readonly route: Route;
  readonly account: Account;
  /** undefined with IMGCTL_TOKEN or given tokens. */
  readonly tokens: Tokens | undefined;
  readonly files: FileStore;
  /** The shared store if the setting token-store names one, and the files. */
  readonly stores: TokenStores;
  /** Ends a renewal that is under way, then closes the connections. */
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly io: Io;
  readonly settings: Settings;
  readonly configDirectory: string | undefined;
  readonly userAgent: string;
  readonly warn: (message: string, facts?: Facts) => void;
  readonly report: (message: string) => void;
  /** Called with every secret before it is sent, in every form in which it is sent. */
  readonly onSecret: (secret: string) => void;
  /** Masks all these secrets in a text. */
  readonly redact: (text: string) => string;
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Instead of IMGCTL_TOKEN and the tokens of the account. */
  readonly tokens?: TokenSource | undefined;
}

/** @throws ImgctlError config: no base URL, or invalid settings */
export async function openSession(options: SessionOptions): Promise<Session> {
  const { io, settings } = options;
  const { account } = settings;
  const baseUrl = requireBaseUrl(settings);
  // doctor, which gives its own tokens, prints only its findings.
  if (!options.tokens) warnOfIgnoredVariable(options, baseUrl);
  const givenTokens = options.tokens ?? tokenOfEnvironment(io);
  if (givenTokens) {
    // They need no store: the shared one is not even contacted.
    const { client, route } = await connect(options, baseUrl, givenTokens);
    const files = filesOf(options);
    const stores = new TokenStores(files, files, options.warn);
    return { client, route, account, tokens: undefined, files, stores, close: client.close };
  }
  const closed = new AbortController();
  // A token request has the signal of the run: once it is sent, its token is worth storing.
  const signal = AbortSignal.any([io.signal, closed.signal]);
  const untilClosed = { ...options, io: { ...io, signal } };
  // Each needs the other, here and below: the shared store reports to the stores that hold it.
  const shared = await openSharedStore(untilClosed, (error) => stores.giveUp(error));
  const files = shared?.files ?? filesOf(untilClosed);
  const stores = new TokenStores(shared ?? files, files, options.warn);
  // The client sends the tokens, which request one by the client.
  const tokens = tokensOf(untilClosed, stores, () => client);
  const { client, route } = await connect(options, baseUrl, tokens);
  const close = async () => {
    await tokens.close(() => closed.abort(new ImgctlError('interrupted', 'the command has ended')));
    await Promise.all([client.close(), shared?.account.close()]);
  };
  return { client, route, account, tokens, files, stores, close };
}

function tokensOf(
  { io, settings, report, redact }: SessionOptions,
  stores: TokenStores,
  client: () => Client,
): Tokens {
  return new Tokens({
    io,
    stores,
    client,
    username: settings.get('username'),
    passwordSource: unattendedPassword(settings, io),
    baseUrl: settings.account.baseUrl,
    redact,
    patience: settings.get('wait-for-token') ?? 0,
    onOther: () => report('waiting for another imgctl that requests a token'),
    onWait: (milliseconds) =>
      report(`token request limit reached; waiting ${describeDuration(milliseconds)}`),
  });
}

async function connect(options: SessionOptions, baseUrl: URL, tokens: TokenSource) {
  const { createServiceClient, MAX_BYTES } = await import('../api/client.ts');
  const { chooseProxy, proxySecrets } = await import('../http/proxy-route.ts');
  const { io, settings, userAgent, onSecret, onEvent } = options;
  const route = chooseProxy(baseUrl, io.env);
  if (route.proxy) proxySecrets(route.proxy).forEach(onSecret);
  const client = createServiceClient({
    ...io,
    baseUrl,
    proxyAdvice: route.proxyAdvice,
    userAgent,
    tokens,
    proxy: route.proxy,
    ca: readCertificates(settings, io),
    authScheme: settings.get('auth-scheme'),
    timeout: settings.get('timeout'),
    retries: settings.get('retries'),
    connections: settings.get('concurrency'),
    maxBytes: MAX_BYTES,
    onSecret,
    onEvent,
  });
  return { client, route };
}

/**
 * Returns undefined if the setting token-store names none.
 * @param onFailure is called if Redis fails while it is written
 * @throws ImgctlError config
 */
export async function openSharedStore(
  options: SessionOptions,
  onFailure?: (error: SharedStoreError) => void,
): Promise<SharedStore | undefined> {
  const { io, settings, onSecret } = options;
  const address = requireRedisAddress(settings);
  if (address === undefined) return undefined;
  const { RedisAccount } = await import('./redis-account.ts');
  const { SharedStore } = await import('./shared-store.ts');
  const sealingKey = await readSealingKey(options);
  const ca = readCertificates(settings, io);
  const account = new RedisAccount({ address, sealingKey, settings, io, ca, onSecret });
  return new SharedStore(account, filesOf(options), io, onFailure);
}

function filesOf({ configDirectory, settings, io, warn }: SessionOptions): FileStore {
  return new FileStore(configDirectory, settings.account, io, warn);
}

async function readSealingKey({ settings, io, onSecret }: SessionOptions) {
  const secret = findSecret(settings, io, 'storeKey');
  if (secret === undefined) return undefined;
  const { parseKey } = await import('./sealing.ts');
  const text = await secret.read();
  onSecret(text);
  return parseKey(text, secret.origin);
}

function warnOfIgnoredVariable({ io, warn }: SessionOptions, { protocol }: URL): void {
  if (io.env.NODE_TLS_REJECT_UNAUTHORIZED !== '0' || protocol !== 'https:') return;
  const message = 'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified';
  warn(message, { kind: 'untrusted', of: 'service', hasOthers: false });
}

export function givenToken({ env }: Io): string | undefined {
  return withoutLineEnd(env[TOKEN_VARIABLE] ?? '') || undefined;
}

/** Returns undefined without IMGCTL_TOKEN. @throws ImgctlError config: it is no token */
export function tokenOfEnvironment(io: Io): TokenSource | undefined {
  const token = givenToken(io);
  return token === undefined ? undefined : fixedToken(token, TOKEN_VARIABLE);
}
