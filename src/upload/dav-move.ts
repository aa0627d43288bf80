// Moves a part to the name of its file in a WebDAV storage, and finds out what the server has then.

import { asImgctlError, hasCode, ImgctlError } from '../errors.ts';
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
  readonly size: number;
  /** The ETag that the server showed for the part. */
  readonly tag: string;
}

/** What the responses to MOVE say. */
type Move =
  | { readonly kind: 'moved' }
  /** Another file had the name before. */
  | { readonly kind: 'conflict'; readonly error: ImgctlError }
  /** Nothing was moved. */
  | { readonly kind: 'refused'; readonly error: ImgctlError }
  /** These requests moved nothing, but an attempt before them may have. */
  | { readonly kind: 'may-be-moved'; readonly error: ImgctlError }
  /** The server may have moved the part, or may do so later. */
  | { readonly kind: 'may-still-move'; readonly error: ImgctlError };

/**
 * Moves the part to its name, and looks where it is then, which decides:
 *
 *     MOVE              | part  | file of that name     | result
 *     ------------------+-------+-----------------------+-----------------------------------
 *     conflict, refused | (neither is looked at)        | the same
 *     may-be-moved      | there | (not looked at)       | refused
 *     may-still-move    | there | (not looked at)       | throws its error
 *     moved             | there | (not looked at)       | throws: not renamed
 *     any of these three| gone  | none                  | throws: it is gone
 *     any of these three| gone  | another size          | conflict
 *     any of these three| gone  | another ETag          | conflict: a move may change an ETag
 *     any of these three| gone  | same ETag             | visible
 *     moved             | gone  | no ETags              | visible
 *     the other two     | gone  | no ETags              | visible; with replace a conflict, as
 *                       |       |                       | it may be the file of before
 */
export async function publishPart(
  dav: Dav,
  arrived: ArrivedPart,
  replace: boolean,
): Promise<Published> {
  const { part, name, size, tag } = arrived;
  const move = await movePart(dav, arrived, replace);
  if (move.kind === 'conflict' || move.kind === 'refused') return move;
  if (await findFile(dav, part)) {
    if (move.kind === 'may-be-moved') return { kind: 'refused', error: move.error };
    if (move.kind === 'may-still-move') throw move.error;
    throw arrivedWrong(name, `${dav.address} did not rename its part`);
  }
  // Servers check and move in two steps: another push may still move its file over this one.
  if (!replace && (await mayHaveRival(dav, name)))
    await dav.clock.sleep(RIVAL_PAUSE, dav.clock.signal);
  const file = await findFile(dav, name);
  if (!file) throw arrivedWrong(name, 'it is gone');
  const isOther = file.size !== size || file.tag !== tag;
  // The part may have been removed instead of moved.
  const mayBeOld = replace && move.kind !== 'moved' && file.tag === '';
  if (isOther || mayBeOld)
    return { kind: 'conflict', error: replacedError(name, dav.address, replace) };
  dav.unfinished.delete(part);
  // No proof, since only the size was checked: the next push compares the content.
  return { kind: 'visible', stored: { ...file, isSettled: false } };
}

/**
 * Sends MOVE with one form of Destination after the other, until one is accepted: behind a proxy, a
 * server may refuse the scheme that users see, so that the path alone and http are tried.
 */
async function movePart(dav: Dav, { part, name }: ArrivedPart, replace: boolean): Promise<Move> {
  const { found, urlOf, address, clock } = dav;
  const { href, pathname } = urlOf(name);
  const forms = [...new Set([href, pathname, href.replace(/^https:/, 'http:')])];
  const errors: ImgctlError[] = [];
  for (const destination of forms.slice(found.refusedForms)) {
    const headers = { destination, overwrite: replace ? 'T' : 'F' };
    try {
      await sendChecked(dav, { method: 'MOVE', url: urlOf(part), headers, refusals: REFUSALS });
      found.refusedForms = forms.indexOf(destination);
      return { kind: 'moved' };
    } catch (error) {
      // After an interrupt, nobody waits for the response.
      if (!(error instanceof ImgctlError) || clock.signal.aborted) throw error;
      const isTaken = error.status === 412 && !replace;
      if (isTaken && (await findFile(dav, name)))
        return { kind: 'conflict', error: conflict(name, address) };
      errors.push(error);
      if (!isOfForm(error)) break;
    }
  }
  return failedMove(errors);
}

/** Statuses of a form of Destination that a server does not accept, or of a part that is gone. */
const NEXT_FORM = [400, 404, 502];

function isOfForm({ status = 0 }: ImgctlError): boolean {
  return NEXT_FORM.includes(status);
}

/** Shows one error, the first if it may be of a form; but each request may have moved the part. */
function failedMove(errors: readonly ImgctlError[]): Move {
  const shown = asImgctlError(errors.find((error) => !isOfForm(error)) ?? errors[0]);
  const error = shown.status === 502 ? shown.with({ facts: PASS_HOST }) : shown;
  if (errors.some(mayStillMove)) return { kind: 'may-still-move', error };
  return { kind: errors.some(mayBeMoved) ? 'may-be-moved' : 'refused', error };
}

/** The connection was lost, or a proxy did not wait for the server, which may go on. */
function mayStillMove(error: ImgctlError): boolean {
  if (error instanceof TransportError) return error.sent;
  return error.status === 502 || error.status === 504;
}

/** If an earlier attempt moved the part, it is not found, or its lock comes too late. */
function mayBeMoved(error: ImgctlError): boolean {
  return hasCode(error, 'server-error', 'locked', 'not-found');
}

/** True if another push uploads a file of that name, or if the folder cannot be listed. */
async function mayHaveRival(dav: Dav, name: string): Promise<boolean> {
  const files = await propfind(dav, dav.folder, 1).catch(() => undefined);
  return files?.some((file) => isPartOf(name, file.name)) ?? true;
}
