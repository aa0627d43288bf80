// A connection to a Redis server with the few commands of the token store. Each gets 2 s, and none is repeated.

import net from 'node:net';
import { createClient, SocketClosedUnexpectedlyError } from '@redis/client';
import { trustOptions } from '../http/connect.ts';
import { isCertificateError, reasonOf as networkReason } from '../http/errors.ts';
import { builtin, type Clock } from '../io.ts';
import type { StoreAddress } from './setting-table.ts';
import { StoreError } from './token-cache.ts';

/** Milliseconds to connect and log in, and for each command. */
const TIME_LIMIT = 2_000;
/** A process that got no time from a busy machine reads the reply between two slices. */
const SLICE = 100;
const MAX_REASON = 120;
const UNEXPECTED = 'it sent an unexpected reply';

/** KEYS[1] is the lock and ARGV[1] its owner. */
const RENEW = `local owner = redis.call('get', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])
return 1`;
const RELEASE = `if redis.call('get', KEYS[1]) == ARGV[1] then redis.call('del', KEYS[1]) end
return 1`;

/** Every function but `close` may throw StoreError, and the reason of an interrupt. */
export type StoreConnection = Awaited<ReturnType<typeof connectStore>>;

/** Connects and logs in. @param ca additional trusted certificates, PEM. @throws StoreError, or the reason of an interrupt */
export async function connectStore(
  { tls, host, port, username, database }: StoreAddress,
  password: string | undefined,
  ca: string | undefined,
  io: Clock,
) {
  const socket = { host, port, connectTimeout: TIME_LIMIT, reconnectStrategy: false } as const;
  const servername = net.isIP(host) === 0 ? { servername: host } : {};
  // Name, password and database stand apart from the address: the option `url` would ignore the password.
  const client = createClient({
    socket: tls
      ? { ...socket, tls, ...trustOptions(builtin('node:tls'), ca), ...servername }
      : socket,
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    database,
    RESP: 2,
    // A user with few rights may not say who it is.
    disableClientInfo: true,
  });
  // While it connects, the client has no socket that `destroy` could close: it must not hold the process.
  client.unref();
  let failure: unknown;
  // Garbage from the server ends in this event, too.
  client.on('error', (error: unknown) => {
    failure ??= error;
    client.destroy();
  });

  async function limited<Result>(work: Promise<Result>, signals = [io.signal]): Promise<Result> {
    const end = new AbortController();
    const expire = async () => {
      const signal = AbortSignal.any([end.signal, ...signals]);
      for (let time = 0; time < TIME_LIMIT; time += SLICE) await io.sleep(SLICE, signal);
      throw new StoreError(`no reply within ${TIME_LIMIT / 1000} s`);
    };
    const limit = expire();
    try {
      return await Promise.race([work, limit]);
    } catch (error) {
      client.destroy();
      io.signal.throwIfAborted();
      throw asStoreError(failure ?? error);
    } finally {
      end.abort();
      // The one that lost the race fails unseen.
      for (const promise of [work, limit]) promise.catch(() => {});
    }
  }

  await limited(client.connect());
  const evaluate = (script: string, key: string, ...words: string[]) =>
    client.eval(script, { keys: [key], arguments: words });
  return {
    /** Returns the value and the milliseconds until it expires. */
    async get(key: string) {
      const [value, milliseconds] = await limited(Promise.all([client.get(key), client.pTTL(key)]));
      const isEntry = typeof value === 'string' && typeof milliseconds === 'number';
      return isEntry && milliseconds > 0 ? { value, milliseconds } : undefined;
    },
    async set(key: string, value: string, milliseconds: number) {
      const expiration = { type: 'PX', value: Math.max(1, Math.round(milliseconds)) } as const;
      await limited(client.set(key, value, { expiration }));
    },
    /** @returns true if there was such a key */
    delete: async (key: string) => (await limited(client.del(key))) === 1,
    /** Takes a lock that nobody has. `owner` is different for each attempt. */
    async takeLock(key: string, owner: string, milliseconds: number) {
      const expiration = { type: 'PX', value: milliseconds } as const;
      const reply: unknown = await limited(client.set(key, owner, { expiration, condition: 'NX' }));
      // A server that answers anything must not look like one whose lock is always taken.
      if (reply !== 'OK' && reply !== null) throw new StoreError(UNEXPECTED);
      return reply === 'OK';
    },
    /** Restarts the time limit of a lock, or takes it again if it has expired. False if another owner has it. */
    renewLock: async (key: string, owner: string, milliseconds: number) =>
      (await limited(evaluate(RENEW, key, owner, `${milliseconds}`))) === 1,
    /** Releases the lock if the owner still has it, also after an interrupt. */
    releaseLock: (key: string, owner: string) => limited(evaluate(RELEASE, key, owner), []),
    /** Returns the milliseconds until a key expires, -1 if it never does, -2 without such a key. */
    timeLeft: (key: string): Promise<number> => limited(client.pTTL(key)),
    close: () => client.destroy(),
  };
}

function asStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  // What the client does at a reply that nobody waits for.
  if (error instanceof TypeError) return new StoreError(UNEXPECTED);
  if (error instanceof SocketClosedUnexpectedlyError) {
    return new StoreError('the connection was closed');
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) {
    const isTls = isCertificateError(code);
    return new StoreError(
      isTls ? `no trusted TLS connection: ${code}` : networkReason(error as NodeJS.ErrnoException),
    );
  }
  const [line = ''] = message.split(/[\r\n]/);
  return new StoreError(line.replace(/\.$/, '').slice(0, MAX_REASON));
}
