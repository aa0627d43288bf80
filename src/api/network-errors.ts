// What it means that a request got no usable answer: the network's error codes in words.

import { ImgctlError } from '../errors.ts';
import type { Exchange } from './transport.ts';

/** A request that got no usable answer. `sent` tells whether it may have had an effect. */
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

const CERTIFICATE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|EPROTO)/;
export const ANOTHER_AUTHORITY =
  'for a private certificate authority: imgctl config set ca-file /path/to/ca.pem';
export const EXPIRED =
  'check the clock of this machine, else ask the administrators of the service to renew it';
/** Where another certificate authority would not help. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/ALTNAME_INVALID|HOSTNAME_MISMATCH/, 'check the host of the base URL: imgctl config list'],
  [/EXPIRED|NOT_YET_VALID/, EXPIRED],
  [/PROTOCOL/, 'the service must speak TLS 1.2 or later: ask its administrators'],
];
interface Trouble {
  readonly reason: string;
  readonly hint: string | undefined;
  /** Another try would meet the same. */
  readonly isLasting?: true;
}

const FILTERED = 'check the network of this machine, and what filters it: firewall, VPN, proxy';
const OTHER_END = 'try again later, or ask the administrators of the service';
const CLOSED = { reason: 'the connection was closed', hint: OTHER_END };
const NO_CLIENT = { reason: 'the client is closed', hint: undefined, isLasting: true } as const;
const TROUBLES: ReadonlyMap<string, Trouble> = new Map<string, Trouble>([
  [
    'ECONNREFUSED',
    {
      reason: 'the connection was refused',
      hint: 'nothing listens there: check the port of the base URL (imgctl config list), or whether the service runs',
    },
  ],
  [
    'ENOTFOUND',
    {
      reason: 'the host name is not known',
      hint: 'check the host of the base URL: imgctl config list',
      isLasting: true,
    },
  ],
  [
    'EAI_AGAIN',
    {
      reason: 'the host name could not be looked up',
      hint: 'check the network and the name servers of this machine',
    },
  ],
  ['EHOSTUNREACH', { reason: 'the host cannot be reached', hint: FILTERED }],
  ['ENETUNREACH', { reason: 'the network cannot be reached', hint: FILTERED }],
  ['ETIMEDOUT', { reason: 'the connection timed out', hint: FILTERED }],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['UND_ERR_RES_CONTENT_LENGTH_MISMATCH', { reason: 'the answer broke off', hint: OTHER_END }],
  ['UND_ERR_CLOSED', NO_CLIENT],
  ['UND_ERR_DESTROYED', NO_CLIENT],
]);

/** The cause is kept for --debug; a message from the network is never shown as it is. */
export function networkError({ url }: Exchange, thrown: Error, sent: boolean): NoAnswer {
  // A proxy that refused: asking it again would lead nowhere.
  if (thrown instanceof ImgctlError) return new NoAnswer(thrown, sent, false);
  const code = (thrown as NodeJS.ErrnoException).code ?? '';
  if (code === 'UND_ERR_INVALID_ARG') {
    const error = new ImgctlError('usage', `cannot be sent as HTTP: ${thrown.message}`, {
      hint: 'check the method, the path and the token for characters that do not belong there',
      cause: thrown,
    });
    return new NoAnswer(error, sent, false);
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    const error = new ImgctlError('tls', `${url.host} does not speak TLS`, {
      hint: 'check the scheme and the port of the base URL: imgctl config list',
      cause: thrown,
    });
    return new NoAnswer(error, sent, false);
  }
  if (CERTIFICATE.test(code)) {
    const error = new ImgctlError('tls', `no trusted TLS connection to ${url.host}: ${code}`, {
      hint: REMEDIES.find(([codes]) => codes.test(code))?.[1] ?? ANOTHER_AUTHORITY,
      cause: thrown,
    });
    return new NoAnswer(error, sent, false);
  }
  const isOverflow = code === 'UND_ERR_HEADERS_OVERFLOW';
  if (thrown.name === 'HTTPParserError' || isOverflow) {
    const why = isOverflow ? ': too many headers' : code === '' ? '' : `: ${code}`;
    const error = new ImgctlError('bad-answer', `${url.origin} does not answer in HTTP${why}`, {
      hint: 'check the base URL and its port: imgctl config list',
      cause: thrown,
    });
    return new NoAnswer(error, sent, false);
  }
  const { reason, hint, isLasting = false } = troubleOf(thrown);
  const error = new ImgctlError('unreachable', `cannot reach ${url.origin}: ${reason}`, {
    hint,
    cause: thrown,
  });
  return new NoAnswer(error, sent, !isLasting);
}

function troubleOf({ code = '' }: NodeJS.ErrnoException): Trouble {
  return TROUBLES.get(code) ?? { reason: code || 'the connection failed', hint: OTHER_END };
}

/** A network's error in words; its code where there are none for it. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  return troubleOf(error).reason;
}

/** `waitingFor` as in "still …"; `sent` where the request itself was on its way. */
export function timeoutError(request: Exchange, waitingFor: string, sent: boolean): NoAnswer {
  const { method, url, timeout } = request;
  const what = `${method} ${url.origin}${url.pathname}`;
  const error = new ImgctlError(
    'timeout',
    `${what}: no complete answer within ${timeout / 1000} s, still ${waitingFor}`,
    { hint: 'give it longer with --timeout 60s, or check the base URL: imgctl config list' },
  );
  return new NoAnswer(error, sent, false);
}

/** `cap` in bytes. */
export function tooLarge({ url }: Exchange, status: number, cap: number): NoAnswer {
  const error = new ImgctlError(
    'bad-answer',
    `the answer of ${url.origin}${url.pathname} is larger than ${cap / 2 ** 20} MiB`,
    { hint: 'ask for less with --per-page', status },
  );
  return new NoAnswer(error, true, false);
}

export function undecodable({ url }: Exchange, status: number, cause: Error): NoAnswer {
  const error = new ImgctlError(
    'bad-answer',
    `cannot decode the answer of ${url.origin}${url.pathname}`,
    { hint: 'check that the base URL is the service: imgctl config list', status, cause },
  );
  return new NoAnswer(error, true, false);
}
