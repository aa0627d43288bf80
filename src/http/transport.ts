// Sends requests to one origin, and returns their responses within limits of time and size.

import Pool from 'undici/lib/dispatcher/pool.js';
import { atAbort } from '../abort.ts';
import { ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import { type ConnectOptions, Connector } from './connect.ts';
import { TransportError, timeoutError, tooLargeText, toTransportError } from './errors.ts';
import type { Endpoint, HttpEvent, HttpRequest, HttpResponse, RequestBody } from './message.ts';
import { Forwarder, type RequestHead } from './proxies.ts';

export interface TransportOptions extends ConnectOptions {
  readonly origin: string;
  readonly endpoint: Endpoint;
  /** Maximum number of connections. */
  readonly connections: number;
  /** Maximum number of bytes of all bodies in flight, as received and decoded. */
  readonly maxBytes: number;
  readonly now: () => number;
  readonly elapsed: () => number;
  readonly onEvent?: ((event: HttpEvent) => void) | undefined;
}

export interface Transport {
  /** @throws TransportError; the signal's reason when it aborts */
  send(request: HttpRequest): Promise<HttpResponse>;
  close(): Promise<void>;
}

export function createTransport(options: TransportOptions): Transport {
  const { origin, connections, proxy, elapsed, onEvent } = options;
  const connector = new Connector(options);
  const pool = new Pool(origin, {
    connections,
    connect: (target, done) =>
      connector.connect(target, done as Parameters<Connector['connect']>[1]),
    // One deadline covers the whole request; undici's own limits apply to each gap.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const shared = { options, pool, connector, bytesLeft: options.maxBytes, hasResponded: false };
  const forwarder = proxy && origin.startsWith('http:') ? new Forwarder(proxy) : undefined;
  return {
    async send(request) {
      const { method, url } = request;
      const started = elapsed();
      const waiting = setInterval(() => {
        onEvent?.({ kind: 'waiting', method, url, milliseconds: elapsed() - started });
      }, WAITING_INTERVAL).unref();
      const head = { path: url.pathname + url.search, headers: request.headers };
      try {
        const received = await dispatch(shared, request, forwarder?.head(request) ?? head);
        const response = forwarder?.refuseOwnResponse(received) ?? received;
        onEvent?.({ kind: 'response', response, milliseconds: elapsed() - started });
        return response;
      } catch (thrown) {
        const cause = thrown instanceof Error ? thrown : new Error(String(thrown));
        const error = forwarder?.explain(cause) ?? cause;
        onEvent?.({ kind: 'error', method, url, milliseconds: elapsed() - started, error });
        throw error;
      } finally {
        clearInterval(waiting);
      }
    },
    async close() {
      connector.close();
      await pool.destroy();
    },
  };
}

/** Milliseconds between two events that say that a request has no response yet. */
const WAITING_INTERVAL = 30_000;

/** What the requests of one transport share. */
interface Shared {
  readonly options: TransportOptions;
  readonly pool: Pool;
  readonly connector: Connector;
  /** Bytes that all requests together may still hold in memory. */
  bytesLeft: number;
  hasResponded: boolean;
}

function dispatch(shared: Shared, request: HttpRequest, head: RequestHead): Promise<HttpResponse> {
  const { method, signal, body } = request;
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const handler = new ResponseHandler(shared, request, resolve, reject);
    const content = body && bodyOf(body, head, (more) => handler.onSending(more));
    shared.pool.dispatch({ method: method as 'GET', ...head, ...content }, handler);
  });
}

/** How far a request has come; follows the word "still" in the message of a timeout. */
const WAITING_FOR = {
  sending: 'sending',
  waiting: 'waiting for the response',
  reading: 'reading the response',
};

/** Collects one response within its limits. undici calls onRequestStart to onResponseError. */
class ResponseHandler {
  readonly #shared: Shared;
  readonly #request: HttpRequest;
  readonly #resolve: (response: HttpResponse) => void;
  readonly #reject: (reason: Error) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #forgetSignal: () => void;
  #state: 'connecting' | keyof typeof WAITING_FOR | 'ended' = 'connecting';
  /** Aborts what is sent; undefined while there is no connection. */
  #controller: { abort(reason: Error): void } | undefined;
  /** Undefined until there is a valid one. */
  #start: Pick<HttpResponse, 'status' | 'headers'> | undefined;
  readonly #chunks: Buffer[] = [];
  #heldBytes = 0;

  constructor(
    shared: Shared,
    request: HttpRequest,
    resolve: (response: HttpResponse) => void,
    reject: (reason: Error) => void,
  ) {
    this.#shared = shared;
    this.#request = request;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal, timeout } = request;
    this.#timer = setTimeout(() => this.#timeOut(), timeout);
    this.#forgetSignal = atAbort(signal, () => this.#fail(signal.reason));
  }

  onRequestStart(controller: { abort(reason: Error): void }): void {
    // Then undici drops the request alone; `abort` would end the idle connection too.
    if (this.#state === 'ended') throw new Error('aborted');
    this.#controller = controller;
    this.#state = 'waiting';
    this.#request.onSent?.();
  }

  /** @param more false at the end of the body */
  onSending(more: boolean): void {
    if (this.#state === 'ended') return;
    this.#timer.refresh();
    // A server may respond before it has the whole body.
    if (this.#state !== 'reading') this.#state = more ? 'sending' : 'waiting';
  }

  onResponseStart(_controller: unknown, status: number, headers: ReceivedHeaders): void {
    this.#shared.hasResponded = true;
    if (status < 100 || status > 599) {
      this.#failAsInvalid(`the invalid status ${status}`);
    } else if (status >= 200 && this.#state !== 'ended') {
      this.#state = 'reading';
      this.#start = { status, headers: joinHeaders(headers) };
    }
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#hold(chunk)) this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const { method, url, asStored } = this.#request;
    const { endpoint, now } = this.#shared.options;
    const start = this.#start;
    if (!start) return;
    const received = Buffer.concat(this.#chunks);
    const isFile = asStored === true && start.status < 300;
    const coding = isFile ? '' : start.headers['content-encoding'];
    decode(received, coding, (chunk) => this.#hold(chunk)).then(
      (body) => {
        const read = { body, wireBytes: received.length, receivedAt: now() };
        this.#end(() => this.#resolve({ method, url, endpoint, ...start, ...read }));
      },
      (error: Error) => {
        const message = `cannot decode the response from ${url.origin}${url.pathname}`;
        this.#failAsUnusable(message, this.#checkAddress, error);
      },
    );
  }

  onResponseError(_controller: unknown, error: Error): void {
    // After #fail, undici hands back its reason, which need not be an error.
    if (this.#state === 'ended') return;
    if ('code' in error && error.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
      this.#failAsInvalid(LENGTH_FLAW, error);
    } else {
      const isSent = this.#state !== 'connecting';
      this.#fail(explainLoss(this.#shared, this.#request, error, isSent));
    }
  }

  /** Returns false if the request has ended, also because this is too much. */
  #hold(chunk: Buffer): boolean {
    if (this.#state === 'ended') return false;
    this.#heldBytes += chunk.length;
    this.#shared.bytesLeft -= chunk.length;
    if (this.#shared.bytesLeft >= 0) return true;
    const { url } = this.#request;
    const { endpoint, maxBytes } = this.#shared.options;
    const facts = { kind: 'too-large', of: endpoint.of, hasQuery: url.search !== '' } as const;
    this.#failAsUnusable(tooLargeText(url, maxBytes, this.#heldBytes), facts);
    return false;
  }

  get #checkAddress(): Facts {
    return { kind: 'check-address', of: this.#shared.options.endpoint.of };
  }

  #timeOut(): void {
    const state = this.#state;
    if (state === 'ended') return;
    const { options, connector } = this.#shared;
    const isSent = state !== 'connecting';
    const waitingFor = isSent ? WAITING_FOR[state] : connector.newest.waitingFor;
    this.#fail(timeoutError(this.#request, options.endpoint, waitingFor, isSent));
  }

  #failAsInvalid(flaw: string, cause?: Error): void {
    this.#failAsUnusable(`${this.#request.url.origin} sent ${flaw}`, this.#checkAddress, cause);
  }

  #failAsUnusable(message: string, facts: Facts, cause?: Error): void {
    const details = { facts, status: this.#start?.status, cause, sent: true };
    this.#fail(new TransportError('bad-answer', message, details));
  }

  #fail(error: Error): void {
    this.#end(() => this.#reject(error));
    this.#controller?.abort(error);
  }

  /** Settles the promise once, and gives back what the request held. */
  #end(settle: () => void): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#shared.bytesLeft += this.#heldBytes;
    clearTimeout(this.#timer);
    this.#forgetSignal();
    settle();
  }
}

/** undici reads neither a repeated length nor one beside chunks. */
const LENGTH_FLAW =
  'an invalid Content-Length: it is repeated, beside Transfer-Encoding, or is wrong';

function explainLoss(shared: Shared, request: HttpRequest, error: Error, sent: boolean): Error {
  // A body that could not be read, and a proxy that refused, have errors of their own.
  if (error instanceof ImgctlError) return error;
  const { options, connector, hasResponded } = shared;
  const hasCa = options.ca !== undefined;
  // After an alert of TLS 1.3, undici only knows that the connection was lost.
  const cause = connector.takeAlert() ?? error;
  return toTransportError(cause, {
    ...options.endpoint,
    url: request.url,
    sent,
    hasCa,
    hasResponded,
  });
}

/** Returns undici's options for a body. @param onSending is called with false at the end */
function bodyOf(body: RequestBody, { headers }: RequestHead, onSending: (more: boolean) => void) {
  const follow = async function* () {
    for await (const chunk of body.chunks()) {
      onSending(true);
      yield chunk;
    }
    onSending(false);
  };
  return {
    // undici takes any iterable, although its types say less.
    body: follow() as unknown as Uint8Array,
    headers: { ...headers, 'content-length': `${body.length}` },
  };
}

type ReceivedHeaders = Readonly<Record<string, string | string[] | undefined>>;

function joinHeaders(raw: ReceivedHeaders): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

/** Decodes a body outside of this thread, chunk by chunk, as long as `hold` returns true. */
async function decode(body: Buffer, codings = '', hold: (chunk: Buffer) => boolean) {
  const names = codings.split(',').map((name) => name.trim().toLowerCase());
  const encoding = names.filter((name) => name !== '' && name !== 'identity').join();
  if (encoding === '' || body.length === 0) return body;
  const isGzip = encoding === 'gzip' || encoding === 'x-gzip';
  if (!isGzip && encoding !== 'br') throw new Error(`unknown content encoding ${encoding}`);
  const zlib = await import('node:zlib');
  const options = { chunkSize: 64 * 1024 };
  const decoder = isGzip ? zlib.createGunzip(options) : zlib.createBrotliDecompress(options);
  decoder.end(body);
  const chunks: Buffer[] = [];
  for await (const chunk of decoder) {
    // Leaving the loop ends the decoder.
    if (!hold(chunk)) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
