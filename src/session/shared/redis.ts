// A connection to a Redis server: a small client that never retries a command, and waits 2 s for a reply.

import Redis from 'ioredis/built/Redis.js';
import { trustOptions } from '../../http/connect.ts';
import { builtin, type Clock } from '../../io.ts';
import type { StoreAddress } from '../store-address.ts';

/** Milliseconds to connect and log in, and for each command. */
const BUDGET = 2_000;
/** A process that got no time from a busy machine reads the reply between two slices. */
const SLICE = 100;
const PAUSE = 200;
const MAX_REASON = 120;
/** What a server that restarts causes. */
const TRANSIENT = /^(ECONNREFUSED|ECONNRESET|EPIPE)$/;

/** The store could not be used. The message is the reason; it never holds a secret. */
export class StoreError extends Error {}

export interface StoreConnection {
  /** @throws StoreError */
  call(command: string, ...args: readonly (string | number)[]): Promise<unknown>;
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
  let latest: Redis | undefined;
  let failure: StoreError | undefined;
  let isOver = false;
  const connect = async (): Promise<Redis> => {
    while (!isOver) {
      latest = createClient(options);
      try {
        await logIn(latest, options);
        return latest;
      } catch (error) {
        if (!TRANSIENT.test(reasonOf(error))) throw error;
        failure = new StoreError(reasonOf(error));
      }
      latest.disconnect();
      await io.sleep(PAUSE, io.signal);
    }
    throw new StoreError('closed');
  };
  const connecting = connect();
  try {
    const client = await withinBudget(connecting, io);
    return {
      call: (command, ...args) => withinBudget(client.call(command, ...args), io),
      close: () => client.disconnect(),
    };
  } catch (error) {
    isOver = true;
    connecting.catch(() => {});
    latest?.disconnect();
    // What kept it from connecting says more than the time.
    throw error instanceof StoreError ? (failure ?? error) : error;
  }
}

function createClient({ address, ca }: ConnectionOptions): Redis {
  const { host, port, tls } = address;
  const servername = builtin('node:net').isIP(host) === 0 ? { servername: host } : {};
  return new Redis({
    host,
    port,
    ...(tls ? { tls: { ...trustOptions(builtin('node:tls'), ca), ...servername } } : {}),
    protocol: 2,
    lazyConnect: true,
    retryStrategy: null,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  });
}

/** The library's own login prints warnings on stderr. */
async function logIn(client: Redis, { address, password }: ConnectionOptions): Promise<void> {
  const { username, database } = address;
  let cause: unknown;
  client.on('error', (error: unknown) => {
    cause = error;
  });
  await client.connect().catch((error: unknown) => {
    throw cause ?? error;
  });
  const user = username === undefined ? [] : [username];
  const commands = [
    ...(password === undefined ? [] : [client.call('AUTH', ...user, password)]),
    ...(database === 0 ? [] : [client.call('SELECT', database)]),
  ];
  await Promise.all(commands);
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

/** The library's errors also hold the arguments of the command. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const [line = ''] = (code ?? message).split(/[\r\n]/);
  return line.replace(/\.$/, '').slice(0, MAX_REASON);
}
