// The connection of a shared token store, by @redis/client, which is loaded only here.

import type { RedisAddress } from '../config/storage-urls.ts';
import { trustOptions } from '../http/connect.ts';
import { isTlsError, reasonOf } from '../http/errors.ts';
import { builtin, type Clock } from '../io.ts';
import { shorten } from '../words.ts';
import { SharedStoreError } from './token-store.ts';

/** Milliseconds to connect and log in, and for each command. */
const REPLY_LIMIT = 2_000;
/** The limit counts in slices: after a busy time, a reply is read before the next slice counts. */
const SLICE = 100;

/** The replies of RESP 2 but for arrays, which no command of imgctl returns. */
type Reply = string | number | null;

interface RedisOptions {
  readonly address: RedisAddress;
  readonly ca: string | undefined;
  readonly io: Clock;
  /** Returns undefined to use the store without a login. @throws SharedStoreError */
  readonly readPassword: () => Promise<string | undefined>;
}

/** A connection that the first command opens and the first error ends. No command is repeated. */
export class Redis {
  readonly #options: RedisOptions;
  #client: Promise<Client> | undefined;

  constructor(options: RedisOptions) {
    this.#options = options;
  }

  /**
   * @param isLast true to send it also after an interrupt
   * @throws SharedStoreError, or the reason of an interrupt
   */
  async send(words: readonly string[], isLast = false): Promise<Reply> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    return this.#withinTime(client, client.send(words), isLast);
  }

  /** Runs a script in the store, whose values are the ARGV of Lua. Otherwise like `send`. */
  run(script: string, keys: readonly string[], values: readonly string[], isLast = false) {
    return this.send(['EVAL', script, `${keys.length}`, ...keys, ...values], isLast);
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    client?.destroy();
  }

  async #connect(): Promise<Client> {
    const { address, ca, readPassword } = this.#options;
    const client = await createClient(address, await readPassword(), ca);
    await this.#withinTime(client, client.connect(), false);
    return client;
  }

  /** Waits for a reply, and ends the connection if it fails or takes too long. */
  async #withinTime<Result>(
    client: Client,
    reply: Promise<Result>,
    isLast: boolean,
  ): Promise<Result> {
    const { io } = this.#options;
    const end = new AbortController();
    const signal = isLast ? end.signal : AbortSignal.any([end.signal, io.signal]);
    const timeout = this.#timeOut(signal);
    // The one that loses the race fails unseen.
    for (const promise of [reply, timeout]) promise.catch(() => {});
    try {
      return await Promise.race([reply, timeout]);
    } catch (error) {
      client.destroy();
      io.signal.throwIfAborted();
      throw error;
    } finally {
      end.abort();
    }
  }

  /** @throws SharedStoreError after the limit; before, the reason of the signal */
  async #timeOut(signal: AbortSignal): Promise<never> {
    const { io } = this.#options;
    for (let time = 0; time < REPLY_LIMIT; time += SLICE) await io.sleep(SLICE, signal);
    throw new SharedStoreError(`no reply within ${REPLY_LIMIT / 1000} s`);
  }
}

type Client = Awaited<ReturnType<typeof createClient>>;

/** Returns the library's client without its limits of time: its `connect` may wait for ever. */
async function createClient(
  { tls, host, port, username, database }: RedisAddress,
  password: string | undefined,
  ca: string | undefined,
) {
  const library = await import('@redis/client');
  const servername = builtin('node:net').isIP(host) === 0 ? { servername: host } : {};
  const trust = () => ({ tls: true as const, ...trustOptions(builtin('node:tls'), ca) });
  // The library ends no connection that is not open yet; its own limit would count time that a busy
  // machine took.
  const opening = new AbortController();
  const { signal } = opening;
  const socket = { host, port, signal, connectTimeout: 0, reconnectStrategy: false as const };
  const client = library.createClient({
    ...loginOf(username, password),
    database,
    RESP: 2 as const,
    disableClientInfo: true,
    socket: tls ? { ...socket, ...servername, ...trust() } : socket,
  });
  // Commands in flight do not learn of a reply that cannot be read.
  const failed = new Promise<never>((_resolve, reject) => client.on('error', reject));
  failed.catch(() => {});
  /** @throws SharedStoreError also if the connection fails before the reply */
  const replyTo = <Result>(sent: Promise<Result>): Promise<Result> =>
    Promise.race([sent, failed]).catch((error: NodeJS.ErrnoException) => {
      throw new SharedStoreError(reasonFor(error, library));
    });
  return {
    connect: () => replyTo(client.connect()),
    send: (words: readonly string[]) => replyTo(client.sendCommand<Reply>([...words])),
    destroy: () => {
      if (client.isOpen) client.destroy();
      opening.abort();
    },
  };
}

/** Without a password there is no login, although the URL may hold a user name. */
function loginOf(username: string | undefined, password: string | undefined) {
  if (password === undefined) return {};
  return username ? { username, password } : { password };
}

function reasonFor(error: NodeJS.ErrnoException, library: typeof import('@redis/client')): string {
  const { code = '', message } = error;
  if (isTlsError(error)) return `no trusted TLS connection: ${reasonOf(error)}`;
  if (code !== '') return reasonOf(error);
  if (error instanceof library.ErrorReply) return shorten(message.replace(/\.$/, ''), 120);
  return 'it closed the connection, or sent an unexpected reply';
}
