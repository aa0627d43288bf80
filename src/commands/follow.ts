// Follows a sync request until it finishes, for sync --wait and sync-status --wait.

import type { SyncRequest } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { type ErrorCode, ImgctlError } from '../errors.ts';
import { describeDuration } from '../session/settings.ts';
import { rememberStatus, statusCommand } from './sync-record.ts';

export interface WaitOptions {
  wait?: boolean;
  pollInterval?: number;
  waitTimeout?: number;
}

const FIRST_INTERVAL = 2_000;
const MAX_INTERVAL = 15_000;
const INTERVAL_GROWTH = 1.5;
const DEFAULT_TIMEOUT = 3_600_000;
/** The last status check may take this long, even beyond the timeout. */
const MIN_CHECK_TIME = 2_000;

/** A status check that fails in one of these ways says nothing about the request. */
const TRANSIENT: readonly ErrorCode[] = [
  'unreachable',
  'timeout',
  'server-error',
  'bad-answer',
  'proxy',
];

/**
 * Checks the status until the request finishes, and remembers it.
 * @throws ImgctlError still-waiting, interrupted, or a lasting failure, with the command that resumes
 */
export async function follow(
  context: Context,
  id: number | string,
  options: WaitOptions,
): Promise<SyncRequest> {
  const { io } = context;
  const started = io.now();
  const timeout = options.waitTimeout ?? DEFAULT_TIMEOUT;
  const progress = context.console.startProgress({ lines: true });
  const report = (text: string) =>
    progress.update(`sync ${id}: ${text}`, () => describeDuration(io.now() - started));
  let interval = options.pollInterval ?? FIRST_INTERVAL;
  let last: SyncRequest | undefined;
  try {
    for (;;) {
      const deadline = AbortSignal.timeout(Math.max(started + timeout - io.now(), MIN_CHECK_TIME));
      const request = await getRequest(context, id, deadline).catch((error: unknown) => {
        if (deadline.aborted) return undefined;
        if (!(error instanceof ImgctlError) || !TRANSIENT.includes(error.code)) throw error;
        report(`${error.message}; retrying`);
        return undefined;
      });
      if (request) {
        last = request;
        report(request.status ?? 'unknown status');
        if (request.state !== 'waiting') break;
      }
      const left = started + timeout - io.now();
      if (left <= 0) break;
      await io.sleep(Math.min(interval, left), io.signal);
      if (options.pollInterval === undefined) {
        interval = Math.min(interval * INTERVAL_GROWTH, MAX_INTERVAL);
      }
    }
  } catch (error) {
    throw withResumeHint(error, context, id);
  } finally {
    await progress.stop();
  }
  if (last) await rememberStatus(context, id, last.status);
  if (last && last.state !== 'waiting') return last;
  const within = timeout < 1_000 ? `${timeout} ms` : describeDuration(timeout);
  const message = `sync request ${id} did not finish within ${within} (status: ${last?.status ?? 'unknown'})`;
  throw new ImgctlError('still-waiting', message, {
    hint: `keep waiting with: ${statusCommand(context, id)} --wait`,
  });
}

/** @throws ImgctlError not-found */
export async function getRequest(
  context: Context,
  id: number | string,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
    throw error.with({
      message: `sync request ${id} does not exist`,
      hint: LIST_REQUESTS,
    });
  });
}

export const LIST_REQUESTS = 'list your requests with: imgctl sync-status --list';

/** The service continues with the request, whatever ended the wait. */
function withResumeHint(error: unknown, context: Context, id: number | string): unknown {
  if (!(error instanceof ImgctlError) || error.code === 'not-found') return error;
  const resume = `follow it with: ${statusCommand(context, id)} --wait`;
  return error.with({
    message: `${error.message}; sync request ${id} continues`,
    hint: error.hint === undefined ? resume : `${error.hint}; then ${resume}`,
  });
}
