// The request that moves a part to its name, in a form that the server accepts, and what its
// responses say.

import { asImgctlError, hasCode, ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { type Dav, findFile, sendChecked } from './dav-folder.ts';
import { REFUSALS } from './requests.ts';
import { conflict } from './storage-errors.ts';

const PASS_HOST =
  'a proxy in front of the server must pass Host on; nginx: proxy_set_header Host $http_host';

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
 * Sends MOVE with one form of Destination after the other, until one is accepted: behind a proxy, a
 * server may refuse the scheme that users see, so that the path alone and http are tried.
 */
export async function movePart(
  dav: Dav,
  { part, name }: { readonly part: string; readonly name: string },
  replace: boolean,
): Promise<Move> {
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

/**
 * Shows the error that is not about the form of Destination, or else the first one. But each of the
 * requests may have moved the part.
 */
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
