// Opens the library's connection to the service, with tokens that are stored in memory only.

import { version } from '../../package.json';
import type { TokenSource } from '../api/auth.ts';
import { type Client, createClient, MAX_BYTES } from '../api/client.ts';
import { ImgctlError } from '../errors.ts';
import type { HttpProxy } from '../http/proxy-env.ts';
import { baseUrlText, isLoopback } from '../http/url.ts';
import type { Clock } from '../io.ts';
import { isInForce, type RememberedLimit, type TokenStore } from '../session/token-store.ts';
import { fixedToken, Tokens } from '../session/tokens.ts';
import { describeEvent } from '../session/trace.ts';
import type { ClientOptions, Connection } from './options.ts';

export async function openClient(
  options: ClientOptions,
  connection: Connection,
  clock: Clock,
): Promise<Client> {
  const { baseUrl, timeout, retries, concurrency } = connection;
  const { onTrace } = options;
  const client: Client = createClient({
    ...clock,
    baseUrl,
    userAgent: `imgctl/${version}`,
    tokens: tokensOf(options, connection, clock, () => client),
    authScheme: options.authScheme ?? 'bearer',
    timeout,
    retries,
    connections: concurrency,
    maxBytes: MAX_BYTES,
    ca: options.ca,
    proxy: await proxyOf(options, baseUrl),
    onEvent: onTrace && ((event) => onTrace(describeEvent(event))),
  });
  return client;
}

function tokensOf(
  options: ClientOptions,
  { baseUrl }: Connection,
  io: Clock,
  client: () => Client,
): TokenSource {
  const { token, username, password } = options;
  if (password === undefined) {
    return fixedToken(token, 'the option token', 'create a client with a new token');
  }
  return new Tokens({
    io,
    store: memoryStore(),
    username,
    password: {
      origin: 'the option password',
      remedy: 'create a client with the right user name and password',
      read: async () => (typeof password === 'function' ? checked(await password()) : password),
    },
    client,
    loginCommand: 'createClient({ baseUrl, username, password })',
    baseUrl: baseUrlText(baseUrl),
  });
}

/** Checked before a request is sent: the service limits token requests. */
function checked(password: unknown): string {
  if (typeof password === 'string' && password !== '') return password;
  const got = password === '' ? 'an empty string' : typeof password;
  throw new ImgctlError('usage', `the password function returned no password (got ${got})`, {
    hint: 'return the password as a string',
  });
}

/** Stores only the token request limit, as Tokens holds the newest token itself. */
function memoryStore(): TokenStore {
  let limit: RememberedLimit | undefined;
  return {
    location: undefined,
    read: () => undefined,
    write: async () => {},
    readLimit: (now) => (limit && isInForce(limit, now) ? limit : undefined),
    async writeLimit(known) {
      limit = known;
    },
    takeTurn: ({ action }) => action(async () => {}),
  };
}

async function proxyOf({ proxy }: ClientOptions, baseUrl: URL): Promise<HttpProxy | undefined> {
  if (!proxy || isLoopback(baseUrl.hostname)) return undefined;
  const { parseProxy } = await import('../http/proxy-env.ts');
  return parseProxy(proxy, 'the option proxy');
}
