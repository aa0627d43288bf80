// Follows a sync request until it finishes.

import type { SyncId, SyncRequest } from '../../../api/sync-requests.ts';
import { option, type Parsed } from '../../../cli/declare.ts';
import { duration, parseDuration, type Value } from '../../../config/values.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { hint, imgctl } from '../../../facts.ts';
import { stringify } from '../../../json.ts';
import { describeDuration, shorten } from '../../../words.ts';
import { rememberRequest } from './history.ts';
import { followHint, isRecent, readRequest } from './read-request.ts';

/** Milliseconds between two checks. */
const MIN_INTERVAL = 500;
const FIRST_INTERVAL = 2_000;
const MAX_INTERVAL = 15_000;
/** Milliseconds that the last check may take, even beyond the limit. */
const LAST_CHECK = 2_000;

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

/** A request to follow. Its state is stored if it is in the history. */
export interface Followed {
  readonly id: SyncId;
  readonly isInHistory: boolean;
  /** When the service last accepted or showed it, on the clock of `elapsed`; -Infinity: unknown. */
  readonly seenAt: number;
}

export function justSubmitted(id: SyncId, { io }: Context): Followed {
  return { id, isInHistory: true, seenAt: io.elapsed() };
}

/**
 * Checks the status until the request finishes, and stores it at the end of the wait.
 * @throws ImgctlError still-waiting, interrupted or a lasting failure; its hint resumes the wait
 */
export async function follow(
  context: Context,
  followed: Followed,
  options: Parsed<typeof POLL_OPTIONS>,
): Promise<SyncRequest> {
  const { console } = context;
  const { id, isInHistory } = followed;
  let last: SyncRequest | undefined;
  console.progress.start();
  try {
    for await (const request of poll(context, followed, options)) last = request;
  } catch (error) {
    throw error instanceof ImgctlError ? withResume(id, error) : error;
  } finally {
    console.progress.end();
    if (last && isInHistory) await rememberRequest(context, 'checked', last);
  }
  if (last && last.state !== 'waiting') return last;
  throw stillWaiting(id, last, options.waitTimeout);
}

/**
 * Checks a request again and again, and yields what it reads. The end:
 *
 *     the request has finished                     | it was yielded last
 *     the time is over                             | what was yielded last still waits
 *     an error that will not pass, or an interrupt | it is thrown
 *     a 429 for longer than the time that is left  | it is thrown: it says when to come back
 */
async function* poll(
  context: Context,
  followed: Followed,
  { pollInterval, waitTimeout }: Parsed<typeof POLL_OPTIONS>,
): AsyncGenerator<SyncRequest, void, void> {
  const { io } = context;
  const started = io.elapsed();
  const left = () => started + waitTimeout - io.elapsed();
  const { id } = followed;
  let { seenAt } = followed;
  let wasSeen = isRecent(started - seenAt);
  let interval = pollInterval ?? FIRST_INTERVAL;
  for (;;) {
    let pause = interval;
    const checked = await check(context, id, wasSeen, Math.max(left(), LAST_CHECK));
    if (checked === 'too late') break;
    if (checked instanceof ImgctlError) {
      const mayAppear = isRecent(io.elapsed() - seenAt);
      const { retryAfter = 0 } = checked;
      const isBeyondWait = checked.code === 'rate-limited' && retryAfter > Math.max(left(), 0);
      if (isBeyondWait || !mayPass(checked, mayAppear)) throw checked;
      pause = Math.max(interval, retryAfter);
      reportRetry(context, id, checked, pause);
    } else {
      wasSeen = true;
      seenAt = io.elapsed();
      reportState(context, checked, started);
      yield checked;
      if (checked.state !== 'waiting') return;
    }
    if (left() <= 0) break;
    await io.sleep(Math.min(pause, left()), io.signal);
    if (pollInterval === undefined) interval = Math.min(interval * 1.5, MAX_INTERVAL);
  }
  // An interrupt during the last check counts more than the end of the time.
  io.signal.throwIfAborted();
}

/** Reads the request once. @param time milliseconds after which it is too late */
async function check(
  context: Context,
  id: SyncId,
  wasSeen: boolean,
  time: number,
): Promise<SyncRequest | ImgctlError | 'too late'> {
  const deadline = AbortSignal.timeout(time);
  try {
    return await readRequest(context, id, wasSeen, deadline);
  } catch (error) {
    if (deadline.aborted) return 'too late';
    if (error instanceof ImgctlError) return error;
    throw error;
  }
}

const TRANSIENT = ['unreachable', 'timeout', 'locked', 'server-error', 'bad-answer', 'proxy'];

/** True if a later check may succeed. @param mayAppear if a 404 may be too early */
export function mayPass({ code, retryAfter }: ImgctlError, mayAppear: boolean): boolean {
  if (code === 'not-found') return mayAppear;
  // Without a time, it is the limit of token requests.
  if (code === 'rate-limited') return retryAfter !== undefined;
  return TRANSIENT.includes(code);
}

/** @param started when the wait began */
function reportState({ io, console }: Context, request: SyncRequest, started: number): void {
  const { id, status } = request;
  const state = status ?? describeStatus(request);
  const text = `sync ${id}: ${state}`;
  const describe = () => {
    const waited = io.elapsed() - started;
    const time = describeDuration(waited);
    return waited < 30_000 ? `${text} ${time}` : `sync ${id}: still ${state} after ${time}`;
  };
  console.progress.show(text, describe);
}

/** @param pause milliseconds until the next check */
function reportRetry(
  { io, console }: Context,
  id: SyncId,
  error: ImgctlError,
  pause: number,
): void {
  const { code, status = 0, message } = error;
  // The status of a page for maintenance may be 200.
  const failing = status >= 400 ? `still failing (${status})` : message;
  const what = `sync ${id}: ${code === 'not-found' ? 'not found yet' : failing}`;
  const nextAt = io.elapsed() + pause;
  const describe = () => `${what}; next try in ${describeDuration(nextAt - io.elapsed())}`;
  console.progress.show(`${what}; retrying`, describe);
}

/** Adds to the error of a wait that the service goes on, and the command that resumes. */
function withResume(id: SyncId, error: ImgctlError): ImgctlError {
  // Its hint says how to go on, or that there is no such request.
  if (error.code === 'not-found') return error;
  const resume = followHint(id);
  const message = `${error.message}; sync request ${id} continues`;
  const facts = error.facts ? hint`${error.facts}; then ${resume}` : resume;
  return error.with({ message, facts });
}

function stillWaiting(id: SyncId, last: SyncRequest | undefined, waitTimeout: number): ImgctlError {
  const within = waitTimeout < 1_000 ? `${waitTimeout} ms` : describeDuration(waitTimeout);
  const status = last ? describeStatus(last) : 'status: unknown';
  const message = `sync request ${id} did not finish within ${within} (${status})`;
  const resume = hint`keep waiting with: ${imgctl('sync-status', `${id}`, '--wait')}`;
  return new ImgctlError('still-waiting', message, { facts: resume });
}

function describeStatus({ status, response }: SyncRequest): string {
  return status ? `status: ${status}` : `no status in ${shorten(stringify(response), 200)}`;
}
