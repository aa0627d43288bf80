// Prints sync requests, and remembers those submitted from this machine.

import type { SyncRequest } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { stringify } from '../json.ts';
import { type HistoryEntry, readHistory, remember } from '../session/history.ts';

const COLUMNS = ['id', 'status', 'state', 'added', 'deleted', 'created_on', 'updated_on'];

/** Prints the request. @throws ImgctlError sync-failed */
export async function showRequest(context: Context, request: SyncRequest): Promise<void> {
  const { id, status, state, errors, warnings, response } = request;
  // A table has no room for errors and warnings; with -q nothing else would show them.
  const reportsOnStderr = context.quiet || context.format === 'table';
  const changes = (value: SyncRequest['added']) => (reportsOnStderr ? describeNames(value) : value);
  const record = {
    id,
    status: status ?? null,
    state,
    added: changes(request.added),
    deleted: changes(request.deleted),
    errors,
    warnings,
    created_on: request.createdOn,
    updated_on: request.updatedOn,
    response,
  };
  const columns = reportsOnStderr ? COLUMNS : [...COLUMNS, 'errors', 'warnings'];
  // The reasons of a failure may repeat the token.
  const shown = state === 'failed' ? context.console.redaction.applyWithin(record) : record;
  await context.printRecord(shown, { columns });
  if (reportsOnStderr) {
    for (const warning of warnings) context.console.warn(`sync ${id}: ${warning}`);
    // A request that succeeds may still have errors in some files.
    for (const error of errors) context.console.warn(`sync ${id}: error: ${error}`);
  }
  if (state !== 'failed') return;
  const fix = 'fix the files named above, upload them again, then run: imgctl sync';
  throw new ImgctlError('sync-failed', `sync request ${id} failed (status: ${status})`, {
    hint: errors.length > 0 ? fix : undefined,
  });
}

/** Joins a list of names for people; returns anything else unchanged. */
export function describeNames(value: SyncRequest['added']): number | string | null {
  if (typeof value === 'number' || value === null) return value;
  return value.length === 0 ? 'none' : value.map(nameOf).join(', ');
}

function nameOf(element: unknown): string {
  if (typeof element === 'string') return element;
  const { name } = Object(element) as { name?: unknown };
  return typeof name === 'string' ? name : stringify(element);
}

/** Returns the command that shows a request, with the options that reach the same service. */
export function statusCommand(context: Context, id: number | string): string {
  const { profile, baseUrl } = context.options;
  const flags = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ];
  return ['imgctl sync-status', id, ...flags].join(' ');
}

/** Stores a submitted request or its new status; warns if it cannot. */
export async function rememberRequest(
  context: Context,
  id: number | string,
  status: string | undefined,
): Promise<void> {
  const { account, cache } = await context.session();
  const entry = {
    profile: account.profile,
    base_url: account.baseUrl,
    id,
    submitted_on: new Date(context.io.now()).toISOString(),
    status: status ?? null,
  };
  await remember(context.paths.state, context.io, entry).catch((error: unknown) => {
    // One warning is enough if the token could not be stored either.
    if (cache.writeFailed) return;
    if (error instanceof ImgctlError) context.console.warn(error.message, error.hint);
    else context.console.warn(`cannot store the sync history: ${errorReason(error)}`);
  });
}

/** Stores the new status of a request, unless it was submitted elsewhere. */
export async function rememberStatus(
  context: Context,
  id: number | string,
  status: string | undefined,
): Promise<void> {
  const isLocal = (await localRequests(context)).some((entry) => `${entry.id}` === `${id}`);
  if (isLocal) await rememberRequest(context, id, status);
}

/** Returns what this profile submitted to this service from this machine, oldest first. */
export async function localRequests(context: Context): Promise<HistoryEntry[]> {
  const { account } = await context.session();
  return readHistory(context.paths.state, account.profile, account.baseUrl);
}
