// The transport of the protocol: one JSON message per line on standard input and output.

import type { Readable } from 'node:stream';
import {
  deserializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server';

/** Characters of a message; a tool call has a few hundred. */
const MAX_MESSAGE = 2 ** 20;

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;

/** Milliseconds to answer what was asked before the input ended. */
const GRACE_PERIOD = 30_000;

/** Closes itself when the input ends and every request is answered, or when the client is gone. */
export class StdioTransport implements Transport {
  /** Resolves when it is closed. */
  readonly closed: Promise<void>;
  #resolveClosed = (): void => {};
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  readonly #input: Readable;
  readonly #write: (text: string) => Promise<void>;
  /** The ids of requests without a response. */
  readonly #pending = new Set<unknown>();
  #ended = false;
  #closed = false;
  #line: string[] = [];
  #length = 0;

  constructor(input: Readable, write: (text: string) => Promise<void>) {
    this.#input = input;
    this.#write = write;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  async start(): Promise<void> {
    this.#input.setEncoding('utf8');
    this.#input.on('data', this.#receive);
    for (const event of ['end', 'close', 'error']) this.#input.on(event, this.#end);
    if (this.#input.readableEnded || this.#input.destroyed) this.#end();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return;
    try {
      await this.#write(`${JSON.stringify(message)}\n`);
    } catch {
      return this.close();
    }
    if (!('method' in message)) this.#settle(message.id);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#receive);
    this.#input.pause();
    this.onclose?.();
    this.#resolveClosed();
  }

  readonly #receive = (chunk: string): void => {
    const [first = '', ...rest] = chunk.split('\n');
    this.#append(first);
    for (const start of rest) {
      const line = this.#length > MAX_MESSAGE ? undefined : this.#line.join('');
      this.#line = [];
      this.#length = 0;
      this.#append(start);
      if (line === undefined) this.#refuse(INVALID_REQUEST, 'Message too long');
      else if (line.trim() !== '') this.#handle(line);
    }
  };

  /** Drops the rest of a message that is too long. */
  #append(text: string): void {
    this.#length += text.length;
    if (this.#length <= MAX_MESSAGE) this.#line.push(text);
  }

  #handle(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      if (error instanceof SyntaxError) this.#refuse(PARSE_ERROR, 'Parse error');
      else this.#refuse(INVALID_REQUEST, 'Invalid Request');
      return;
    }
    if ('method' in message && 'id' in message) this.#pending.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled') {
      // A cancelled request gets no response.
      this.#settle(message.params?.requestId);
    }
    this.onmessage?.(message);
  }

  /** Answers what is no message, so that a client does not wait for ever. */
  #refuse(code: number, message: string): void {
    const response = { jsonrpc: '2.0', id: null, error: { code, message } };
    this.#write(`${JSON.stringify(response)}\n`).catch(() => this.close());
  }

  #settle(id: unknown): void {
    this.#pending.delete(id);
    if (this.#ended && this.#pending.size === 0) void this.close();
  }

  readonly #end = (): void => {
    this.#ended = true;
    setTimeout(() => this.close(), GRACE_PERIOD).unref();
    this.#settle(undefined);
  };
}
