// Following a sync request to its end, for sync --wait and sync-status --wait.

import type { SyncRequest } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { describeDuration } from '../session/settings.ts';
import { rememberStatus, statusCommand } from './sync-record.ts';

export interface WaitOptions {
  wait?: boolean;
  pollInterval?: number;
  waitTimeout?: number;
}

const FIRST_INTERVAL = 2_000;
const LONGEST_INTERVAL = 15_000;
const GROWTH = 1.5;
const WAIT_LIMIT = 3_600_000;
/** What the look at the limit may take beyond it. */
const LAST_LOOK = 2_000;

/** Failures that end by themselves: the request goes on meanwhile, so that waiting does too. */
const PASSING = ['unreachable', 'timeout', 'server-error', 'bad-answer', 'proxy'];

/**
 * Looks at the request until it has ended, and remembers how it did.
 * @throws ImgctlError still-waiting at the limit, interrupted, or what no waiting can mend; all with the
 *   command that resumes
 */
export async function follow(
  context: Context,
  id: number | string,
  options: WaitOptions,
): Promise<SyncRequest> {
  const { io } = context;
  const started = io.now();
  const limit = options.waitTimeout ?? WAIT_LIMIT;
  const progress = context.console.startProgress({ lines: true });
  const tell = (text: string) =>
    progress.update(`sync ${id}: ${text}`, () => describeDuration(io.now() - started));
  let interval = options.pollInterval ?? FIRST_INTERVAL;
  let last: SyncRequest | undefined;
  try {
    for (;;) {
      const inTime = AbortSignal.timeout(Math.max(started + limit - io.now(), LAST_LOOK));
      const request = await getRequest(context, id, inTime).catch((error: unknown) => {
        if (inTime.aborted) return undefined;
        if (!(error instanceof ImgctlError) || !PASSING.includes(error.code)) throw error;
        tell(`${error.message}; still trying`);
        return undefined;
      });
      if (request) {
        last = request;
        tell(describeStatus(request));
        if (request.state !== 'waiting') break;
      }
      const left = started + limit - io.now();
      if (left <= 0) break;
      await io.sleep(Math.min(interval, left), io.signal);
      if (options.pollInterval === undefined) {
        interval = Math.min(interval * GROWTH, LONGEST_INTERVAL);
      }
    }
  } catch (error) {
    throw goesOn(error, context, id);
  } finally {
    await progress.stop();
  }
  if (last) await rememberStatus(context, id, last.status);
  if (last && last.state !== 'waiting') return last;
  const seen = last ? describeStatus(last) : 'no answer';
  const within = limit < 1_000 ? `${limit} ms` : describeDuration(limit);
  throw new ImgctlError(
    'still-waiting',
    `the sync request ${id} has not ended within ${within}; last seen: ${seen}`,
    { hint: `go on waiting with: ${statusCommand(context, id)} --wait` },
  );
}

/** @throws ImgctlError not-found: the service knows no such request */
export async function getRequest(
  context: Context,
  id: number | string,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
    throw new ImgctlError('not-found', `the service knows no sync request ${id}`, {
      hint: 'those submitted from this machine: imgctl sync-status --list',
      status: error.status,
      cause: error,
    });
  });
}

function describeStatus({ status }: SyncRequest): string {
  return status ?? 'no status given';
}

/** What ends the wait does not end the request. */
function goesOn(error: unknown, context: Context, id: number | string): unknown {
  if (!(error instanceof ImgctlError) || error.code === 'not-found') return error;
  const { code, message, status } = error;
  const resume = `follow it with: ${statusCommand(context, id)} --wait`;
  return new ImgctlError(code, `${message}; the sync request ${id} goes on`, {
    hint: error.hint === undefined ? resume : `${error.hint}; then ${resume}`,
    status,
    cause: error,
  });
}
