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
/**
 * Milliseconds. After a long synchronous task both the timer and the reply are due, and the timer
 * runs first: this second pause lets the reply be read.
 */
const LAST_LOOK = 100;

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
 * A connection that the first command opens. If it is lost while idle, the next command opens
 * another. If it is lost, late or refused during a command, the store has failed for this run: all
 * later commands fail for the same reason.
 */
export class Redis {
  readonly #options: RedisOptions;
  #connection: Promise<Connection> | undefined;
  /** Why the first failed command failed. */
  #failure: unknown;

  constructor(options: RedisOptions) {
    this.#options = options;
  }

  /**
   * Sends a command once.
   * @param interrupt the signal of the run, or one that never aborts
   * @throws as the table of `#replyOf` says
   */
  async send(words: Words, interrupt = this.#options.io.signal): Promise<Reply> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#connection ??= this.#connect();
    const connection = await this.#connection;
    return this.#replyOf(connection, connection.send(words), interrupt);
  }

  /** Runs a Lua script in the store; `values` are its ARGV. Otherwise like `send`. */
  run(script: string, keys: Words, values: Words, interrupt?: AbortSignal): Promise<Reply> {
    return this.send(['EVAL', script, `${keys.length}`, ...keys, ...values], interrupt);
  }

  async close(): Promise<void> {
    const connection = await this.#connection?.catch(() => undefined);
    connection?.destroy();
  }

  async #connect(): Promise<Connection> {
    const { address, ca, io, readPassword } = this.#options;
    const connection = await createConnection(address, await readPassword(), ca);
    await this.#replyOf(connection, connection.connect(), io.signal);
    connection.lost.catch(() => {
      this.#connection = undefined;
    });
    return connection;
  }

  /**
   * Waits for what ends a command, or the login, first:
   *
   *     a reply                              it is returned
   *     an error reply, an error of the      SharedStoreError, or a defect of imgctl as it is
   *     client, or a lost connection
   *     2 s without a reply                  SharedStoreError
   *     an interrupt                         its reason
   *
   * All but the reply also end the connection.
   */
  async #replyOf<Result>(
    { lost, destroy }: Connection,
    reply: Promise<Result>,
    interrupt: AbortSignal,
  ): Promise<Result> {
    const ended = new AbortController();
    const limit = this.#failAfterLimit(AbortSignal.any([interrupt, ended.signal]));
    try {
      return await Promise.race([reply, lost, limit]);
    } catch (error) {
      this.#failure ??= error;
      destroy();
      throw this.#failure;
    } finally {
      ended.abort();
    }
  }

  /** @throws SharedStoreError after the limit; the reason of `stop`, if that aborts before */
  async #failAfterLimit(stop: AbortSignal): Promise<never> {
    const { io } = this.#options;
    await io.sleep(REPLY_LIMIT, stop);
    await io.sleep(LAST_LOOK, stop);
    throw new SharedStoreError(`no reply within ${REPLY_LIMIT / 1000} s`);
  }
}

/**
 * The library's client, without its own time limits: its `connect` may wait for ever. Its errors
 * are SharedStoreError, and defects of imgctl as they are.
 */
interface Connection {
  connect(): Promise<unknown>;
  send(words: Words): Promise<Reply>;
  destroy(): void;
  /** Rejects with the first error of the connection: commands in flight may not learn of it. */
  readonly lost: Promise<never>;
}

async function createConnection(
  address: RedisAddress,
  password: string | undefined,
  ca: string | undefined,
): Promise<Connection> {
  const library = await import('@redis/client');
  const opening = new AbortController();
  const client = library.createClient({
    ...loginOf(address.username, password),
    database: address.database,
    RESP: 2 as const,
    disableClientInfo: true,
    socket: socketOptions(address, ca, opening.signal),
  });
  const explained = (error: Error) => new SharedStoreError(reasonFor(error, library));
  const fail = (error: Error) => {
    throw isDefect(error) ? error : explained(error);
  };
  // The library's destroy does not end a connection that is still opening.
  const destroy = () => opening.abort();
  const lost = new Promise<never>((_resolve, reject) => {
    client.on('error', (error) => {
      // For a reply to no command, the library throws a TypeError.
      reject(explained(error));
      destroy();
    });
  });
  return {
    connect: () => client.connect().catch(fail),
    send: (words) => client.sendCommand<Reply>([...words]).catch(fail),
    destroy,
    lost,
  };
}

function socketOptions(
  { tls, host, port }: RedisAddress,
  ca: string | undefined,
  signal: AbortSignal,
) {
  // The library gets no time limit: it would count time that a busy machine took.
  const socket = { host, port, signal, connectTimeout: 0, reconnectStrategy: false as const };
  if (!tls) return socket;
  const servername = builtin('node:net').isIP(host) === 0 ? { servername: host } : {};
  const trust = trustOptions(builtin('node:tls'), ca);
  return { ...socket, ...servername, ...trust, tls: true as const };
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
