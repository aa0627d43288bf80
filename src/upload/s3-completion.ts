// Completes an upload to S3, which makes its parts an object, and finds out what is there then.

import { ImgctlError } from '../errors.ts';
import { TransportError } from '../http/errors.ts';
import { type HttpResponse, isSuccess } from '../http/message.ts';
import { escapeXml, textOf } from '../xml.ts';
import { REFUSALS, textBody } from './requests.ts';
import {
  findObject,
  multipartTag,
  removeObject,
  type S3Request,
  type StoredObject,
} from './s3-bucket.ts';
import { DIGEST, plainTag, rootOf } from './s3-responses.ts';
import { abortUpload, removeUploads, type SentUpload, uploadGone } from './s3-upload.ts';
import type { Published } from './storage.ts';
import { arrivedWrong, conflict, replacedError } from './storage-errors.ts';

/** Milliseconds: joining the parts of a large object takes some storages minutes. */
const COMPLETION = 600_000;

const NO_CONDITIONS =
  'the storage does not support If-None-Match: another machine may replace your upload';

/** What the response to a completion says. */
type Completion =
  /** With the ETag of the object, if the response has it. */
  | { readonly kind: 'joined'; readonly sentTag: string | undefined }
  /** An object was there before. */
  | { readonly kind: 'conflict'; readonly error: ImgctlError }
  /** The storage has no object of this upload. */
  | { readonly kind: 'refused'; readonly error: ImgctlError }
  /** The upload is gone: another push has removed it, unless an earlier attempt completed it. */
  | { readonly kind: 'gone'; readonly error: ImgctlError }
  /** The object may be there all the same, or come later, from this push or another one. */
  | { readonly kind: 'doubtful'; readonly error: ImgctlError };

/**
 * Completes the upload and looks at what is stored then:
 *
 *     completion | stored object | without replace | with replace
 *     -----------+---------------+-----------------+-----------------
 *     conflict   | there before  | conflict        | (cannot happen)
 *     refused    | (not read)    | refused         | refused
 *     joined     | (the table of `afterJoin`)
 *     gone       | none          | refused: nothing is left that could become visible
 *     doubtful   | none          | throws its error
 *     these two  | same          | visible         | visible
 *     these two  | unknown       | conflict        | conflict
 *     these two  | different     | conflict        | throws its error
 */
export async function completeUpload(upload: SentUpload, replace: boolean): Promise<Published> {
  const { s3, name } = upload;
  const taken = replace ? undefined : await findTaken(upload);
  const completion = taken ?? (await joinParts(upload, replace));
  if (completion.kind === 'conflict' || completion.kind === 'refused') return completion;
  if (completion.kind === 'joined') return afterJoin(upload, completion.sentTag, replace);
  const { kind, error } = completion;
  const object = await findObject(s3, name);
  if (!object && kind === 'gone') return { kind: 'refused', error };
  if (!object) throw error;
  const content = compareContent(upload, object);
  if (content === 'same') return visible(object);
  if (content === 'different' && replace) throw error;
  return { kind: 'conflict', error: replacedError(name, s3.address, replace) };
}

/**
 * Looks at the object after a completion that succeeded:
 *
 *     stored object                       | without replace     | with replace
 *     ------------------------------------+---------------------+--------------------
 *     none                                | throws: missing     | throws: missing
 *     same                                | visible             | visible
 *     unknown                             | conflict            | conflict
 *     different, of this push             | refused: removed    | refused: removed
 *     different, of another               | conflict            | throws: not removed
 *     different, of unknown owner         | throws: not removed | throws: not removed
 *
 * @param sentTag the ETag in the response to the completion
 */
async function afterJoin(
  upload: SentUpload,
  sentTag: string | undefined,
  replace: boolean,
): Promise<Published> {
  const { s3, name, id, file } = upload;
  await removeUploads(s3, name, id);
  const object = await findObject(s3, name);
  if (!object) throw arrivedWrong(name, 'it is missing');
  const content = compareContent(upload, object, sentTag);
  if (content === 'same') return visible(object);
  const ofAnother = { kind: 'conflict', error: replacedError(name, s3.address, replace) } as const;
  if (content === 'unknown') return ofAnother;
  const { size, etag, tag } = object;
  const flaw = size === file.size ? `its ETag is ${tag}` : `its size is ${size}`;
  const owner = ownerOf(object, sentTag);
  if (owner === 'this push' && (await removeObject(s3, name, etag).then(isSuccess, () => false)))
    return { kind: 'refused', error: arrivedWrong(name, flaw) };
  if (owner === 'another' && !replace) return ofAnother;
  throw arrivedWrong(name, `${flaw}, and it was not removed`);
}

function ownerOf({ tag }: StoredObject, sentTag = ''): 'this push' | 'another' | 'unknown' {
  if (tag === '' || sentTag === '') return 'unknown';
  if (tag !== sentTag) return 'another';
  // An ETag that is no digest may be the same for all objects.
  return DIGEST.test(tag) ? 'this push' : 'unknown';
}

function visible(object: StoredObject): Published {
  return { kind: 'visible', stored: { ...object, isSettled: true } };
}

/** Returns how it ends if the name is taken, or if nobody knows; nothing was completed then. */
async function findTaken({ s3, name }: SentUpload): Promise<Completion | undefined> {
  try {
    const object = await findObject(s3, name);
    return object && { kind: 'conflict', error: conflict(name, s3.address) };
  } catch (error) {
    if (!(error instanceof ImgctlError)) throw error;
    return { kind: 'refused', error };
  }
}

async function joinParts(upload: SentUpload, replace: boolean): Promise<Completion> {
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
    return { kind: 'joined', sentTag: plainTag(textOf(rootOf(response), 'ETag')) || undefined };
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
 * Sends a completion that overwrites nothing: if the storage refuses the condition, without it, as
 * long as there is no object.
 */
async function sendIfNew({ s3, name }: SentUpload, request: S3Request): Promise<HttpResponse> {
  if (s3.found.lacksConditions) return s3.send(request);
  const headers = { ...request.headers, 'if-none-match': '*' };
  const first = await s3.send({ ...request, headers });
  if (first.status !== 400 && first.status !== 501) return first;
  if (await findObject(s3, name)) throw conflict(name, s3.address);
  const second = await s3.send(request);
  // The condition was not why.
  if (second.status === first.status) return first;
  if (isSuccess(second)) {
    s3.found.lacksConditions = true;
    s3.onWarning(NO_CONDITIONS);
  }
  return second;
}

/**
 * Compares the object with the file by size and ETag. If the file should have `4f1c…-2`, then
 * `4f1c…-2` is the same, `9e0a…-2` is different, and `9e0a…-3` (parts of another size) and `x7` (no
 * digest) say nothing.
 * @param sentTag the ETag in the response to the completion
 */
function compareContent(
  upload: SentUpload,
  { size, tag }: StoredObject,
  sentTag?: string,
): 'same' | 'different' | 'unknown' {
  if (size !== upload.file.size) return 'different';
  const expected = expectedTag(upload, sentTag);
  if (tag === expected) return 'same';
  const [, count] = DIGEST.exec(tag) ?? [];
  const isComparable = expected !== undefined && count === `${upload.md5s.length}`;
  return isComparable ? 'different' : 'unknown';
}

function expectedTag({ etags, md5s }: SentUpload, sentTag = ''): string | undefined {
  const hasMd5 = md5s.every((md5, index) => plainTag(etags.get(index + 1)) === md5);
  if (hasMd5) return multipartTag(md5s);
  // Of encrypted parts, only the storage can make the digest, and another object has another one.
  return DIGEST.test(sentTag) ? sentTag : undefined;
}
