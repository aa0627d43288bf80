// Moves a part to the name of its file in a WebDAV storage, and finds out what the server has then.

import { hasCode, ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { type Dav, findFile, propfind, sendChecked } from './dav-folder.ts';
import { isPartOf } from './part-names.ts';
import { REFUSALS } from './requests.ts';
import type { Published } from './storage.ts';
import { arrivedWrong, conflict, replacedError } from './storage-errors.ts';

const PASS_HOST =
  'a proxy in front of the server must pass Host on; nginx: proxy_set_header Host $http_host';

/** Milliseconds in which another push may still move its file over this one. */
const RIVAL_PAUSE = 2_000;

/** A part that arrived as a whole. */
interface ArrivedPart {
  readonly part: string;
  /** The name of its file. */
  readonly name: string;
  /** The part as the server showed it. */
  readonly sent: { readonly size: number; readonly etag: string };
}

/** What the response to MOVE says. */
type Move =
  | { readonly kind: 'moved' }
  /** This request moved nothing, but an earlier attempt may have moved the part. */
  | { readonly kind: 'failed'; readonly error: ImgctlError }
  /** The server may have moved the part, or may move it later. */
  | { readonly kind: 'lost'; readonly error: ImgctlError }
  | Exclude<Published, { kind: 'visible' }>;

/**
 * Moves the part to its name, and looks where it is then, which decides:
 *
 *     MOVE              | part  | file of that name     | result
 *     ------------------+-------+-----------------------+-----------------------------------
 *     refused, conflict | (neither is looked at)        | the same
 *     failed            | there | (not looked at)       | refused
 *     lost              | there | (not looked at)       | throws its error
 *     moved             | there | (not looked at)       | throws: not renamed
 *     any other         | gone  | none                  | throws: it is gone
 *     any other         | gone  | another size          | conflict
 *     any other         | gone  | another ETag          | conflict: a move may change an ETag
 *     any other         | gone  | same ETag             | visible
 *     moved             | gone  | no ETags              | visible
 *     failed, lost      | gone  | no ETags              | visible; with replace a conflict, as
 *                       |       |                       | it may be the file of before
 */
export async function publishPart(
  dav: Dav,
  arrived: ArrivedPart,
  replace: boolean,
): Promise<Published> {
  const { part, name, sent } = arrived;
  const move = await movePart(dav, arrived, replace);
  if (move.kind === 'refused' || move.kind === 'conflict') return move;
  if (await findFile(dav, part)) {
    if (move.kind === 'failed') return { ...move, kind: 'refused' };
    throw move.kind === 'lost' ? move.error : notRenamed(dav, arrived);
  }
  // Servers check and move in two steps: another push may still move its file over this one.
  if (!replace && (await mayHaveRival(dav, arrived)))
    await dav.clock.sleep(RIVAL_PAUSE, dav.clock.signal);
  const file = await findFile(dav, name);
  if (!file) throw arrivedWrong(name, 'it is gone');
  const { size, etag, fingerprint } = file;
  // The part may have been removed instead of moved.
  const mayBeOld = replace && move.kind !== 'moved' && etag === '';
  if (size !== sent.size || etag !== sent.etag || mayBeOld)
    return { kind: 'conflict', error: replacedError(name, dav.address, replace) };
  // No proof, since only the size was checked: the next push compares the content.
  return { kind: 'visible', stored: { fingerprint, isReliable: false } };
}

async function movePart(dav: Dav, arrived: ArrivedPart, replace: boolean): Promise<Move> {
  const { address, clock } = dav;
  try {
    await sendMove(dav, arrived, replace);
    return { kind: 'moved' };
  } catch (error) {
    // After an interrupt, nobody waits for the response.
    if (!(error instanceof ImgctlError) || clock.signal.aborted) throw error;
    const { name } = arrived;
    const isTaken = error.status === 412 && !replace;
    if (isTaken && (await findFile(dav, name)))
      return { kind: 'conflict', error: conflict(name, address) };
    return { kind: kindOf(error), error };
  }
}

function kindOf(error: ImgctlError): 'refused' | 'failed' | 'lost' {
  if (error instanceof TransportError) return error.sent ? 'lost' : 'refused';
  // A proxy did not wait for the server, which may go on.
  if (error.status === 502 || error.status === 504) return 'lost';
  // If an earlier attempt moved the part, it is not found, or its lock comes too late.
  return hasCode(error, 'server-error', 'locked', 'not-found') ? 'failed' : 'refused';
}

/** Statuses of a form of Destination that a server does not accept, or of a part that is gone. */
const NEXT_FORM = [400, 404, 502];

/**
 * Behind a proxy, a server may refuse the scheme that users see: the path alone and http are tried.
 * @throws ImgctlError of the first form
 */
async function sendMove(dav: Dav, { part, name }: ArrivedPart, replace: boolean): Promise<void> {
  const { found, urlOf } = dav;
  const { href, pathname } = urlOf(name);
  const forms = [...new Set([href, pathname, href.replace(/^https:/, 'http:')])];
  const overwrite = replace ? 'T' : 'F';
  let first: ImgctlError | undefined;
  for (const destination of forms.slice(found.refusedForms)) {
    const headers = { destination, overwrite };
    try {
      await sendChecked(dav, { method: 'MOVE', url: urlOf(part), headers, refusals: REFUSALS });
      found.refusedForms = forms.indexOf(destination);
      return;
    } catch (error) {
      if (!(error instanceof ImgctlError && NEXT_FORM.includes(error.status ?? 0))) throw error;
      first ??= error.status === 502 ? error.with({ facts: PASS_HOST }) : error;
    }
  }
  throw first;
}

function notRenamed({ address }: Dav, { part, name }: ArrivedPart): ImgctlError {
  const advice = 'ask the administrators of the storage';
  const message = `${address} did not rename ${part} to ${name}`;
  return new ImgctlError('bad-answer', message, { facts: advice });
}

/** True if another push uploads a file of that name, or if the folder cannot be listed. */
async function mayHaveRival(dav: Dav, { part, name }: ArrivedPart): Promise<boolean> {
  const files = await propfind(dav, dav.folder, 1).catch(() => undefined);
  return files?.some((file) => file.name !== part && isPartOf(name, file.name)) ?? true;
}
