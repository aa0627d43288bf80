// One exchange with the service: a request out, its whole answer back, within a deadline and a size.

import Pool from 'undici/lib/dispatcher/pool.js';
import { ImgctlError } from '../errors.ts';
import { type ConnectOptions, createConnector } from './connect.ts';

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

/** A request that got no answer. `sent` tells whether it may have had an effect. */
export class NoAnswer extends ImgctlError {
  readonly sent: boolean;
  /** Worth another try: the network failed, not the configuration. */
  readonly transient: boolean;

  constructor(error: ImgctlError, sent: boolean, transient: boolean) {
    super(error.code, error.message, {
      hint: error.hint,
      status: error.status,
      cause: error.cause,
    });
    this.sent = sent;
    this.transient = transient;
  }
}

export interface TransportOptions extends ConnectOptions {
  readonly origin: string;
  /** Connections at a time. */
  readonly connections: number;
  /** Cap of an answer's body, decoded, in bytes. */
  readonly maxBytes: number;
}

export interface Transport {
  /** @throws NoAnswer; the signal's reason when it aborts; ImgctlError bad-answer when it is too large */
  exchange(request: Exchange): Promise<Answer>;
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
    exchange: (request) => exchange(pool, options, request),
    async close() {
      connector.close();
      await pool.destroy();
    },
  };
}

function exchange(pool: Pool, options: TransportOptions, request: Exchange): Promise<Answer> {
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
    const timedOut = () => fail(timeoutError(request, controller !== undefined));
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
          if (wireBytes > options.maxBytes) fail(tooLarge(request, options.maxBytes));
          else chunks.push(chunk);
        },
        onResponseEnd() {
          decode(Buffer.concat(chunks), headers['content-encoding'], options.maxBytes).then(
            (body) => finish(() => resolve({ status, headers, body, wireBytes })),
            (error: NodeJS.ErrnoException) =>
              fail(
                error.code === 'ERR_BUFFER_TOO_LARGE'
                  ? tooLarge(request, options.maxBytes)
                  : new ImgctlError(
                      'bad-answer',
                      `cannot decode the answer of ${url.origin}${url.pathname}`,
                      {
                        status,
                        cause: error,
                      },
                    ),
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

async function decode(body: Buffer, encoding: string | undefined, cap: number): Promise<Buffer> {
  if (encoding === undefined || encoding === 'identity' || body.length === 0) return body;
  const zlib = await import('node:zlib');
  const limit = { maxOutputLength: cap };
  if (encoding === 'gzip' || encoding === 'x-gzip') return zlib.gunzipSync(body, limit);
  if (encoding === 'br') return zlib.brotliDecompressSync(body, limit);
  throw new Error(`unknown content encoding ${encoding}`);
}

function tooLarge(request: Exchange, cap: number): ImgctlError {
  const { origin, pathname } = request.url;
  return new ImgctlError(
    'bad-answer',
    `the answer of ${origin}${pathname} is larger than ${cap / 2 ** 20} MiB`,
    { hint: 'ask for less with --per-page' },
  );
}

function timeoutError(request: Exchange, sent: boolean): NoAnswer {
  const { origin, pathname } = request.url;
  const error = new ImgctlError(
    'timeout',
    `${request.method} ${origin}${pathname}: no complete answer within ${request.timeout / 1000} s`,
    { hint: 'give it longer with --timeout 60s, or check the base URL: imgctl config list' },
  );
  return new NoAnswer(error, sent, false);
}

const CERTIFICATE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
const REFUSALS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  UND_ERR_SOCKET: 'the connection was closed',
  ETIMEDOUT: 'the connection timed out',
};

/** The cause is kept for --debug; a message from the network is never shown as it is. */
function networkError(request: Exchange, thrown: Error, sent: boolean): Error {
  if (thrown instanceof ImgctlError)
    return thrown.code === 'proxy' ? new NoAnswer(thrown, false, false) : thrown;
  const code = (thrown as NodeJS.ErrnoException).code ?? '';
  const { origin, host } = request.url;
  if (CERTIFICATE.test(code)) {
    const error = new ImgctlError('tls', `no trusted TLS connection to ${host}: ${code}`, {
      hint: 'for a private certificate authority: imgctl config set ca-file /path/to/ca.pem',
      cause: thrown,
    });
    return new NoAnswer(error, sent, false);
  }
  if (code.startsWith('HPE_') || code === 'UND_ERR_HEADERS_OVERFLOW') {
    const error = new ImgctlError('bad-answer', `${origin} does not answer in HTTP: ${code}`, {
      hint: 'check the base URL and its port: imgctl config list',
      cause: thrown,
    });
    return new NoAnswer(error, sent, false);
  }
  const reason = REFUSALS[code] ?? (code || 'the connection failed');
  const error = new ImgctlError('unreachable', `cannot reach ${origin}: ${reason}`, {
    hint: 'check the base URL and the network: imgctl config list',
    cause: thrown,
  });
  return new NoAnswer(error, sent, code !== 'ENOTFOUND');
}
