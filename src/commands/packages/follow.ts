// Follows a sync request until it finishes.

import type { SyncId, SyncRequest } from '../../api/sync-requests.ts';
import { option, type Parsed } from '../../cli/declare.ts';
import { duration, parseDuration, type Value } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { hasCode, ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { stringify } from '../../json.ts';
import { describeDuration, shorten } from '../../words.ts';
import { rememberRequest } from './history.ts';

export const LIST_REQUESTS = hint`list your requests with: ${imgctl('sync-status', '--list')}`;

/** Milliseconds. */
const MIN_INTERVAL = 500;
const FIRST_INTERVAL = 2_000;
const MAX_INTERVAL = 15_000;

const POLL_INTERVAL: Value<number> = {
  parse(text, name) {
    const milliseconds = parseDuration(text, name);
    if (milliseconds >= MIN_INTERVAL) return milliseconds;
    throw new ImgctlError('usage', `${name} must be at least ${MIN_INTERVAL}ms (got ${text})`);
  },
};

export const POLL_OPTIONS = [
  option('--poll-interval <duration>', 'check this often (2s, slowing to 15s)', {
    value: POLL_INTERVAL,
  }),
  option('--wait-timeout <duration>', 'stop waiting after this time and exit with 7', {
    default: '1h',
    value: duration(),
  }),
] as const;

const TRANSIENT = ['unreachable', 'timeout', 'locked', 'server-error', 'bad-answer', 'proxy'];

/** Milliseconds in which a service may not show a request, until another replica knows it. */
const MAX_UNSEEN = 60_000;

/** A sync request, and what the history of this machine says of it. */
interface KnownRequest {
  readonly id: SyncId;
  /** True if the history has the request; it then gets the status that was read. */
  readonly isStored: boolean;
  /** Milliseconds since the service accepted or showed the request; Infinity if unknown. */
  readonly age: number;
}

/**
 * Checks the status until the request finishes, and remembers it at the end of the wait.
 * @throws ImgctlError still-waiting, interrupted or a lasting failure, with the command to go on
 */
export async function follow(
  context: Context,
  known: KnownRequest,
  options: Parsed<typeof POLL_OPTIONS>,
): Promise<SyncRequest> {
  const { tell } = context;
  const { id, isStored } = known;
  let last: SyncRequest | undefined;
  tell({ kind: 'begin' });
  try {
    for await (const request of poll(context, known, options)) last = request;
  } catch (error) {
    throw error instanceof ImgctlError ? waitError(id, error) : error;
  } finally {
    await tell({ kind: 'end' });
    if (last && isStored) await rememberRequest(context, id, last);
  }
  if (last && last.state !== 'waiting') return last;
  const { waitTimeout } = options;
  const within = waitTimeout < 1_000 ? `${waitTimeout} ms` : describeDuration(waitTimeout);
  const status = describeStatus(last);
  const message = `sync request ${id} did not finish within ${within} (${status})`;
  const resume = hint`keep waiting with: ${imgctl('sync-status', `${id}`, '--wait')}`;
  throw new ImgctlError('still-waiting', message, { facts: resume });
}

/** Yields the request each time it was read, until it has finished or the time is over. */
async function* poll(
  context: Context,
  { id, age }: KnownRequest,
  { pollInterval, waitTimeout }: Parsed<typeof POLL_OPTIONS>,
): AsyncGenerator<SyncRequest, void, void> {
  const { io } = context;
  const started = io.elapsed();
  const left = () => started + waitTimeout - io.elapsed();
  /** When the service last accepted or showed the request, on the clock of `elapsed`. */
  let seenAt = started - age;
  let interval = pollInterval ?? FIRST_INTERVAL;
  for (;;) {
    let pause = interval;
    // The last check may take 2 s, even beyond the limit.
    const deadline = AbortSignal.timeout(Math.max(left(), 2_000));
    try {
      const mustExist = started - seenAt < MAX_UNSEEN;
      const request = await readRequest(context, id, mustExist, deadline);
      seenAt = io.elapsed();
      reportState(context, request, started);
      yield request;
      if (request.state !== 'waiting') return;
    } catch (error) {
      if (deadline.aborted) break;
      const mayAppear = io.elapsed() - seenAt < MAX_UNSEEN;
      if (!(error instanceof ImgctlError) || !isTransient(error, mayAppear)) throw error;
      const { retryAfter = 0 } = error;
      // A limit beyond the wait: nothing more can be seen, and the error says when to come back.
      if (retryAfter > 0 && retryAfter >= left()) throw error;
      pause = Math.max(interval, retryAfter);
      reportRetry(context, id, error, pause);
    }
    if (left() <= 0) break;
    await io.sleep(Math.min(pause, left()), io.signal);
    if (pollInterval === undefined) interval = Math.min(interval * 1.5, MAX_INTERVAL);
  }
  // An interrupt during the last check counts more than the end of the time.
  io.signal.throwIfAborted();
}

/** @param started when the wait began */
function reportState({ io, tell }: Context, request: SyncRequest, started: number): void {
  const { id, status } = request;
  const state = status ?? describeStatus(request);
  const text = `sync ${id}: ${state}`;
  const describe = () => {
    const waited = io.elapsed() - started;
    const time = describeDuration(waited);
    return waited < 30_000 ? `${text} ${time}` : `sync ${id}: still ${state} after ${time}`;
  };
  tell({ kind: 'progress', text, describe });
}

/** @param pause milliseconds until the next check */
function reportRetry({ io, tell }: Context, id: SyncId, error: ImgctlError, pause: number): void {
  const { code, status, message } = error;
  const failing = status ? `still failing (${status})` : message;
  const what = `sync ${id}: ${code === 'not-found' ? 'not found yet' : failing}`;
  const nextAt = io.elapsed() + pause;
  const describe = () => `${what}; next try in ${describeDuration(nextAt - io.elapsed())}`;
  tell({ kind: 'progress', text: `${what}; retrying`, describe });
}

/** True if the error of a check says nothing about the request. */
function isTransient({ code, retryAfter }: ImgctlError, mayAppear: boolean): boolean {
  if (code === 'not-found') return mayAppear;
  // Without a time, it is the limit of token requests.
  if (code === 'rate-limited') return retryAfter !== undefined;
  return TRANSIENT.includes(code);
}

/** Returns the error of a wait that failed, while the service continues with the request. */
function waitError(id: SyncId, error: ImgctlError): ImgctlError {
  if (error.code === 'not-found') return error;
  const resume = followHint(id);
  const message = `${error.message}; sync request ${id} continues`;
  const facts = error.facts ? hint`${error.facts}; then ${resume}` : resume;
  return error.with({ message, facts });
}

export function followHint(id: SyncId): Facts {
  return hint`follow it with: ${imgctl('sync-status', `${id}`, '--wait')}`;
}

function describeStatus(request: SyncRequest | undefined): string {
  if (request === undefined) return 'status: unknown';
  const { status, response } = request;
  return status ? `status: ${status}` : `no status in ${shorten(stringify(response), 200)}`;
}

/** True if the request exists, although the service may not show it yet. */
export function isRecent({ age }: KnownRequest): boolean {
  return age < MAX_UNSEEN;
}

/** @param mustExist decides what a 404 means: the request is not shown yet, or does not exist */
export async function readRequest(
  context: Context,
  id: SyncId,
  mustExist: boolean,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!hasCode(error, 'not-found')) throw error;
    if (mustExist) {
      const message = `sync request ${id} was submitted, but cannot be found`;
      throw error.with({ message, facts: followHint(id) });
    }
    throw error.with({
      message: `sync request ${id} does not exist`,
      facts: hint`if another user submitted it, log in as that user; ${LIST_REQUESTS}`,
    });
  });
}
