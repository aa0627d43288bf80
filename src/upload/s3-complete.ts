// The request that completes an upload to S3, which joins its parts, and what its response says.

import { ImgctlError, tryOr } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { escapeXml, textOf } from '../xml.ts';
import { REFUSALS, textBody } from './requests.ts';
import { findObject, type S3Request } from './s3-bucket.ts';
import { hasRetryableCode, plainTag, rootOf } from './s3-responses.ts';
import { abortUpload, type SentUpload, uploadGone } from './s3-upload.ts';
import { conflict } from './storage-errors.ts';

/** Milliseconds: joining the parts of a large object takes some storages minutes. */
const COMPLETION = 600_000;

const NO_CONDITIONS =
  'the storage does not support If-None-Match: another machine may replace your upload';

/** What the response to a completion says. */
export type Completion =
  /** With the ETag of the object, if the response has it. */
  | { readonly kind: 'completed'; readonly sentTag: string | undefined }
  /** An object was there before. */
  | { readonly kind: 'conflict'; readonly error: ImgctlError }
  /** The storage has no object of this upload. */
  | { readonly kind: 'refused'; readonly error: ImgctlError }
  /** The upload is gone: another push has removed it, unless an earlier attempt completed it. */
  | { readonly kind: 'gone'; readonly error: ImgctlError }
  /** The object may be there all the same, or come later, from this push or another one. */
  | { readonly kind: 'doubtful'; readonly error: ImgctlError };

export async function sendCompletion(upload: SentUpload, replace: boolean): Promise<Completion> {
  const { s3, name, id } = upload;
  const request = {
    method: 'POST',
    name,
    query: { uploadId: id },
    headers: { 'content-type': 'application/xml' },
    body: textBody(listOfParts(upload)),
    patience: COMPLETION,
    refusals: [409, ...REFUSALS],
  };
  try {
    const response = await (replace ? s3.send(request) : sendIfNew(upload, request));
    return { kind: 'completed', sentTag: plainTag(textOf(rootOf(response), 'ETag')) || undefined };
  } catch (error) {
    // After an interrupt, nobody waits for the response.
    if (!(error instanceof ImgctlError) || s3.clock.signal.aborted) throw error;
    const completion = failedCompletion(error, name);
    // A later run would continue the upload, which would be refused again.
    const isUseless = completion.kind === 'refused' && error.code === 'bad-answer';
    if (isUseless) await abortUpload(s3, name, id).catch(() => {});
    return completion;
  }
}

function failedCompletion(error: ImgctlError, name: string): Completion {
  const { code, status = 0 } = error;
  if (code === 'conflict') return { kind: 'conflict', error };
  if (code === 'not-found') return { kind: 'gone', error: uploadGone(name) };
  // Another push has stored such an object (412), or is completing one (409).
  if (status === 412 || status === 409) return { kind: 'doubtful', error };
  // A proxy may have cut the response to a success, or sent a page of its own.
  const isUnreadable = code === 'bad-answer' && isSuccess({ status });
  const mayBeDone = code === 'server-error' || isUnreadable;
  const isLost = error instanceof TransportError ? error.sent : mayBeDone;
  return { kind: isLost ? 'doubtful' : 'refused', error };
}

function listOfParts({ etags, md5s }: SentUpload): string {
  const list = md5s.map((md5, index) => {
    const etag = escapeXml(etags.get(index + 1) || `"${md5}"`);
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`;
  });
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`;
}

/**
 * Sends a completion that overwrites nothing. If the storage refuses the condition and there is no
 * object, sends it again without the condition.
 */
async function sendIfNew({ s3, name }: SentUpload, request: S3Request): Promise<HttpResponse> {
  if (s3.found.lacksConditions) return s3.send(request);
  const headers = { ...request.headers, 'if-none-match': '*' };
  const first = await s3.send({ ...request, headers });
  const isRefused = [400, 501].includes(first.status) && !hasRetryableCode(first);
  if (!isRefused) return first;
  if (await findObject(s3, name)) throw conflict(name, s3.address);
  const second = await s3.send(request);
  // The condition was not the reason.
  if (second.status === first.status) return first;
  if (tryOr(() => rootOf(second), undefined)) {
    s3.found.lacksConditions = true;
    s3.onWarning(NO_CONDITIONS);
  }
  return second;
}
