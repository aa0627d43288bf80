// Follows a sync request until it finishes.

import type { SyncId, SyncRequest } from '../../api/sync-requests.ts';
import { option, type Parsed } from '../../cli/command.ts';
import { duration } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { hasCode, ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { stringify } from '../../json.ts';
import { describeDuration, shorten } from '../../words.ts';
import { rememberRequest } from './history.ts';

export const LIST_REQUESTS = hint`list your requests with: ${imgctl('sync-status', '--list')}`;

export const POLL_OPTIONS = [
  option('--poll-interval <duration>', 'check this often (2s, slowing to 15s)', {
    value: duration(),
  }),
  option('--wait-timeout <duration>', 'stop waiting after this time and exit with 7', {
    default: '1h',
    value: duration(),
  }),
] as const;

const TRANSIENT = ['unreachable', 'timeout', 'locked', 'server-error', 'bad-answer', 'proxy'];

/** A service may accept a request and show it only later, or not show it again, until another replica knows it. */
const MAX_UNSEEN = 60_000;

/**
 * Checks the status until the request finishes, and remembers it at the end of the wait.
 * @param age milliseconds since it was submitted or seen, if it was from this machine
 * @throws ImgctlError still-waiting, interrupted, or a lasting failure, with the command that resumes
 */
export async function follow(
  context: Context,
  id: SyncId,
  options: Parsed<typeof POLL_OPTIONS>,
  age: number | undefined,
): Promise<SyncRequest> {
  const { tell } = context;
  let last: SyncRequest | undefined;
  tell({ kind: 'begin' });
  try {
    for await (const request of poll(context, id, options, age)) last = request;
  } catch (error) {
    throw waitError(id, error, last !== undefined || unseenFor(age) > 0);
  } finally {
    await tell({ kind: 'end' });
    if (last && age !== undefined) await rememberRequest(context, id, last);
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
  id: SyncId,
  { pollInterval, waitTimeout }: Parsed<typeof POLL_OPTIONS>,
  age: number | undefined,
): AsyncGenerator<SyncRequest, void, void> {
  const { io } = context;
  const started = io.elapsed();
  const elapsed = () => io.elapsed() - started;
  /** In milliseconds of the wait: until then, a 404 may mean that the service does not show the request yet. */
  let unseenUntil = unseenFor(age);
  let interval = pollInterval ?? 2_000;
  for (;;) {
    let pause = interval;
    // The last check may take 2 s, even beyond the limit.
    const deadline = AbortSignal.timeout(Math.max(waitTimeout - elapsed(), 2_000));
    try {
      const request = await readRequest(context, id, { signal: deadline });
      unseenUntil = elapsed() + MAX_UNSEEN;
      reportState(context, request, started);
      yield request;
      if (request.state !== 'waiting') return;
    } catch (error) {
      if (deadline.aborted) break;
      if (!(error instanceof ImgctlError)) throw error;
      if (!isTransient(error, elapsed() < unseenUntil)) throw error;
      // A service may ask to wait beyond the limit.
      const { retryAfter = 0 } = error;
      if (retryAfter > 0 && elapsed() + retryAfter >= waitTimeout) throw error;
      pause = Math.max(interval, retryAfter);
      reportRetry(context, id, error, pause);
    }
    const left = waitTimeout - elapsed();
    if (left <= 0) break;
    await io.sleep(Math.min(pause, left), io.signal);
    if (pollInterval === undefined) interval = Math.min(interval * 1.5, 15_000);
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
function isTransient({ code, retryAfter }: ImgctlError, mayBeUnseen: boolean): boolean {
  if (code === 'not-found') return mayBeUnseen;
  // Without a time, it is the limit of token requests.
  if (code === 'rate-limited') return retryAfter !== undefined;
  return TRANSIENT.includes(code);
}

export function followHint(id: SyncId): Facts {
  return hint`follow it with: ${imgctl('sync-status', `${id}`, '--wait')}`;
}

/**
 * Returns for how many milliseconds more a 404 may mean that the service does not show the request yet: 45 s for one
 * that is 15 s old, 0 or less for an old one and for one that is not from this machine.
 */
function unseenFor(age: number | undefined): number {
  if (age === undefined) return 0;
  // A clock that was set back since makes an age negative.
  return MAX_UNSEEN - Math.max(age, 0);
}

/** Returns the error of a wait that failed, while the service continues with the request. */
function waitError(id: SyncId, error: unknown, mustExist: boolean): unknown {
  if (!(error instanceof ImgctlError)) return error;
  if (error.code === 'not-found') return mustExist ? unseenError(id, error) : error;
  const resume = followHint(id);
  const message = `${error.message}; sync request ${id} continues`;
  const facts = error.facts ? hint`${error.facts}; then ${resume}` : resume;
  return error.with({ message, facts });
}

function unseenError(id: SyncId, error: ImgctlError): ImgctlError {
  const message = `sync request ${id} was submitted, but cannot be found`;
  return error.with({ message, facts: followHint(id) });
}

function describeStatus(request: SyncRequest | undefined): string {
  if (request === undefined) return 'status: unknown';
  const { status, response } = request;
  return status ? `status: ${status}` : `no status in ${shorten(stringify(response), 200)}`;
}

/** @param age as for `follow` */
export async function readRequest(
  context: Context,
  id: SyncId,
  { signal, age }: { signal?: AbortSignal; age?: number | undefined },
) {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!hasCode(error, 'not-found')) throw error;
    if (unseenFor(age) > 0) throw unseenError(id, error);
    throw error.with({
      message: `sync request ${id} does not exist`,
      facts: hint`if another user submitted it, log in as that user; ${LIST_REQUESTS}`,
    });
  });
}
