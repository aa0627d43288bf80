// Reads a sync request once, which the service may not show in the minute after its submit.

import type { SyncId, SyncRequest } from '../../../api/sync-requests.ts';
import type { Context } from '../../../context.ts';
import { hasCode } from '../../../errors.ts';
import { type Facts, hint, imgctl } from '../../../facts.ts';

/** Milliseconds in which a service may not show a request, until another replica knows it. */
const MAX_UNSEEN = 60_000;

/** True if a 404 may mean that a request is not shown yet. @param age since it was last seen */
export function isRecent(age: number): boolean {
  return age < MAX_UNSEEN;
}

/**
 * Returns the request.
 * @param wasSeen if true, a 404 means that the request is not shown yet; else, that there is none
 * @throws ImgctlError not-found, of the service; the reason of the signal
 */
export async function readRequest(
  context: Context,
  id: SyncId,
  wasSeen: boolean,
  signal?: AbortSignal,
): Promise<SyncRequest> {
  const { client } = await context.session();
  return client.getSyncRequest(id, signal).catch((error: unknown) => {
    if (!hasCode(error, 'not-found')) throw error;
    if (wasSeen) {
      const message = `sync request ${id} was submitted, but cannot be found`;
      throw error.with({ message, facts: followHint(id) });
    }
    throw error.with({
      message: `sync request ${id} does not exist`,
      facts: hint`if another user submitted it, log in as that user; ${LIST_REQUESTS}`,
    });
  });
}

export const LIST_REQUESTS = hint`list your requests with: ${imgctl('sync-status', '--list')}`;

export function followHint(id: SyncId): Facts {
  return hint`follow it with: ${imgctl('sync-status', `${id}`, '--wait')}`;
}
