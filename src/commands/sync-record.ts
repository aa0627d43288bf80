// How a sync request shows in every command, and what is remembered of it.

import type { SyncRequest } from '../api/sync.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { type HistoryEntry, readHistory, remember } from '../session/history.ts';

const COLUMNS = ['id', 'status', 'state', 'added', 'deleted', 'created_on', 'updated_on'];
const REPORTS = ['errors', 'warnings'];

/** Prints the request, every format in one shape. @throws ImgctlError sync-failed */
export async function showRequest(context: Context, request: SyncRequest): Promise<void> {
  const { id, status, state, errors, warnings, response } = request;
  // Each report shows once: in the record, or on stderr where the record has no good place for it.
  const apart = context.quiet || context.format === 'table';
  const changes = (value: SyncRequest['added']) => (apart ? describeNames(value) : value);
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
  const columns = apart ? COLUMNS : [...COLUMNS, ...REPORTS];
  // The reasons of a failure may repeat what was sent with the request.
  const shown = state === 'failed' ? context.console.redaction.applyWithin(record) : record;
  await context.printRecord(shown, { columns });
  if (apart) {
    for (const warning of warnings) context.console.warn(`sync ${id}: ${warning}`);
    // Part of an upload can fail while the rest goes through.
    for (const error of errors) context.console.warn(`sync ${id}: error: ${error}`);
  }
  if (state !== 'failed') return;
  const hint =
    errors.length > 0 ? 'mend what it names, upload it again, then: imgctl sync' : undefined;
  throw new ImgctlError('sync-failed', `the sync request ${id} ended with status ${status}`, {
    hint,
  });
}

/** A list of names for people; anything else as it is. */
export function describeNames(value: SyncRequest['added']): number | string | null {
  if (typeof value === 'number' || value === null) return value;
  return value.length === 0 ? 'none' : value.map(nameOf).join(', ');
}

function nameOf(element: unknown): string {
  if (typeof element === 'string') return element;
  const { name } = Object(element) as { name?: unknown };
  return typeof name === 'string' ? name : JSON.stringify(element);
}

/** The command that shows a request, with what it takes to reach the same service. */
export function statusCommand(context: Context, id: number | string): string {
  const { profile, baseUrl } = context.options;
  const flags = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ];
  return ['imgctl sync-status', id, ...flags].join(' ');
}

/** Writes down a request that was submitted; a history that cannot be kept is no reason to fail. */
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
    // Where the token could not be kept either, one warning has said so.
    if (cache.writeFailed) return;
    const reason =
      error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : '';
    context.console.warn(`cannot keep the sync history: ${reason}`);
  });
}

/** Writes down how far a request is; one that was submitted elsewhere stays out of the history. */
export async function rememberStatus(
  context: Context,
  id: number | string,
  status: string | undefined,
): Promise<void> {
  const isOurs = (await submittedHere(context)).some((entry) => entry.id === id);
  if (isOurs) await rememberRequest(context, id, status);
}

/** The requests of this profile at this service that were submitted from this machine, oldest first. */
export async function submittedHere(context: Context): Promise<HistoryEntry[]> {
  const { account } = await context.session();
  return readHistory(context.paths.state, account.profile, account.baseUrl);
}
