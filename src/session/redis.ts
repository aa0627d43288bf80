// The connection of a shared token store, by @redis/client, which is loaded only here.

import type { RedisAddress } from '../config/storage-urls.ts';
import { isDefect } from '../errors.ts';
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

type Words = readonly string[];

interface RedisOptions {
  readonly address: RedisAddress;
  readonly ca: string | undefined;
  readonly io: Clock;
  /** Returns undefined to use the store without a login. @throws SharedStoreError */
  readonly readPassword: () => Promise<string | undefined>;
}

/**
 * A connection that the first command opens. A command ends by its reply, an error of its
 * connection, the limit of time or an interrupt. All but a good reply end the connection too.
 */
export class Redis {
  readonly #options: RedisOptions;
  #connection: Promise<Connection> | undefined;

  constructor(options: RedisOptions) {
    this.#options = options;
  }

  /**
   * Sends a command once.
   * @param until an interrupt
   * @throws SharedStoreError; the reason of the interrupt; what is a defect
   */
  async send(words: Words, until = this.#options.io.signal): Promise<Reply> {
    this.#connection ??= this.#connect();
    const connection = await this.#connection;
    return this.#untilEnd(connection, connection.send(words), until);
  }

  /** Runs a script in the store, whose values are the ARGV of Lua. Otherwise like `send`. */
  run(script: string, keys: Words, values: Words, until?: AbortSignal): Promise<Reply> {
    return this.send(['EVAL', script, `${keys.length}`, ...keys, ...values], until);
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    connection?.destroy();
  }

  async #connect(): Promise<Connection> {
    const { address, ca, io, readPassword } = this.#options;
    const connection = await createConnection(address, await readPassword(), ca);
    await this.#untilEnd(connection, connection.connect(), io.signal);
    return connection;
  }

  async #untilEnd<Result>(
    { lost, destroy }: Connection,
    reply: Promise<Result>,
    until: AbortSignal,
  ): Promise<Result> {
    const ended = new AbortController();
    const limit = this.#failAfterLimit(AbortSignal.any([until, ended.signal]));
    try {
      return await Promise.race([reply, lost, limit]);
    } catch (error) {
      destroy();
      this.#options.io.signal.throwIfAborted();
      throw error;
    } finally {
      ended.abort();
    }
  }

  /** @throws SharedStoreError after the limit; before, the reason of the signal */
  async #failAfterLimit(signal: AbortSignal): Promise<never> {
    const { io } = this.#options;
    for (let time = 0; time < REPLY_LIMIT; time += SLICE) await io.sleep(SLICE, signal);
    throw new SharedStoreError(`no reply within ${REPLY_LIMIT / 1000} s`);
  }
}

/**
 * The library's client, without its own limits of time: its `connect` may wait for ever. Its errors
 * are SharedStoreError, and defects of imgctl as they are.
 */
interface Connection {
  connect(): Promise<unknown>;
  send(words: Words): Promise<Reply>;
  destroy(): void;
  /** Rejects with the first error of the connection, of which commands in flight may not learn. */
  readonly lost: Promise<never>;
}

async function createConnection(
  { tls, host, port, username, database }: RedisAddress,
  password: string | undefined,
  ca: string | undefined,
): Promise<Connection> {
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
  const explained = (error: Error) => new SharedStoreError(reasonFor(error, library));
  const fail = (error: Error) => {
    throw isDefect(error) ? error : explained(error);
  };
  const lost = new Promise<never>((_resolve, reject) => {
    // A reply to no command is a TypeError of the library.
    client.on('error', (error) => reject(explained(error)));
  });
  // No command may be in flight then.
  lost.catch(() => {});
  return {
    connect: () => client.connect().catch(fail),
    send: (words) => client.sendCommand<Reply>([...words]).catch(fail),
    destroy: () => {
      if (client.isOpen) client.destroy();
      opening.abort();
    },
    lost,
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
