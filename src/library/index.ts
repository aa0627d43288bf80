// The package as a library: a client that keeps its token in memory and reads no settings.

import { version } from '../../package.json';
import { type Client, createServiceClient, MAX_BYTES } from '../api/client.ts';
import type { SyncId } from '../api/sync-requests.ts';
import { describeEvent } from '../api/trace.ts';
import type { Image } from '../api/types.ts';
import { serviceCatalogue } from '../catalogue/catalogue.ts';
import { certificateFlaw, plainText, userName, withoutLineEnd } from '../config/values.ts';
import { ImgctlError } from '../errors.ts';
import { parseProxy, proxySecrets } from '../http/proxy-route.ts';
import { baseUrlText, isLoopback, parseBaseUrl, refusePlainHttp } from '../http/url.ts';
import { type Clock, systemClock } from '../io.ts';
import { Redaction } from '../output/redaction.ts';
import { parseQuery } from '../query/query.ts';
import { Tally } from '../query/tally.ts';
import { isInForce, type RememberedLimit } from '../session/cached-token.ts';
import { type HeldMutex, type TokenStore, TokenStores } from '../session/token-store.ts';
import { fixedToken, Tokens } from '../session/tokens.ts';
import {
  CLIENT,
  type ClientOptions,
  checkOptions,
  IMAGE,
  type ImageQuery,
  QUERY,
  REQUEST,
  type RequestOptions,
  SYNC_REQUEST,
} from './options.ts';

export type { SubmittedSync, SyncId, SyncRequest, SyncState } from '../api/sync-requests.ts';
export type { Image } from '../api/types.ts';
export { type ErrorCode, ImgctlError } from '../errors.ts';
export type { Facts } from '../facts.ts';
export type { HttpResponse } from '../http/message.ts';
export type { ClientOptions, Credentials, ImageQuery, RequestOptions } from './options.ts';

/** Every method throws ImgctlError, or the reason of the signal that aborted it. */
export type ImageClient = ReturnType<typeof createClient>;

/** Creates a client, which connects with its first request. @throws ImgctlError config or usage */
export function createClient(options: ClientOptions) {
  checkOptions(options, 'options of the client', CLIENT);
  const { token, username, password, ca, signal, onTrace, onWarning } = options;
  // Empty counts as missing: credentials often come from environment variables.
  if (token ? username || password : !(username && password)) {
    const message = 'createClient needs either a token or a username and password';
    throw new ImgctlError('config', message);
  }
  if (username) userName(username, 'username');
  const flaw = ca === undefined ? undefined : certificateFlaw(ca);
  if (flaw !== undefined) {
    throw new ImgctlError('usage', `cannot read ca: ${flaw}`);
  }
  const baseUrl = parseBaseUrl(String(options.baseUrl));
  if (options.allowHttp !== true) refusePlainHttp(baseUrl);
  const closing = new AbortController();
  // systemClock changes the listener limit of its signal, so it gets one that is not the caller's.
  const clock = systemClock(AbortSignal.any([closing.signal, ...(signal ? [signal] : [])]));
  const redaction = new Redaction();
  // An error of a callback must not hide the outcome of a request.
  const warn = onWarning && ignoringErrors(onWarning, () => {});
  const trace = onTrace && warningOnce(onTrace, warn);
  const client = openClient({ ...options, onTrace: trace }, baseUrl, clock, redaction);
  /** Masks secrets, which a service or a proxy may repeat in its message. */
  const masked = (error: unknown) =>
    error instanceof ImgctlError ? error.with({ message: redaction.apply(error.message) }) : error;
  /** Makes one call of the library: each is a run of its own. */
  const run = async <Result>(call: (service: Client) => Promise<Result>): Promise<Result> => {
    try {
      return await call(client.startRun());
    } catch (error) {
      throw masked(error);
    }
  };
  /** Returns the query, the tally of its images, and a function that warns of unknown zones. */
  const observed = (query: ImageQuery) => {
    checkOptions(query, 'query', QUERY);
    const { text, filter, sort } = query;
    const list = (given: string | readonly string[] = []) => [given].flat();
    const typed = { words: list(text), filters: list(filter), sorts: list(sort) };
    const parsed = parseQuery(typed, clock.now());
    const tally = new Tally(parsed);
    const warnOfZones = () => {
      const message = tally.zoneWarning();
      if (message !== undefined) warn?.(message);
    };
    return { parsed, tally, warnOfZones };
  };
  return {
    /** Yields every matching public image as pages arrive, or throws incomplete-list. */
    async *images(query: ImageQuery = {}): AsyncGenerator<Image, void, void> {
      const { parsed, tally, warnOfZones } = observed(query);
      const watch = (images: readonly object[]) => tally.see(images as Image[]);
      const catalogue = serviceCatalogue(client.startRun(), baseUrlText(baseUrl));
      const pages = catalogue.images(parsed, { limit: query.limit, streams: true, watch });
      try {
        for await (const images of pages) yield* images as Image[];
      } catch (error) {
        throw masked(error);
      }
      warnOfZones();
    },
    async getImage(id: number) {
      checkOptions({ id }, 'image', IMAGE, ['id']);
      return (await run((service) => service.getImage(id))) as Image;
    },
    async myImages(query: ImageQuery = {}) {
      const { parsed, tally, warnOfZones } = observed(query);
      const { images } = await run((service) => service.listUserImages());
      tally.see(images);
      const matching = images.filter((image) => parsed.matches(image));
      const found = parsed.sorts.length > 0 ? parsed.sort(matching) : matching;
      warnOfZones();
      return found.slice(0, query.limit) as Image[];
    },
    /**
     * Submits an image sync once. It may have been submitted if this throws outcome-unknown,
     * server-error or bad-answer.
     */
    submitSync: () => run((service) => service.submitSync()),
    async getSyncRequest(id: SyncId, signal?: AbortSignal) {
      checkOptions({ id, signal }, 'sync request', SYNC_REQUEST, ['id']);
      return run((service) => service.getSyncRequest(id, signal));
    },
    /** Sends any request with the token; returns a response of every status but 401 and 429. */
    async send(request: RequestOptions) {
      checkOptions(request, 'request', REQUEST, ['method', 'path']);
      const method = request.method.toUpperCase();
      return run((service) => service.send({ ...request, method }));
    },
    /** Ends all calls. One whose request was sent says what is known of its outcome. */
    async close(): Promise<void> {
      await client.close();
      closing.abort(new ImgctlError('unreachable', 'the client is closed'));
    },
  };
}

/** Returns the callback. Its first error becomes a warning; others are ignored. */
function warningOnce(onTrace: (text: string) => unknown, warn?: (message: string) => void) {
  let hasFailed = false;
  return ignoringErrors(onTrace, (error) => {
    if (!hasFailed) warn?.(`onTrace failed: ${error instanceof Error ? error.message : error}`);
    hasFailed = true;
  });
}

/** Returns the callback without its errors, even if it is asynchronous. */
function ignoringErrors(callback: (text: string) => unknown, onError: (error: unknown) => void) {
  return (text: string) => {
    // Called at once, as the constructor of a promise calls what it is given.
    new Promise((resolve) => resolve(callback(text))).catch(onError);
  };
}

/** `Tokens` sends one token request at a time, and no other process uses its tokens. */
const NO_MUTEX: HeldMutex = {
  assertHeld: async () => {},
  writeToken: async () => true,
  release: async () => {},
};

function openClient(
  options: ClientOptions,
  baseUrl: URL,
  clock: Clock,
  redaction: Redaction,
): Client {
  const { token, password, authScheme = 'bearer', ca, onTrace } = options;
  const username = options.username && withoutLineEnd(options.username);
  const proxy = options.proxy ? parseProxy(options.proxy, 'the option proxy') : undefined;
  if (proxy) for (const secret of proxySecrets(proxy)) redaction.add(secret);
  let limit: RememberedLimit | undefined;
  /** Stores no token: `Tokens` itself holds the newest. */
  const store: TokenStore = {
    read: () => undefined,
    readLimit: () => (limit && isInForce(limit, clock.now()) ? limit : undefined),
    writeLimit: async (known) => {
      limit = known;
    },
    readRefusal: () => undefined,
    writeRefusal: async () => {},
    acquire: async () => ({ mutex: NO_MUTEX }),
    location: undefined,
    testWrite: async () => {},
  };
  const passwordSource = {
    origin: 'the option password',
    factsIfRefused: { kind: 'password-refused', origin: 'the option password', username } as const,
    // The service limits token requests: none is spent on an empty password.
    async read() {
      const read = typeof password === 'function' ? await password() : password;
      if (typeof read === 'string' && read) return plainText(read, 'password');
      throw new ImgctlError('usage', 'the password function returned no password');
    },
  };
  const client: Client = createServiceClient({
    ...clock,
    baseUrl,
    connections: options.concurrency ?? 6,
    timeout: options.timeout ?? 30_000,
    retries: options.retries ?? 4,
    userAgent: `imgctl/${version}`,
    tokens:
      password === undefined
        ? fixedToken(token, 'the option token')
        : new Tokens({
            io: clock,
            stores: new TokenStores(store, store, () => {}),
            username,
            passwordSource,
            client: () => client,
            baseUrl: baseUrlText(baseUrl),
            // Nothing is stored.
            redact: String,
          }),
    authScheme,
    maxBytes: MAX_BYTES,
    ca,
    proxy: isLoopback(baseUrl.hostname) ? undefined : proxy,
    onSecret: (secret) => redaction.add(secret, username),
    onEvent: onTrace && ((event) => onTrace(redaction.apply(describeEvent(event)))),
  });
  return client;
}
