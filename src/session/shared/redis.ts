// A connection to a Redis server, by node-redis's protocol code: it never repeats a command, and waits 2 s for a reply.

import net from 'node:net';
import { Decoder } from '@redis/client/dist/lib/RESP/decoder.js';
import encodeCommand from '@redis/client/dist/lib/RESP/encoder.js';
import { trustOptions } from '../../http/connect.ts';
import { isCertificateError, reasonOf as networkReason } from '../../http/errors.ts';
import { untilEvent } from '../../http/stages.ts';
import { builtin, type Clock } from '../../io.ts';
import type { StoreAddress } from '../setting-values.ts';
import { StoreError } from '../token-store.ts';

/** Milliseconds to connect and log in, and for each command. */
const BUDGET = 2_000;
/** A process that got no time from a busy machine reads the reply between two slices. */
const SLICE = 100;
const PAUSE = 200;
const MAX_REASON = 120;
/** What a server that restarts causes. */
const TRANSIENT = /^(ECONNREFUSED|ECONNRESET|EPIPE)$/;

export const UNEXPECTED = 'it sent an unexpected reply';

export interface StoreConnection {
  /** @throws StoreError */
  call(...words: readonly [string, ...(string | number)[]]): Promise<unknown>;
  close(): void;
}

export interface ConnectionOptions {
  readonly address: StoreAddress;
  readonly password: string | undefined;
  /** Additional trusted certificates, PEM. */
  readonly ca: string | undefined;
  readonly io: Clock;
}

/** Connects and logs in; tries again within 2 s if the server restarts. @throws StoreError */
export async function connectStore(options: ConnectionOptions): Promise<StoreConnection> {
  const { io } = options;
  const openSocket = socketOpener(options);
  let latest: Connection | undefined;
  let failure: StoreError | undefined;
  let isOver = false;
  const connect = async (): Promise<Connection> => {
    while (!isOver) {
      const socket = openSocket();
      latest = new Connection(socket);
      try {
        await untilEvent(socket, options.address.tls ? 'secureConnect' : 'connect');
        await logIn(latest, options);
        return latest;
      } catch (error) {
        if (!TRANSIENT.test((error as NodeJS.ErrnoException).code ?? '')) throw error;
        failure = new StoreError(reasonOf(error));
      }
      latest.close();
      await io.sleep(PAUSE, io.signal);
    }
    throw new StoreError('closed');
  };
  const connecting = connect();
  try {
    const connection = await withinBudget(connecting, io);
    return {
      call: (...words) => withinBudget(connection.call(...words), io),
      close: () => connection.close(),
    };
  } catch (error) {
    isOver = true;
    connecting.catch(() => {});
    latest?.close();
    // What kept it from connecting says more than the time.
    throw error instanceof StoreError ? (failure ?? error) : error;
  }
}

function socketOpener({ address, ca }: ConnectionOptions): () => net.Socket {
  const { host, port } = address;
  if (!address.tls) return () => net.connect({ host, port, noDelay: true });
  const tls = builtin('node:tls');
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  const trusted = trustOptions(tls, ca);
  return () => tls.connect({ host, port, ...trusted, ...servername }).setNoDelay(true);
}

async function logIn(connection: Connection, { address, password }: ConnectionOptions) {
  const { username, database } = address;
  const user = username === undefined ? [] : [username];
  await Promise.all([
    ...(password === undefined ? [] : [connection.call('AUTH', ...user, password)]),
    ...(database === 0 ? [] : [connection.call('SELECT', database)]),
  ]);
}

interface Waiting {
  resolve(reply: unknown): void;
  reject(error: unknown): void;
}

/** Sends commands without waiting for earlier replies: the server replies in the same order. */
class Connection implements StoreConnection {
  readonly #socket: net.Socket;
  readonly #waiting: Waiting[] = [];
  /** Why no more replies come. */
  #failure: Error | undefined;

  constructor(socket: net.Socket) {
    this.#socket = socket;
    const next = () => {
      const waiting = this.#waiting.shift();
      if (waiting === undefined) throw new StoreError(UNEXPECTED);
      return waiting;
    };
    const decoder = new Decoder({
      onReply: (reply) => next().resolve(reply),
      onErrorReply: (error) => next().reject(error),
      onPush: () => next().reject(new StoreError(UNEXPECTED)),
      getTypeMapping: () => ({}),
    });
    socket.on('data', (data) => {
      try {
        decoder.write(data);
      } catch (error) {
        socket.destroy(
          error instanceof StoreError
            ? error
            : new StoreError('it does not speak the protocol of Redis'),
        );
      }
    });
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new StoreError('the connection was closed')));
  }

  call(...words: readonly [string, ...(string | number)[]]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#waiting.push({ resolve, reject });
      for (const part of encodeCommand(words.map(String))) this.#socket.write(part);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

/** Waits for the work, but at most 2 s. @throws StoreError, or the reason of an interrupt */
async function withinBudget<Result>(work: Promise<Result>, io: Clock): Promise<Result> {
  const end = new AbortController();
  const late = async () => {
    const signal = AbortSignal.any([end.signal, io.signal]);
    for (let time = 0; time < BUDGET; time += SLICE) await io.sleep(SLICE, signal);
    throw new StoreError(`no reply within ${BUDGET / 1000} s`);
  };
  const timeout = late();
  try {
    return await Promise.race([work, timeout]);
  } catch (error) {
    io.signal.throwIfAborted();
    throw error instanceof StoreError ? error : new StoreError(reasonOf(error));
  } finally {
    end.abort();
    timeout.catch(() => {});
    work.catch(() => {});
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined && isCertificateError(code)) return `no trusted TLS connection: ${code}`;
  if (code !== undefined) return networkReason(error as NodeJS.ErrnoException);
  const [line = ''] = message.split(/[\r\n]/);
  return line.replace(/\.$/, '').slice(0, MAX_REASON);
}
