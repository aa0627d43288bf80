// The connection of a shared token store, by @redis/client, which is loaded only here.

import type { RedisAddress } from '../config/definitions.ts';
import { trustOptions } from '../http/connect.ts';
import { isCertificateError, reasonOf } from '../http/errors.ts';
import { builtin } from '../io.ts';
import { shorten } from '../words.ts';
import { SharedStoreError } from './token-cache.ts';

/** The replies of RESP 2 but for arrays, which no command of imgctl returns. */
export type Reply = string | number | null;

/** The first error ends it. The caller limits the time, also of `connect`, which may wait for ever. */
export interface Redis {
  /** Connects and logs in. @throws SharedStoreError */
  connect(): Promise<unknown>;
  /** Sends a command. @throws SharedStoreError */
  send(...words: readonly string[]): Promise<Reply>;
  destroy(): void;
}

/** @param password none to use the store without a login */
export async function openRedis(
  { tls, host, port, username, database }: RedisAddress,
  { password, ca }: { password?: string; ca?: string | undefined },
): Promise<Redis> {
  const library = await import('@redis/client');
  const servername = builtin('node:net').isIP(host) === 0 ? { servername: host } : {};
  const trust = () => ({ tls: true as const, ...trustOptions(builtin('node:tls'), ca) });
  // The library ends no connection that is not open yet; its own limit would count time that a busy machine took.
  const opening = new AbortController();
  const { signal } = opening;
  const socket = { host, port, signal, connectTimeout: 0, reconnectStrategy: false as const };
  const client = library.createClient({
    ...(password === undefined ? {} : { ...(username && { username }), password }),
    database,
    RESP: 2 as const,
    disableClientInfo: true,
    socket: tls ? { ...socket, ...servername, ...trust() } : socket,
  });
  // Commands in flight do not learn of a reply that cannot be read.
  const failed = new Promise<never>((_resolve, reject) => client.on('error', reject));
  const until = <Result>(work: Promise<Result>): Promise<Result> =>
    Promise.race([work, failed]).catch((error: NodeJS.ErrnoException) => {
      throw new SharedStoreError(reasonFor(error, library));
    });
  failed.catch(() => {});
  return {
    connect: () => until(client.connect()),
    send: (...words) => until(client.sendCommand<Reply>([...words])),
    destroy: () => {
      if (client.isOpen) client.destroy();
      opening.abort();
    },
  };
}

function reasonFor(error: NodeJS.ErrnoException, library: typeof import('@redis/client')): string {
  const { code = '', message } = error;
  if (isCertificateError(code)) return `no trusted TLS connection: ${reasonOf(error)}`;
  if (code !== '') return reasonOf(error);
  if (error instanceof library.ErrorReply) return shorten(message.replace(/\.$/, ''), 120);
  const { ClientClosedError, DisconnectsClientError, SocketClosedUnexpectedlyError } = library;
  const closed = [ClientClosedError, DisconnectsClientError, SocketClosedUnexpectedlyError];
  const isClosed = closed.some((each) => error instanceof each);
  return isClosed ? 'the connection was closed' : 'it sent an unexpected reply';
}
