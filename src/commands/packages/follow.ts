// Follows a sync request until it finishes, and remembers it.

import type { SyncId, SyncRequest } from '../../api/sync-requests.ts';
import { option, type Parsed } from '../../cli/command.ts';
import { findPaths } from '../../config/paths.ts';
import { duration } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import { errorReason, hasCode, ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { stringify } from '../../json.ts';
import { describeDuration, shorten } from '../../words.ts';
import { type HistoryEntry, remember } from './history.ts';

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

export async function rememberRequest(
  context: Context,
  id: SyncId,
  request: Partial<Pick<SyncRequest, 'status' | 'errors' | 'added' | 'deleted'>>,
  isNew = false,
): Promise<void> {
  const { account, cache } = await context.session();
  const now = new Date(context.io.now()).toISOString();
  const { profile, baseUrl: base_url } = account;
  const { status = null, errors } = request;
  const entry = {
    profile,
    base_url,
    id,
    submitted_on: now,
    checked_on: now,
    status,
    errors: errors?.length,
    added: shortened(request.added),
    deleted: shortened(request.deleted),
  };
  const { state } = findPaths(context.io);
  await remember(state, context.io, entry, isNew).catch((error: unknown) => {
    // If the token could not be stored either, a warning has already said so.
    if (cache.writeFailed) return;
    const known = error instanceof ImgctlError ? error : undefined;
    const message = known?.message ?? `cannot store the sync history: ${errorReason(error)}`;
    context.tell({ kind: 'warning', message, hint: known?.facts });
  });
}

const MAX_NAMES = 20;

function shortened(images: SyncRequest['added']): HistoryEntry['added'] {
  if (!Array.isArray(images)) return typeof images === 'number' ? images : undefined;
  return images.length > MAX_NAMES ? images.length : elementNames(images);
}

/** Returns the names of what a sync changed; an element without one is printed as JSON. */
export function elementNames(elements: readonly unknown[]): string[] {
  return elements.map((element) => {
    const { name = element } = Object(element) as { name?: unknown };
    return typeof name === 'string' ? name : stringify(element);
  });
}

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
  const { io, tell } = context;
  const seen: { last?: SyncRequest } = {};
  // The service continues with the request, whatever ended the wait.
  const next = followHint(id);
  const continues = (error: ImgctlError) => {
    const message = `${error.message}; sync request ${id} continues`;
    return error.with({ message, facts: error.facts ? hint`${error.facts}; then ${next}` : next });
  };
  tell({ kind: 'begin' });
  try {
    const finished = await poll(context, id, options, age, seen);
    if (finished) return finished;
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    if (error.code !== 'not-found') throw continues(error);
    throw seen.last || isYoung(age) ? unseenError(id, error) : error;
  } finally {
    await tell({ kind: 'end' });
    if (seen.last && age !== undefined) await rememberRequest(context, id, seen.last);
  }
  if (io.signal.aborted) throw continues(io.signal.reason);
  const { waitTimeout } = options;
  const within = waitTimeout < 1_000 ? `${waitTimeout} ms` : describeDuration(waitTimeout);
  const status = describeStatus(seen.last);
  const message = `sync request ${id} did not finish within ${within} (${status})`;
  const facts = hint`keep waiting with: ${imgctl('sync-status', `${id}`, '--wait')}`;
  throw new ImgctlError('still-waiting', message, { facts });
}

/** Returns the request when it has finished; undefined after the timeout or an interrupt. @param seen receives what was read */
async function poll(
  context: Context,
  id: SyncId,
  { pollInterval, waitTimeout: timeout }: Parsed<typeof POLL_OPTIONS>,
  age: number | undefined,
  seen: { last?: SyncRequest },
): Promise<SyncRequest | undefined> {
  const { io } = context;
  const started = io.elapsed();
  const elapsed = () => io.elapsed() - started;
  /** When the request was submitted or seen last, in milliseconds of the wait: negative if before it. */
  let knownAt = age === undefined ? Number.NEGATIVE_INFINITY : -ageOf(age);
  const mayBeUnseen = () => elapsed() - knownAt < MAX_UNSEEN;
  let interval = pollInterval ?? 2_000;
  /** When the service allows the next check, in milliseconds of the wait. */
  let allowedAt = 0;
  for (;;) {
    // The last check may take 2 s, even beyond the limit.
    const deadline = AbortSignal.timeout(Math.max(timeout - elapsed(), 2_000));
    const check = readRequest(context, id, { signal: deadline });
    const request = await check.catch((error: unknown) => {
      if (deadline.aborted) return undefined;
      if (!(error instanceof ImgctlError) || !isTransient(error, mayBeUnseen())) throw error;
      const { retryAfter } = error;
      allowedAt = retryAfter === undefined ? 0 : elapsed() + retryAfter;
      if (allowedAt >= timeout) throw error;
      const nextAt = Math.max(elapsed() + interval, allowedAt);
      reportRetry(context, id, error, () => nextAt - elapsed());
      return undefined;
    });
    if (request) {
      seen.last = request;
      knownAt = elapsed();
      reportState(context, id, elapsed, request.status ?? describeStatus(request));
      if (request.state !== 'waiting') return request;
    }
    const left = timeout - elapsed();
    if (left <= 0) return undefined;
    const wait = Math.max(interval, allowedAt - elapsed());
    await io.sleep(Math.min(wait, left), io.signal);
    if (pollInterval === undefined) interval = Math.min(interval * 1.5, 15_000);
  }
}

/** @param elapsed returns the milliseconds of the wait */
function reportState({ tell }: Context, id: SyncId, elapsed: () => number, state: string): void {
  const text = `sync ${id}: ${state}`;
  const describe = () => {
    const waited = elapsed();
    const time = describeDuration(waited);
    return waited < 30_000 ? `${text} ${time}` : `sync ${id}: still ${state} after ${time}`;
  };
  tell({ kind: 'progress', text, describe });
}

/** @param left returns the milliseconds until the next check */
function reportRetry({ tell }: Context, id: SyncId, error: ImgctlError, left: () => number): void {
  const { code, status, message } = error;
  const failing = status ? `still failing (${status})` : message;
  const what = `sync ${id}: ${code === 'not-found' ? 'not found yet' : failing}`;
  const describe = () => `${what}; next try in ${describeDuration(left())}`;
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

/** A clock that was set back since makes an age negative. */
const ageOf = (age: number) => Math.max(age, 0);

function isYoung(age: number | undefined): boolean {
  return age !== undefined && ageOf(age) < MAX_UNSEEN;
}

function unseenError(id: SyncId, error: ImgctlError): ImgctlError {
  const message = `sync request ${id} was submitted, but cannot be found`;
  return error.with({ message, facts: followHint(id) });
}

function describeStatus(request: SyncRequest | undefined): string {
  return request && request.status === undefined
    ? `no status in ${shorten(stringify(request.response), 200)}`
    : `status: ${request?.status ?? 'unknown'}`;
}

/** @param age milliseconds since it was submitted or seen, if it was from this machine */
export async function readRequest(
  context: Context,
  id: SyncId,
  { signal, age }: { signal?: AbortSignal; age?: number | undefined } = {},
) {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!hasCode(error, 'not-found')) throw error;
    if (isYoung(age)) throw unseenError(id, error);
    throw error.with({
      message: `sync request ${id} does not exist`,
      facts: hint`if another user submitted it, log in as that user; ${LIST_REQUESTS}`,
    });
  });
}
