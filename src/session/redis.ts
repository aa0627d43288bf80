// A connection to Redis: sends commands, reads replies of at most 1 MiB, and ends at the first error.

import type net from 'node:net';
import type { RedisAddress } from '../config/definitions.ts';
import { trustOptions } from '../http/connect.ts';
import { isCertificateError, reasonOf } from '../http/errors.ts';
import { builtin } from '../io.ts';
import { SharedStoreError } from './token-cache.ts';

/** The replies of RESP 2 but for arrays, which no command of imgctl returns. */
export type Reply = string | number | null;

/** Bytes. The longest reply is a token. */
const MAX_REPLY = 2 ** 20;
const CRLF = '\r\n';

export class Redis {
  readonly #socket: net.Socket;
  /** One for each command without a reply, oldest first. */
  readonly #waiting: ((reply: Reply | SharedStoreError) => void)[] = [];
  #received: Buffer = Buffer.alloc(0);
  #failure: SharedStoreError | undefined;

  constructor({ tls, host, port }: RedisAddress, ca: string | undefined) {
    const { connect, isIP } = builtin('node:net');
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const trust = () => trustOptions(builtin('node:tls'), ca);
    this.#socket = tls
      ? builtin('node:tls').connect({ host, port, ...trust(), ...servername })
      : connect({ host, port });
    this.#socket.setNoDelay();
    this.#socket.on('data', (chunk) => this.#read(chunk));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      const { code = '' } = error;
      const isCertificate = isCertificateError(code);
      const reason = isCertificate ? `no trusted TLS connection: ${code}` : reasonOf(error);
      this.#fail(new SharedStoreError(reason));
    });
    this.#socket.on('close', () => this.#fail(new SharedStoreError('the connection was closed')));
  }

  /** Sends a command, which waits until the connection is open. @throws SharedStoreError */
  send(...words: readonly string[]): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#failure) return reject(this.#failure);
      this.#waiting.push((reply) =>
        reply instanceof SharedStoreError ? reject(reply) : resolve(reply),
      );
      const parts = words.map((word) => `$${Buffer.byteLength(word)}${CRLF}${word}${CRLF}`);
      this.#socket.write(`*${words.length}${CRLF}${parts.join('')}`);
    });
  }

  destroy(): void {
    this.#fail(new SharedStoreError('the connection was closed'));
  }

  #fail(error: SharedStoreError): void {
    this.#failure ??= error;
    this.#socket.destroy();
    for (const settle of this.#waiting.splice(0)) settle(this.#failure);
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (!this.#failure && this.#takeReply());
    if (this.#received.length > MAX_REPLY)
      this.#fail(new SharedStoreError('it sent more than 1 MiB'));
  }

  /** Settles the oldest command with its reply; false if that is not complete yet. */
  #takeReply(): boolean {
    const lineEnd = this.#received.indexOf(CRLF);
    if (lineEnd === -1) return false;
    const line = this.#received.toString('utf8', 0, lineEnd);
    const [, type, rest = ''] = /^(?=[+-]|[:$]-?\d+$)(.)(.*)$/s.exec(line) ?? [];
    const start = lineEnd + CRLF.length;
    const size = type === '$' ? Number(rest) : -1;
    const end = size < 0 ? start : start + size + CRLF.length;
    if (this.#received.length < end) return false;
    const bytes = size < 0 ? null : this.#received.toString('utf8', start, start + size);
    const settle = type === undefined ? undefined : this.#waiting.shift();
    if (!settle) this.#fail(new SharedStoreError('it sent an unexpected reply'));
    else if (type === '-') settle(new SharedStoreError(rest.replace(/\.$/, '').slice(0, 120)));
    else settle(type === '$' ? bytes : type === ':' ? Number(rest) : rest);
    this.#received = this.#received.subarray(end);
    return true;
  }
}
