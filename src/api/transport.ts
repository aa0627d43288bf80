// One exchange with the service: a request out, its whole answer back, within a deadline and a size.

import Pool from 'undici/lib/dispatcher/pool.js';
import type { Attempt } from './attempt.ts';
import { type ConnectOptions, createConnector } from './connect.ts';
import { networkError, timeoutError, tooLarge, undecodable } from './network-errors.ts';

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds from now to the last byte of the answer. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** By name in lower case; repeated ones joined by ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded. */
  readonly body: Buffer;
  /** Bytes of the body as they came. */
  readonly wireBytes: number;
}

export interface TransportOptions extends ConnectOptions {
  readonly origin: string;
  /** Connections at a time. */
  readonly connections: number;
  /** Cap of an answer's body, decoded, in bytes. */
  readonly maxBytes: number;
}

export interface Transport {
  /** @throws NoAnswer; the signal's reason when it aborts */
  exchange(request: Exchange): Promise<Answer>;
  /** The connection that was begun last. */
  latest(): Attempt | undefined;
  close(): Promise<void>;
}

export function createTransport(options: TransportOptions): Transport {
  const connector = createConnector(options);
  const pool = new Pool(options.origin, {
    connections: options.connections,
    connect: (target, done) =>
      connector.connect(target, done as Parameters<typeof connector.connect>[1]),
    // One deadline spans the whole exchange; undici's own would be a second opinion for each gap.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    exchange: (request) => exchange(pool, options, request, connector.latest),
    latest: connector.latest,
    async close() {
      connector.close();
      await pool.destroy();
    },
  };
}

function exchange(
  pool: Pool,
  options: TransportOptions,
  request: Exchange,
  latest: Transport['latest'],
): Promise<Answer> {
  const { url, signal } = request;
  return new Promise((resolve, reject) => {
    let controller: { abort(reason: Error): void } | undefined;
    let ended = false;
    let status = 0;
    let headers: Record<string, string> = {};
    let wireBytes = 0;
    const chunks: Buffer[] = [];

    const finish = (settle: () => void) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      signal.removeEventListener('abort', aborted);
      settle();
    };
    const fail = (error: Error) => {
      finish(() => reject(error));
      controller?.abort(error);
    };
    const aborted = () => fail(signal.reason);
    const waitingFor = () => {
      if (status !== 0) return 'reading the answer';
      return controller ? 'waiting for the answer' : latest()?.describe();
    };
    const timedOut = () =>
      fail(timeoutError(request, waitingFor() ?? 'connecting', controller !== undefined));
    const timer = setTimeout(timedOut, request.timeout);
    if (signal.aborted) return aborted();
    signal.addEventListener('abort', aborted, { once: true });

    pool.dispatch(
      {
        method: request.method as 'GET',
        path: `${url.pathname}${url.search}`,
        headers: request.headers,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (ended) started.abort(new Error('given up'));
        },
        onResponseStart(_controller, statusCode, rawHeaders) {
          status = statusCode;
          headers = flatten(rawHeaders);
        },
        onResponseData(_controller, chunk) {
          wireBytes += chunk.length;
          if (wireBytes > options.maxBytes) fail(tooLarge(request, status, options.maxBytes));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          decode(Buffer.concat(chunks), headers['content-encoding'], options.maxBytes).then(
            (body) => finish(() => resolve({ status, headers, body, wireBytes })),
            (error: NodeJS.ErrnoException) =>
              fail(
                error.code === 'ERR_BUFFER_TOO_LARGE'
                  ? tooLarge(request, status, options.maxBytes)
                  : undecodable(request, status, error),
              ),
          );
        },
        onResponseError(_controller, error) {
          fail(networkError(request, error, controller !== undefined));
        },
      },
    );
  });
}

function flatten(raw: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

async function decode(body: Buffer, named: string | undefined, cap: number): Promise<Buffer> {
  const encoding = named?.trim().toLowerCase();
  if (encoding === undefined || encoding === 'identity' || body.length === 0) return body;
  const zlib = await import('node:zlib');
  const limit = { maxOutputLength: cap };
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.gunzipSync(body, limit);
  if (encoding === 'br') return zlib.brotliDecompressSync(body, limit);
  throw new Error(`unknown content encoding ${encoding}`);
}
