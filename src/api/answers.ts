// What an answer means: its JSON, or the error that its status and body stand for.

import { ImgctlError } from '../errors.ts';
import { isObject, parseJson } from './json.ts';
import { isPassing, isRepeatable, LAST_INSTANT, requestedWait } from './retry.ts';
import type { Answer } from './transport.ts';

/** An answer and what it answers, for messages. */
export interface Received extends Answer {
  readonly method: string;
  readonly url: URL;
  /** When it came, milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** What helps where something else than the service answers. */
const CHECK_BASE_URL = 'check that the base URL is the service: imgctl config list';

export function isSuccess({ status }: Pick<Received, 'status'>): boolean {
  return status >= 200 && status <= 299;
}

/** `GET https://host/path`, for messages; never the query, which may be long. */
function described(received: Pick<Received, 'method' | 'url'>): string {
  return `${received.method} ${received.url.origin}${received.url.pathname}`;
}

/**
 * The JSON of a successful answer.
 * @throws ImgctlError of the status; bad-answer where the body is no JSON
 */
export function readJson(received: Received): unknown {
  if (!isSuccess(received)) throw statusError(received);
  const parsed = parseJson(received.body);
  if (parsed) return parsed.value;
  throw new ImgctlError(
    'bad-answer',
    `${described(received)} answered ${received.status} with ${bodyKind(received)}`,
    { hint: CHECK_BASE_URL, status: received.status },
  );
}

/** An answer that is JSON but not of the documented shape. */
export function shapeError(received: Received, what: string): ImgctlError {
  return new ImgctlError(
    'bad-answer',
    `${described(received)} answered ${received.status}, but ${what}`,
    { hint: CHECK_BASE_URL, status: received.status },
  );
}

function bodyKind(received: Received): string {
  const start = received.body.subarray(0, 200).toString('utf8').trimStart();
  if (start === '') return 'an empty body instead of JSON';
  if (start.startsWith('<')) return 'HTML instead of JSON';
  return start.startsWith('{') || start.startsWith('[')
    ? 'JSON that breaks off, is malformed or nested too deep'
    : 'something that is not JSON';
}

/** The service's own reason, from the error record (section 2.6) or what else there is. */
export function serviceMessage(body: Buffer): string | undefined {
  const value = parseJson(body)?.value;
  if (!isObject(value)) return undefined;
  for (const candidate of [value.message, value.error, value.detail]) {
    if (typeof candidate === 'string' && candidate.trim() !== '') {
      return candidate.trim().slice(0, 500).replace(/\.$/, '');
    }
  }
  return undefined;
}

/** What a failure without a message says: the start of its body on one line, unless it is a web page. */
function bodyExcerpt(body: Buffer): string {
  const text = body.subarray(0, 2_000).toString('utf8').replace(/\s+/g, ' ').trim();
  return text.startsWith('<') ? 'with HTML instead of JSON' : text.slice(0, 200);
}

/** The error that a status other than 2xx stands for, sections 2.6 and 7. */
export function statusError(received: Received): ImgctlError {
  const { status } = received;
  const said = serviceMessage(received.body) ?? bodyExcerpt(received.body);
  const message = `${described(received)}: ${status}${said === '' ? '' : `, ${said}`}`;
  if (status >= 300 && status < 400) return redirectError(received);
  if (status === 401) return unauthorized(received);
  if (status === 403) return notPermitted(said, status);
  if (status === 404 || status === 410) {
    return new ImgctlError('not-found', message, { hint: CHECK_BASE_URL, status });
  }
  if (status === 407) return new ImgctlError('proxy', message, { status });
  if (status === 429) return rateLimited(received);
  if (status >= 500) {
    const isTriedAgain = isPassing(status) && isRepeatable(received.method);
    const hint = `the service failed; try again later${isTriedAgain ? ', or with more --retries' : ''}`;
    return new ImgctlError('server-error', message, { hint, status });
  }
  return new ImgctlError('failed', message, { status });
}

/** Section 7: the five reasons for a 401, told apart by their message. */
function unauthorized(received: Received): ImgctlError {
  const said = serviceMessage(received.body) ?? 'no reason given';
  if (/not authorized/i.test(said)) return notPermitted(said, 401);
  if (/password/i.test(said)) return wrongCredentials(`the service says: ${said}`);
  return new ImgctlError('token-refused', `the service refused the access token: ${said}`, {
    status: 401,
  });
}

/** Without a hint: what helps depends on where the password came from. */
export function wrongCredentials(message: string): ImgctlError {
  return new ImgctlError('wrong-credentials', message, { status: 401 });
}

function notPermitted(said: string, status: number): ImgctlError {
  return new ImgctlError('not-permitted', `the service says: ${said || 'not permitted'}`, {
    hint: 'ask the administrators of the service for permission to use its API',
    status,
  });
}

function redirectError(received: Received): ImgctlError {
  const { location } = received.headers;
  const target =
    location !== undefined && URL.canParse(location, received.url.href)
      ? new URL(location, received.url)
      : undefined;
  const where = target ? ` to ${target.protocol}//${target.host}${target.pathname}` : '';
  return new ImgctlError(
    'failed',
    `${described(received)} was redirected${where} (${received.status}); redirects are not followed`,
    {
      hint: 'if that is where the service is now: imgctl config set base-url URL',
      status: received.status,
    },
  );
}

/** 429, with the time at which it ends where the answer tells. */
export function rateLimited(received: Received): ImgctlError {
  const { headers, receivedAt } = received;
  const wait = requestedWait(headers, 429, receivedAt);
  const when = wait === undefined ? 'later' : `after ${timeOf(receivedAt + wait)}`;
  return new ImgctlError('rate-limited', `${described(received)}: too many requests`, {
    hint: `try again ${when}`,
    status: 429,
  });
}

/** UTC, the next full second; a time beyond what a Date holds is as good as never. */
export function timeOf(milliseconds: number): string {
  const date = new Date(Math.min(Math.ceil(milliseconds / 1000) * 1000, LAST_INSTANT));
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
