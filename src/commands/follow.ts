// Following a sync request to its end, for sync --wait and sync-status --wait.

import { type Command, Option } from 'commander';
import type { SyncRequest } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { writeRecord } from '../output/index.ts';
import { describeDuration, parseDuration } from '../session/duration.ts';
import { remember } from '../session/history.ts';
import { sinkOptions } from './listing.ts';

export interface WaitOptions {
  wait?: boolean;
  pollInterval?: number;
  waitTimeout?: number;
}

const FIRST_INTERVAL = 2_000;
const LONGEST_INTERVAL = 15_000;
const WAIT_LIMIT = 3_600_000;

export function addWaitOptions(command: Command): void {
  const duration = (option: string) => (text: string) => parseDuration(text, option);
  command
    .option('--wait', 'follow it to its end; exit 1 when it fails')
    .addOption(
      new Option(
        '--poll-interval <duration>',
        'fixed time between looks (2s growing to 15s)',
      ).argParser(duration('--poll-interval')),
    )
    .addOption(
      new Option('--wait-timeout <duration>', 'give up waiting after that, exit 7 (1h)').argParser(
        duration('--wait-timeout'),
      ),
    );
}

/**
 * Looks at the request until it has ended.
 * @throws ImgctlError still-waiting at the limit, interrupted: both with the command that resumes
 */
export async function follow(
  context: Context,
  id: number | string,
  options: WaitOptions,
): Promise<SyncRequest> {
  const { io } = context;
  const { client } = await context.session();
  const started = io.now();
  const limit = options.waitTimeout ?? WAIT_LIMIT;
  const progress = context.startProgress({ lines: true });
  let interval = options.pollInterval ?? FIRST_INTERVAL;
  let lastSeen = 'no answer yet';
  try {
    for (;;) {
      const request = await client.getSyncRequest(id).catch((error: unknown) => {
        // The request goes on without us: a service that is down for a while ends nothing.
        if (!isPassing(error)) throw error;
        progress.update(`sync ${id}: the service does not answer, still trying`);
        return undefined;
      });
      if (request) {
        lastSeen = request.status ?? 'no status given';
        progress.update(`sync ${id}: ${lastSeen}`, () => describeDuration(io.now() - started));
        if (request.state !== 'waiting') return request;
      }
      const left = started + limit - io.now();
      if (left <= 0) throw stillWaiting(id, lastSeen, limit);
      await io.sleep(Math.min(interval, left), io.signal);
      if (options.pollInterval === undefined) interval = Math.min(interval * 1.5, LONGEST_INTERVAL);
    }
  } catch (error) {
    throw isInterruption(error) ? interruption(error, id) : error;
  } finally {
    await progress.stop();
  }
}

function isPassing(error: unknown): boolean {
  return (
    error instanceof ImgctlError &&
    ['unreachable', 'timeout', 'server-error', 'rate-limited', 'bad-answer', 'proxy'].includes(
      error.code,
    )
  );
}

function isInterruption(error: unknown): error is ImgctlError {
  return (
    error instanceof ImgctlError && (error.code === 'interrupted' || error.code === 'terminated')
  );
}

function interruption(error: ImgctlError, id: number | string): ImgctlError {
  return new ImgctlError(error.code, `${error.message}; the sync request ${id} goes on`, {
    hint: `follow it with: imgctl sync-status ${id} --wait`,
  });
}

function stillWaiting(id: number | string, lastSeen: string, limit: number): ImgctlError {
  return new ImgctlError(
    'still-waiting',
    `the sync request ${id} has not ended within ${describeDuration(limit)}; last seen: ${lastSeen}`,
    { hint: `go on waiting with: imgctl sync-status ${id} --wait` },
  );
}

/** The request as every command shows it, CLI.md section 5. @throws ImgctlError sync-failed */
export async function showRequest(context: Context, request: SyncRequest): Promise<void> {
  const { id, status, state, added, deleted, errors, warnings, createdOn, updatedOn, response } =
    request;
  const record = {
    id,
    status: status ?? null,
    state,
    added,
    deleted,
    errors,
    warnings,
    created_on: createdOn,
    updated_on: updatedOn,
    response,
  };
  const columns = Object.keys(record).filter((name) => name !== 'response');
  await writeRecord({ ...sinkOptions(context), columns, allFields: true }, record);
  for (const warning of warnings) context.warn(`sync ${id}: ${warning}`);
  if (state !== 'failed' && errors.length === 0) return;
  // Part of an upload can fail while the rest goes through; a cron job has to hear of it all the same.
  for (const error of errors) context.warn(`sync ${id}: ${error}`);
  if (state === 'failed') {
    throw new ImgctlError('sync-failed', `the sync request ${id} failed with status ${status}`, {
      hint:
        errors.length > 0
          ? 'mend what is named above, upload it again, then: imgctl sync --wait'
          : undefined,
    });
  }
}

/** Writes down what became of a request; a history that cannot be kept is no reason to fail. */
export async function note(
  context: Context,
  id: number | string,
  status: string | undefined,
): Promise<void> {
  const { account } = await context.session();
  const entry = {
    profile: account.profile,
    base_url: account.baseUrl,
    id,
    submitted_on: new Date(context.io.now()).toISOString(),
    status: status ?? null,
  };
  await remember(context.paths.state, context.io, entry).catch((error: unknown) => {
    const reason =
      error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : '';
    context.warn(`cannot keep the sync history: ${reason}`);
  });
}
